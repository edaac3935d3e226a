//! What a walk left out and why, and how that is told on lines of a result.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::DEEPEST;

/// Most names that are kept of what was not entered or not readable; the rest is counted.
const MOST_NAMES: usize = 5;

/// What a walk left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Entries whose names begin with a dot.
    pub hidden: u64,
    /// Entries that a `.gitignore` excludes.
    pub ignored: u64,
    /// Entries that must not be touched.
    pub denied: u64,
    /// Folders whose names are on the list of those that are seldom meant.
    pub not_entered: Names,
    /// Folders, and files that a tool came to, that could not be read.
    pub unreadable: Names,
    /// Folders that lie too deep.
    pub too_deep: Names,
    /// The walk ended at [`MOST_ENTRIES`](super::MOST_ENTRIES).
    pub stopped: bool,
}

impl Skipped {
    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// One line for each kind, with the way to see it. `switch` is the argument that shows what is hidden, `verb` what naming
    /// a folder does, such as `list`.
    pub fn lines(&self, switch: &str, verb: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let counted = [(self.hidden, "hidden"), (self.ignored, "ignored by .gitignore")];
        let counted: Vec<String> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !counted.is_empty() {
            lines.push(format!("left out: {} ({switch} shows them)", counted.join(", ")));
        }
        if self.denied > 0 {
            lines.push(format!("left out: {} that the configuration denies", self.denied));
        }
        let advice = format!(" (name one as path to {verb} it)");
        self.not_entered.line(&mut lines, "not entered", &advice);
        self.too_deep.line(&mut lines, &format!("deeper than {DEEPEST} folders, not entered"), &advice);
        self.unreadable.line(&mut lines, "not readable", "");
        lines
    }
}

/// The first few of many paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The first ones.
    pub first: Vec<PathBuf>,
    /// How many there are.
    pub count: u64,
}

impl Names {
    /// Adds one.
    pub fn add(&mut self, path: &Path) {
        self.count += 1;
        if self.first.len() < MOST_NAMES {
            self.first.push(path.to_owned());
        }
    }

    /// Adds a line that names them, if there are any.
    pub fn line(&self, lines: &mut Vec<String>, what: &str, advice: &str) {
        if self.count == 0 {
            return;
        }
        let first: Vec<String> = self.first.iter().map(|path| escaped(path.as_os_str())).collect();
        let rest = self.count - first.len() as u64;
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        lines.push(format!("{what}: {}{more}{advice}", first.join(", ")));
    }
}

/// A name on one line: control characters and bytes that are no UTF-8 are written as escapes.
pub fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}
