//! What was seen in a workspace at the last look, so that the next one reads only what has changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use cap_std::fs::{Dir, Metadata, MetadataExt};
use serde::{Deserialize, Serialize};

use super::record::PathText;
use super::state::State;
use super::store::{KEPT_FOR, new_file, now_ns};
use crate::workspace::RelPath;

const FILE: &str = "index.jsonl";
const NEW: &str = "index.new";

/// A file that was changed this shortly before a look may be changed again without a new time: the kernel's clock for files
/// goes in steps.
const STEP_NS: i128 = 100_000_000;

/// One look.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// When it began.
    pub(super) taken_ns: i128,
    pub(super) seen: BTreeMap<RelPath, Seen>,
    /// Folders that were not looked into.
    pub(super) left_out: Vec<RelPath>,
}

/// One entry as it was seen. The hash of a file whose content is not held is empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) state: State,
    stamp: Stamp,
}

/// What changes with a file's content, beside the content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    inode: u64,
    modified_ns: i128,
    changed_ns: i128,
}

#[derive(Serialize, Deserialize)]
struct Head {
    taken_ns: i128,
}

#[derive(Serialize, Deserialize)]
struct Line(PathText, Seen);

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, part: i64| i128::from(seconds) * 1_000_000_000 + i128::from(part);
        Self {
            size: metadata.size(),
            inode: metadata.ino(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

impl Seen {
    pub(super) fn new(state: State, stamp: Stamp) -> Self {
        Self { state, stamp }
    }

    /// Whether somebody else's eyes would see something else: more than times has changed, as far as is known.
    pub(super) fn differs(&self, other: &Self) -> bool {
        self.state != other.state || (self.is_unknown() && self.stamp != other.stamp)
    }

    /// A file whose content nobody has looked at.
    fn is_unknown(&self) -> bool {
        matches!(&self.state, State::File { hash, .. } if hash.is_empty())
    }
}

impl Index {
    /// The hash of a file that has surely not changed since this look.
    pub(super) fn hash_of(&self, path: &RelPath, stamp: &Stamp) -> Option<&str> {
        let seen = self.seen.get(path).filter(|seen| seen.stamp == *stamp)?;
        let is_settled = stamp.changed_ns < self.taken_ns - STEP_NS;
        match &seen.state {
            State::File { hash, .. } if is_settled && !hash.is_empty() => Some(hash),
            _ => None,
        }
    }

    /// The last look. None, or one that cannot be read, is one at which nothing was seen.
    pub(super) fn read(backups: &Dir) -> Self {
        Self::try_read(backups).unwrap_or_default()
    }

    fn try_read(backups: &Dir) -> Option<Self> {
        let mut lines = BufReader::new(backups.open(FILE).ok()?).lines().map_while(Result::ok);
        let Head { taken_ns } = serde_json::from_str(&lines.next()?).ok()?;
        let line = |text: String| serde_json::from_str(&text).ok();
        let seen = lines.map_while(line).map(|Line(path, seen)| (path.0, seen)).collect();
        Some(Self { taken_ns, seen, left_out: Vec::new() })
    }

    pub(super) fn write(&self, backups: &Dir) -> io::Result<()> {
        let _ = backups.remove_file(NEW);
        let mut file = BufWriter::new(new_file(backups, NEW)?);
        serde_json::to_writer(&mut file, &Head { taken_ns: self.taken_ns })?;
        file.write_all(b"\n")?;
        for (path, seen) in &self.seen {
            serde_json::to_writer(&mut file, &Line(PathText(path.clone()), seen.clone()))?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        backups.rename(NEW, backups, FILE)
    }
}

/// The contents that the next look counts on. One that is older than all records counts no more.
pub(super) fn hashes(backups: &Dir) -> BTreeSet<String> {
    let index = Index::read(backups);
    let oldest_ns = now_ns().saturating_sub(KEPT_FOR.as_nanos());
    if index.taken_ns < i128::try_from(oldest_ns).unwrap_or(i128::MAX) {
        return BTreeSet::new();
    }
    let hash = |seen: Seen| match seen.state {
        State::File { hash, .. } if !hash.is_empty() => Some(hash),
        _ => None,
    };
    index.seen.into_values().filter_map(hash).collect()
}
