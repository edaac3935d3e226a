//! The files that a call may touch, reached by directory handles only.
//!
//! A path that a model wrote is never joined to the root and handed to the system as text: between such a check and the
//! open that follows, any part of the path can be exchanged for a link. Here every step is made beneath an open handle
//! (`cap-std`, on Linux one `openat2` with `RESOLVE_BENEATH`), so that what leads out fails by construction.
//!
//! Links that stay inside work at any depth, also absolute ones. Who has looked where a path leads, and decided something by
//! that, goes on [without links](Workspace::without_links). What it refuses to do: follow a link out, write through a
//! link to nothing, open what is no regular file, and say anything about what lies outside.

mod error;
mod known;
mod links;
mod path;
mod up_to_now;
mod write;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

pub use cap_std;
pub use error::WorkspaceError;
pub use known::{KnownFolder, OpenFolder};
pub use path::{MAX_NAME_BYTES, MAX_PATH_BYTES, RelPath};
pub use up_to_now::UpToNow;

use links::{Last, Links};

/// The folder of a workspace that Foehn and its plugins keep their own things in: no part of the work, and in no listing.
pub const OWN_FOLDER: &str = ".foehn";

/// Names of folders that are seldom meant: what a tool's configuration begins with.
pub const SKIPPED_DIRECTORIES: [&str; 6] = [".git", "node_modules", "target", "bin", "obj", OWN_FOLDER];

/// What a method of [`Workspace`] returns.
pub type Result<T> = std::result::Result<T, WorkspaceError>;

/// An opened root folder.
///
/// ```no_run
/// use foehn_plugin_sdk::prelude::*;
/// # fn run(cx: &Cx<'_>) -> Result<()> {
/// let workspace = cx.workspace()?;
/// let path = workspace.resolve("src/main.rs")?;
/// let bytes = workspace.read(&path, 1024 * 1024)?;
/// workspace.write_atomic(&path, &bytes)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Workspace {
    dir: Arc<Dir>,
    /// The root as it was given, made absolute, and in resolved form: absolute paths may begin with either.
    roots: Arc<[PathBuf; 2]>,
    links: Links,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path in the workspace.
    pub path: RelPath,
    /// What it is; a link is a link, whatever it leads to.
    pub kind: EntryKind,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A folder.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A device, pipe or socket.
    Other,
}

impl Workspace {
    /// Opens a root folder; it may itself be reached through links.
    ///
    /// # Errors
    /// [`Root`](WorkspaceError::Root) when it is no folder that can be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let problem = |source| WorkspaceError::Root { root: root.to_owned(), source };
        let given = std::path::absolute(root).map_err(problem)?;
        let canonical = root.canonicalize().map_err(problem)?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(problem)?;
        Ok(Self { dir: Arc::new(dir), roots: Arc::new([given, canonical]), links: Links::Followed })
    }

    /// The same folder, in which no part of a path may be a link, for paths that were taken from [`real`](Workspace::real): if
    /// one of them has become a link since, whatever is asked for fails with [`Changed`](WorkspaceError::Changed), and a rule
    /// that the path was held against cannot be passed by.
    pub fn without_links(&self) -> Self {
        Self { links: Links::Refused, ..self.clone() }
    }

    /// The root folder, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.roots[1]
    }

    /// The handle of the root folder, for what has no method here. It confines as well, but knows nothing of absolute paths.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Makes a path of this workspace from one that somebody wrote: relative, or absolute beneath the root. `..` is worked
    /// out in the text. Nothing is looked up: the path need not exist.
    ///
    /// # Errors
    /// [`Outside`](WorkspaceError::Outside), or what is wrong with the text itself.
    pub fn resolve(&self, path: &str) -> Result<RelPath> {
        path::resolve(path, &*self.roots)
    }

    /// The path on the whole machine, for a message or a program's argument. Never open a file by it: use the methods here.
    pub fn absolute(&self, path: &RelPath) -> PathBuf {
        if path.is_root() { self.root().to_owned() } else { self.root().join(path.as_path()) }
    }

    /// Where a path really leads once its links are followed, for rules about places.
    ///
    /// # Errors
    /// When a link leads out.
    pub fn real(&self, path: &RelPath) -> Result<RelPath> {
        Ok(self.follow(path, Last::Follow)?.path)
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// [`NotFound`](WorkspaceError::NotFound), [`IsADirectory`](WorkspaceError::IsADirectory),
    /// [`NotAFile`](WorkspaceError::NotAFile) (it never waits for the other end of a pipe), and so on.
    pub fn open_file(&self, path: &RelPath) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::NONBLOCK | self.no_follow()).bits().cast_signed());
        let file = self.through_links(path, Last::Follow, |dir, path| dir.open_with(path, &options))?;
        let metadata = file.metadata().map_err(|source| WorkspaceError::from_io(path, source))?;
        only_file(path, &metadata)?;
        Ok(file.into_std())
    }

    /// Reads a whole file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`TooLarge`](WorkspaceError::TooLarge) when it is longer; else as [`open_file`](Workspace::open_file).
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(path)?
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| WorkspaceError::from_io(path, source))?;
        if bytes.len() as u64 > limit {
            return Err(WorkspaceError::TooLarge { path: path.clone(), limit });
        }
        Ok(bytes)
    }

    /// Metadata of what a path leads to.
    ///
    /// # Errors
    /// When there is nothing, or a link leads out.
    pub fn metadata(&self, path: &RelPath) -> Result<Metadata> {
        let found = match self.links {
            Links::Followed => self.through_links(path, Last::Follow, |dir, path| dir.metadata(path))?,
            Links::Refused => self.symlink_metadata(path)?,
        };
        if found.is_symlink() {
            return Err(WorkspaceError::Changed { path: path.clone() });
        }
        Ok(found)
    }

    /// Metadata of the entry itself, which may be a link.
    ///
    /// # Errors
    /// When there is nothing.
    pub fn symlink_metadata(&self, path: &RelPath) -> Result<Metadata> {
        self.through_links(path, Last::Keep, |dir, path| dir.symlink_metadata(path))
    }

    /// The text of a link.
    ///
    /// # Errors
    /// When it is none.
    pub fn read_link(&self, path: &RelPath) -> Result<PathBuf> {
        self.through_links(path, Last::Keep, |dir, path| dir.read_link_contents(path))
    }

    /// Whether a path leads to something.
    ///
    /// # Errors
    /// When that cannot be told: a link leads out, or a folder may not be searched.
    pub fn exists(&self, path: &RelPath) -> Result<bool> {
        match self.metadata(path) {
            Ok(_) => Ok(true),
            Err(WorkspaceError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The entries of a folder, sorted by name.
    ///
    /// # Errors
    /// [`NotADirectory`](WorkspaceError::NotADirectory), and so on.
    pub fn read_dir(&self, path: &RelPath) -> Result<Vec<Entry>> {
        entries(&self.folder(path, false)?, path)
    }

    /// Opens a folder, as a handle to start a program in or to hand to a library that works beneath one.
    ///
    /// # Errors
    /// [`NotADirectory`](WorkspaceError::NotADirectory), and so on.
    pub fn open_directory(&self, path: &RelPath) -> Result<OwnedFd> {
        Ok(self.folder(path, false)?.into_std_file().into())
    }

    /// Opens the folder at `path`, making it and its parents when `make` says so.
    fn folder(&self, path: &RelPath, make: bool) -> Result<Dir> {
        let Some((parent, name)) = path.split() else {
            return self.dir.try_clone().map_err(|source| WorkspaceError::from_io(path, source));
        };
        let opened = match self.links {
            Links::Followed => self.through_links(path, Last::Follow, |dir, path| dir.open_dir(path)),
            Links::Refused => self.open_without_links(path),
        };
        match opened {
            Err(WorkspaceError::NotFound { .. }) if make => {
                let parent = self.folder(&parent, true)?;
                match parent.create_dir(name) {
                    Ok(()) => {}
                    // Somebody else made it, which is as good; or it is a link to nothing, which the open below tells.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(WorkspaceError::from_io(path, error)),
                }
                if self.links == Links::Refused {
                    return self.open_without_links(path);
                }
                match parent.open_dir(name) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        Err(WorkspaceError::DanglingLink { path: path.clone() })
                    }
                    opened => opened.map_err(|source| WorkspaceError::from_io(path, source)),
                }
            }
            opened => opened,
        }
    }

    /// The opened folder that holds an entry, and the entry's name in it.
    fn parent<'p>(&self, path: &'p RelPath, make: bool) -> Result<(Dir, &'p OsStr)> {
        let (parent, name) = path.split().ok_or(WorkspaceError::IsTheRoot)?;
        Ok((self.folder(&parent, make)?, name))
    }
}

/// What is in the folder at `path`, sorted by name.
fn entries(dir: &Dir, path: &RelPath) -> Result<Vec<Entry>> {
    let problem = |source| WorkspaceError::from_io(path, source);
    let mut entries = Vec::new();
    for entry in dir.entries().map_err(problem)? {
        let entry = entry.map_err(problem)?;
        let kind = entry.file_type().map_err(problem)?;
        let kind = if kind.is_dir() {
            EntryKind::Directory
        } else if kind.is_file() {
            EntryKind::File
        } else if kind.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Other
        };
        entries.push(Entry { path: path.child(&entry.file_name()), kind });
    }
    entries.sort();
    Ok(entries)
}

/// Refuses everything but a regular file.
fn only_file(path: &RelPath, metadata: &Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(WorkspaceError::IsADirectory { path: path.clone() });
    }
    if !metadata.is_file() {
        return Err(WorkspaceError::NotAFile { path: path.clone() });
    }
    Ok(())
}
