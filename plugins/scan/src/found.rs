//! Keeps the window of entries that is wanted from all that a walk comes to. The price of the true total is that the walk
//! goes on after the window is full.

use std::path::PathBuf;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::walk::{Item, Pattern, Skipped};

/// Which of the entries are shown.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) pattern: Option<&'a Pattern>,
    pub(crate) limit: usize,
    /// Only entries after this path, in the order of the walk.
    pub(crate) after: Option<PathBuf>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The window: at most `limit` entries, sorted, in the root.
    pub(crate) entries: Vec<(RelPath, Kind)>,
    /// Entries that match, in all.
    pub(crate) matching: u64,
    /// Of those, the ones before the window.
    pub(crate) before: u64,
    /// Entries that were compared with the pattern.
    pub(crate) considered: u64,
    pub(crate) skipped: Skipped,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Size in bytes; `None` when it cannot be told.
    File(Option<u64>),
    Directory,
    /// What is written in the link.
    Link(Option<PathBuf>),
    Other(&'static str),
}

impl Found {
    pub(crate) fn add(&mut self, item: &Item<'_>, wanted: &Wanted<'_>) {
        self.considered += 1;
        let is_folder = item.file_type.is_dir();
        if wanted.pattern.is_some_and(|pattern| !pattern.matches(item.below, is_folder)) {
            return;
        }
        self.matching += 1;
        if wanted.after.as_ref().is_some_and(|after| item.path.as_path() <= after.as_path()) {
            self.before += 1;
        } else if self.entries.len() < wanted.limit {
            self.entries.push((item.path.clone(), kind(item)));
        }
    }
}

fn kind(item: &Item<'_>) -> Kind {
    let Item { dir, name, file_type, .. } = item;
    if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_file() {
        Kind::File(dir.symlink_metadata(name).ok().map(|metadata| metadata.len()))
    } else if file_type.is_symlink() {
        Kind::Link(dir.read_link_contents(name).ok())
    } else if file_type.is_fifo() {
        Kind::Other("fifo")
    } else if file_type.is_socket() {
        Kind::Other("socket")
    } else {
        Kind::Other("device")
    }
}
