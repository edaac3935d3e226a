//! Taking back what a *program* did, which tells nobody what it changes: the workspace is looked at before and after it, every
//! file is held before it can be changed, and the difference is the record of the call.
//!
//! A look reads what has changed since the last one, by time, size and inode; the rest costs one `stat` a file. Left out, and
//! said so: [`SKIPPED_DIRECTORIES`], what cannot be read, what is larger than [`LARGEST_KEPT`], and what is beyond
//! [`MOST_HELD`] altogether. What a program left in the background changes later is somebody else's change.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::index::{Index, Seen, Stamp};
use super::record::Change;
use super::state::{MODE_BITS, State};
use super::store::Store;
use super::{LARGEST_KEPT, contents};
use crate::wire::Undone;
use crate::workspace::{OWN_FOLDER, RelPath, Result, SKIPPED_DIRECTORIES, Workspace, WorkspaceError};
use crate::{Cx, Error, Tool};

/// Most bytes of a workspace that are held so that commands can be taken back.
pub const MOST_HELD: u64 = 2 << 30;
/// Most files and folders that are looked at.
pub const MOST_ENTRIES: usize = 200_000;
/// How deep: each level holds a handle open.
const DEEPEST: usize = 100;

/// Runs something that starts programs in a workspace; what they change there can be taken back by the
/// [key](Cx::key) of the call, where [the host wants that](Cx::takes_back_programs). Beside its result comes what of it cannot be
/// taken back, for the reader of the result.
///
/// # Errors
/// Its own, and when the call is cancelled while the workspace is looked at: nothing has run then.
pub fn surveyed<C, T>(
    cx: &Cx<'_, C>,
    workspace: &Workspace,
    run: impl FnOnce() -> crate::error::Result<T>,
) -> crate::error::Result<(T, Option<String>)> {
    if !cx.takes_back_programs() {
        return Ok((run()?, None));
    }
    cx.progress("looking at the workspace, so that the command can be taken back");
    let survey = Survey::begin(workspace, cx.key(), &|| cx.cancelled());
    if cx.cancelled() {
        return Err(Error::cancelled().executed(false));
    }
    let result = run();
    let lost = match survey.and_then(|survey| survey.finish(workspace)) {
        Ok(None) => None,
        Ok(Some(lost)) => Some(lost),
        Err(error) => Some(error.to_string()),
    };
    let lost = lost.map(|lost| format!("what the command did cannot be taken back whole: {lost}"));
    if let Some(lost) = &lost {
        tracing::warn!("{lost}");
    }
    Ok((result?, lost))
}

/// [`Tool::undo`](crate::Tool::undo) of a tool whose calls are [`surveyed`].
///
/// # Errors
/// [`Unsupported`](crate::ErrorKind::Unsupported) when the call was not; as [`undo`](super::undo).
pub fn undo_survey<T: Tool + ?Sized, C>(cx: &Cx<'_, C>) -> crate::error::Result<Option<Undone>> {
    super::undo(&cx.workspace()?, cx.key())?.map(Some).ok_or_else(|| not_surveyed::<T, C>(cx))
}

/// [`Tool::undo_preview`](crate::Tool::undo_preview) of such a tool.
///
/// # Errors
/// As [`undo_survey`].
pub fn preview_survey<T: Tool + ?Sized, C>(cx: &Cx<'_, C>) -> crate::error::Result<Option<Undone>> {
    super::preview(&cx.workspace()?, cx.key())?.map(Some).ok_or_else(|| not_surveyed::<T, C>(cx))
}

fn not_surveyed<T: Tool + ?Sized, C>(cx: &Cx<'_, C>) -> Error {
    let name = T::NAME;
    Error::unsupported(if cx.takes_back_programs() {
        format!("`{name}` left no record from which it could be taken back; its result says why")
    } else {
        format!("`{name}` can be taken back only when it runs with `[undo] shell = true` in your settings")
    })
}

struct Survey {
    store: Store,
    before: Index,
}

impl Survey {
    fn begin(workspace: &Workspace, key: &str, is_cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let mut store = Store::open(workspace, key)?;
        let lock = store.lock()?;
        let last = Index::read(store.backups());
        let before = Look::at(workspace, &store, &last, is_cancelled)?;
        if !is_cancelled() {
            before
                .write(store.backups())
                .map_err(|source| WorkspaceError::from_io(&RelPath::root(), source))?;
            store.begin_survey(&before.left_out)?;
        }
        drop(lock);
        Ok(Self { store, before })
    }

    /// Notes what has changed. What of it cannot be taken back.
    fn finish(self, workspace: &Workspace) -> Result<Option<String>> {
        let Self { store, before } = self;
        let _lock = store.lock()?;
        let after = Look::at(workspace, &store, &before, &|| false)?;
        let changes = differences(workspace, &before, &after)?;
        let not_held =
            |change: &&Change| matches!(&change.before, State::File { hash, .. } if hash.is_empty());
        let lost = changes.iter().find(not_held).map(|change| {
            format!("`{}` was changed, and is too large to be held or could not be read", change.path)
        });
        store.finish_survey(&changes)?;
        after.write(store.backups()).map_err(|source| WorkspaceError::from_io(&RelPath::root(), source))?;
        Ok(lost)
    }
}

/// Ordered so that taking back the last first works: what is gone comes first, with what was in a folder before the folder;
/// then what is new or another, with the folder before what is in it; then folders that may
/// no longer be written.
fn differences(workspace: &Workspace, before: &Index, after: &Index) -> Result<Vec<Change>> {
    let change = |path: &RelPath, before: State, after: State| Change {
        path: path.clone(),
        before,
        after: Some(after),
        moved_to: None,
    };
    let gone = before.seen.iter().rev().filter(|(path, _)| !after.seen.contains_key(path));
    let mut changes: Vec<Change> =
        gone.map(|(path, seen)| change(path, seen.state.clone(), State::Absent)).collect();
    let mut folders = Vec::new();
    for (path, now) in &after.seen {
        let was = before.seen.get(path);
        if was.is_some_and(|was| !was.differs(now)) {
            continue;
        }
        let was = was.map_or(State::Absent, |was| was.state.clone());
        let is_held = !matches!(&now.state, State::File { hash, .. } if hash.is_empty());
        let now = if is_held { now.state.clone() } else { State::of(workspace, path)? };
        match (&was, &now) {
            (State::Directory { .. }, State::Directory { .. }) => folders.push(change(path, was, now)),
            _ => changes.push(change(path, was, now)),
        }
    }
    changes.append(&mut folders);
    // What could no longer be looked into is not gone.
    let unseen: BTreeSet<&RelPath> = after.left_out.iter().collect();
    let is_below = |change: &Change| {
        std::iter::successors(Some(change.path.clone()), RelPath::parent).any(|above| unseen.contains(&above))
    };
    changes.retain(|change| !is_below(change));
    Ok(changes)
}

/// A walk through a workspace.
struct Look<'a> {
    store: &'a Store,
    last: &'a Index,
    index: Index,
    held: u64,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Look<'a> {
    fn at(
        workspace: &Workspace,
        store: &'a Store,
        last: &'a Index,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Index> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let taken_ns = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
        let mut look =
            Look { store, last, index: Index { taken_ns, ..Index::default() }, held: 0, is_cancelled };
        look.folder(workspace.dir(), &RelPath::root(), 0)?;
        look.index.left_out.sort();
        Ok(look.index)
    }

    fn folder(&mut self, folder: &Dir, path: &RelPath, depth: usize) -> Result<()> {
        let entries = folder.entries().map_err(|source| WorkspaceError::from_io(path, source))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            // Gone already, or of no kind that a program makes.
            let Ok(metadata) = entry.metadata() else { continue };
            let path = path.child(&name);
            let stamp = Stamp::of(&metadata);
            let mode = metadata.mode() & MODE_BITS;
            if self.index.seen.len() >= MOST_ENTRIES {
                return Err(WorkspaceError::TooManyEntries { most: MOST_ENTRIES });
            }
            let state = if metadata.is_dir() {
                if name == *OWN_FOLDER {
                    continue;
                }
                if SKIPPED_DIRECTORIES.iter().any(|skipped| name == **skipped) {
                    self.index.left_out.push(path);
                    continue;
                }
                match folder.open_dir(&name) {
                    Ok(below) if depth < DEEPEST => self.folder(&below, &path, depth + 1)?,
                    _ => self.index.left_out.push(path.clone()),
                }
                State::Directory { mode }
            } else if metadata.is_symlink() {
                let Ok(target) = folder.read_link_contents(&name) else { continue };
                State::Link { target }
            } else if metadata.is_file() {
                if (self.is_cancelled)() {
                    return Ok(());
                }
                State::File { hash: self.hash(folder, &name, &path, &stamp)?, mode }
            } else {
                State::Other
            };
            self.index.seen.insert(path, Seen::new(state, stamp));
        }
        Ok(())
    }

    /// The hash of a file, whose content is then held; empty when it cannot be.
    fn hash(
        &mut self,
        folder: &Dir,
        name: &std::ffi::OsStr,
        path: &RelPath,
        stamp: &Stamp,
    ) -> Result<String> {
        if stamp.size() > LARGEST_KEPT || self.held + stamp.size() > MOST_HELD {
            return Ok(String::new());
        }
        self.held += stamp.size();
        if let Some(hash) = self.last.hash_of(path, stamp) {
            return Ok(hash.to_owned());
        }
        // It may be something else by now, which is neither followed nor waited for.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let opened = folder.open_with(name, &options).map(cap_std::fs::File::into_std);
        let Ok(mut file) = opened else { return Ok(String::new()) };
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(String::new());
        }
        let held = contents::hold(self.store.backups(), &mut file, LARGEST_KEPT);
        Ok(held.map_err(|source| WorkspaceError::from_io(path, source))?.unwrap_or_default())
    }
}
