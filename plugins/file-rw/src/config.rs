//! What an operator can set for the tools of this plugin. Each tool has a section of its own, and all take the same keys.

use foehn_plugin_sdk::config;
use foehn_plugin_sdk::roots::FolderSettings;

/// Configuration of each tool of `file-rw`.
#[config]
pub struct FileConfig {
    /// Whether the tool may be used; unless given, every one but `stock_add` may.
    pub(crate) enabled: Option<bool>,
    #[serde(flatten)]
    pub(crate) folders: FolderSettings,
    /// Whether anything may be changed.
    pub(crate) allow_write: bool,
    /// Whether what a call changes is kept under `.foehn/backups`, so that `foehn undo` can take it back.
    pub(crate) backups: bool,
    /// Endings of the files that may be used, such as `md`; all if empty.
    pub(crate) allowed_extensions: Vec<String>,
    /// Most characters of one result.
    pub(crate) max_read_characters: usize,
    /// Most characters of one line; the rest of a longer one is not shown.
    pub(crate) max_line_characters: usize,
}

impl Default for FileConfig {
    fn default() -> Self {
        Self {
            enabled: None,
            folders: FolderSettings::default(),
            allow_write: true,
            backups: true,
            allowed_extensions: Vec::new(),
            max_read_characters: 51_200,
            max_line_characters: 2_000,
        }
    }
}
