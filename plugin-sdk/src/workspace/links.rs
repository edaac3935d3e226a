//! Following links by hand, where the system's own way beneath a handle is too strict: it refuses an absolute link even when
//! it points inside.
//!
//! The path found here is a proposal. It is opened beneath the root's handle all the same, so that exchanging a part of it
//! meanwhile leads to an error and never out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::OFlags;
use rustix::io::Errno;

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

/// What links on the way are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    Followed,
    /// A sign that somebody changed the path.
    Refused,
}

/// Where a path leads.
pub(super) struct Followed {
    /// Without links, except for the last part under [`Last::Keep`].
    pub(super) path: RelPath,
    /// The path that was asked for ends in a link to nothing.
    pub(super) dangling: bool,
}

impl Workspace {
    /// Does `work` beneath a handle; when that fails because the path leads out, follows its links by hand and tries once
    /// more. Where links are refused, the handle is that of the folder, and `work` may find a link only as the last part.
    pub(super) fn through_links<T>(
        &self,
        path: &RelPath,
        last: Last,
        work: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<T> {
        if self.links == Links::Refused {
            return self.past_links(path, last, work);
        }
        let result = match work(&self.dir, path.as_path()) {
            Err(error) if leads_out(&error) => work(&self.dir, self.follow(path, last)?.path.as_path()),
            result => result,
        };
        result.map_err(|error| WorkspaceError::from_io(path, error))
    }

    fn past_links<T>(
        &self,
        path: &RelPath,
        last: Last,
        work: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<T> {
        let (dir, name) = match path.split() {
            Some((parent, name)) => {
                let opened = self.open_without_links(&parent);
                (opened.map_err(|error| error.told_as(&parent, path))?, Path::new(name))
            }
            None => (self.open_without_links(path)?, path.as_path()),
        };
        work(&dir, name).map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) if last == Last::Follow => WorkspaceError::Changed { path: path.clone() },
            _ => WorkspaceError::from_io(path, error),
        })
    }

    /// The flag with which a file is opened: a link may have come to the place since anybody looked.
    pub(super) fn no_follow(&self) -> OFlags {
        if self.links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() }
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
