//! Where the paths of a command line lead, by their text.
//!
//! Nothing is looked up but whether a folder that `cd` names is there. Links are not followed: what they lead to can change
//! before the command runs, and the sandbox sees where it really leads.

use std::path::{Component, Path, PathBuf};

/// Folders in which relative paths may be meant: a `cd` whose success is not known adds one.
const BASES: usize = 8;

/// Reading and writing them changes nothing.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"];

/// The workspace, and where in it the line is.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    roots: Vec<PathBuf>,
    /// Empty when it is not known.
    bases: Vec<PathBuf>,
}

impl Places {
    /// `roots` are the names of one folder; the line starts in `folder` below it.
    pub(crate) fn new(roots: impl IntoIterator<Item = PathBuf>, folder: &Path) -> Self {
        let roots: Vec<PathBuf> = roots.into_iter().collect();
        let bases = roots.first().map(|root| clean(&root.join(folder))).into_iter().collect();
        Self { roots, bases }
    }

    /// The path, when it may lie outside.
    pub(super) fn outside(&self, text: &str, is_home: bool) -> Option<PathBuf> {
        if is_home {
            return Some(text.into());
        }
        let is_descriptor =
            |number: &str| !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit());
        if DEVICES.contains(&text) || text.strip_prefix("/dev/fd/").is_some_and(is_descriptor) {
            return None;
        }
        let is_absolute = text.starts_with('/');
        if self.bases.is_empty() {
            let path = if is_absolute { clean(text.as_ref()) } else { text.into() };
            return (!is_absolute || self.inside(&path).is_none()).then_some(path);
        }
        self.bases.iter().map(|base| clean(&base.join(text))).find(|path| self.inside(path).is_none())
    }

    /// Whether the line certainly is in the workspace.
    pub(super) fn are_inside(&self) -> bool {
        !self.bases.is_empty() && self.bases.iter().all(|base| self.inside(base).is_some())
    }

    /// Whether a path may lead to what git keeps of a repository.
    pub(super) fn is_in_git(&self, text: &str) -> bool {
        let is_git = |path: &Path| path.iter().any(|part| part.eq_ignore_ascii_case(".git"));
        is_git(&clean(text.as_ref())) || self.bases.iter().any(|base| is_git(&clean(&base.join(text))))
    }

    /// The path in the workspace, when it certainly lies there.
    pub(super) fn relative(&self, text: &str) -> Option<PathBuf> {
        match self.bases.as_slice() {
            [base] => self.inside(&clean(&base.join(text))).map(Path::to_path_buf),
            _ => None,
        }
    }

    /// The line goes on in another folder; `surely`, if that folder is there now.
    pub(super) fn enter(&mut self, text: &str, surely: bool) {
        if self.bases.is_empty() && text.starts_with('/') {
            self.bases.push(clean(text.as_ref()));
        }
        let mut entered: Vec<PathBuf> = self.bases.iter().map(|base| clean(&base.join(text))).collect();
        if surely && entered.iter().all(|folder| folder.is_dir()) {
            self.bases = entered;
            return;
        }
        self.bases.append(&mut entered);
        self.bases.sort();
        self.bases.dedup();
        if self.bases.len() > BASES {
            self.lose();
        }
    }

    /// Where the line goes on is not known: no relative path is certainly inside.
    pub(super) fn lose(&mut self) {
        self.bases.clear();
    }

    fn inside<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.roots.iter().find_map(|root| path.strip_prefix(root).ok())
    }
}

/// The path without what leads back, by its text.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}
