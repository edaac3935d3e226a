//! The plugin `file-rw`: finds, searches, reads, creates, edits, moves and deletes files of the workspace.
//!
//! Text is bytes here: what a call does not change stays byte for byte, with its line ends, byte order mark, mode and links.
//! A changing tool first makes a plan, reading only; the same plan answers what the call would do, so that a person is never
//! asked about a call that could not work. Every change then goes through `change`. No tool guesses.

mod config;
mod files;

mod append_file;
mod copy_file;
mod create_file;
mod delete_file;
mod edit_file;
mod find_files;
mod list_directory;
mod make_directory;
mod move_file;
mod read_file;
mod read_many_files;
mod remove_directory;
mod search_files;
mod stat_file;
mod stock_add;
mod write_file;

mod alike;
mod batch;
mod change;
mod closest;
mod edit;
mod kept;
mod page;
mod preview;
mod query;
mod search;
mod seen;
mod stock;
mod text;
mod time;
mod tree;

use foehn_plugin_sdk::{LintException, export_plugin};

pub use append_file::{AppendArgs, AppendFile};
pub use config::FileConfig;
pub use copy_file::{CopyArgs, CopyFile};
pub use create_file::{CreateArgs, CreateFile};
pub use delete_file::{DeleteArgs, DeleteFile};
pub use edit_file::{EditArgs, EditFile, EditStep};
pub use find_files::{FindArgs, FindFiles};
pub use list_directory::{ListArgs, ListDirectory};
pub use make_directory::{MakeArgs, MakeDirectory};
pub use move_file::{MoveArgs, MoveFile};
pub use read_file::{ReadArgs, ReadFile};
pub use read_many_files::{ReadManyArgs, ReadManyFiles};
pub use remove_directory::{RemoveArgs, RemoveDirectory};
pub use search_files::{Mode, SearchArgs, SearchFiles};
pub use stat_file::{StatArgs, StatFile};
pub use stock_add::{StockAdd, StockArgs};
pub use write_file::{WriteArgs, WriteFile};

/// Largest file that is changed: it is held in memory, before and after.
const LARGEST_CHANGED_BYTES: u64 = 64 * 1024 * 1024;

/// No bound stands in the schema of a content: the host bounds a whole call, and a number of eight digits tells a model
/// nothing.
const A_FILE_HAS_ANY_LENGTH: LintException = LintException::new("unbounded-text", "A file has any length.");

export_plugin!(
    FindFiles,
    SearchFiles,
    ListDirectory,
    ReadFile,
    ReadManyFiles,
    StatFile,
    CreateFile,
    AppendFile,
    CopyFile,
    MakeDirectory,
    MoveFile,
    EditFile,
    StockAdd,
    WriteFile,
    DeleteFile,
    RemoveDirectory,
);
