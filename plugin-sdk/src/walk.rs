//! Walks a folder of the workspace by directory handles, in sorted order, for tools that list or search.
//!
//! Every folder is opened beneath the handle of the one above it, so that a folder exchanged for a link during the walk
//! leads nowhere else. Links are entries, never followed, so that neither a circle nor a link out can be walked. What is
//! left out is counted with its reason; a walk never fails because of one entry.

mod ignored;
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

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, openat, statat};

use crate::error::{Error, Result};
use crate::workspace::{OWN_FOLDER, RelPath, Workspace, WorkspaceError};

use ignored::Ignored;
pub use pattern::{Pattern, PatternError, PatternSet};
pub use skipped::{Names, Skipped, escaped};

/// Most entries that one walk looks at.
pub const MOST_ENTRIES: u64 = 500_000;
/// How far below its start a walk goes: each level holds a handle open.
pub const DEEPEST: usize = 100;
/// What is read of a folder's list at once: most lists are shorter.
const LIST_BYTES: usize = 32 * 1024;
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
        let real = workspace.real(&path)?;
        Self::open_real(workspace, path, &real)
    }

    /// The same where it is known already where the path really leads: to no other folder, if that was exchanged since.
    pub(crate) fn open_real(workspace: &Workspace, path: RelPath, real: &RelPath) -> Result<Self> {
        match workspace.metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                let parent = path.parent().unwrap_or_else(RelPath::root);
                return Err(Error::failed(format!(
                    "`{path}` is not a folder; the one it is in is `{parent}`"
                )));
            }
            Err(WorkspaceError::NotFound { .. }) => {
                let nearest = std::iter::successors(path.parent(), RelPath::parent)
                    .find(|path| workspace.exists(path).unwrap_or(false))
                    .unwrap_or_else(RelPath::root);
                return Err(Error::failed(format!(
                    "`{path}` does not exist; the nearest folder that does is `{nearest}`"
                )));
            }
            Err(error) => return Err(error.into()),
        }
        let dir = workspace.open_without_links(real).map_err(|error| error.told_as(real, &path))?;
        Ok(Self { path, dir })
    }

    /// Whether what is in it can be told at all: a walk would count it as one folder of many that cannot.
    #[cfg(feature = "roots")]
    pub(crate) fn readable(&self) -> crate::workspace::Result<()> {
        self.dir.entries().map(drop).map_err(|source| WorkspaceError::from_io(&self.path, source))
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
    let mut walk = Walk {
        rules,
        ignored,
        start: start.path.as_path(),
        check,
        visit,
        list: Vec::with_capacity(LIST_BYTES),
        looked_at: 0,
        skipped: Skipped::default(),
    };
    match open_folder(&start.dir, OsStr::new(".")) {
        Ok(dir) => {
            let _ = walk.folder(&Arc::new(dir), &start.path, 0)?;
        }
        Err(_) => walk.skipped.unreadable.add(start.path.as_path()),
    }
    Ok(walk.skipped)
}

/// Opens a file by its name in a folder for reading. It follows no link and waits for nobody.
///
/// # Errors
/// Those of the system; also when it is no regular file.
pub fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

struct Walk<'a> {
    rules: &'a Rules<'a>,
    ignored: Ignored,
    start: &'a Path,
    check: &'a dyn Fn() -> Result<()>,
    visit: &'a mut dyn FnMut(Item<'_>) -> Result<ControlFlow<()>>,
    /// Room for a part of a folder's list.
    list: Vec<u8>,
    looked_at: u64,
    skipped: Skipped,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &Arc<Dir>, path: &RelPath, depth: usize) -> Result<ControlFlow<()>> {
        (self.check)()?;
        let Ok(mut names) = names(dir, &mut self.list) else {
            self.skipped.unreadable.add(path.as_path());
            return Ok(ControlFlow::Continue(()));
        };
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let may_have_rules =
            self.rules.respect_gitignore && names.iter().any(|(name, _)| name == ignored::FILE_NAME);
        let has_rules = may_have_rules && self.ignored.enter(dir, path.as_path());
        let mut flow = ControlFlow::Continue(());
        for (name, file_type) in names {
            flow = self.entry(dir, &name, &path.child(&name), file_type, depth)?;
            if flow.is_break() {
                break;
            }
        }
        if has_rules {
            self.ignored.leave();
        }
        Ok(flow)
    }

    fn entry(
        &mut self,
        dir: &Arc<Dir>,
        name: &OsStr,
        path: &RelPath,
        file_type: FileType,
        depth: usize,
    ) -> Result<ControlFlow<()>> {
        let is_folder = file_type.is_dir();
        if self.is_left_out(name, path.as_path(), is_folder) {
            return Ok(ControlFlow::Continue(()));
        }
        self.looked_at += 1;
        self.skipped.stopped = self.looked_at >= MOST_ENTRIES;
        let below = path.as_path().strip_prefix(self.start).unwrap_or(path.as_path());
        let flow = (self.visit)(Item { path, below, file_type, dir, name })?;
        if flow.is_break() || self.skipped.stopped {
            return Ok(ControlFlow::Break(()));
        }
        if !is_folder || !self.rules.recursive {
            return Ok(flow);
        }
        if depth + 1 >= DEEPEST {
            self.skipped.too_deep.add(path.as_path());
            return Ok(flow);
        }
        match open_folder(dir, name) {
            Ok(inner) => self.folder(&Arc::new(inner), path, depth + 1),
            Err(_) => {
                self.skipped.unreadable.add(path.as_path());
                Ok(flow)
            }
        }
    }

    fn is_left_out(&mut self, name: &OsStr, path: &Path, is_folder: bool) -> bool {
        if name == OWN_FOLDER {
            // Not counted: nobody should be led there.
        } else if is_hidden(name) && !self.rules.include_hidden {
            self.skipped.hidden += 1;
        } else if is_folder && self.rules.skipped_directories.contains(name) {
            self.skipped.not_entered.add(path);
        } else if self.ignored.matches(path, is_folder) {
            self.skipped.ignored += 1;
        } else if self.rules.denied.is_some_and(|denied| denied(path)) {
            self.skipped.denied += 1;
        } else {
            return false;
        }
        true
    }
}

/// Opens a folder by its name in another one, ready to be listed. It follows no link.
fn open_folder(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::from_std_file(openat(dir, name, flags, Mode::empty())?.into()))
}

/// What is in a folder. As few calls of the system as can be: of a large tree they are what takes the time.
fn names(dir: &Dir, list: &mut Vec<u8>) -> io::Result<Vec<(OsString, FileType)>> {
    let mut names = Vec::new();
    list.clear();
    let mut entries = RawDir::new(dir, list.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if matches!(name.as_bytes(), b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems do not tell.
            FileType::Unknown => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                // An entry that vanishes between its listing and the look at its kind is as good as never listed.
                Err(_) => continue,
            },
            known => known,
        };
        names.push((name.to_owned(), file_type));
    }
    Ok(names)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}
