//! The folders that an operator lets one tool of one agent use, and what in them it may not.
//!
//! Tools that take paths agree on all of it by taking in [`FolderSettings`] and asking [`Roots`] where a path leads. A
//! further root is opened only when a path names it, so that one that cannot be opened is in nobody's way. A path into
//! another root that may be used gets an error that names it. Nothing outside of the roots is looked at, and no message
//! tells what is there.

mod guard;
mod place;
mod reading;
mod settings;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::walk::Rules;
use crate::workspace::{RelPath, Workspace, WorkspaceError};

use guard::Guard;
pub use guard::folded;
pub use place::{Place, Root};
pub use reading::reading;
pub use settings::{Access, ExtraRoot, FolderSettings};

/// What a call wants to do at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Looking.
    Read,
    /// Changing.
    Write,
}

/// The folders of one call.
#[derive(Debug)]
pub struct Roots<'a> {
    settings: &'a FolderSettings,
    guard: Arc<Guard>,
    base: &'a Path,
    main: Arc<Root>,
}

impl<'a> Roots<'a> {
    /// Opens the main root: the workspace, or the folder that the settings name.
    ///
    /// # Errors
    /// When it cannot be opened, or a glob of the settings is none.
    pub fn open<C>(cx: &Cx<'a, C>, settings: &'a FolderSettings) -> Result<Self> {
        let base = cx.workspace_root();
        let workspace = match &settings.root {
            None => cx.workspace()?,
            Some(root) => open_root(base, &normal(&base.join(root)))?,
        };
        Ok(Self { settings, guard: settings.guard()?, base, main: Arc::new(Root::new(workspace, true)) })
    }

    /// Where a file is read or written: through links that stay inside.
    ///
    /// # Errors
    /// When the path leads nowhere that may be used, or can name no file.
    pub fn target(&self, given: &str, what: Use) -> Result<Place> {
        let (root, path) = self.located(given, what)?;
        no_folder(given, &path)?;
        self.through_links(root, path)
    }

    /// Where an entry stands, which may itself be a link. The entry may be a folder.
    ///
    /// # Errors
    /// When the path leads nowhere that may be used.
    pub fn entry(&self, given: &str, what: Use) -> Result<Place> {
        let (root, path) = self.located(given, what)?;
        let parent = path.parent().unwrap_or_else(RelPath::root);
        let real_parent = root.workspace.real(&parent).map_err(|error| self.refused_link(&root, error))?;
        let real = path.file_name().map_or_else(RelPath::root, |name| real_parent.child(name));
        self.allowed(Place { root, path, real })
    }

    /// As [`entry`](Self::entry), for what is no folder.
    ///
    /// # Errors
    /// As [`entry`](Self::entry), also when the path is written as a folder's.
    pub fn file_entry(&self, given: &str, what: Use) -> Result<Place> {
        let place = self.entry(given, what)?;
        no_folder(given, &place.path)?;
        Ok(place)
    }

    /// A folder or file to begin looking at; nothing given is the root.
    ///
    /// # Errors
    /// When the path leads nowhere that may be used.
    pub fn beginning(&self, given: &str) -> Result<Place> {
        let (root, path) = self.located(if given.is_empty() { "." } else { given }, Use::Read)?;
        self.through_links(root, path)
    }

    /// A place in a root that was opened before, where it leads through links.
    ///
    /// # Errors
    /// When it leads nowhere that may be used.
    pub fn through_links(&self, root: Arc<Root>, path: RelPath) -> Result<Place> {
        let real = root.workspace.real(&path).map_err(|error| self.refused_link(&root, error))?;
        self.allowed(Place { root, path, real })
    }

    /// Every root that may be changed, [without links](Workspace::without_links): what is taken back is taken back where it was
    /// done. A further one that cannot be opened has nothing to take back.
    pub fn writable(self) -> Vec<Workspace> {
        let further = self.settings.extra_roots.iter().filter(|root| root.access == Access::Write);
        let mut roots: Vec<Workspace> =
            further.filter_map(|root| Workspace::open(normal(&self.base.join(&root.path))).ok()).collect();
        roots.extend(Arc::into_inner(self.main).map(|main| main.workspace));
        roots.iter().map(Workspace::without_links).collect()
    }

    /// The glob that denies an entry of a folder that is not denied.
    pub fn denying_entry(&self, path: &Path) -> Option<&str> {
        self.guard.denying_entry(path)
    }

    /// What a walk enters and leaves out. `show_hidden` is for names that begin with a dot, `show_ignored` for what a
    /// `.gitignore` excludes; `denied` asks [`denying_entry`](Self::denying_entry).
    pub fn rules<'r>(
        &self,
        show_hidden: bool,
        show_ignored: bool,
        denied: &'r (dyn Fn(&Path) -> bool + Sync),
    ) -> Rules<'r> {
        Rules {
            recursive: true,
            include_hidden: show_hidden,
            skipped_directories: self.settings.skipped_directories.iter().map(Into::into).collect(),
            respect_gitignore: self.settings.respect_gitignore && !show_ignored,
            denied: Some(denied),
        }
    }

    fn allowed(&self, place: Place) -> Result<Place> {
        let denied =
            [&place.path, &place.real].into_iter().find_map(|path| self.guard.denying(path.as_path()));
        match denied {
            None => Ok(place),
            Some(glob) => Err(Error::refused(format!("`{place}` is denied by the configuration (`{glob}`)"))),
        }
    }

    /// The root that a path lies in, and the path there.
    fn located(&self, given: &str, what: Use) -> Result<(Arc<Root>, RelPath)> {
        let outside = match self.main.workspace.resolve(given) {
            Ok(path) => return Ok((Arc::clone(&self.main), path)),
            Err(error @ WorkspaceError::Outside { .. }) => error,
            Err(error) => return Err(nothing_done(error)),
        };
        let absolute = normal(&self.main.workspace.root().join(given));
        let Some((folder, access)) = self.further_root(&absolute) else {
            return Err(nothing_done(outside));
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
        let path = workspace.resolve(given).map_err(nothing_done)?;
        Ok((Arc::new(Root::new(workspace, false)), path))
    }

    /// The further root that a path on the whole machine lies in; the innermost of several.
    fn further_root(&self, absolute: &Path) -> Option<(PathBuf, Access)> {
        let roots =
            self.settings.extra_roots.iter().map(|root| (normal(&self.base.join(&root.path)), root.access));
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

fn nothing_done(error: WorkspaceError) -> Error {
    Error::from(error).executed(false)
}

fn no_folder(given: &str, path: &RelPath) -> Result<()> {
    if given.ends_with('/') && !path.is_root() {
        return Err(Error::failed(format!("`{given}` names a folder, not a file")).executed(false));
    }
    Ok(())
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
        let workspace = Workspace::open(base).map_err(nothing_done)?;
        let path = workspace.resolve(inside.to_str().filter(|path| !path.is_empty()).unwrap_or("."));
        path.and_then(|path| workspace.real(&path)).map_err(nothing_done)?;
    }
    Workspace::open(folder).map_err(|error| {
        let reason = match error {
            WorkspaceError::Root { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        Error::failed(format!(
            "the folder `{}` of the configuration cannot be opened: {reason}; one outside of the workspace must also be \
             listed under `[sandbox] read` or `write`",
            folder.display()
        ))
        .executed(false)
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
