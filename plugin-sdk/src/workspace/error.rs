//! What can go wrong with a file, in words that a model can act on and that say nothing about what lies outside.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use super::{MAX_NAME_BYTES, MAX_PATH_BYTES, RelPath};

/// Why a file operation did not happen. Paths in it are those that were asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what each one is")]
pub enum WorkspaceError {
    #[error("workspace folder `{}` cannot be opened: {source}", root.display())]
    Root { root: PathBuf, source: io::Error },
    #[error("the path is empty; write `.` for the workspace itself")]
    Empty,
    #[error("invalid path `{path}`: it holds a NUL character")]
    Nul { path: String },
    #[error("invalid path: it is {length} bytes long, at most {MAX_PATH_BYTES} are allowed")]
    PathTooLong { length: usize },
    #[error(
        "invalid path: the name `{start}...` is {length} bytes long, at most {MAX_NAME_BYTES} are allowed"
    )]
    NameTooLong { start: String, length: usize },
    #[error("`{path}` lies outside of the workspace")]
    Outside { path: String },
    #[error("`{path}` is a link that leads out of the workspace")]
    LinkOutside { path: RelPath },
    #[error("`{path}` is a link to something that does not exist; nothing is created through it")]
    DanglingLink { path: RelPath },
    #[error("`{path}` leads through too many links")]
    TooManyLinks { path: RelPath },
    #[error("the workspace holds more than {most} files and folders")]
    TooManyEntries { most: usize },
    #[error("this cannot be done to the workspace folder itself")]
    IsTheRoot,
    #[error("`{path}` does not exist")]
    NotFound { path: RelPath },
    #[error("`{path}` is not a directory, or a part of it is not")]
    NotADirectory { path: RelPath },
    #[error("`{path}` is a directory")]
    IsADirectory { path: RelPath },
    #[error("`{path}` is not a regular file but a device, a pipe or a socket")]
    NotAFile { path: RelPath },
    #[error("`{path}` already exists")]
    AlreadyExists { path: RelPath },
    #[error("`{path}` was changed by somebody else meanwhile and is as they left it; read it again")]
    Changed { path: RelPath },
    #[error("directory `{path}` is not empty")]
    NotEmpty { path: RelPath },
    #[error("no permission for `{path}`")]
    PermissionDenied { path: RelPath },
    #[error("`{path}` lies on a file system where nothing can be changed (it is mounted read-only)")]
    ReadOnly { path: RelPath },
    #[error("the disk is full or the quota used up; `{path}` was not written")]
    DiskFull { path: RelPath },
    #[error("`{path}` is longer than {limit} bytes")]
    TooLarge { path: RelPath, limit: u64 },
    #[error("`{path}`: {source}")]
    Io { path: RelPath, source: io::Error },
}

impl WorkspaceError {
    /// Whether the border of the workspace is what forbids it, rather than the state of the files.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Outside { .. } | Self::LinkOutside { .. } | Self::DanglingLink { .. })
    }

    /// The same error, where it is about `real`, told as one about the path that was asked for.
    pub(crate) fn told_as(mut self, real: &RelPath, asked: &RelPath) -> Self {
        match &mut self {
            Self::LinkOutside { path }
            | Self::DanglingLink { path }
            | Self::TooManyLinks { path }
            | Self::NotFound { path }
            | Self::NotADirectory { path }
            | Self::IsADirectory { path }
            | Self::NotAFile { path }
            | Self::AlreadyExists { path }
            | Self::Changed { path }
            | Self::NotEmpty { path }
            | Self::PermissionDenied { path }
            | Self::ReadOnly { path }
            | Self::DiskFull { path }
            | Self::TooLarge { path, .. }
            | Self::Io { path, .. }
                if path == real =>
            {
                *path = asked.clone();
            }
            _ => {}
        }
        self
    }

    pub(crate) fn from_io(path: &RelPath, source: io::Error) -> Self {
        let path = path.clone();
        if leads_out(&source) {
            return Self::LinkOutside { path };
        }
        match Errno::from_io_error(&source) {
            Some(Errno::LOOP) => return Self::TooManyLinks { path },
            // A socket cannot be opened, nor a device that nobody serves.
            Some(Errno::NXIO) => return Self::NotAFile { path },
            _ => {}
        }
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::IsADirectory => Self::IsADirectory { path },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { path },
            io::ErrorKind::DirectoryNotEmpty => Self::NotEmpty { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }
}

/// cap-std reports a path that leads out as a permission error of its own making: one without an error number.
pub(super) fn leads_out(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}
