//! Changing files. A file is written whole beside its old self and put in place by a rename: a reader sees the old or the new
//! one, a failure leaves the old one, and another name of the same file (a hard link, maybe from outside) keeps its bytes.
//!
//! Kept: permission bits, and owner and group where the system lets them be set. Not kept: access lists and extended
//! attributes. Nothing is flushed to the disk: a power cut may undo the last writes.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{
    Access, AtFlags, FlockOperation, Gid, Mode, OFlags, Uid, accessat, fchmod, fchown, flock, openat,
};
use rustix::io::Errno;

use super::links::{Followed, Last, Links};
use super::up_to_now::SMALL;
use super::{RelPath, Result, Workspace, WorkspaceError, only_file};

/// What a new file is created with, before the user's mask takes its share.
const NEW_FILE_MODE: u32 = 0o666;
/// What a replacement is created with: nobody else may look into it before it has the permissions of the old file.
const PRIVATE_MODE: u32 = 0o600;
/// Permission bits, and those that make a program run as its owner or group.
const MODE_BITS: u32 = 0o7777;
const SET_ID_BITS: u32 = 0o6000;
const COMPARED_BYTES: usize = 64 * 1024;

impl Workspace {
    /// Writes a file that does not exist yet, with the folders above it.
    ///
    /// # Errors
    /// [`AlreadyExists`](WorkspaceError::AlreadyExists) when anything is there, be it a link to nothing; and so on.
    pub fn create_new(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        let problem = |source| WorkspaceError::from_io(path, source);
        let (dir, name) = self.parent(path, true)?;
        let mut file = create(&dir, name, NEW_FILE_MODE).map_err(problem)?;
        let unfinished = Unfinished { dir: &dir, name, keep: false };
        file.write_all(bytes).map_err(problem)?;
        unfinished.keep();
        Ok(())
    }

    /// Writes a file whole, new or in the place of an old one, with the folders above it. A link that stays inside remains,
    /// and what it leads to is written.
    ///
    /// # Errors
    /// [`DanglingLink`](WorkspaceError::DanglingLink), [`IsADirectory`](WorkspaceError::IsADirectory),
    /// [`PermissionDenied`](WorkspaceError::PermissionDenied) (also for a file marked read-only),
    /// [`DiskFull`](WorkspaceError::DiskFull), and so on; the old file is then as it was.
    pub fn write_atomic(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        self.put(path, None, bytes)
    }

    /// Writes a file whole as [`write_atomic`](Workspace::write_atomic) does, but only if it holds `before` until the end.
    /// Of several that replace the same file by this method one wins, and the others are told.
    ///
    /// # Errors
    /// [`Changed`](WorkspaceError::Changed) when somebody else changed it meanwhile; else as
    /// [`write_atomic`](Workspace::write_atomic).
    pub fn replace(&self, path: &RelPath, before: &[u8], after: &[u8]) -> Result<()> {
        self.put(path, Some(before), after)
    }

    fn put(&self, path: &RelPath, before: Option<&[u8]>, bytes: &[u8]) -> Result<()> {
        let problem = |source| WorkspaceError::from_io(path, source);
        let target = match self.links {
            Links::Followed => self.follow(path, Last::Follow)?,
            Links::Refused => Followed { path: path.clone(), dangling: false },
        };
        if target.dangling {
            return Err(WorkspaceError::DanglingLink { path: path.clone() });
        }
        let (dir, name) = self.parent(&target.path, true)?;
        let old = match dir.symlink_metadata(name) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(problem(error)),
        };
        if let Some(old) = &old {
            if old.is_symlink() {
                return Err(WorkspaceError::Changed { path: path.clone() });
            }
            only_file(path, old)?;
            // A rename would not ask for it: it needs the folder's permission alone.
            accessat(&dir, name, Access::WRITE_OK, AtFlags::EACCESS)
                .map_err(|errno| problem(errno.into()))?;
        }
        let temporary = temporary_name();
        let temporary = OsStr::new(&temporary);
        let mode = if old.is_some() { PRIVATE_MODE } else { NEW_FILE_MODE };
        let mut file = create(&dir, temporary, mode).map_err(problem)?;
        let unfinished = Unfinished { dir: &dir, name: temporary, keep: false };
        file.write_all(bytes).map_err(problem)?;
        if let Some(old) = &old {
            take_over(&file, old).map_err(problem)?;
        }
        let _lock = match before {
            Some(before) => {
                let lock = Lock::of(&dir);
                if !holds(&dir, name, before).map_err(problem)? {
                    return Err(WorkspaceError::Changed { path: path.clone() });
                }
                lock
            }
            None => None,
        };
        dir.rename(temporary, &dir, name).map_err(problem)?;
        unfinished.keep();
        Ok(())
    }

    /// Puts a file where there was one before: with these bytes and exactly these permission bits, which nobody who lacks
    /// them can look past meanwhile. What is at the path now, a file at most, is replaced.
    ///
    /// # Errors
    /// [`IsADirectory`](WorkspaceError::IsADirectory), [`DiskFull`](WorkspaceError::DiskFull), and so on.
    pub fn put_back(&self, path: &RelPath, bytes: &[u8], mode: u32) -> Result<()> {
        let problem = |source| WorkspaceError::from_io(path, source);
        let (dir, name) = self.parent(path, true)?;
        let temporary = temporary_name();
        let temporary = OsStr::new(&temporary);
        let mut file = create(&dir, temporary, PRIVATE_MODE).map_err(problem)?;
        let unfinished = Unfinished { dir: &dir, name: temporary, keep: false };
        file.write_all(bytes).map_err(problem)?;
        fchmod(&file, Mode::from_raw_mode(mode & MODE_BITS)).map_err(|errno| problem(errno.into()))?;
        dir.rename(temporary, &dir, name).map_err(problem)?;
        unfinished.keep();
        Ok(())
    }

    /// Sets the permission bits of a file or folder. A link is not followed: it has none.
    ///
    /// # Errors
    /// When it is not ours, and so on.
    pub fn set_mode(&self, path: &RelPath, mode: u32) -> Result<()> {
        let problem = |source| WorkspaceError::from_io(path, source);
        let (dir, name) = self.parent(path, false)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed());
        let opened = dir.open_with(name, &options).map_err(problem)?;
        fchmod(&opened, Mode::from_raw_mode(mode & MODE_BITS)).map_err(|errno| problem(errno.into()))
    }

    /// Makes a link with exactly this text, which may lead anywhere: following it later is what is confined.
    ///
    /// # Errors
    /// [`AlreadyExists`](WorkspaceError::AlreadyExists), and so on.
    pub fn create_link(&self, path: &RelPath, target: &Path) -> Result<()> {
        let (dir, name) = self.parent(path, true)?;
        dir.symlink_contents(target, name).map_err(|source| WorkspaceError::from_io(path, source))
    }

    /// Copies a regular file to a path where nothing is, maybe of another workspace, with its permissions as far as the
    /// user's mask lets them: as it is now, if it goes on growing. Returns the number of bytes.
    ///
    /// # Errors
    /// [`AlreadyExists`](WorkspaceError::AlreadyExists) when anything is there, and so on; nothing is left then.
    pub fn copy_new(&self, from: &RelPath, to: &Self, new: &RelPath) -> Result<u64> {
        let source = self.open_file(from)?;
        let metadata = source.metadata().map_err(|source| WorkspaceError::from_io(from, source))?;
        let mode = std::os::unix::fs::MetadataExt::mode(&metadata) & MODE_BITS & !SET_ID_BITS;
        // Of a file that goes on growing, what it is now; not as `UpToNow`, so that the kernel may copy by itself.
        let mut source = source.take(metadata.len().max(SMALL));
        let problem = |source| WorkspaceError::from_io(new, source);
        let (dir, name) = to.parent(new, true)?;
        let mut file = create(&dir, name, mode).map_err(problem)?.into_std();
        let unfinished = Unfinished { dir: &dir, name, keep: false };
        let bytes = io::copy(&mut source, &mut file).map_err(problem)?;
        unfinished.keep();
        Ok(bytes)
    }

    /// Removes a file; of a link, the link itself.
    ///
    /// # Errors
    /// [`NotFound`](WorkspaceError::NotFound), [`IsADirectory`](WorkspaceError::IsADirectory), and so on.
    pub fn remove_file(&self, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent(path, false)?;
        dir.remove_file(name).map_err(|source| WorkspaceError::from_io(path, source))
    }

    /// Makes a folder and those above it; no error when it is there already.
    ///
    /// # Errors
    /// [`NotADirectory`](WorkspaceError::NotADirectory) when a file is in the way, and so on.
    pub fn create_dir_all(&self, path: &RelPath) -> Result<()> {
        self.folder(path, true).map(drop)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// [`NotEmpty`](WorkspaceError::NotEmpty), and so on.
    pub fn remove_dir(&self, path: &RelPath) -> Result<()> {
        let (dir, name) = self.parent(path, false)?;
        dir.remove_dir(name).map_err(|source| WorkspaceError::from_io(path, source))
    }

    /// Gives a file or folder another name; of a link, the link itself. The folders above the new name are made.
    ///
    /// # Errors
    /// [`AlreadyExists`](WorkspaceError::AlreadyExists) when anything has the new name, and so on.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        let (from_dir, from_name) = self.parent(from, false)?;
        // Looked at first, so that a wrong old name makes no folders.
        from_dir.symlink_metadata(from_name).map_err(|source| WorkspaceError::from_io(from, source))?;
        let (to_dir, to_name) = self.parent(to, true)?;
        rename_new(&from_dir, from_name, &to_dir, to_name)
            .map_err(|source| WorkspaceError::from_io(to, source))
    }
}

/// Keeps others that compare and replace a file of the same folder out, as long as it lives.
struct Lock {
    /// Closing it ends the lock.
    _folder: OwnedFd,
}

impl Lock {
    /// `None` where folders cannot be locked: comparing must then do alone.
    fn of(dir: &Dir) -> Option<Self> {
        // A handle of its own: the given one is good for paths only.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(dir, ".", flags, Mode::empty()).ok()?;
        flock(&folder, FlockOperation::LockExclusive).ok()?;
        Some(Self { _folder: folder })
    }
}

/// Whether the entry is still a regular file of just these bytes.
fn holds(dir: &Dir, name: &OsStr, expected: &[u8]) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = match openat(dir, name, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT | Errno::LOOP) => return Ok(false),
        Err(errno) => return Err(errno.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != expected.len() as u64 {
        return Ok(false);
    }
    let mut rest = expected;
    let mut piece = vec![0; COMPARED_BYTES.min(expected.len() + 1)];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Ok(rest.is_empty());
        }
        match rest.strip_prefix(&piece[..length]) {
            Some(left) => rest = left,
            None => return Ok(false),
        }
    }
}

/// A file that is removed again unless it is finished.
struct Unfinished<'a> {
    dir: &'a Dir,
    name: &'a OsStr,
    keep: bool,
}

impl Unfinished<'_> {
    fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.keep {
            // The error that led here is the one to tell.
            let _ = self.dir.remove_file(self.name);
        }
    }
}

fn create(dir: &Dir, name: &OsStr, mode: u32) -> io::Result<File> {
    dir.open_with(name, OpenOptions::new().write(true).create_new(true).mode(mode))
}

/// Gives the new file the owner, group and permissions of the old one.
fn take_over(new: &File, old: &Metadata) -> io::Result<()> {
    let mut mode = old.mode() & MODE_BITS;
    let made = new.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        let owned = fchown(new, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())));
        if owned.is_err() {
            // A program that ran as somebody else must not begin to run as us.
            mode &= !SET_ID_BITS;
        }
    }
    // After the owner: a change of owner takes the set-id bits away.
    fchmod(new, Mode::from_raw_mode(mode))?;
    Ok(())
}

fn temporary_name() -> String {
    // Every `RandomState` has keys of its own: unpredictable enough to meet no other writer, and `create_new` sees to the rest.
    format!(".foehn-{:016x}.tmp", RandomState::new().build_hasher().finish())
}

#[cfg(target_os = "linux")]
fn rename_new(from_dir: &Dir, from: &OsStr, to_dir: &Dir, to: &OsStr) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it.
        Err(Errno::INVAL | Errno::NOSYS) => rename_checked(from_dir, from, to_dir, to),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
use rename_checked as rename_new;

fn rename_checked(from_dir: &Dir, from: &OsStr, to_dir: &Dir, to: &OsStr) -> io::Result<()> {
    if to_dir.symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from_dir.rename(from, to_dir, to)
}
