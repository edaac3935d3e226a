//! A root that was opened, a place in it, and how both are told to a model.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Metadata;

use crate::error::{Error, Result};
use crate::walk::{Skipped, Start};
use crate::workspace::{RelPath, Result as FileResult, Workspace, WorkspaceError};

/// A folder that may be used.
#[derive(Debug)]
pub struct Root {
    /// Its files, by paths that lead through links.
    pub workspace: Workspace,
    without_links: Workspace,
    is_main: bool,
}

/// A path as it was asked for, and where it leads once links are followed.
///
/// The rules were held against both. What is done here is done at the real path and through no link, so that exchanging a
/// folder for a link since leads to an error, and to no other place of the root. Errors name the path that was asked for.
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
        Self { without_links: workspace.without_links(), workspace, is_main }
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
    /// The files of its root, for [`real`](Self::real) paths: nothing is done through a link.
    pub fn files(&self) -> &Workspace {
        &self.root.without_links
    }

    /// As [`Workspace::open_file`].
    ///
    /// # Errors
    /// As there.
    pub fn open_file(&self) -> FileResult<File> {
        self.files().open_file(&self.real).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, limit: u64) -> FileResult<Vec<u8>> {
        self.files().read(&self.real, limit).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::metadata`].
    ///
    /// # Errors
    /// As there.
    pub fn metadata(&self) -> FileResult<Metadata> {
        self.files().metadata(&self.real).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::symlink_metadata`].
    ///
    /// # Errors
    /// As there.
    pub fn symlink_metadata(&self) -> FileResult<Metadata> {
        self.files().symlink_metadata(&self.real).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::create_new`].
    ///
    /// # Errors
    /// As there.
    pub fn create_new(&self, bytes: &[u8]) -> FileResult<()> {
        self.files().create_new(&self.real, bytes).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::replace`].
    ///
    /// # Errors
    /// As there.
    pub fn replace(&self, before: &[u8], after: &[u8]) -> FileResult<()> {
        self.files().replace(&self.real, before, after).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::copy_new`].
    ///
    /// # Errors
    /// As there.
    pub fn copy_new(&self, to: &Self) -> FileResult<u64> {
        let copied = self.files().copy_new(&self.real, to.files(), &to.real);
        copied.map_err(|error| to.asked(self.asked(error)))
    }

    /// As [`Workspace::remove_file`].
    ///
    /// # Errors
    /// As there.
    pub fn remove_file(&self) -> FileResult<()> {
        self.files().remove_file(&self.real).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::create_dir_all`].
    ///
    /// # Errors
    /// As there.
    pub fn create_dir_all(&self) -> FileResult<()> {
        self.files().create_dir_all(&self.real).map_err(|error| self.asked(error))
    }

    /// As [`Workspace::rename`].
    ///
    /// # Errors
    /// As there.
    pub fn rename(&self, to: &Self) -> FileResult<()> {
        let renamed = self.files().rename(&self.real, &to.real);
        renamed.map_err(|error| to.asked(self.asked(error)))
    }

    /// An entry further down, by its path from here, in which there is no link.
    pub fn below(&self, path: &Path) -> Self {
        let beneath = |folder: &RelPath| RelPath::from_parts(folder.as_parts().join(path));
        Self { root: Arc::clone(&self.root), path: beneath(&self.path), real: beneath(&self.real) }
    }

    fn asked(&self, error: WorkspaceError) -> WorkspaceError {
        error.told_as(&self.real, &self.path)
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
        Start::check(&self.root.workspace, &self.path).map_err(|error| self.root.placed(error, ""))?;
        let dir = self.files().open_without_links(&self.real);
        let dir = dir.map_err(|error| self.root.told(self.asked(error)))?;
        Ok(Start::opened(self.path.clone(), dir))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.shown(&self.path).display().fmt(formatter)
    }
}
