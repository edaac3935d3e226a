//! One plugin that may run: its identity, its workers, and how often it has crashed.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foehn_plugin_sdk::abi::PluginBox;
use foehn_plugin_sdk::wire::{Manifest, OpenConfig, ToolSpec};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::image::{Checked, Image};
use crate::load::{self, load};
use crate::log::PluginLog;
use crate::pool::Pool;
use crate::process::{Hello, Plan, StartError, Worker};
use crate::profile::Grant;
use crate::settings::{Isolation, PluginSettings, Settings};
use crate::state::StateStore;
use crate::stats::Counters;

/// Longer than any host runs.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// So many crashes within the time disable a plugin until its file changes or the host starts anew.
const MAX_CRASHES: usize = 3;
const CRASH_WINDOW: Duration = Duration::from_secs(60);

/// One file of the plugins folder.
#[derive(Clone, Debug)]
pub struct Listed {
    pub file: PathBuf,
    pub name: String,
    pub state: PluginState,
    /// What the plugin says about itself; `None` when it was never loaded.
    pub manifest: Option<Arc<Manifest>>,
    /// BLAKE3 of the file, hexadecimal; `None` when it could not be read.
    pub hash: Option<String>,
    pub isolation: Isolation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginState {
    Ready,
    /// The bytes were not accepted; nothing of it has run.
    NotTrusted {
        hash: String,
    },
    /// It cannot be used, in one line.
    Refused {
        reason: String,
    },
    /// The operator, or its own crashes, switched it off.
    Disabled {
        reason: String,
    },
}

/// What all plugins of a set share.
pub(crate) struct Shared {
    pub settings: Settings,
    pub counters: Counters,
    pub state: Arc<dyn StateStore>,
    /// Fires when the set is shut down.
    pub closing: CancellationToken,
}

pub(crate) struct Plugin {
    pub name: String,
    pub path: PathBuf,
    pub hash: String,
    pub manifest: Arc<Manifest>,
    pub log: &'static PluginLog,
    pub settings: PluginSettings,
    pub shared: Arc<Shared>,
    /// For `open`, as JSON: the sections of this plugin's tools and no others.
    config: Vec<u8>,
    /// Variables of the host's environment that the operator passes on to the programs of its tools.
    passed: Vec<OsString>,
    image: OnceCell<Image>,
    in_process: OnceCell<Arc<PluginBox>>,
    pools: Mutex<BTreeMap<Grant, Arc<Pool>>>,
    crashes: Mutex<Crashes>,
}

#[derive(Default)]
struct Crashes {
    recent: VecDeque<Instant>,
    disabled: Option<String>,
}

impl Plugin {
    pub(crate) fn new(
        name: &str,
        path: &Path,
        hash: String,
        manifest: Arc<Manifest>,
        image: Option<Image>,
        shared: Arc<Shared>,
    ) -> Self {
        let sections = &shared.settings.tools;
        let config = OpenConfig {
            tools: manifest
                .tools
                .iter()
                .filter_map(|tool| Some((tool.name.clone(), section_of(tool, sections)?.clone())))
                .collect(),
        };
        let passed = config.tools.values().flat_map(|section| {
            let names = section["env_pass"].as_array().map(Vec::as_slice).unwrap_or_default();
            names.iter().filter_map(Value::as_str).map(OsString::from)
        });
        let passed = passed.collect();
        Self {
            name: name.to_owned(),
            path: path.to_path_buf(),
            hash,
            log: PluginLog::of(name),
            settings: shared.settings.of(name),
            // A map of strings to JSON values always has a JSON form.
            config: serde_json::to_vec(&config).unwrap_or_default(),
            passed,
            image: OnceCell::new_with(image),
            in_process: OnceCell::new(),
            pools: Mutex::default(),
            crashes: Mutex::default(),
            manifest,
            shared,
        }
    }

    /// The operator's section for one of its tools.
    pub(crate) fn section(&self, tool: &ToolSpec) -> Option<&Value> {
        section_of(tool, &self.shared.settings.tools)
    }

    /// The most that one of its tools may do.
    pub(crate) fn greatest_grant(&self) -> Grant {
        let sandbox = &self.shared.settings.sandbox;
        let grants = self.manifest.tools.iter().map(|tool| Grant::execute(tool, sandbox, self.section(tool)));
        grants.max_by_key(|grant| (grant.programs, grant.files, grant.risk)).unwrap_or(Grant::NOTHING)
    }

    /// What its lasting tools may do together.
    pub(crate) fn lasting_grant(&self) -> Grant {
        let sandbox = &self.shared.settings.sandbox;
        let lasting = self.manifest.tools.iter().filter(|tool| tool.lasting);
        let grants = lasting.map(|tool| Grant::execute(tool, sandbox, self.section(tool)));
        grants.reduce(Grant::with).unwrap_or(Grant::NOTHING)
    }

    /// Whether it can still be started when its file is gone or changed.
    pub(crate) fn is_held(&self) -> bool {
        self.image.initialized()
    }

    pub(crate) fn pool(&self, grant: Grant) -> Arc<Pool> {
        let PluginSettings { max_parallel, idle, .. } = self.settings;
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        // One worker that stays: what the calls have to meet in.
        let (max_parallel, idle) = if grant.lasting { (1, FOR_EVER) } else { (max_parallel, idle) };
        let pool = pools.entry(grant).or_insert_with(|| Pool::new(max_parallel, idle, grant.programs));
        Arc::clone(pool)
    }

    /// Whether a process is there in which its lasting tools may keep something.
    pub(crate) fn keeps_something(&self) -> bool {
        self.manifest.tools.iter().any(|tool| tool.lasting)
            && (self.in_process.initialized() || self.pool(self.lasting_grant()).is_used())
    }

    /// Ends what is idle.
    pub(crate) async fn clear(&self) {
        let pools: Vec<_> = {
            let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            pools.values().cloned().collect()
        };
        for pool in pools {
            pool.clear().await;
        }
    }

    /// Starts a worker under this grant, with its plugin open.
    pub(crate) async fn start(&self, grant: Grant, scratch: Option<&Path>) -> Result<Worker, StartError> {
        let image = self.image().await?;
        let hello = spawn(
            &self.shared,
            self.log,
            &self.path,
            image,
            grant,
            scratch,
            Some((&self.config, &self.passed)),
        )
        .await?;
        match load::parse_manifest(&hello.manifest_text) {
            Ok(manifest) if manifest == *self.manifest => Ok(hello.worker),
            Ok(_) => Err(StartError::ManifestChanged),
            Err(error) => Err(StartError::Load(error.to_string())),
        }
    }

    /// The plugin mapped into this process and opened, once.
    pub(crate) async fn in_process(&self) -> Result<Arc<PluginBox>, StartError> {
        if self.shared.settings.sandbox.require {
            return Err(StartError::NotConfined("its isolation is `in_process`".to_owned()));
        }
        let opened = self.in_process.get_or_try_init(|| async {
            let path = self.image().await?.path();
            let config = self.config.clone();
            let loading = spawn_blocking(move || {
                let loaded = load(&path).map_err(|error| StartError::Load(error.to_string()))?;
                loaded.open(&config).map(Arc::new).map_err(StartError::Config)
            });
            let limit = self.shared.settings.timeouts.start;
            match tokio::time::timeout(limit, loading).await {
                Ok(Ok(opened)) => opened,
                Ok(Err(panicked)) => Err(StartError::Load(panicked.to_string())),
                Err(_) => Err(StartError::Hung { limit }),
            }
        });
        opened.await.cloned()
    }

    /// The checked bytes, read when they are first needed and held from then on.
    async fn image(&self) -> Result<&Image, StartError> {
        self.image
            .get_or_try_init(|| async {
                let (path, shared) = (self.path.clone(), Arc::clone(&self.shared));
                let image = spawn_blocking(move || {
                    let checked = Checked::read(&path, &shared.counters).map_err(StartError::Unfit)?;
                    checked.seal().map_err(|error| StartError::Load(error.to_string()))
                });
                let image = image.await.map_err(|panicked| StartError::Load(panicked.to_string()))??;
                if image.hash == self.hash { Ok(image) } else { Err(StartError::FileChanged) }
            })
            .await
    }

    /// Why it runs no more calls, if it does not.
    pub(crate) fn disabled(&self) -> Option<String> {
        self.crashes().disabled.clone()
    }

    pub(crate) fn crashed(&self, how: &str) {
        self.shared.counters.crashed();
        let mut crashes = self.crashes();
        let now = Instant::now();
        crashes.recent.push_back(now);
        while crashes.recent.front().is_some_and(|crash| now.duration_since(*crash) > CRASH_WINDOW) {
            crashes.recent.pop_front();
        }
        if crashes.recent.len() >= MAX_CRASHES {
            let window = CRASH_WINDOW.as_secs();
            crashes.disabled = Some(format!(
                "it is switched off after {MAX_CRASHES} crashes within {window} s (the last: it {how}); \
                 a new file or a restart of the host switches it on again"
            ));
        }
    }

    fn crashes(&self) -> MutexGuard<'_, Crashes> {
        self.crashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Plugin")
            .field("name", &self.name)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A renamed tool keeps the section under its old name.
fn section_of<'a>(tool: &ToolSpec, sections: &'a BTreeMap<String, Value>) -> Option<&'a Value> {
    std::iter::once(&tool.name).chain(&tool.aliases).find_map(|name| sections.get(name))
}

/// Starts a worker of an image. With a configuration its plugin is open afterwards.
pub(crate) async fn spawn(
    shared: &Shared,
    log: &'static PluginLog,
    file: &Path,
    image: &Image,
    grant: Grant,
    scratch: Option<&Path>,
    opening: Option<(&[u8], &[OsString])>,
) -> Result<Hello, StartError> {
    let settings = &shared.settings;
    let (config, passed) = opening.unzip();
    let reads = config.is_some() && settings.workspace.is_dir();
    let plan = Plan {
        file,
        log,
        image,
        program: settings.worker_program.as_deref(),
        profile: &grant.profile(&settings.workspace, scratch, &settings.sandbox),
        require_sandbox: settings.sandbox.require,
        folder: if reads { &settings.workspace } else { Path::new("/") },
        scratch,
        passed: passed.filter(|_| grant.programs).unwrap_or_default(),
        config,
        limit: settings.timeouts.start,
    };
    shared.counters.spawned();
    Worker::start(&plan).await
}
