//! Paths as text: from what somebody wrote to a path that is relative to the root and has no `..` in it.

use std::ffi::OsStr;
#[cfg(feature = "walk")]
use std::ffi::OsString;
use std::fmt;
use std::hash::{Hash, Hasher};
#[cfg(feature = "walk")]
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use super::{Result, WorkspaceError};

/// The longest name of one file or folder, in bytes; what nearly every file system holds.
pub const MAX_NAME_BYTES: usize = 255;

/// The longest path, in bytes; what Linux takes.
pub const MAX_PATH_BYTES: usize = 4096;

/// A path of a workspace: relative to its root, without `.` and `..`. From [`Workspace::resolve`](super::Workspace::resolve).
///
/// It displays as a model should read it: with `.` for the root itself.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct RelPath(PathBuf);

/// Each path is written in one way only, so that its text is enough: what compares part by part is slow with thousands of
/// long paths.
impl PartialEq for RelPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_os_str() == other.0.as_os_str()
    }
}

impl Hash for RelPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_os_str().hash(state);
    }
}

impl RelPath {
    /// The root itself.
    pub fn root() -> Self {
        Self(PathBuf::new())
    }

    /// Whether it is the root itself.
    pub fn is_root(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// As a path; `.` for the root.
    pub fn as_path(&self) -> &Path {
        if self.is_root() { Path::new(".") } else { &self.0 }
    }

    /// As a path; empty for the root.
    #[cfg(feature = "roots")]
    pub(crate) fn as_parts(&self) -> &Path {
        &self.0
    }

    /// Last part of the path; `None` for the root.
    pub fn file_name(&self) -> Option<&OsStr> {
        self.0.file_name()
    }

    /// The folder that holds it; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.split().map(|(parent, _)| parent)
    }

    pub(super) fn split(&self) -> Option<(Self, &OsStr)> {
        let name = self.0.file_name()?;
        Some((Self(self.0.parent().map(Path::to_owned).unwrap_or_default()), name))
    }

    /// An entry of this folder, by a name that the system gave.
    pub(crate) fn child(&self, name: &OsStr) -> Self {
        Self(self.0.join(name))
    }

    /// Becomes the path of an entry of a folder, in place: a walk of a large tree has no time to build each path anew.
    #[cfg(feature = "walk")]
    pub(crate) fn become_entry(&mut self, folder: &Self, name: &OsStr) {
        let mut text = std::mem::take(&mut self.0).into_os_string().into_vec();
        text.clear();
        if !folder.is_root() {
            text.extend_from_slice(folder.0.as_os_str().as_bytes());
            text.push(b'/');
        }
        text.extend_from_slice(name.as_bytes());
        self.0 = OsString::from_vec(text).into();
    }

    /// Length in bytes; 0 for the root.
    #[cfg(feature = "walk")]
    pub(crate) fn length(&self) -> usize {
        self.0.as_os_str().len()
    }

    /// A path that a system gave, if it is relative and has no `..` in it.
    #[cfg(feature = "undo")]
    pub(crate) fn from_system(path: &OsStr) -> Option<Self> {
        let normal = |component| matches!(component, Component::Normal(_));
        let path = Path::new(path);
        path.components().all(normal).then(|| Self(path.components().collect()))
    }

    /// From parts that hold no `.`, `..` or separator.
    pub(crate) fn from_parts(parts: PathBuf) -> Self {
        Self(parts)
    }
}

impl AsRef<Path> for RelPath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().display().fmt(formatter)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().fmt(formatter)
    }
}

/// See [`Workspace::resolve`](super::Workspace::resolve). Compared are whole parts, so that `/base/proj-evil` is not beneath
/// `/base/proj`.
pub(super) fn resolve(text: &str, roots: &[PathBuf]) -> Result<RelPath> {
    check_text(text)?;
    let outside = || WorkspaceError::Outside { path: text.to_owned() };
    let path = Path::new(text);
    let relative = if path.is_absolute() {
        roots.iter().find_map(|root| path.strip_prefix(root).ok()).ok_or_else(outside)?
    } else {
        path
    };
    let mut parts = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir if parts.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(RelPath(parts))
}

fn check_text(text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(WorkspaceError::Empty);
    }
    if text.contains('\0') {
        return Err(WorkspaceError::Nul { path: text.replace('\0', "\\0") });
    }
    if text.len() > MAX_PATH_BYTES {
        return Err(WorkspaceError::PathTooLong { length: text.len() });
    }
    match text.split('/').find(|name| name.len() > MAX_NAME_BYTES) {
        Some(name) => {
            Err(WorkspaceError::NameTooLong { start: name.chars().take(32).collect(), length: name.len() })
        }
        None => Ok(()),
    }
}
