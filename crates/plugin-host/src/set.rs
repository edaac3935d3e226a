//! The plugins of one agent: loaded from a folder, kept up to date with it, and ended together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use foehn_sandbox::Confinement;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cache::Cache;
use crate::call::{self, Call, Ended};
use crate::discover::{Discovered, Refusal, discover, is_trusted};
use crate::plugin::{Listed, Plugin, Shared};
use crate::process::StartError;
use crate::registry::{Registry, Slot, first_of_name, unreadable_folder, unused_sections};
use crate::scan::{FileKey, Found, scan};
use crate::settings::{Isolation, Settings};
use crate::state::MemoryState;
use crate::stats::{Counters, Stats};
use crate::trust::Trust;

/// All plugins of one agent. Cheap to clone; every clone is the same set.
///
/// Needs a Tokio runtime with IO and time, and stays with the one it was loaded in.
#[derive(Clone)]
pub struct PluginSet {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub shared: Arc<Shared>,
    registry: RwLock<Arc<Registry>>,
    /// One look at the folder at a time.
    reloading: tokio::sync::Mutex<()>,
    changes: watch::Sender<u64>,
}

/// What a reload changed, by plugin name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl Reloaded {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// A plugin that was really started, see [`PluginSet::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What the sandbox enforces; `None` when the plugin runs in this process.
    pub confinement: Option<Confinement>,
}

impl PluginSet {
    /// Loads what the folder holds. Never fails as a whole: what cannot be used is in the [listing](Self::listing) and the
    /// [warnings](Self::warnings), and the rest works.
    ///
    /// Plugins that were loaded before, in this state folder, cost one `stat` each.
    pub async fn load(mut settings: Settings) -> Self {
        // Workers run in another folder.
        for path in [&mut settings.plugins_dir, &mut settings.state_dir, &mut settings.workspace] {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        let state = settings.state.clone().unwrap_or_else(|| Arc::new(MemoryState::default()));
        let shared = Arc::new(Shared {
            settings,
            counters: Counters::default(),
            state,
            closing: CancellationToken::new(),
        });
        let registry = look(&shared, &Registry::default()).await;
        let inner = Inner {
            shared,
            registry: RwLock::new(Arc::new(registry)),
            reloading: tokio::sync::Mutex::default(),
            changes: watch::Sender::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Every file of the folder that is named like a plugin, in order of name.
    pub fn listing(&self) -> Vec<Listed> {
        self.registry().listing(|name| self.inner.shared.settings.of(name).isolation)
    }

    /// What the operator should know beside the listing, one line each.
    pub fn warnings(&self) -> Vec<String> {
        self.registry().warnings.clone()
    }

    pub fn stats(&self) -> Stats {
        self.inner.shared.counters.read()
    }

    /// Counts up whenever the offered tools may have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Looks at the folder again. Calls that run are not disturbed: a plugin that has changed or gone ends with its last one.
    /// A new file that cannot be used does not replace one that is loaded.
    pub async fn reload(&self) -> Reloaded {
        let _one = self.inner.reloading.lock().await;
        let old = self.registry();
        let new = Arc::new(look(&self.inner.shared, &old).await);
        let reloaded = difference(&old, &new);
        *self.inner.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&new);
        if !reloaded.is_empty() {
            self.inner.changes.send_modify(|generation| *generation += 1);
        }
        for plugin in old.slots.iter().filter_map(|slot| slot.plugin.as_ref().ok()) {
            let stays = new
                .slots
                .iter()
                .filter_map(|slot| slot.plugin.as_ref().ok())
                .any(|kept| Arc::ptr_eq(kept, plugin));
            if !stays {
                plugin.clear().await;
            }
        }
        reloaded
    }

    /// Really starts a plugin and hands it its configuration, as the first call would.
    ///
    /// # Errors
    /// One line: it is not loaded, cannot be confined as demanded, or does not accept its configuration.
    pub async fn check(&self, name: &str) -> Result<Checked, String> {
        let plugin = self.find_plugin(name)?;
        let says = |error: StartError| format!("plugin `{name}` {error}");
        if plugin.settings.isolation == Isolation::InProcess {
            plugin.in_process().await.map_err(says)?;
            return Ok(Checked { confinement: None });
        }
        let worker = plugin.start(plugin.greatest_grant(), None).await.map_err(says)?;
        let confinement = worker.confinement.clone();
        worker.retire().await;
        Ok(Checked { confinement })
    }

    /// Ends every worker and all that they started. Calls that run are stopped; later ones are refused.
    pub async fn shutdown(&self) {
        self.inner.shared.closing.cancel();
        for plugin in self.registry().slots.iter().filter_map(|slot| slot.plugin.as_ref().ok()) {
            plugin.clear().await;
        }
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.inner.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn plugins_dir(&self) -> &PathBuf {
        &self.inner.shared.settings.plugins_dir
    }

    /// The newest state of a file before it is called. A file that is gone goes on in the version that is loaded, until the
    /// folder is looked at again.
    pub(crate) async fn refresh(&self, plugin: &Plugin) {
        let changed = {
            let registry = self.registry();
            let seen = registry.slot_of(&plugin.path).and_then(|slot| slot.seen.as_ref());
            FileKey::of(&plugin.path).is_ok_and(|now| Some(&now) != seen)
        };
        if changed {
            self.reload().await;
        }
    }

    /// Runs a call in the version of the plugin that it was resolved to.
    pub(crate) async fn run(&self, plugin: &Plugin, call: Call<'_>) -> Ended {
        call::run(plugin, call).await
    }

    fn find_plugin(&self, name: &str) -> Result<Arc<Plugin>, String> {
        let registry = self.registry();
        let Some(slot) = registry.plugin(name) else {
            let folder = self.plugins_dir().display();
            return Err(format!("there is no plugin `{name}` in `{folder}`"));
        };
        slot.plugin.as_ref().map(Arc::clone).map_err(|reason| format!("plugin `{name}` {reason}"))
    }
}

impl std::fmt::Debug for PluginSet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PluginSet")
            .field("settings", &self.inner.shared.settings)
            .finish_non_exhaustive()
    }
}

/// Looks at the folder and keeps of the old registry what has not changed.
async fn look(shared: &Arc<Shared>, old: &Registry) -> Registry {
    let settings = &shared.settings;
    let mut warnings = Vec::new();
    let found = scan(&settings.plugins_dir).unwrap_or_else(|error| {
        warnings.push(unreadable_folder(&settings.plugins_dir, &error));
        Vec::new()
    });
    if found.is_empty() {
        return Registry::new(Vec::new(), warnings);
    }
    let trust = Arc::new(Trust::open(&settings.state_dir));
    warnings.extend(trust.problem().map(str::to_owned));
    warnings.extend(reachable_state(settings));
    let mut cache = Cache::open(&settings.state_dir);

    let mut slots: Vec<Option<Slot>> = Vec::new();
    let mut unknown = JoinSet::new();
    for (index, file) in found.iter().enumerate() {
        let seen = FileKey::of(&file.path).ok();
        if let Some(slot) = settle(shared, old, &trust, &found, file, seen.as_ref()) {
            slots.push(Some(slot));
            continue;
        }
        slots.push(None);
        let cached = seen.as_ref().and_then(|key| cache.get(&file.path, key)).cloned();
        let (shared, trust, file) = (Arc::clone(shared), Arc::clone(&trust), file.clone());
        // A hit is answered without waiting for anything, so only misses run beside each other.
        unknown.spawn(async move {
            let discovered = discover(&shared, &trust, &file, cached).await;
            (index, file, seen, discovered)
        });
    }
    while let Some(joined) = unknown.join_next().await {
        // A panic here would be one of ours; the file stays out of the listing and the others are not harmed.
        let Ok((index, file, seen, discovered)) = joined else { continue };
        if let Ok(Discovered { entry, image: Some(_) }) = &discovered {
            cache.put(&file.path, entry.clone());
        }
        if let Some(slot) = slots.get_mut(index) {
            *slot = Some(settled(shared, old, file, seen, discovered));
        }
    }
    if let Err(error) = cache.save() {
        warnings.push(format!(
            "what was learnt about the plugins cannot be kept in `{}`, so each start loads them anew: {error}",
            settings.state_dir.display()
        ));
    }
    let slots: Vec<_> = slots.into_iter().flatten().collect();
    warnings.extend(unused_sections(settings.configured_tools.iter(), &slots));
    Registry::new(slots, warnings)
}

/// No rule of the sandbox can take a folder out of one that is allowed.
fn reachable_state(settings: &Settings) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (state, workspace) = (real(&settings.state_dir), real(&settings.workspace));
    state.starts_with(&workspace).then(|| {
        format!(
            "the state folder `{}` lies in the workspace: a tool that may write there can change which plugins are \
             trusted; work in another folder, or move the state folder",
            settings.state_dir.display()
        )
    })
}

/// A file about which there is nothing to find out.
fn settle(
    shared: &Shared,
    old: &Registry,
    trust: &Trust,
    found: &[Found],
    file: &Found,
    seen: Option<&FileKey>,
) -> Option<Slot> {
    let refused = |reason| Slot { found: file.clone(), seen: seen.cloned(), plugin: Err(reason), kept: None };
    if let Some(first) = first_of_name(found, &file.name).filter(|first| *first != file.path) {
        return Some(refused(Refusal::SameName(first)));
    }
    if shared.settings.disabled.contains(&file.name) {
        return Some(refused(Refusal::SwitchedOff));
    }
    let before = old.slot_of(&file.path).filter(|slot| slot.seen.is_some() && slot.seen.as_ref() == seen)?;
    let plugin = match &before.plugin {
        Ok(plugin) => Ok(Arc::clone(plugin)),
        Err(Refusal::NotTrusted { name, hash }) if is_trusted(shared.settings.trust, trust, name, hash) => {
            return None;
        }
        Err(reason) => Err(reason.clone()),
    };
    // A newer file that was kept out for want of trust may be trusted by now.
    let kept = before.kept.clone();
    if kept.is_some() {
        return None;
    }
    Some(Slot { found: file.clone(), seen: seen.cloned(), plugin, kept })
}

/// What was found out about a file, against what is loaded of it.
fn settled(
    shared: &Arc<Shared>,
    old: &Registry,
    file: Found,
    seen: Option<FileKey>,
    discovered: Result<Discovered, Refusal>,
) -> Slot {
    let before = old.slot_of(&file.path).and_then(|slot| slot.plugin.as_ref().ok());
    match discovered {
        Ok(Discovered { entry, image }) => {
            let plugin = match before {
                // Touched or copied anew, but the same.
                Some(plugin) if plugin.hash == entry.hash => Arc::clone(plugin),
                _ => Arc::new(Plugin::new(
                    &file.name,
                    &file.path,
                    entry.hash,
                    Arc::new(entry.manifest),
                    image,
                    Arc::clone(shared),
                )),
            };
            Slot { found: file, seen, plugin: Ok(plugin), kept: None }
        }
        Err(reason) => match before.filter(|plugin| plugin.is_held()) {
            Some(plugin) => {
                let kept =
                    format!("`{}` {reason}; the version loaded before stays in use", file.path.display());
                Slot { found: file, seen, plugin: Ok(Arc::clone(plugin)), kept: Some(kept) }
            }
            None => Slot { found: file, seen, plugin: Err(reason), kept: None },
        },
    }
}

fn difference(old: &Registry, new: &Registry) -> Reloaded {
    let ready = |registry: &Registry| -> BTreeSet<(String, String)> {
        let plugins = registry.slots.iter().filter_map(|slot| slot.plugin.as_ref().ok());
        plugins.map(|plugin| (plugin.name.clone(), plugin.hash.clone())).collect()
    };
    let (before, after) = (ready(old), ready(new));
    let names = |set: &BTreeSet<(String, String)>| -> BTreeSet<String> {
        set.iter().map(|(name, _)| name.clone()).collect()
    };
    let (names_before, names_after) = (names(&before), names(&after));
    Reloaded {
        added: names_after.difference(&names_before).cloned().collect(),
        removed: names_before.difference(&names_after).cloned().collect(),
        changed: after
            .difference(&before)
            .map(|(name, _)| name.clone())
            .filter(|name| names_before.contains(name))
            .collect(),
    }
}
