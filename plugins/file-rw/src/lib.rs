//! The plugin `file-rw`: reads, creates, edits and deletes files of the workspace.
//!
//! Text is bytes here: what a call does not change stays byte for byte, with its line ends, byte order mark, mode and links.
//! A changing tool first makes a plan, reading only; the same plan answers what the call would do, so that a person is never
//! asked about a call that could not work. No tool touches a folder, and none guesses.

mod change;
mod closest;
mod create_file;
mod delete_file;
mod edit;
mod edit_file;
mod page;
mod place;
mod read_file;
mod seen;
mod text;
mod write_file;

use foehn_plugin_sdk::export_plugin;

pub use create_file::{CreateArgs, CreateFile};
pub use delete_file::{DeleteArgs, DeleteFile};
pub use edit_file::{EditArgs, EditFile};
pub use read_file::{ReadArgs, ReadConfig, ReadFile};
pub use write_file::{WriteArgs, WriteFile};

/// Largest file that is changed: it is held in memory, before and after.
const LARGEST_CHANGED_BYTES: u64 = 64 * 1024 * 1024;

export_plugin!(ReadFile, CreateFile, EditFile, WriteFile, DeleteFile);
