//! The `.gitignore` files of the workspace, as git reads them: each rules what is below its own folder, a deeper one first.
//!
//! Files above the workspace, the user's own excludes and `.git/info/exclude` are not read: what a walk finds must follow
//! from what is in the workspace.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

pub(super) const FILE_NAME: &str = ".gitignore";
/// A longer one is not a list of rules.
const LARGEST_BYTES: u64 = 1024 * 1024;
const BOM: char = '\u{FEFF}';

/// The rules that hold in one folder, its own first and then those that come down to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored {
    innermost: Option<Arc<Level>>,
}

#[derive(Debug)]
struct Level {
    /// How much of a path comes before what the rules are about.
    skipped_bytes: usize,
    rules: Gitignore,
    outer: Ignored,
}

impl Ignored {
    /// The rules that come down to the folder `path` from those above it. None do when `path` itself is ignored: who names an
    /// ignored folder wants to see it.
    pub(super) fn above(root: &Dir, path: &Path) -> Self {
        let mut ignored = Self::default();
        let mut folder = PathBuf::new();
        for component in path.components().filter(|component| *component != Component::CurDir) {
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder.as_path() };
            if let Ok(dir) = root.open_dir(place) {
                ignored = ignored.within(&dir, folder.as_os_str().len());
            }
            folder.push(component);
            if ignored.matches(&folder, true) {
                return Self::default();
            }
        }
        ignored
    }

    /// What holds in a folder, whose path is so many bytes long.
    pub(super) fn within(&self, dir: &Dir, path_bytes: usize) -> Self {
        let Some(rules) = read(dir) else { return self.clone() };
        let skipped_bytes = if path_bytes > 0 { path_bytes + 1 } else { 0 };
        Self { innermost: Some(Arc::new(Level { skipped_bytes, rules, outer: self.clone() })) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.innermost.is_none()
    }

    /// Whether a path below the folder is ignored. What is below an ignored folder is not told: a walk does not get there.
    pub(super) fn matches(&self, path: &Path, is_folder: bool) -> bool {
        let bytes = path.as_os_str().as_bytes();
        let mut next = self.innermost.as_ref();
        while let Some(level) = next {
            let below = bytes.get(level.skipped_bytes..).unwrap_or_default();
            match level.rules.matched(Path::new(OsStr::from_bytes(below)), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = level.outer.innermost.as_ref(),
            }
        }
        false
    }
}

/// The rules in a folder. What cannot be read or understood is no rule, as with git.
fn read(dir: &Dir) -> Option<Gitignore> {
    // Opening must not wait for the other end of a pipe.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = dir.open_with(FILE_NAME, &options).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.trim_start_matches(BOM).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
