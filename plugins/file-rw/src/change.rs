//! The one place where anything is changed. Every tool plans what it wants, and hands the change to [`Change::make`].
//!
//! A change holds what it starts from, or can read it there before it begins: whoever keeps a record of changes keeps it
//! here. Each one is whole or not made at all.

use foehn_plugin_sdk::workspace::{OpenFolder, Result, WorkspaceError};

use crate::files::Place;

/// One change of one entry.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    /// A file that is not there yet, with the folders above it.
    Create { place: &'a Place, after: &'a [u8] },
    /// The bytes of a file, if they are still those that the change was planned on.
    Replace { place: &'a Place, before: &'a [u8], after: &'a [u8] },
    /// A file that is not there yet, with the bytes and the permissions of another.
    Copy { from: &'a Place, to: &'a Place },
    /// A file, or a link itself.
    Remove { place: &'a Place },
    /// A folder, with those above it.
    MakeFolder { place: &'a Place },
    /// An entry of a folder that was looked at: a file, a link itself, or an empty folder.
    RemoveIn { folder: &'a OpenFolder, place: &'a Place, is_folder: bool },
    /// Another name for a file, folder or link, where nothing has that name.
    Move { from: &'a Place, to: &'a Place },
}

impl Change<'_> {
    /// Makes the change, where the places really are.
    pub(crate) fn make(&self) -> Result<()> {
        match *self {
            Self::Create { place, after } => place.create_new(after),
            Self::Replace { place, before, after } => place.replace(before, after),
            Self::Copy { from, to } => from.copy_new(to).map(drop),
            Self::Remove { place } => place.remove_file(),
            Self::MakeFolder { place } => place.create_dir_all(),
            Self::RemoveIn { folder, place, is_folder } => {
                folder.remove(place.real.file_name().ok_or(WorkspaceError::IsTheRoot)?, is_folder)
            }
            Self::Move { from, to } => from.rename(to),
        }
    }
}
