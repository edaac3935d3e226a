//! Where old contents and records lie, and what is dropped when there is too much of it.
//!
//! Contents are named by their hash, so that a file that is kept a hundred times is there once. A lock keeps one writer's
//! content from being swept away by another before its record names it.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, flock};

use super::record::{Change, Line, PathText, Record};
use super::state::State;
use super::{LARGEST_KEPT, contents, index};
use crate::workspace::{OWN_FOLDER, RelPath, Result, Workspace, WorkspaceError};

const BACKUPS: &str = "backups";
const CALLS: &str = "calls";
const LOCK: &str = "lock";
const IGNORE: &str = ".gitignore";

/// How long a call can be taken back.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);
/// The newest calls that can be taken back.
const KEPT_CALLS: usize = 100;
/// All contents together, in bytes.
const KEPT_BYTES: u64 = 512 << 20;
/// A record is small; a larger one is not ours.
const LARGEST_RECORD: u64 = 64 << 20;

/// Nobody else may read what was once in a private file.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The backups of a workspace, opened for one call.
#[derive(Debug)]
pub(super) struct Store {
    backups: Dir,
    name: String,
    key: String,
    begun: bool,
}

impl Store {
    pub(super) fn open(workspace: &Workspace, key: &str) -> Result<Self> {
        let place = place();
        let problem = |source| WorkspaceError::from_io(&place, source);
        let foehn = folder(workspace.dir(), OWN_FOLDER).map_err(problem)?;
        let backups = folder(&foehn, BACKUPS).map_err(problem)?;
        folder(&backups, contents::FOLDER).map_err(problem)?;
        folder(&backups, CALLS).map_err(problem)?;
        match new_file(&backups, IGNORE) {
            Ok(mut file) => file.write_all(b"*\n").map_err(problem)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(problem(error)),
        }
        let mut store = Self { backups, name: String::new(), key: key.to_owned(), begun: false };
        let lock = store.lock()?;
        let newest = names(&store.backups).map_err(problem)?.last().map_or(0, |name| made_ns(name));
        // Records are ordered by their names, also those of one moment, and of a clock that was set back.
        let time = now_ns().max(newest + 1);
        store.name = format!("{time:019}-{}.jsonl", short_hash(key));
        store.prune();
        drop(lock);
        Ok(store)
    }

    /// Keeps the content of what is at a path; tells its state, and whether the content is kept.
    pub(super) fn keep(&self, workspace: &Workspace, path: &RelPath) -> Result<(State, bool)> {
        let state = State::of(workspace, path)?;
        let State::File { hash, .. } = &state else { return Ok((state, true)) };
        let problem = |source| WorkspaceError::Io { path: path.clone(), source };
        if contents::holds(&self.backups, hash).map_err(problem)? {
            return Ok((state, true));
        }
        let mut file = workspace.open_file(path)?;
        match contents::hold(&self.backups, &mut file, LARGEST_KEPT).map_err(problem)? {
            None => Ok((state, false)),
            Some(held) if held == *hash => Ok((state, true)),
            Some(_) => Err(problem(io::Error::other("it changed while it was read"))),
        }
    }

    /// The folder of the backups.
    pub(super) fn backups(&self) -> &Dir {
        &self.backups
    }

    pub(super) fn begin(&mut self, change: &Change) -> Result<()> {
        let mut lines = Vec::new();
        if !self.begun {
            lines.push(Line::Call { key: self.key.clone() });
        }
        lines.push(Line::Before {
            path: PathText(change.path.clone()),
            state: change.before.clone(),
            moved_to: change.moved_to.clone().map(PathText),
        });
        self.append(&lines)?;
        self.begun = true;
        Ok(())
    }

    /// Begins the record of a call whose changes are found by looking, before it changes anything.
    pub(super) fn begin_survey(&mut self, left_out: &[RelPath]) -> Result<()> {
        let left_out = left_out.iter().cloned().map(PathText).collect();
        self.append(&[Line::Call { key: self.key.clone() }, Line::Surveyed { left_out }])?;
        self.begun = true;
        Ok(())
    }

    /// Notes what was found by looking.
    pub(super) fn finish_survey(&self, changes: &[Change]) -> Result<()> {
        let before = changes.iter().map(|change| Line::Before {
            path: PathText(change.path.clone()),
            state: change.before.clone(),
            moved_to: None,
        });
        let after = after(changes);
        self.append(&Vec::from_iter(before.chain(after).chain([Line::Found])))
    }

    pub(super) fn finish(&self, changes: &[Change]) -> Result<()> {
        if !self.begun {
            return Ok(());
        }
        self.append(&Vec::from_iter(after(changes)))
    }

    fn append(&self, lines: &[Line]) -> Result<()> {
        append(&self.backups, &self.name, lines).map_err(|source| WorkspaceError::from_io(&place(), source))
    }

    /// Held until it is dropped.
    pub(super) fn lock(&self) -> Result<File> {
        let problem = |source| WorkspaceError::Io { path: place(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(FILE_MODE);
        let file = self.backups.open_with(LOCK, &options).map_err(problem)?;
        flock(&file, FlockOperation::LockExclusive).map_err(|errno| problem(errno.into()))?;
        Ok(file)
    }

    /// Drops records that are too old or too many, and the contents that no record names any more. Whatever cannot be
    /// dropped now is dropped later.
    fn prune(&self) {
        let Ok(mut records) = records(&self.backups) else { return };
        let oldest = now_ns().saturating_sub(KEPT_FOR.as_nanos());
        let too_many = records.len().saturating_sub(KEPT_CALLS - 1);
        let too_old = records.iter().filter(|record| made_ns(&record.name) < oldest).count();
        let sizes = contents::sizes(&self.backups);
        let total: u64 = sizes.iter().map(|(_, size)| size).sum();
        let mut drop_first = too_many.max(too_old);
        if drop_first == 0 && total <= KEPT_BYTES {
            return;
        }
        let size_of = |records: &[Record]| -> u64 {
            let named: BTreeSet<&str> = records.iter().flat_map(Record::contents).collect();
            sizes.iter().filter(|(hash, _)| named.contains(hash.as_str())).map(|(_, size)| size).sum()
        };
        while drop_first < records.len() && size_of(&records[drop_first..]) > KEPT_BYTES {
            drop_first += 1;
        }
        let Ok(calls) = self.backups.open_dir(CALLS) else { return };
        for record in records.drain(..drop_first) {
            let _ = calls.remove_file(&record.name);
        }
        let named: BTreeSet<&str> = records.iter().flat_map(Record::contents).collect();
        let held = index::hashes(&self.backups);
        let is_needed = |hash: &str| named.contains(hash) || held.contains(hash);
        sizes
            .iter()
            .filter(|(hash, _)| !is_needed(hash))
            .for_each(|(hash, _)| contents::drop(&self.backups, hash));
    }
}

fn after(changes: &[Change]) -> impl Iterator<Item = Line> {
    changes.iter().filter_map(|change| {
        let state = change.after.clone()?;
        Some(Line::After { path: PathText(change.path.clone()), state })
    })
}

/// The record of a call; `None` when there is none, or it was taken back already.
pub(super) fn find(workspace: &Workspace, key: &str) -> Result<Option<Record>> {
    let Some(backups) = existing(workspace)? else { return Ok(None) };
    let records = records(&backups).map_err(|source| WorkspaceError::Io { path: place(), source })?;
    Ok(records.into_iter().rev().find(|record| record.key == key && !record.undone))
}

/// The records that came after one and were not taken back, in order.
pub(super) fn later(workspace: &Workspace, record: &Record) -> Result<Vec<Record>> {
    let Some(backups) = existing(workspace)? else { return Ok(Vec::new()) };
    let mut records = records(&backups).map_err(|source| WorkspaceError::Io { path: place(), source })?;
    records.retain(|other| other.name > record.name && !other.undone);
    Ok(records)
}

pub(super) fn mark_undone(workspace: &Workspace, record: &Record) -> Result<()> {
    let Some(backups) = existing(workspace)? else { return Ok(()) };
    append(&backups, &record.name, &[Line::Undone])
        .map_err(|source| WorkspaceError::from_io(&place(), source))
}

/// A content that was kept.
pub(super) fn content(workspace: &Workspace, hash: &str) -> Result<Option<Vec<u8>>> {
    let Some(backups) = existing(workspace)? else { return Ok(None) };
    contents::read(&backups, hash, LARGEST_KEPT)
        .map_err(|source| WorkspaceError::Io { path: place(), source })
}

/// Whether a content was kept.
pub(super) fn holds(workspace: &Workspace, hash: &str) -> Result<bool> {
    let Some(backups) = existing(workspace)? else { return Ok(false) };
    contents::holds(&backups, hash).map_err(|source| WorkspaceError::Io { path: place(), source })
}

fn existing(workspace: &Workspace) -> Result<Option<Dir>> {
    match workspace.dir().open_dir(OWN_FOLDER).and_then(|foehn| foehn.open_dir(BACKUPS)) {
        Ok(backups) => Ok(Some(backups)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(WorkspaceError::from_io(&place(), error)),
    }
}

/// The names of all records, the oldest first.
fn names(backups: &Dir) -> io::Result<Vec<String>> {
    let entries = match backups.read_dir(CALLS) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// All records, the oldest first. One that cannot be read is passed over.
fn records(backups: &Dir) -> io::Result<Vec<Record>> {
    let names = names(backups)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let calls = backups.open_dir(CALLS)?;
    let read = |name: &String| {
        let mut text = String::new();
        calls.open(name).ok()?.take(LARGEST_RECORD).read_to_string(&mut text).ok()?;
        Record::read(name, &text)
    };
    Ok(names.iter().filter_map(read).collect())
}

fn append(backups: &Dir, name: &str, lines: &[Line]) -> io::Result<()> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(FILE_MODE);
    backups.open_dir(CALLS)?.open_with(name, &options)?.write_all(&text)
}

pub(super) fn folder(above: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    builder.mode(FOLDER_MODE);
    match above.create_dir_with(name, &builder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    above.open_dir(name)
}

pub(super) fn new_file(folder: &Dir, name: &str) -> io::Result<File> {
    folder.open_with(name, OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE))
}

fn short_hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().chars().take(16).collect()
}

fn made_ns(name: &str) -> u128 {
    name.split('-').next().and_then(|time| time.parse().ok()).unwrap_or_default()
}

pub(super) fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// The backups as messages name them.
fn place() -> RelPath {
    RelPath::from_system(format!("{OWN_FOLDER}/{BACKUPS}").as_ref()).unwrap_or_else(RelPath::root)
}
