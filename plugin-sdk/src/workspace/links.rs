//! Following links by hand, where the system's own way beneath a handle is too strict: it refuses an absolute link even when
//! it points inside.
//!
//! The path found here is a proposal. It is opened beneath the root's handle all the same, so that exchanging a part of it
//! meanwhile leads to an error and never out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::leads_out;
use super::{RelPath, Result, Workspace, WorkspaceError};

/// How many links one path may lead through; as many as Linux allows.
const MAX_LINKS: usize = 40;

/// What to do when the last part of a path is a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// Where a path leads.
pub(super) struct Followed {
    /// Without links, except for the last part under [`Last::Keep`].
    pub(super) path: RelPath,
    /// The path that was asked for ends in a link to nothing.
    pub(super) dangling: bool,
}

impl Workspace {
    /// Does `work` to a path; when that fails because the path leads out, follows its links by hand and tries once more.
    pub(super) fn through_links<T>(
        &self,
        path: &RelPath,
        last: Last,
        work: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<T> {
        let result = match work(path.as_path()) {
            Err(error) if leads_out(&error) => work(self.follow(path, last)?.path.as_path()),
            result => result,
        };
        result.map_err(|error| WorkspaceError::from_io(path, error))
    }

    /// Follows the links of a path inside the workspace. What does not exist is taken as it is written.
    pub(super) fn follow(&self, path: &RelPath, last: Last) -> Result<Followed> {
        let mut pending: VecDeque<OsString> =
            path.as_path().components().filter_map(normal).map(OsString::from).collect();
        let mut real = PathBuf::new();
        let mut links = 0;
        let mut dangling = false;
        while let Some(part) = pending.pop_front() {
            if part == ".." {
                // From a link's target only; `real` has no links, so that its parent is what its text says.
                if !real.pop() {
                    return Err(WorkspaceError::LinkOutside { path: path.clone() });
                }
                continue;
            }
            real.push(part);
            let metadata = match self.dir.symlink_metadata(&real) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    dangling = links > 0;
                    continue;
                }
                Err(error) => return Err(WorkspaceError::from_io(path, error)),
            };
            if !metadata.is_symlink() || (pending.is_empty() && last == Last::Keep) {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(WorkspaceError::TooManyLinks { path: path.clone() });
            }
            let target =
                self.dir.read_link_contents(&real).map_err(|error| WorkspaceError::from_io(path, error))?;
            let inside = if target.is_absolute() {
                let Some(inside) = self.roots.iter().find_map(|root| target.strip_prefix(root).ok()) else {
                    return Err(WorkspaceError::LinkOutside { path: RelPath::from_parts(real) });
                };
                real.clear();
                inside
            } else {
                real.pop();
                target.as_path()
            };
            for component in inside.components().rev() {
                match component {
                    Component::Normal(name) => pending.push_front(name.to_owned()),
                    Component::ParentDir => pending.push_front("..".into()),
                    _ => {}
                }
            }
        }
        Ok(Followed { path: RelPath::from_parts(real), dangling })
    }
}

fn normal(component: Component<'_>) -> Option<&std::ffi::OsStr> {
    match component {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}
