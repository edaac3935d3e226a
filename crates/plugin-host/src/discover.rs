//! From a file to a plugin that may run: read, check, trust, and ask a worker what it is. Each step can refuse, and a
//! refusal is one line about this file and nobody else's trouble.

use std::path::PathBuf;
use std::sync::Arc;

use foehn_plugin_sdk::wire::Manifest;
use tokio::task::spawn_blocking;

use crate::cache;
use crate::image::{Checked, Image};
use crate::load::parse_manifest;
use crate::log::PluginLog;
use crate::plugin::{Shared, spawn};
use crate::preflight::Unfit;
use crate::process::StartError;
use crate::profile::Grant;
use crate::scan::{FileKey, Found};
use crate::settings::TrustMode;
use crate::trust::Trust;

/// Why a file is not used. Each text completes "FILE ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    Unfit(#[from] Unfit),
    #[error("is not trusted yet: accept it with `foehn plugins trust {name}`")]
    NotTrusted { name: String, hash: String },
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("has the same name as `{}`; rename or remove one of them", .0.display())]
    SameName(PathBuf),
    #[error("is switched off in the configuration")]
    SwitchedOff,
}

/// A file that was accepted.
pub(crate) struct Discovered {
    pub entry: cache::Entry,
    /// Its bytes, when they had to be read.
    pub image: Option<Image>,
}

pub(crate) fn is_trusted(mode: TrustMode, trust: &Trust, name: &str, hash: &str) -> bool {
    mode == TrustMode::Any || trust.is_accepted(name, hash)
}

/// With a cached entry nothing is read, hashed or started.
pub(crate) async fn discover(
    shared: &Arc<Shared>,
    trust: &Arc<Trust>,
    found: &Found,
    cached: Option<cache::Entry>,
) -> Result<Discovered, Refusal> {
    let refuse_untrusted = |hash: &str| {
        if is_trusted(shared.settings.trust, trust, &found.name, hash) {
            return Ok(());
        }
        Err(Refusal::NotTrusted { name: found.name.clone(), hash: hash.to_owned() })
    };
    if let Some(entry) = cached {
        refuse_untrusted(&entry.hash)?;
        return Ok(Discovered { entry, image: None });
    }
    let checked = read(shared, found).await?;
    refuse_untrusted(&checked.hash)?;
    let key = checked.key.clone();
    let image = checked.seal().map_err(|error| Unfit::Unreadable(error.to_string()))?;
    let manifest = ask(shared, found, &image).await?;
    let entry = cache::Entry { key, hash: image.hash.clone(), manifest };
    Ok(Discovered { entry, image: Some(image) })
}

async fn read(shared: &Arc<Shared>, found: &Found) -> Result<Checked, Refusal> {
    // Asked first, so that a file that only cannot be read does not look like one that is being written.
    FileKey::of(&found.path).map_err(|error| Unfit::Unreadable(error.to_string()))?;
    let (path, shared) = (found.path.clone(), Arc::clone(shared));
    let checked = spawn_blocking(move || Checked::read(&path, &shared.counters)).await;
    // A panic in the parser of a hostile file is a refusal of that file.
    Ok(checked.map_err(|panicked| Unfit::Damaged(panicked.to_string()))??)
}

/// A worker with no rights at all says what the plugin is, and ends.
async fn ask(shared: &Arc<Shared>, found: &Found, image: &Image) -> Result<Manifest, Refusal> {
    let log = PluginLog::of(&found.name);
    let hello = spawn(shared, log, &found.path, image, Grant::NOTHING, None, None).await?;
    parse_manifest(&hello.manifest_text).map_err(|error| StartError::Load(error.to_string()).into())
}
