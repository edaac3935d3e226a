//! Taking back what a call did to files: byte for byte, with modes and links, and nothing that somebody else changed since.
//!
//! A tool that changes files opens a [`Recorder`] under the key of its call, tells it each path *before* the change, and
//! [finishes](Recorder::finish) it. Its [`undo`](crate::Tool::undo) hands the same key to [`undo`], which compares what is
//! there now with what the call left, puts back what is still the call's own, and names the rest.
//!
//! Kept under `.foehn/backups` of the workspace, with a `.gitignore` of its own: contents by their hash, and one list of
//! changes a call. What is older than a week, beyond the newest hundred calls, or too much altogether is dropped. Not kept:
//! owner, times, access lists, and files larger than [`LARGEST_KEPT`], which are named as lost for undo.

mod contents;
mod index;
mod plan;
mod record;
mod state;
mod store;
mod survey;

use std::collections::BTreeSet;

use crate::workspace::{EntryKind, RelPath, Result, Workspace};

pub use crate::wire::Undone;
pub use survey::{MOST_ENTRIES, MOST_HELD, preview_survey, surveyed, undo_survey};

use record::{Change, Record};
use state::State;
use store::Store;

/// The largest file whose content is kept, in bytes.
pub const LARGEST_KEPT: u64 = 64 << 20;

/// How many folders are named that were not looked into.
const LEFT_OUT_NAMED: usize = 5;

/// What a call changes in one workspace, told as it goes. Dropped without [`finish`](Recorder::finish) it stands for a call
/// that was cut off.
#[derive(Debug)]
pub struct Recorder {
    store: Store,
    changes: Vec<Change>,
    known: BTreeSet<RelPath>,
    not_kept: Vec<RelPath>,
}

impl Recorder {
    /// Begins the record of the call with this [key](crate::Cx::key).
    ///
    /// # Errors
    /// When the folder of the backups cannot be written; a tool may go on without them, and should say so.
    pub fn open(workspace: &Workspace, key: &str) -> Result<Self> {
        Ok(Self {
            store: Store::open(workspace, key)?,
            changes: Vec::new(),
            known: BTreeSet::new(),
            not_kept: Vec::new(),
        })
    }

    /// Keeps what is at a path now: call it right before the path is changed, made or removed. Of a link the link itself is
    /// meant, and of a folder only the folder. Folders above it that are missing count as made by the call.
    ///
    /// # Errors
    /// When it cannot be read or kept.
    pub fn before(&mut self, workspace: &Workspace, path: &RelPath) -> Result<()> {
        self.before_folders_above(workspace, path)?;
        self.keep(workspace, path)
    }

    /// The same for everything in a folder, and then the folder.
    ///
    /// # Errors
    /// As [`before`](Recorder::before).
    pub fn before_tree(&mut self, workspace: &Workspace, folder: &RelPath) -> Result<()> {
        for entry in workspace.read_dir(folder)? {
            match entry.kind {
                EntryKind::Directory => self.before_tree(workspace, &entry.path)?,
                _ => self.keep(workspace, &entry.path)?,
            }
        }
        self.before(workspace, folder)
    }

    /// Call it right before an entry gets another name, where nothing is yet. Nothing is kept but the names: what is in a
    /// folder that moves may change later and moves back as it then is.
    ///
    /// # Errors
    /// As [`before`](Recorder::before).
    pub fn before_move(&mut self, workspace: &Workspace, from: &RelPath, to: &RelPath) -> Result<()> {
        self.before_folders_above(workspace, to)?;
        let before = State::of(workspace, from)?;
        self.begin(Change { path: from.clone(), before, after: None, moved_to: Some(to.clone()) })
    }

    /// Paths whose old content was too large to keep.
    pub fn not_kept(&self) -> &[RelPath] {
        &self.not_kept
    }

    /// Notes what the call has left: everything else that is found there later is somebody else's.
    ///
    /// # Errors
    /// When the record cannot be written; the changes can then not be told from somebody else's, and stay.
    pub fn finish(mut self, workspace: &Workspace) -> Result<()> {
        for change in &mut self.changes {
            change.after = Some(State::of(workspace, &change.path)?);
        }
        self.store.finish(&self.changes)
    }

    fn before_folders_above(&mut self, workspace: &Workspace, path: &RelPath) -> Result<()> {
        let mut missing = Vec::new();
        let mut above = path.parent();
        while let Some(folder) = above.filter(|folder| !folder.is_root()) {
            if State::of(workspace, &folder)? != State::Absent {
                break;
            }
            above = folder.parent();
            missing.push(folder);
        }
        missing.iter().rev().try_for_each(|folder| self.keep(workspace, folder))
    }

    fn keep(&mut self, workspace: &Workspace, path: &RelPath) -> Result<()> {
        if self.known.contains(path) {
            return Ok(());
        }
        // Until its record names it, a content could be swept away.
        let _lock = self.store.lock()?;
        let (before, kept) = self.store.keep(workspace, path)?;
        if !kept {
            self.not_kept.push(path.clone());
        }
        self.begin(Change { path: path.clone(), before, after: None, moved_to: None })
    }

    fn begin(&mut self, change: Change) -> Result<()> {
        self.store.begin(&change)?;
        self.known.insert(change.path.clone());
        self.changes.push(change);
        Ok(())
    }
}

/// Takes back what the call with this key did. A second time there is nothing to do.
///
/// # Errors
/// When there is no record of the call, or the backups cannot be read.
pub fn undo(workspace: &Workspace, key: &str) -> Result<Option<Undone>> {
    let Some(record) = store::find(workspace, key)? else { return Ok(None) };
    let undone = plan::carry_out(workspace, &record.changes);
    store::mark_undone(workspace, &record)?;
    Ok(Some(with_remarks(undone, &record)))
}

/// Tells what [`undo`] would do, and does nothing. Calls of the same files that come later count as taken back before.
///
/// # Errors
/// As [`undo`].
pub fn preview(workspace: &Workspace, key: &str) -> Result<Option<Undone>> {
    let Some(record) = store::find(workspace, key)? else { return Ok(None) };
    let later = store::later(workspace, &record)?;
    Ok(Some(with_remarks(plan::preview(workspace, &record.changes, &later), &record)))
}

/// Adds what is to be said where changes were found by looking.
fn with_remarks(mut undone: Undone, record: &Record) -> Undone {
    let Some(survey) = &record.survey else { return undone };
    if !survey.is_over {
        let cut_off = "a command was cut off before it was seen what it had changed; that stays as it is";
        undone.left.push(cut_off.to_owned());
    }
    if !survey.left_out.is_empty() {
        let names = survey.left_out.iter().map(|path| format!("`{path}`"));
        let names = Vec::from_iter(names.take(LEFT_OUT_NAMED)).join(", ");
        let more = survey.left_out.len().saturating_sub(LEFT_OUT_NAMED);
        let more = if more > 0 { format!(" and {more} more folders") } else { String::new() };
        undone.notes.push(format!("what a command changed in {names}{more} is not known, and stays"));
    }
    undone
}
