//! What the tools of this plugin may touch: the folders that an operator lets one use, with what only these tools have, such
//! as endings and the ban on changes.

use std::path::Path;
use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::{Roots, folded};
use foehn_plugin_sdk::walk::Rules;
use foehn_plugin_sdk::workspace::WorkspaceError;

use crate::alike;
use crate::config::FileConfig;

pub(crate) use foehn_plugin_sdk::roots::{Place, Root, Use};

/// The context of a call of this plugin.
pub(crate) type Call<'a> = Cx<'a, FileConfig>;

/// The folders of one call.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) config: &'a FileConfig,
    roots: Roots<'a>,
    /// Folded, without their dots.
    extensions: Vec<String>,
}

impl<'a> Files<'a> {
    pub(crate) fn open(cx: &'a Call<'_>, on_unless_told: bool) -> Result<Self> {
        let config = cx.config();
        if !config.enabled.unwrap_or(on_unless_told) {
            return Err(Error::refused(
                "this tool is switched off; its configuration has to set enabled = true",
            ));
        }
        let endings = config.allowed_extensions.iter().map(|ending| ending.trim_start_matches('.'));
        let extensions = endings.map(|ending| folded(ending).into_owned()).collect();
        Ok(Self { config, roots: Roots::open(cx, &config.folders)?, extensions })
    }

    /// Where a file is read or written: through links that stay inside.
    pub(crate) fn target(&self, given: &str, what: Use) -> Result<Place> {
        self.may(what)?;
        let place = self.roots.target(given, what)?;
        self.allowed_extension(&place)?;
        Ok(place)
    }

    /// Where a file is read that may be meant although its name is written with other characters that look the same.
    pub(crate) fn readable(&self, given: &str) -> Result<(Place, Option<String>)> {
        let place = self.target(given, Use::Read)?;
        if !matches!(place.metadata(), Err(WorkspaceError::NotFound { .. })) {
            return Ok((place, None));
        }
        match alike::same_to_the_eye(&place.root.workspace, &place.path).as_slice() {
            [] => Ok((place, None)),
            [one] => {
                let note = format!("`{given}` is not there; `{one}` is, which looks the same");
                let found = self.roots.through_links(Arc::clone(&place.root), one.clone())?;
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
        self.may(what)?;
        self.roots.entry(given, what)
    }

    /// As [`entry`](Self::entry), for what is no folder.
    pub(crate) fn file_entry(&self, given: &str, what: Use) -> Result<Place> {
        self.may(what)?;
        let place = self.roots.file_entry(given, what)?;
        self.allowed_extension(&place)?;
        Ok(place)
    }

    /// A folder or file to begin looking at; nothing given is the root.
    pub(crate) fn beginning(&self, given: &str) -> Result<Place> {
        self.roots.beginning(given)
    }

    /// Every root that may be changed.
    pub(crate) fn writable(self) -> Vec<Workspace> {
        self.roots.writable()
    }

    /// The glob that denies an entry of a folder that is not denied.
    pub(crate) fn denying_entry(&self, path: &Path) -> Option<&str> {
        self.roots.denying_entry(path)
    }

    /// What the tools that go through folders enter and leave out; see [`Roots::rules`].
    pub(crate) fn rules<'r>(
        &self,
        show_hidden: bool,
        show_ignored: bool,
        denied: &'r (dyn Fn(&Path) -> bool + Sync),
    ) -> Rules<'r> {
        self.roots.rules(show_hidden, show_ignored, denied)
    }

    /// Whether a file of this name may be used.
    pub(crate) fn allows_extension(&self, path: &Path) -> bool {
        self.extensions.is_empty()
            || path.extension().is_some_and(|ending| {
                self.extensions.iter().any(|allowed| *allowed == folded(&ending.to_string_lossy()))
            })
    }

    /// Whether files of this ending may be used.
    pub(crate) fn allowed_extension(&self, place: &Place) -> Result<()> {
        let is_allowed = |path: &RelPath| self.allows_extension(path.as_path());
        if place.path.is_root() || (is_allowed(&place.path) && is_allowed(&place.real)) {
            return Ok(());
        }
        let endings: Vec<String> = self.extensions.iter().map(|ending| format!("`.{ending}`")).collect();
        Err(Error::refused(format!(
            "`{place}`: this agent may only use files that end in {}",
            endings.join(", ")
        )))
    }

    fn may(&self, what: Use) -> Result<()> {
        if what == Use::Write && !self.config.allow_write {
            return Err(Error::refused("this agent may not change files (allow_write = false)"));
        }
        Ok(())
    }
}

/// The error of a read, with the names that could have been meant when the file is not there.
pub(crate) fn explained(root: &Root, error: WorkspaceError) -> Error {
    let alike = match &error {
        WorkspaceError::NotFound { path } => alike::alike(&root.workspace, path),
        _ => Vec::new(),
    };
    let error = root.told(error);
    if alike.is_empty() {
        return error;
    }
    let names: Vec<String> = alike.iter().map(|path| format!("`{}`", root.shown(path).display())).collect();
    nothing_done(Error::new(error.kind(), format!("{}; there is {}", error.message(), names.join(", "))))
}

/// The same error, saying that the call had no effect.
pub(crate) fn nothing_done(error: Error) -> Error {
    error.executed(false)
}
