//! Folders by what they are instead of by where they stand, for work that goes through a whole tree.
//!
//! The methods that take a path follow links that stay inside, which is what somebody wants who names one. Between a look at
//! a tree and its removal, though, a folder of it can be exchanged for a link to another part of the workspace, or for
//! another folder; by path that would be emptied. A known folder is opened without following any link, and must still be the
//! one that was looked at.

use std::ffi::OsStr;
use std::io;
use std::path::Component;

use cap_std::fs::{Dir, MetadataExt};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::{Entry, RelPath, Result, Workspace, WorkspaceError, entries};

/// A folder as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFolder {
    path: RelPath,
    device: u64,
    inode: u64,
}

/// A folder that is held open: what is done in it is done there, wherever it may be moved.
#[derive(Debug)]
pub struct OpenFolder {
    path: RelPath,
    dir: Dir,
}

impl Workspace {
    /// Looks into a folder. No part of the path may be a link: take it from [`real`](Workspace::real).
    ///
    /// # Errors
    /// [`Changed`](WorkspaceError::Changed) when a part of it is a link, and so on.
    pub fn look_into(&self, path: &RelPath) -> Result<(KnownFolder, Vec<Entry>)> {
        let dir = self.open_without_links(path)?;
        Ok((identity(&dir, path)?, entries(&dir, path)?))
    }

    /// Opens a folder that was looked at before.
    ///
    /// # Errors
    /// [`Changed`](WorkspaceError::Changed) when another folder or a link is in its place, and so on.
    pub fn open_known(&self, folder: &KnownFolder) -> Result<OpenFolder> {
        let path = folder.path.clone();
        let dir = self.open_without_links(&path)?;
        if identity(&dir, &path)? != *folder {
            return Err(WorkspaceError::Changed { path });
        }
        Ok(OpenFolder { path, dir })
    }

    pub(crate) fn open_without_links(&self, path: &RelPath) -> Result<Dir> {
        const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
        let at_once = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let opened = match openat2(&*self.dir, path.as_path(), FLAGS, Mode::empty(), at_once) {
            // An older kernel, or one that is told not to: part by part.
            Err(Errno::NOSYS | Errno::PERM) => {
                let mut opened = openat(&*self.dir, ".", FLAGS, Mode::empty());
                for component in path.as_path().components() {
                    if let (Ok(folder), Component::Normal(name)) = (&opened, component) {
                        opened = openat(folder, name, FLAGS | OFlags::NOFOLLOW, Mode::empty());
                    }
                }
                opened
            }
            opened => opened,
        };
        match opened {
            Ok(folder) => Ok(Dir::from_std_file(folder.into())),
            // What was a folder when its path was made is none any more.
            Err(Errno::LOOP | Errno::NOTDIR) => Err(WorkspaceError::Changed { path: path.clone() }),
            Err(errno) => Err(WorkspaceError::from_io(path, errno.into())),
        }
    }
}

impl OpenFolder {
    /// Removes an entry of it: a link itself, a file, or an empty folder if `is_folder` says so.
    ///
    /// # Errors
    /// [`NotEmpty`](WorkspaceError::NotEmpty), [`IsADirectory`](WorkspaceError::IsADirectory), and so on.
    pub fn remove(&self, name: &OsStr, is_folder: bool) -> Result<()> {
        let removed: io::Result<()> =
            if is_folder { self.dir.remove_dir(name) } else { self.dir.remove_file(name) };
        removed.map_err(|source| WorkspaceError::from_io(&self.path.child(name), source))
    }
}

fn identity(dir: &Dir, path: &RelPath) -> Result<KnownFolder> {
    let metadata = dir.dir_metadata().map_err(|source| WorkspaceError::from_io(path, source))?;
    Ok(KnownFolder { path: path.clone(), device: metadata.dev(), inode: metadata.ino() })
}
