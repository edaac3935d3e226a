//! Names that can be told without an automaton: nearly every pattern that is about a name is a text, its beginning or its
//! end, and is asked of every entry of a large tree.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a pattern without a slash asks of a name, where that is simple.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Whole(Box<[u8]>),
    Beginning(Box<[u8]>),
    End(Box<[u8]>),
}

impl Shape {
    /// `None` for what only a glob can tell.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let is_plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}', '/']);
        let bytes = |text: &str| text.as_bytes().into();
        if is_plain(pattern) {
            return Some(Self::Whole(bytes(pattern)));
        }
        if let Some(beginning) = pattern.strip_suffix('*').filter(|text| is_plain(text)) {
            return Some(Self::Beginning(bytes(beginning)));
        }
        pattern.strip_prefix('*').filter(|text| is_plain(text)).map(|end| Self::End(bytes(end)))
    }

    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Whole(text) => name == text.as_ref(),
            Self::Beginning(text) => name.starts_with(text),
            Self::End(text) => name.ends_with(text),
        }
    }
}

/// What comes after the last slash. `Path::file_name` takes a path apart to tell it, which is slow.
pub(crate) fn last_part(path: &Path) -> &[u8] {
    let bytes = path.as_os_str().as_bytes();
    let begin = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    bytes.get(begin..).unwrap_or_default()
}
