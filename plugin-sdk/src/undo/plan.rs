//! What taking a call back means for each path: decided from three states, what was, what the call left, and what is now.

use std::collections::BTreeMap;

use super::Undone;
use super::record::{Change, Record};
use super::state::State;
use super::store;
use crate::workspace::{RelPath, Result, Workspace, WorkspaceError};

/// Reading, writing and searching a folder, for its owner.
const OWNER_MAY: u32 = 0o700;

/// Takes the changes back, the last one first.
pub(super) fn carry_out(workspace: &Workspace, changes: &[Change]) -> Undone {
    let mut undone = Undone::default();
    // Folders get their permissions last: one that may not be written takes nothing back.
    let mut folders = Vec::new();
    for change in changes.iter().rev() {
        let look = |path: &RelPath| State::of(workspace, path);
        match take_back(change, look, |now| act(workspace, change, now)) {
            Ok(Some(line)) => {
                undone.restored.push(line);
                if let (State::Directory { mode }, None) = (&change.before, &change.moved_to) {
                    folders.push((&change.path, *mode));
                }
            }
            Ok(None) => {}
            Err(reason) => undone.left.push(reason),
        }
    }
    for (path, mode) in folders.into_iter().rev() {
        if let Err(error) = workspace.set_mode(path, mode) {
            undone.left.push(format!("`{path}` has other permissions than before: {error}"));
        }
    }
    undone
}

/// What [`carry_out`] would do once the later calls are taken back.
pub(super) fn preview(workspace: &Workspace, changes: &[Change], later: &[Record]) -> Undone {
    let mut undone = Undone::default();
    let later = by_path(later);
    for change in changes.iter().rev() {
        let look = |path: &RelPath| {
            let now = State::of(workspace, path)?;
            let left_by_call =
                if *path == change.path { change.after.as_ref() } else { Some(&change.before) };
            let later = later.get(path).map(Vec::as_slice).unwrap_or_default();
            Ok(before_later(path, left_by_call, later, now))
        };
        match take_back(change, look, |now| prevented(workspace, change, now)) {
            Ok(line) => undone.restored.extend(line),
            Err(reason) => undone.left.push(reason),
        }
    }
    undone
}

/// The changes that have to do with each path, in order.
fn by_path(records: &[Record]) -> BTreeMap<&RelPath, Vec<&Change>> {
    let mut changes: BTreeMap<&RelPath, Vec<&Change>> = BTreeMap::new();
    for change in records.iter().flat_map(|record| &record.changes) {
        for path in [Some(&change.path), change.moved_to.as_ref()].into_iter().flatten() {
            changes.entry(path).or_default().push(change);
        }
    }
    changes
}

/// The state that this call left at a path, if the later calls lead from it to what is now without a gap; else what is now.
fn before_later(path: &RelPath, left_by_call: Option<&State>, later: &[&Change], now: State) -> State {
    let mut state = left_by_call.cloned();
    for other in later {
        if other.path == *path && state.as_ref() == Some(&other.before) {
            state = other.after.clone();
        } else if other.moved_to.as_ref() == Some(path) && state == Some(State::Absent) {
            state = Some(other.before.clone());
        }
    }
    match left_by_call {
        Some(left) if state.as_ref() == Some(&now) => left.clone(),
        _ => now,
    }
}

/// Decides about one change, and has it taken back by `act` where it still is the call's own. The line that tells so, `None`
/// when there is nothing to do, or why it is left as it is.
fn take_back(
    change: &Change,
    look: impl Fn(&RelPath) -> Result<State>,
    act: impl FnOnce(&State) -> Result<Option<String>>,
) -> std::result::Result<Option<String>, String> {
    let Change { path, before, after, moved_to } = change;
    let now = look(path).map_err(|error| error.to_string())?;
    if now == *before {
        return Ok(None);
    }
    let Some(after) = after else {
        return Err(format!(
            "`{path}` was being changed when the call was cut off: whose change it is cannot be told, and it stays as it is"
        ));
    };
    let mut is_own = *after == now;
    if let Some(to) = moved_to {
        let there = look(to).map_err(|error| error.to_string())?;
        is_own &= match (before, &there) {
            // What is in it may have changed: that moves along.
            (State::Directory { .. }, State::Directory { .. }) => true,
            (before, there) => before == there,
        };
    }
    if !is_own {
        return Err(format!("`{path}` was changed by somebody else since, and stays as it is"));
    }
    match act(&now) {
        Ok(None) => Ok(Some(done(change))),
        Ok(Some(reason)) => Err(format!("`{path}` {reason}")),
        Err(error) => Err(format!("`{path}` stays as it is: {error}")),
    }
}

fn act(workspace: &Workspace, change: &Change, now: &State) -> Result<Option<String>> {
    match &change.moved_to {
        Some(to) => workspace.rename(to, &change.path).map(|()| None),
        None => restore(workspace, &change.path, &change.before, now),
    }
}

const NOT_KEPT: &str = "cannot be brought back: its old content was not kept";
const OF_NO_KIND: &str = "was no file, link or folder, and cannot be brought back";

/// Why [`act`] will not do it, as far as that can be told before.
fn prevented(workspace: &Workspace, change: &Change, now: &State) -> Result<Option<String>> {
    if change.moved_to.is_some() {
        return Ok(None);
    }
    let reason = match (&change.before, now) {
        (State::File { hash: old, .. }, State::File { hash, .. }) if old == hash => None,
        (State::File { hash, .. }, _) if !store::holds(workspace, hash)? => Some(NOT_KEPT),
        (State::Other, _) => Some(OF_NO_KIND),
        _ => None,
    };
    Ok(reason.map(str::to_owned))
}

/// Brings the old state back. `Some` says why it cannot be.
fn restore(workspace: &Workspace, path: &RelPath, before: &State, now: &State) -> Result<Option<String>> {
    if let (State::Directory { mode }, State::Directory { .. }) = (before, now) {
        // Until all in it is as it was.
        workspace.set_mode(path, mode | OWNER_MAY)?;
        return Ok(None);
    }
    if let (State::File { hash: old, mode }, State::File { hash, .. }) = (before, now)
        && old == hash
    {
        workspace.set_mode(path, *mode)?;
        return Ok(None);
    }
    let bytes = match before {
        State::File { hash, .. } => match store::content(workspace, hash)? {
            Some(bytes) => Some(bytes),
            None => return Ok(Some(NOT_KEPT.to_owned())),
        },
        State::Other => return Ok(Some(OF_NO_KIND.to_owned())),
        _ => None,
    };
    let replaces_file = matches!((before, now), (State::File { .. }, State::File { .. }));
    if !replaces_file {
        match remove(workspace, path, now) {
            Err(WorkspaceError::NotEmpty { .. }) => {
                return Ok(Some("was made by the call and holds something since; it stays".to_owned()));
            }
            result => result?,
        }
    }
    match before {
        State::File { mode, .. } => workspace.put_back(path, &bytes.unwrap_or_default(), *mode)?,
        State::Link { target } => workspace.create_link(path, target)?,
        State::Directory { .. } => workspace.create_dir_all(path)?,
        State::Absent | State::Other => {}
    }
    Ok(None)
}

fn remove(workspace: &Workspace, path: &RelPath, now: &State) -> Result<()> {
    match now {
        State::Absent => Ok(()),
        State::Directory { .. } => workspace.remove_dir(path),
        _ => workspace.remove_file(path),
    }
}

fn done(change: &Change) -> String {
    if let Some(to) = &change.moved_to {
        return format!("`{to}`: is `{}` again", change.path);
    }
    let what = match (&change.before, &change.after) {
        (State::Absent, Some(State::Directory { .. })) => "the new folder is gone",
        (State::Absent, _) => "the new file is gone",
        (_, Some(State::Absent)) => "is there again",
        (State::File { hash: old, .. }, Some(State::File { hash: new, .. })) if old == new => {
            "has its old permissions again"
        }
        (State::Directory { .. }, Some(State::Directory { .. })) => "has its old permissions again",
        (State::Directory { .. }, _) => "is a folder again",
        _ => "has its old content again",
    };
    format!("`{}`: {what}", change.path)
}
