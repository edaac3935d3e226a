//! What an operator can say about the folders of one tool. One struct, so that every tool that takes paths has the same keys.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Deserialize;

use super::Guard;
use crate::error::Result;
use crate::walk::SKIPPED_DIRECTORIES;

/// Never touched unless an operator says otherwise: secrets, a repository's inner life, and what rules over the agent itself.
const DENIED: [&str; 8] =
    [".env*", ".git/**", "*.pem", ".foehn/**", "foehn.toml", "foehn.json", "foehn.yaml", "foehn.yml"];

/// The keys that a tool which takes paths has in its section of the configuration. A tool takes them in with
/// `#[serde(flatten)]` and hands them to [`Roots::open`](super::Roots::open):
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// use foehn_plugin_sdk::roots::{FolderSettings, Roots, Use};
///
/// #[config]
/// #[derive(Default)]
/// struct SizeConfig {
///     #[serde(flatten)]
///     folders: FolderSettings,
/// }
/// # fn run(cx: &Cx<'_, SizeConfig>) -> Result<String> {
/// let place = Roots::open(cx, &cx.config().folders)?.target("notes.txt", Use::Read)?;
/// let metadata = place.metadata().map_err(|error| place.root.told(error))?;
/// # Ok(format!("`{place}`: {} bytes", metadata.len()))
/// # }
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FolderSettings {
    /// Folder that the paths are relative to; the workspace if left out. Relative to the workspace.
    pub root: Option<PathBuf>,
    /// Further folders, reached by absolute paths. One outside of the workspace must be under `[sandbox]` too.
    pub extra_roots: Vec<ExtraRoot>,
    /// Names of folders that a search does not enter unless one is named as path.
    pub skipped_directories: Vec<String>,
    /// Whether the workspace's `.gitignore` files hold in a search.
    pub respect_gitignore: bool,
    /// Globs of what is neither read nor changed, at any depth. Neither letter case nor Unicode form counts.
    pub denied: Vec<String>,
    /// Of `denied`, compiled by the first call: that takes longer than a short read.
    #[serde(skip)]
    guard: OnceLock<Arc<Guard>>,
}

impl Default for FolderSettings {
    fn default() -> Self {
        Self {
            root: None,
            extra_roots: Vec::new(),
            skipped_directories: SKIPPED_DIRECTORIES.map(str::to_owned).into(),
            respect_gitignore: true,
            denied: DENIED.map(str::to_owned).into(),
            guard: OnceLock::new(),
        }
    }
}

impl FolderSettings {
    pub(super) fn guard(&self) -> Result<Arc<Guard>> {
        if let Some(guard) = self.guard.get() {
            return Ok(Arc::clone(guard));
        }
        let guard = Arc::new(Guard::new(&self.denied)?);
        Ok(Arc::clone(self.guard.get_or_init(|| guard)))
    }
}

/// A folder beside the root.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtraRoot {
    /// The folder; relative to the workspace.
    pub path: PathBuf,
    /// What may be done in it.
    pub access: Access,
}

/// What may be done in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading.
    #[default]
    Read,
    /// Reading and changing.
    Write,
}
