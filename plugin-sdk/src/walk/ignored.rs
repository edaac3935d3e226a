//! The `.gitignore` files of the workspace, as git reads them: each rules what is below its own folder, a deeper one first.
//!
//! Files above the workspace, the user's own excludes and `.git/info/exclude` are not read: what a walk finds must follow
//! from what is in the workspace.

use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

pub(super) const FILE_NAME: &str = ".gitignore";
/// A longer one is not a list of rules.
const LARGEST_BYTES: u64 = 1024 * 1024;
const BOM: char = '\u{FEFF}';

/// The rules that hold at one point of a walk, outermost first.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// The folder that the rules are relative to.
    folder: PathBuf,
    rules: Gitignore,
}

impl Ignored {
    /// The rules that come down to the folder `path` from those above it. None do when `path` itself is ignored: who names an
    /// ignored folder wants to see it.
    pub(super) fn above(root: &Dir, path: &Path) -> Self {
        let mut ignored = Self::default();
        let mut folder = PathBuf::new();
        for component in path.components() {
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder.as_path() };
            if let Ok(dir) = root.open_dir(place) {
                ignored.enter(&dir, place);
            }
            folder.push(component);
            if ignored.matches(&folder, true) {
                return Self::default();
            }
        }
        ignored
    }

    /// Adds the rules of a folder, if it has any; then [`leave`](Self::leave) takes them away.
    pub(super) fn enter(&mut self, dir: &Dir, path: &Path) -> bool {
        let Some(rules) = read(dir) else { return false };
        let folder = if path == Path::new(".") { PathBuf::new() } else { path.to_owned() };
        self.levels.push(Level { folder, rules });
        true
    }

    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Whether a path of the workspace is ignored. What is below an ignored folder is not told: a walk does not get there.
    pub(super) fn matches(&self, path: &Path, is_folder: bool) -> bool {
        for level in self.levels.iter().rev() {
            let Ok(below) = path.strip_prefix(&level.folder) else { continue };
            match level.rules.matched(below, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
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
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches(BOM).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
