//! What taking a call back means for each path: decided from three states, what was, what the call left, and what is now.

use super::Undone;
use super::record::{Change, Record};
use super::state::State;
use super::store;
use crate::workspace::{RelPath, Result, Workspace, WorkspaceError};

/// Takes the changes back, the last one first.
pub(super) fn carry_out(workspace: &Workspace, changes: &[Change]) -> Undone {
    let mut undone = Undone::default();
    // Folders get their permissions last: one that may not be written takes nothing back.
    let mut folders = Vec::new();
    for change in changes.iter().rev() {
        match State::of(workspace, &change.path) {
            Err(error) => undone.left.push(error.to_string()),
            Ok(now) => match step(change, &now) {
                Step::Nothing => {}
                Step::Leave(reason) => undone.left.push(format!("`{}` {reason}", change.path)),
                Step::Restore => match restore(workspace, &change.path, &change.before, &now) {
                    Ok(None) => {
                        undone.restored.push(done(change));
                        if let State::Directory { mode } = change.before {
                            folders.push((&change.path, mode));
                        }
                    }
                    Ok(Some(reason)) => undone.left.push(format!("`{}` {reason}", change.path)),
                    Err(error) => undone.left.push(format!("`{}` stays as it is: {error}", change.path)),
                },
            },
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
    for change in changes.iter().rev() {
        let then = State::of(workspace, &change.path).map(|now| before_later(change, later, now));
        match then {
            Err(error) => undone.left.push(error.to_string()),
            Ok(then) => match step(change, &then) {
                Step::Nothing => {}
                Step::Leave(reason) => undone.left.push(format!("`{}` {reason}", change.path)),
                Step::Restore => undone.restored.push(done(change)),
            },
        }
    }
    undone
}

/// The state that this call left, if the later calls lead from it to what is now without a gap; else what is now.
fn before_later(change: &Change, later: &[Record], now: State) -> State {
    let mut state = change.after.as_ref();
    for other in later.iter().flat_map(|record| &record.changes).filter(|other| other.path == change.path) {
        if state == Some(&other.before) {
            state = other.after.as_ref();
        }
    }
    match &change.after {
        Some(after) if state == Some(&now) => after.clone(),
        _ => now,
    }
}

enum Step {
    Nothing,
    Restore,
    /// Completes "`path` ...".
    Leave(String),
}

fn step(change: &Change, now: &State) -> Step {
    let Change { before, after, .. } = change;
    if now == before {
        return Step::Nothing;
    }
    match after {
        Some(after) if after == now => Step::Restore,
        Some(_) => Step::Leave("was changed by somebody else since, and stays as it is".to_owned()),
        None => Step::Leave(
            "was being changed when the call was cut off: whose change it is cannot be told, and it stays as it is"
                .to_owned(),
        ),
    }
}

/// Brings the old state back. `Some` says why it cannot be.
fn restore(workspace: &Workspace, path: &RelPath, before: &State, now: &State) -> Result<Option<String>> {
    if let (State::Directory { .. }, State::Directory { .. }) = (before, now) {
        return Ok(None);
    }
    let bytes = match before {
        State::File { hash, .. } => match store::content(workspace, hash)? {
            Some(bytes) => Some(bytes),
            None => return Ok(Some("cannot be brought back: its old content was not kept".to_owned())),
        },
        State::Other => {
            return Ok(Some("was no file, link or folder, and cannot be brought back".to_owned()));
        }
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
    let what = match (&change.before, &change.after) {
        (State::Absent, Some(State::Directory { .. })) => "the new folder is gone",
        (State::Absent, _) => "the new file is gone",
        (_, Some(State::Absent)) => "is there again",
        (State::File { hash: old, .. }, Some(State::File { hash: new, .. })) if old == new => {
            "has its old permissions again"
        }
        (State::Directory { .. }, _) => "has its old permissions again",
        _ => "has its old content again",
    };
    format!("`{}`: {what}", change.path)
}
