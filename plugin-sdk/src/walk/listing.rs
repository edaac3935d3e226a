//! What is in one folder, sorted, each entry with what the rules say of it. Whichever thread is free makes one; it does not
//! depend on any other but the one of the folder above.
//!
//! Names lie in a row and paths are written over one another, since of a large tree every allocation for an entry is felt.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, openat, statat};

use super::ignored::{self, Ignored};
use super::{DEEPEST, Rules};
use crate::workspace::{OWN_FOLDER, RelPath};

/// What is read of a folder's list at once: most lists are shorter.
const LIST_BYTES: usize = 32 * 1024;

/// A folder that was looked into.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) dir: Arc<Dir>,
    pub(super) path: RelPath,
    pub(super) entries: Vec<Entry>,
    /// Which of the entries are folders to go on with.
    pub(super) folders: Vec<usize>,
    names: Vec<u8>,
    ignored: Ignored,
    depth: usize,
}

#[derive(Debug)]
pub(super) struct Entry {
    name: Range<usize>,
    pub(super) file_type: FileType,
    pub(super) fate: Fate,
}

/// What a walk does with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Shown,
    Hidden,
    NotEntered,
    Ignored,
    Denied,
}

/// What a thread uses over again.
#[derive(Debug)]
pub(super) struct Scratch {
    list: Vec<u8>,
    path: RelPath,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { list: Vec::with_capacity(LIST_BYTES), path: RelPath::root() }
    }
}

impl Listing {
    /// Where a walk begins. The rules come down to it from above.
    pub(super) fn first(
        start: &Dir,
        path: &RelPath,
        above: Ignored,
        rules: &Rules<'_>,
        scratch: &mut Scratch,
    ) -> io::Result<Self> {
        Self::read(open_folder(start, OsStr::new("."))?, path.clone(), above, 0, rules, scratch)
    }

    /// A folder of this one, by its number among the [`folders`](Self::folders).
    pub(super) fn below(&self, number: usize, rules: &Rules<'_>, scratch: &mut Scratch) -> io::Result<Self> {
        let entry = self.folders.get(number).and_then(|&at| self.entries.get(at));
        let name = self.name(entry.ok_or(io::ErrorKind::NotFound)?);
        let dir = open_folder(&self.dir, name)?;
        Self::read(dir, self.path.child(name), self.ignored.clone(), self.depth + 1, rules, scratch)
    }

    pub(super) fn name(&self, entry: &Entry) -> &OsStr {
        OsStr::from_bytes(self.names.get(entry.name.clone()).unwrap_or_default())
    }

    /// Whether the folders in this one lie too deep.
    pub(super) fn is_deepest(&self) -> bool {
        self.depth + 1 >= DEEPEST
    }

    fn read(
        dir: Dir,
        path: RelPath,
        above: Ignored,
        depth: usize,
        rules: &Rules<'_>,
        scratch: &mut Scratch,
    ) -> io::Result<Self> {
        let (names, mut entries) = entries(&dir, &mut scratch.list)?;
        entries.sort_unstable_by(|one, other| names[one.name.clone()].cmp(&names[other.name.clone()]));
        let mut listing = Self {
            dir: Arc::new(dir),
            path,
            entries: Vec::new(),
            folders: Vec::new(),
            names,
            ignored: above,
            depth,
        };
        let has_rules = |entry: &Entry| listing.name(entry).as_bytes() == ignored::FILE_NAME.as_bytes();
        if rules.respect_gitignore && entries.iter().any(has_rules) {
            listing.ignored = listing.ignored.within(&listing.dir, listing.path.length());
        }
        entries.retain_mut(|entry| match listing.fate(entry, rules, &mut scratch.path) {
            Some(fate) => {
                entry.fate = fate;
                true
            }
            None => false,
        });
        if rules.recursive && !listing.is_deepest() {
            let is_entered = |entry: &Entry| entry.fate == Fate::Shown && entry.file_type.is_dir();
            listing.folders = (0..entries.len()).filter(|&at| is_entered(&entries[at])).collect();
        }
        listing.entries = entries;
        Ok(listing)
    }

    /// `None` for what is not even counted, since nobody should be led there.
    fn fate(&self, entry: &Entry, rules: &Rules<'_>, path: &mut RelPath) -> Option<Fate> {
        let name = self.name(entry);
        let is_folder = entry.file_type.is_dir();
        if name == OWN_FOLDER {
            return None;
        }
        if name.as_bytes().starts_with(b".") && !rules.include_hidden {
            return Some(Fate::Hidden);
        }
        if is_folder && rules.skipped_directories.contains(name) {
            return Some(Fate::NotEntered);
        }
        if self.ignored.is_empty() && rules.denied.is_none() {
            return Some(Fate::Shown);
        }
        path.become_entry(&self.path, name);
        let path = path.as_path();
        Some(if self.ignored.matches(path, is_folder) {
            Fate::Ignored
        } else if rules.denied.is_some_and(|denied| denied(path)) {
            Fate::Denied
        } else {
            Fate::Shown
        })
    }
}

/// Opens a folder by its name in another one, ready to be listed. It follows no link.
fn open_folder(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::from_std_file(openat(dir, name, flags, Mode::empty())?.into()))
}

/// What is in a folder, and the row of its names. As few calls of the system as can be: of a large tree they are what takes
/// the time.
fn entries(dir: &Dir, list: &mut Vec<u8>) -> io::Result<(Vec<u8>, Vec<Entry>)> {
    let (mut names, mut entries) = (Vec::new(), Vec::new());
    list.clear();
    let mut raw = RawDir::new(dir, list.spare_capacity_mut());
    while let Some(entry) = raw.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems do not tell.
            FileType::Unknown => match statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                // An entry that vanishes between its listing and the look at its kind is as good as never listed.
                Err(_) => continue,
            },
            known => known,
        };
        let begin = names.len();
        names.extend_from_slice(name);
        entries.push(Entry { name: begin..names.len(), file_type, fate: Fate::Shown });
    }
    Ok((names, entries))
}
