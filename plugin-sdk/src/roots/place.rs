//! A root that was opened, a place in it, and how both are told to a model.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::walk::{Skipped, Start};
use crate::workspace::{RelPath, Workspace, WorkspaceError};

/// A folder that may be used.
#[derive(Debug)]
pub struct Root {
    /// Its files.
    pub workspace: Workspace,
    is_main: bool,
}

/// A path as it was asked for, and where it leads once links are followed.
#[derive(Clone, Debug)]
pub struct Place {
    /// The root that it is in.
    pub root: Arc<Root>,
    /// As it was asked for, in the root.
    pub path: RelPath,
    /// Without links.
    pub real: RelPath,
}

impl Root {
    pub(super) fn new(workspace: Workspace, is_main: bool) -> Self {
        Self { workspace, is_main }
    }

    /// A path as a model should read and write it.
    pub fn shown<'p>(&self, path: &'p RelPath) -> Cow<'p, Path> {
        if self.is_main { Cow::Borrowed(path.as_path()) } else { Cow::Owned(self.workspace.absolute(path)) }
    }

    /// What a walk of this root left out, with the names as a model should write them.
    pub fn shown_skipped(&self, mut skipped: Skipped) -> Skipped {
        if !self.is_main {
            let names = [&mut skipped.not_entered, &mut skipped.unreadable, &mut skipped.too_deep];
            for name in names.into_iter().flat_map(|names| &mut names.first) {
                *name = self.workspace.root().join(&*name);
            }
        }
        skipped
    }

    /// The error of an operation that had no effect.
    pub fn told(&self, error: WorkspaceError) -> Error {
        let is_permission = matches!(error, WorkspaceError::PermissionDenied { .. });
        let advice = if is_permission && !self.is_main {
            "; where the permissions of the file allow it, the folder is missing under `[sandbox] read` or `write`"
        } else {
            ""
        };
        self.placed(error.into(), advice)
    }

    /// An error about a path of this root. Nothing was done.
    fn placed(&self, error: Error, advice: &str) -> Error {
        if self.is_main {
            return error.executed(false);
        }
        let root = self.workspace.root().display();
        Error::new(error.kind(), format!("in `{root}`: {}{advice}", error.message())).executed(false)
    }
}

impl Place {
    /// The files of its root.
    pub fn workspace(&self) -> &Workspace {
        &self.root.workspace
    }

    /// The path as asked for and, if a link makes it another, the real one: rules hold for both.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.root.shown(&self.path).into_owned()];
        if self.real != self.path {
            paths.push(self.root.shown(&self.real).into_owned());
        }
        paths
    }

    /// The folder that is here, to walk it.
    ///
    /// # Errors
    /// When it is no folder, is not there, or may not be read.
    pub fn start(&self) -> Result<Start> {
        let start = Start::open(self.workspace(), self.path.clone());
        let start = start.map_err(|error| self.root.placed(error, ""))?;
        start.readable().map_err(|error| self.root.told(error))?;
        Ok(start)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.shown(&self.path).display().fmt(formatter)
    }
}
