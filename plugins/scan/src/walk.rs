//! Walks a folder by directory handles, in sorted order, and keeps the window of entries that is wanted.
//!
//! Every folder is opened beneath the handle of the one above it, so that a folder exchanged for a link during the walk
//! leads nowhere else. Links are listed, never followed. The price of the true total is that the walk goes on after the
//! window is full; it ends for good after [`MOST_ENTRIES`].

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::cap_std::fs::{Dir, FileType, FileTypeExt};

use crate::ignored::{self, Ignored};
use crate::pattern::Pattern;

/// Most entries that one scan looks at.
pub(crate) const MOST_ENTRIES: u64 = 500_000;
/// How far below the scanned folder a scan goes: each level holds a handle open.
pub(crate) const DEEPEST: usize = 100;
/// Most names that are kept of what was not entered or not readable; the rest is counted.
const MOST_NAMES: usize = 5;

/// What a walk is to show.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) pattern: Option<&'a Pattern>,
    pub(crate) recursive: bool,
    pub(crate) limit: usize,
    /// Only entries after this path, in the order of the walk.
    pub(crate) after: Option<PathBuf>,
    /// Also what is hidden.
    pub(crate) include_hidden: bool,
    pub(crate) skipped_directories: BTreeSet<OsString>,
    /// Not what the `.gitignore` files exclude.
    pub(crate) respect_gitignore: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The window: at most `limit` entries, sorted, relative to the workspace.
    pub(crate) entries: Vec<(PathBuf, Kind)>,
    /// Entries that match, in all.
    pub(crate) matching: u64,
    /// Of those, the ones before the window.
    pub(crate) before: u64,
    /// Entries that were compared with the pattern.
    pub(crate) considered: u64,
    pub(crate) hidden: u64,
    pub(crate) ignored: u64,
    pub(crate) not_entered: Names,
    pub(crate) unreadable: Names,
    pub(crate) too_deep: Names,
    /// The walk ended at [`MOST_ENTRIES`].
    pub(crate) stopped: bool,
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

/// The first few of many paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) first: Vec<PathBuf>,
    pub(crate) count: u64,
}

impl Names {
    fn add(&mut self, path: &Path) {
        self.count += 1;
        if self.first.len() < MOST_NAMES {
            self.first.push(path.to_owned());
        }
    }
}

/// Walks the folder `start`, whose path in the workspace is `path`.
pub(crate) fn walk(
    start: &Dir,
    path: &Path,
    ignored: Ignored,
    wanted: &Wanted<'_>,
    check: &dyn Fn() -> Result<()>,
) -> Result<Found> {
    let mut walk = Walk { wanted, ignored, start: path, check, found: Found::default() };
    walk.folder(start, path, 0)?;
    Ok(walk.found)
}

struct Walk<'a> {
    wanted: &'a Wanted<'a>,
    ignored: Ignored,
    start: &'a Path,
    check: &'a dyn Fn() -> Result<()>,
    found: Found,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &Dir, path: &Path, depth: usize) -> Result<()> {
        (self.check)()?;
        let Ok(mut names) = names(dir) else {
            self.found.unreadable.add(path);
            return Ok(());
        };
        names.sort();
        let may_have_rules =
            self.wanted.respect_gitignore && names.iter().any(|named| named.name == ignored::FILE_NAME);
        let has_rules = may_have_rules && self.ignored.enter(dir, path);
        for Named { name, file_type } in names {
            if self.found.stopped {
                break;
            }
            let path = if path == Path::new(".") { PathBuf::from(&name) } else { path.join(&name) };
            self.entry(dir, &name, path, file_type, depth)?;
        }
        if has_rules {
            self.ignored.leave();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        path: PathBuf,
        file_type: FileType,
        depth: usize,
    ) -> Result<()> {
        let is_folder = file_type.is_dir();
        if self.is_left_out(name, &path, is_folder) {
            return Ok(());
        }
        self.found.considered += 1;
        self.found.stopped = self.found.considered >= MOST_ENTRIES;
        let below_start = path.strip_prefix(self.start).unwrap_or(&path);
        if self.wanted.pattern.is_none_or(|pattern| pattern.matches(below_start, is_folder)) {
            self.show(dir, name, &path, file_type);
        }
        if !is_folder || !self.wanted.recursive {
            return Ok(());
        }
        if depth + 1 >= DEEPEST {
            self.found.too_deep.add(&path);
            return Ok(());
        }
        match dir.open_dir(name) {
            Ok(inner) => self.folder(&inner, &path, depth + 1),
            Err(_) => {
                self.found.unreadable.add(&path);
                Ok(())
            }
        }
    }

    fn is_left_out(&mut self, name: &OsStr, path: &Path, is_folder: bool) -> bool {
        let asked_by_pattern = self.wanted.pattern.is_some_and(Pattern::names_hidden);
        if is_hidden(name) && !self.wanted.include_hidden && !asked_by_pattern {
            self.found.hidden += 1;
        } else if is_folder && self.wanted.skipped_directories.contains(name) {
            self.found.not_entered.add(path);
        } else if self.ignored.matches(path, is_folder) {
            self.found.ignored += 1;
        } else {
            return false;
        }
        true
    }

    fn show(&mut self, dir: &Dir, name: &OsStr, path: &Path, file_type: FileType) {
        self.found.matching += 1;
        if self.wanted.after.as_ref().is_some_and(|after| path <= after.as_path()) {
            self.found.before += 1;
        } else if self.found.entries.len() < self.wanted.limit {
            self.found.entries.push((path.to_owned(), kind(dir, name, file_type)));
        }
    }
}

/// A name as a folder lists it. Ordered by name alone.
struct Named {
    name: OsString,
    file_type: FileType,
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Named {}

impl PartialOrd for Named {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Named {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(&other.name)
    }
}

fn names(dir: &Dir) -> std::io::Result<Vec<Named>> {
    // An entry that vanishes between its listing and the look at its kind is as good as never listed.
    dir.entries()?
        .map(|entry| {
            entry.map(|entry| {
                entry.file_type().ok().map(|file_type| Named { name: entry.file_name(), file_type })
            })
        })
        .filter_map(std::io::Result::transpose)
        .collect()
}

fn kind(dir: &Dir, name: &OsStr, file_type: FileType) -> Kind {
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

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}
