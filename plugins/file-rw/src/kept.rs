//! The changes of one call, each kept before it is made, so that the call can be taken back.
//!
//! Backups are no condition: where they cannot be written the change is made all the same, and the answer says that it
//! cannot be taken back. They lie in the root that the change is made in.

use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::tracing;
use foehn_plugin_sdk::undo::{self, Recorder};
use foehn_plugin_sdk::workspace::{Result as FileResult, WorkspaceError};

use crate::change::Change;
use crate::files::{Call, Files, Place, Root};

/// Makes changes and keeps what is needed to take them back.
pub(crate) struct Changes<'a> {
    key: &'a str,
    is_kept: bool,
    recorders: Vec<(Arc<Root>, Recorder)>,
    /// Why something of it cannot be taken back.
    lost: Option<String>,
}

impl<'a> Changes<'a> {
    pub(crate) fn of(cx: &Call<'a>) -> Self {
        Self { key: cx.key(), is_kept: cx.config().backups, recorders: Vec::new(), lost: None }
    }

    pub(crate) fn make(&mut self, change: &Change<'_>) -> FileResult<()> {
        if self.is_kept
            && let Err(error) = self.keep(change)
        {
            self.lost.get_or_insert_with(|| error.to_string());
        }
        change.make()
    }

    /// The answer of the call, with what of it cannot be taken back.
    pub(crate) fn told(mut self, answer: String) -> String {
        self.finish();
        match self.lost.take() {
            Some(reason) => format!("{answer} (cannot be taken back: {reason})"),
            None => answer,
        }
    }

    fn keep(&mut self, change: &Change<'_>) -> FileResult<()> {
        match *change {
            Change::Create { place, .. }
            | Change::Replace { place, .. }
            | Change::Remove { place }
            | Change::MakeFolder { place }
            | Change::RemoveIn { place, .. }
            | Change::Copy { to: place, .. } => self.recorder(place)?.before(place.files(), &place.real),
            Change::Move { from, to } => self.recorder(from)?.before_move(from.files(), &from.real, &to.real),
        }
    }

    fn recorder(&mut self, place: &Place) -> FileResult<&mut Recorder> {
        let same = |(root, _): &(Arc<Root>, Recorder)| Arc::ptr_eq(root, &place.root);
        let position = match self.recorders.iter().position(same) {
            Some(position) => position,
            None => {
                let recorder = Recorder::open(place.files(), self.key)?;
                self.recorders.push((Arc::clone(&place.root), recorder));
                self.recorders.len() - 1
            }
        };
        let recorder = self.recorders.get_mut(position).map(|(_, recorder)| recorder);
        recorder.ok_or(WorkspaceError::IsTheRoot)
    }

    fn finish(&mut self) {
        for (root, recorder) in self.recorders.drain(..) {
            if let Some(path) = recorder.not_kept().first() {
                self.lost.get_or_insert_with(|| format!("`{path}` is too large to be kept"));
            }
            if let Err(error) = recorder.finish(&root.workspace) {
                self.lost.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

impl Drop for Changes<'_> {
    /// What was done before a failure can be taken back, too.
    fn drop(&mut self) {
        self.finish();
        if let Some(reason) = &self.lost {
            tracing::warn!("the call cannot be taken back whole: {reason}");
        }
    }
}

/// Takes back what a call changed, in whichever root; with `preview` only tells it.
pub(crate) fn undo(cx: &Call<'_>, preview: bool) -> Result<Option<Undone>> {
    let mut all: Option<Undone> = None;
    for workspace in Files::open(cx, true)?.writable() {
        let undone =
            if preview { undo::preview(&workspace, cx.key())? } else { undo::undo(&workspace, cx.key())? };
        if let Some(Undone { restored, left, notes }) = undone {
            let all = all.get_or_insert_default();
            all.restored.extend(restored);
            all.left.extend(left);
            all.notes.extend(notes);
        }
    }
    Ok(all)
}

/// The two methods of a tool whose changes are all made through [`Changes`].
macro_rules! taken_back_as_kept {
    () => {
        fn undo(&self, _: Self::Args, cx: &$crate::files::Call<'_>) -> Result<Option<Undone>> {
            $crate::kept::undo(cx, false)
        }

        fn undo_preview(&self, _: Self::Args, cx: &$crate::files::Call<'_>) -> Result<Option<Undone>> {
            $crate::kept::undo(cx, true)
        }
    };
}

pub(crate) use taken_back_as_kept;
