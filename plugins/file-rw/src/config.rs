//! What an operator can set for the tools of this plugin. Each tool has a section of its own, and all take the same keys.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use foehn_plugin_sdk::config;
use foehn_plugin_sdk::walk::SKIPPED_DIRECTORIES;

use crate::guard::Guard;

/// Never touched unless an operator says otherwise: secrets, a repository's inner life, and what rules over the agent itself.
const DENIED: [&str; 8] =
    [".env*", ".git/**", "*.pem", ".foehn/**", "foehn.toml", "foehn.json", "foehn.yaml", "foehn.yml"];

/// Configuration of each tool of `file-rw`.
#[config]
pub struct FileConfig {
    /// Whether the tool may be used; unless given, every one but `stock_add` may.
    pub(crate) enabled: Option<bool>,
    /// Folder that the paths are relative to; the workspace if left out. Relative to the workspace.
    pub(crate) root: Option<PathBuf>,
    /// Further folders, reached by absolute paths. One outside of the workspace must be under `[sandbox]` too.
    pub(crate) extra_roots: Vec<ExtraRoot>,
    /// Whether anything may be changed.
    pub(crate) allow_write: bool,
    /// Whether what a call changes is kept under `.foehn/backups`, so that `foehn undo` can take it back.
    pub(crate) backups: bool,
    /// Endings of the files that may be used, such as `md`; all if empty.
    pub(crate) allowed_extensions: Vec<String>,
    /// Names of folders that a search does not enter unless one is named as path.
    pub(crate) skipped_directories: Vec<String>,
    /// Whether the workspace's `.gitignore` files hold in a search.
    pub(crate) respect_gitignore: bool,
    /// Most characters of one result.
    pub(crate) max_read_characters: usize,
    /// Most characters of one line; the rest of a longer one is not shown.
    pub(crate) max_line_characters: usize,
    /// Globs of what is neither read nor changed, at any depth. Neither letter case nor Unicode form counts.
    pub(crate) denied: Vec<String>,
    /// Of the two lists, compiled by the first call: that takes longer than a short read.
    #[serde(skip)]
    pub(crate) guard: OnceLock<Arc<Guard>>,
}

impl Default for FileConfig {
    fn default() -> Self {
        Self {
            enabled: None,
            root: None,
            extra_roots: Vec::new(),
            allow_write: true,
            backups: true,
            allowed_extensions: Vec::new(),
            skipped_directories: SKIPPED_DIRECTORIES.map(str::to_owned).into(),
            respect_gitignore: true,
            max_read_characters: 51_200,
            max_line_characters: 2_000,
            denied: DENIED.map(str::to_owned).into(),
            guard: OnceLock::new(),
        }
    }
}

/// A folder beside the root.
#[config]
#[derive(Default)]
pub struct ExtraRoot {
    /// The folder; relative to the workspace.
    pub(crate) path: PathBuf,
    /// What may be done in it.
    pub(crate) access: Access,
}

/// What may be done in a folder.
#[config]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading.
    #[default]
    Read,
    /// Reading and changing.
    Write,
}
