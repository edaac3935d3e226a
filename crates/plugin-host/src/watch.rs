//! Looks at the plugins folder whenever something in it changes, until the returned guard is dropped.
//!
//! A copy that is being made changes many times and is only half a file for a while: the folder is looked at when it has
//! been quiet and its files have kept their size.

use std::path::PathBuf;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::scan::{FileKey, scan};
use crate::set::{PluginSet, Reloaded};

/// How long nothing may have happened.
const QUIET: Duration = Duration::from_millis(250);

/// Keeps a set up to date; see [`PluginSet::watch`].
#[derive(Debug)]
pub struct Watching {
    _watcher: RecommendedWatcher,
    task: JoinHandle<()>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("changes of `{}` cannot be noticed: {source}", folder.display())]
    Watch { folder: PathBuf, source: notify::Error },
}

impl PluginSet {
    /// Reloads the set whenever its folder changes, and tells what changed.
    ///
    /// # Errors
    /// The folder does not exist or the system cannot watch it.
    pub fn watch(&self, mut changed: impl FnMut(Reloaded) + Send + 'static) -> Result<Watching, WatchError> {
        let folder = self.plugins_dir().clone();
        let failed = |source| WatchError::Watch { folder: folder.clone(), source };
        let (sender, mut events) = mpsc::unbounded_channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| is_change(event.kind)) {
                // The one who reads it goes away only together with this watcher.
                let _ = sender.send(());
            }
        })
        .map_err(failed)?;
        watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(failed)?;

        let set = self.clone();
        let task = tokio::spawn(async move {
            while events.recv().await.is_some() {
                settle(&set, &mut events).await;
                let reloaded = set.reload().await;
                if !reloaded.is_empty() {
                    changed(reloaded);
                }
            }
        });
        Ok(Watching { _watcher: watcher, task })
    }
}

/// Being read is no change; we read the files ourselves.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

async fn settle(set: &PluginSet, events: &mut mpsc::UnboundedReceiver<()>) {
    let mut before = keys(set);
    loop {
        let quiet = tokio::time::timeout(QUIET, events.recv()).await;
        let now = keys(set);
        // An event, and not the end of them: go on waiting.
        if !matches!(quiet, Ok(Some(()))) && now == before {
            return;
        }
        before = now;
    }
}

fn keys(set: &PluginSet) -> Vec<(PathBuf, Option<FileKey>)> {
    let found = scan(set.plugins_dir()).unwrap_or_default();
    found.into_iter().map(|found| (found.path.clone(), FileKey::of(&found.path).ok())).collect()
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind, RemoveKind};

    use super::*;

    #[test]
    fn reading_is_no_change() {
        let kinds = [
            EventKind::Access(AccessKind::Open(AccessMode::Any)),
            EventKind::Access(AccessKind::Close(AccessMode::Read)),
            EventKind::Access(AccessKind::Close(AccessMode::Write)),
            EventKind::Create(CreateKind::File),
            EventKind::Modify(ModifyKind::Any),
            EventKind::Remove(RemoveKind::File),
        ];
        assert_eq!(kinds.map(is_change), [false, false, true, true, true, true]);
    }
}
