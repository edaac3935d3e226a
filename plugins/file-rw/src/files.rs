//! From the path that somebody wrote to a place in one of the folders that an agent may use, and what to say when it is
//! none, or nothing is there.
//!
//! A further root is opened only when a path names it, so that one that cannot be opened is in nobody's way. Nothing outside
//! of the roots is looked at, and no message tells what is there.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::WorkspaceError;

use crate::alike;
use crate::config::{Access, FileConfig};
use crate::guard::Guard;

/// The context of a call of this plugin.
pub(crate) type Call<'a> = Cx<'a, FileConfig>;

/// What a call wants to do at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// The folders of one call.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) config: &'a FileConfig,
    pub(crate) guard: Arc<Guard>,
    base: &'a Path,
    main: Arc<Root>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) workspace: Workspace,
    is_main: bool,
}

/// A path as it was asked for, and where it leads once links are followed.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) root: Arc<Root>,
    pub(crate) path: RelPath,
    pub(crate) real: RelPath,
}

impl<'a> Files<'a> {
    pub(crate) fn open(cx: &'a Call<'a>, on_unless_told: bool) -> Result<Self> {
        let config = cx.config();
        if !config.enabled.unwrap_or(on_unless_told) {
            return Err(Error::refused(
                "this tool is switched off; its configuration has to set enabled = true",
            ));
        }
        let base = cx.workspace_root();
        let workspace = match &config.root {
            None => cx.workspace()?,
            Some(root) => open_root(base, &normal(&base.join(root)))?,
        };
        let main = Arc::new(Root { workspace, is_main: true });
        Ok(Self { config, guard: Guard::of(config)?, base, main })
    }

    /// Where a file is read or written: through links that stay inside.
    pub(crate) fn target(&self, given: &str, what: Use) -> Result<Place> {
        let (root, path) = self.located(given, what)?;
        if given.ends_with('/') && !path.is_root() {
            return Err(nothing_done(Error::failed(format!("`{given}` names a folder, not a file"))));
        }
        let real = root.workspace.real(&path).map_err(|error| self.refused_link(&root, error))?;
        let place = Place { root, path, real };
        self.allowed(&place)?;
        self.allowed_extension(&place)?;
        Ok(place)
    }

    /// Where a file is read that may be meant although its name is written with other characters that look the same.
    pub(crate) fn readable(&self, given: &str) -> Result<(Place, Option<String>)> {
        let place = self.target(given, Use::Read)?;
        if !matches!(place.root.workspace.metadata(&place.path), Err(WorkspaceError::NotFound { .. })) {
            return Ok((place, None));
        }
        match alike::same_to_the_eye(&place.root.workspace, &place.path).as_slice() {
            [] => Ok((place, None)),
            [one] => {
                let note = format!("`{given}` is not there; `{one}` is, which looks the same");
                let real =
                    place.root.workspace.real(one).map_err(|error| self.refused_link(&place.root, error))?;
                let found = Place { root: place.root, path: one.clone(), real };
                self.allowed(&found)?;
                self.allowed_extension(&found)?;
                Ok((found, Some(note)))
            }
            several => {
                let names: Vec<String> = several.iter().map(|path| format!("`{path:?}`")).collect();
                let text = format!("`{given}` does not exist; looking the same are {}", names.join(", "));
                Err(nothing_done(Error::failed(text)))
            }
        }
    }

    /// Where an entry stands, which may itself be a link. The entry may be a folder.
    pub(crate) fn entry(&self, given: &str, what: Use) -> Result<Place> {
        let (root, path) = self.located(given, what)?;
        let parent = path.parent().unwrap_or_else(RelPath::root);
        let real_parent = root.workspace.real(&parent).map_err(|error| self.refused_link(&root, error))?;
        let real = match (real_parent.as_path().to_str(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) => {
                let joined = Path::new(parent).join(name);
                root.workspace.resolve(joined.to_str().unwrap_or(given)).map_err(nothing_done_from)?
            }
            _ => path.clone(),
        };
        let place = Place { root, path, real };
        self.allowed(&place)?;
        Ok(place)
    }

    /// As [`entry`](Self::entry), for what is no folder.
    pub(crate) fn file_entry(&self, given: &str, what: Use) -> Result<Place> {
        let place = self.entry(given, what)?;
        if given.ends_with('/') && !place.path.is_root() {
            return Err(nothing_done(Error::failed(format!("`{given}` names a folder, not a file"))));
        }
        self.allowed_extension(&place)?;
        Ok(place)
    }

    /// A folder or file to begin looking at; nothing given is the root.
    pub(crate) fn beginning(&self, given: &str) -> Result<Place> {
        let (root, path) = self.located(if given.is_empty() { "." } else { given }, Use::Read)?;
        let real = root.workspace.real(&path).map_err(|error| self.refused_link(&root, error))?;
        let place = Place { root, path, real };
        self.allowed(&place)?;
        Ok(place)
    }

    /// Every root that may be changed. A further one that cannot be opened has nothing to take back.
    pub(crate) fn writable(self) -> Vec<Workspace> {
        let further = self.config.extra_roots.iter().filter(|root| root.access == Access::Write);
        let mut roots: Vec<Workspace> =
            further.filter_map(|root| Workspace::open(normal(&self.base.join(&root.path))).ok()).collect();
        roots.extend(Arc::into_inner(self.main).map(|main| main.workspace));
        roots
    }

    /// Whether files of this ending may be used.
    pub(crate) fn allowed_extension(&self, place: &Place) -> Result<()> {
        let is_allowed = |path: &RelPath| self.guard.allows_extension(path.as_path());
        if place.path.is_root() || (is_allowed(&place.path) && is_allowed(&place.real)) {
            return Ok(());
        }
        Err(Error::refused(format!(
            "`{place}`: this agent may only use files that end in {}",
            self.guard.extensions()
        )))
    }

    fn allowed(&self, place: &Place) -> Result<()> {
        let denied =
            [&place.path, &place.real].into_iter().find_map(|path| self.guard.denying(path.as_path()));
        match denied {
            None => Ok(()),
            Some(glob) => Err(Error::refused(format!("`{place}` is denied by the configuration (`{glob}`)"))),
        }
    }

    fn located(&self, given: &str, what: Use) -> Result<(Arc<Root>, RelPath)> {
        if what == Use::Write && !self.config.allow_write {
            return Err(Error::refused("this agent may not change files (allow_write = false)"));
        }
        let outside = match self.main.workspace.resolve(given) {
            Ok(path) => return Ok((Arc::clone(&self.main), path)),
            Err(error @ WorkspaceError::Outside { .. }) => error,
            Err(error) => return Err(nothing_done_from(error)),
        };
        let absolute = normal(&self.main.workspace.root().join(given));
        let Some((folder, access)) = self.further_root(&absolute) else {
            return Err(nothing_done_from(outside));
        };
        if !Path::new(given).is_absolute() {
            return Err(in_root(given, &folder, &absolute));
        }
        if what == Use::Write && access == Access::Read {
            return Err(Error::refused(format!(
                "`{given}` lies in `{}`, where this agent may only read",
                folder.display()
            )));
        }
        let workspace = open_root(self.base, &folder)?;
        let path = workspace.resolve(given).map_err(nothing_done_from)?;
        Ok((Arc::new(Root { workspace, is_main: false }), path))
    }

    /// The further root that a path on the whole machine lies in; the innermost of several.
    fn further_root(&self, absolute: &Path) -> Option<(PathBuf, Access)> {
        let roots =
            self.config.extra_roots.iter().map(|root| (normal(&self.base.join(&root.path)), root.access));
        roots
            .filter(|(folder, _)| absolute.starts_with(folder))
            .max_by_key(|(folder, _)| folder.as_os_str().len())
    }

    /// The error of a link that leads out, which names the root that it leads into if that may be used.
    fn refused_link(&self, root: &Root, error: WorkspaceError) -> Error {
        if let WorkspaceError::LinkOutside { path } = &error
            && let Ok(target) = root.workspace.dir().read_link_contents(path)
        {
            let parent = path.parent().unwrap_or_else(RelPath::root);
            let absolute = normal(&root.workspace.absolute(&parent).join(target));
            if let Some((folder, _)) = self.further_root(&absolute) {
                return in_root(&path.to_string(), &folder, &absolute);
            }
        }
        root.told(error)
    }
}

impl Root {
    /// A path as a model should read and write it.
    pub(crate) fn shown<'p>(&self, path: &'p RelPath) -> Cow<'p, Path> {
        if self.is_main { Cow::Borrowed(path.as_path()) } else { Cow::Owned(self.workspace.absolute(path)) }
    }

    /// The error of an operation that had no effect.
    pub(crate) fn told(&self, error: WorkspaceError) -> Error {
        let is_permission = matches!(error, WorkspaceError::PermissionDenied { .. });
        let error = nothing_done_from(error);
        if self.is_main {
            return error;
        }
        let root = self.workspace.root().display();
        let advice = if is_permission {
            "; where the permissions of the file allow it, the folder is missing under `[sandbox] read` or `write`"
        } else {
            ""
        };
        nothing_done(Error::new(error.kind(), format!("in `{root}`: {}{advice}", error.message())))
    }

    /// The error of a read, with the names that could have been meant when the file is not there.
    pub(crate) fn explained(&self, error: WorkspaceError) -> Error {
        let alike = match &error {
            WorkspaceError::NotFound { path } => alike::alike(&self.workspace, path),
            _ => Vec::new(),
        };
        let error = self.told(error);
        if alike.is_empty() {
            return error;
        }
        let names: Vec<String> =
            alike.iter().map(|path| format!("`{}`", self.shown(path).display())).collect();
        nothing_done(Error::new(error.kind(), format!("{}; there is {}", error.message(), names.join(", "))))
    }
}

impl Place {
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.root.workspace
    }

    /// The path as asked for and, if a link makes it another, the real one: rules hold for both.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.root.shown(&self.path).into_owned()];
        if self.real != self.path {
            paths.push(self.root.shown(&self.real).into_owned());
        }
        paths
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.shown(&self.path).display().fmt(formatter)
    }
}

/// The same error, saying that the call had no effect.
pub(crate) fn nothing_done(error: Error) -> Error {
    error.executed(false)
}

fn nothing_done_from(error: WorkspaceError) -> Error {
    nothing_done(error.into())
}

fn in_root(given: &str, root: &Path, absolute: &Path) -> Error {
    Error::refused(format!(
        "`{given}` lies in another folder that may be used, `{}`; give the path as `{}`",
        root.display(),
        absolute.display()
    ))
}

fn open_root(base: &Path, folder: &Path) -> Result<Workspace> {
    // A folder of the workspace is one that an agent could have exchanged for a link.
    if let Ok(inside) = folder.strip_prefix(base) {
        let workspace = Workspace::open(base).map_err(nothing_done_from)?;
        let path = workspace.resolve(inside.to_str().filter(|path| !path.is_empty()).unwrap_or("."));
        path.and_then(|path| workspace.real(&path)).map_err(nothing_done_from)?;
    }
    Workspace::open(folder).map_err(|error| {
        let reason = match error {
            WorkspaceError::Root { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        nothing_done(Error::failed(format!(
            "the folder `{}` of the configuration cannot be opened: {reason}; one outside of the workspace must also be \
             listed under `[sandbox] read` or `write`",
            folder.display()
        )))
    })
}

/// A path without `.` and `..`, worked out in the text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
