//! Walks a folder of the workspace by directory handles, in sorted order, for tools that list or search.
//!
//! Every folder is opened beneath the handle of the one above it, so that a folder exchanged for a link during the walk
//! leads nowhere else. Links are entries, never followed, so that neither a circle nor a link out can be walked. What is
//! left out is counted with its reason; a walk never fails because of one entry.
//!
//! What is shown is shown in the thread of the caller. In a large tree a second one looks into folders ahead of it.

mod ahead;
mod ignored;
mod listing;
mod name;
mod pattern;
mod skipped;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::Scope;

use cap_std::fs::Dir;
use rustix::fs::{FileType, Mode, OFlags, openat};

use crate::error::{Error, Result};
use crate::workspace::{RelPath, Workspace, WorkspaceError};

use ahead::{Ahead, Place};
use ignored::Ignored;
use listing::{Fate, Listing, Scratch};
pub(crate) use name::last_part;
pub use pattern::{Pattern, PatternError, PatternSet};
pub use skipped::{Names, Skipped, escaped};

/// Most entries that one walk looks at.
pub const MOST_ENTRIES: u64 = 500_000;
/// How far below its start a walk goes: each level holds a handle open.
pub const DEEPEST: usize = 100;
pub use crate::workspace::SKIPPED_DIRECTORIES;

/// What a walk enters and what it leaves out.
#[derive(Clone, Default)]
pub struct Rules<'a> {
    /// Also what is in subfolders.
    pub recursive: bool,
    /// Also names that begin with a dot.
    pub include_hidden: bool,
    /// Names of folders that are not entered; the start is, whatever its name.
    pub skipped_directories: BTreeSet<OsString>,
    /// Not what the workspace's `.gitignore` files exclude, unless the start itself is excluded.
    pub respect_gitignore: bool,
    /// Whether a path of the workspace may not be touched at all.
    pub denied: Option<&'a (dyn Fn(&Path) -> bool + Sync)>,
}

impl std::fmt::Debug for Rules<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Rules")
            .field("recursive", &self.recursive)
            .field("include_hidden", &self.include_hidden)
            .field("skipped_directories", &self.skipped_directories)
            .field("respect_gitignore", &self.respect_gitignore)
            .finish_non_exhaustive()
    }
}

/// An entry that a walk came to.
#[derive(Debug)]
pub struct Item<'w> {
    /// Its path in the workspace.
    pub path: &'w RelPath,
    /// Its path from the start of the walk.
    pub below: &'w Path,
    /// What it is; a link is a link.
    pub file_type: FileType,
    /// The folder that it is in.
    pub dir: &'w Arc<Dir>,
    /// Its name there.
    pub name: &'w OsStr,
}

/// The folder where a walk begins.
#[derive(Debug)]
pub struct Start {
    /// As it was asked for: what is found goes on from there.
    pub path: RelPath,
    dir: Dir,
}

impl Start {
    /// Opens a folder; it may be reached through links that stay inside.
    ///
    /// # Errors
    /// When it is no folder, or is not there: the message names the nearest folder that is.
    pub fn open(workspace: &Workspace, path: RelPath) -> Result<Self> {
        Self::check(workspace, &path)?;
        let real = workspace.real(&path)?;
        let dir = workspace.open_without_links(&real).map_err(|error| error.told_as(&real, &path))?;
        Ok(Self { path, dir })
    }

    /// A folder that is open already.
    #[cfg(feature = "roots")]
    pub(crate) fn opened(path: RelPath, dir: Dir) -> Self {
        Self { path, dir }
    }

    /// Whether a path leads to a folder.
    pub(crate) fn check(workspace: &Workspace, path: &RelPath) -> Result<()> {
        match workspace.metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Ok(_) => {
                let parent = path.parent().unwrap_or_else(RelPath::root);
                Err(Error::failed(format!("`{path}` is not a folder; the one it is in is `{parent}`")))
            }
            Err(WorkspaceError::NotFound { .. }) => {
                let nearest = std::iter::successors(path.parent(), RelPath::parent)
                    .find(|path| workspace.exists(path).unwrap_or(false))
                    .unwrap_or_else(RelPath::root);
                Err(Error::failed(format!(
                    "`{path}` does not exist; the nearest folder that does is `{nearest}`"
                )))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Shows every entry below a folder to `visit`, folders before what is in them, until it breaks off. `check` runs once a
/// folder and can end the walk with an error.
///
/// # Errors
/// Those of `check` and `visit`.
pub fn walk(
    workspace: &Workspace,
    start: &Start,
    rules: &Rules<'_>,
    check: &dyn Fn() -> Result<()>,
    visit: &mut dyn FnMut(Item<'_>) -> Result<ControlFlow<()>>,
) -> Result<Skipped> {
    let ignored = if rules.respect_gitignore {
        Ignored::above(workspace.dir(), start.path.as_ref())
    } else {
        Ignored::default()
    };
    check()?;
    let mut scratch = Scratch::new();
    let mut skipped = Skipped::default();
    let Ok(first) = Listing::first(&start.dir, &start.path, ignored, rules, &mut scratch) else {
        skipped.unreadable.add(start.path.as_path());
        return Ok(skipped);
    };
    let ahead = Ahead::new(rules);
    std::thread::scope(|scope| {
        // Also when the caller breaks off or panics: the scope ends when the other thread does.
        let _end = AtEnd(&ahead);
        let path = RelPath::root();
        let mut walk = Walk {
            rules,
            start: start.path.length(),
            check,
            visit,
            ahead: &ahead,
            scope,
            place: Place::new(),
            path,
            scratch,
            looked_at: 0,
            skipped,
        };
        let first = Arc::new(first);
        ahead.add(&[], &first);
        let _ = walk.folder(&first)?;
        Ok(walk.skipped)
    })
}

struct AtEnd<'a>(&'a Ahead<'a>);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Opens a file by its name in a folder for reading. It follows no link and waits for nobody.
///
/// # Errors
/// Those of the system; also when it is no regular file.
pub fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
    open_sized(dir, name).map(|(file, _)| file)
}

/// As [`open_file`], with the size that the file has now.
///
/// # Errors
/// Those of [`open_file`].
pub fn open_sized(dir: &Dir, name: &OsStr) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

struct Walk<'a, 's, 'e> {
    rules: &'a Rules<'a>,
    /// Length of the path where it began.
    start: usize,
    check: &'a dyn Fn() -> Result<()>,
    visit: &'a mut dyn FnMut(Item<'_>) -> Result<ControlFlow<()>>,
    ahead: &'s Ahead<'s>,
    scope: &'s Scope<'s, 'e>,
    place: Place,
    /// Of the entry that it is at.
    path: RelPath,
    scratch: Scratch,
    looked_at: u64,
    skipped: Skipped,
}

impl Walk<'_, '_, '_> {
    fn folder(&mut self, listing: &Arc<Listing>) -> Result<ControlFlow<()>> {
        let mut number = 0;
        for entry in &listing.entries {
            let name = listing.name(entry);
            self.path.become_entry(&listing.path, name);
            let is_folder = entry.file_type.is_dir();
            match entry.fate {
                Fate::Shown => {}
                Fate::Hidden => self.skipped.hidden += 1,
                Fate::NotEntered => self.skipped.not_entered.add(self.path.as_path()),
                Fate::Ignored => self.skipped.ignored += 1,
                Fate::Denied => self.skipped.denied += 1,
            }
            if entry.fate != Fate::Shown {
                continue;
            }
            self.looked_at += 1;
            self.skipped.stopped = self.looked_at >= MOST_ENTRIES;
            let item = Item {
                path: &self.path,
                below: below(&self.path, self.start),
                file_type: entry.file_type,
                dir: &listing.dir,
                name,
            };
            let flow = (self.visit)(item)?;
            if flow.is_break() || self.skipped.stopped {
                return Ok(ControlFlow::Break(()));
            }
            if is_folder && self.rules.recursive {
                if listing.is_deepest() {
                    self.skipped.too_deep.add(self.path.as_path());
                    continue;
                }
                let flow = self.enter(listing, number)?;
                number += 1;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn enter(&mut self, listing: &Arc<Listing>, number: usize) -> Result<ControlFlow<()>> {
        (self.check)()?;
        self.place.push(number);
        let inner = self.ahead.folder(&self.place, listing, &mut self.scratch, self.scope);
        let flow = match inner {
            Some(inner) => self.folder(&inner)?,
            None => {
                self.skipped.unreadable.add(self.path.as_path());
                ControlFlow::Continue(())
            }
        };
        self.place.pop();
        Ok(flow)
    }
}

/// The part of a path after the folder where a walk began, whose path is so many bytes long.
fn below(path: &RelPath, start: usize) -> &Path {
    let bytes = path.as_path().as_os_str().as_bytes();
    let below = if start > 0 { bytes.get(start + 1..).unwrap_or_default() } else { bytes };
    Path::new(OsStr::from_bytes(below))
}
