//! A journal that forgets: for a single tool call by the operator, which is no conversation and is not stored.

use std::sync::Mutex;

use foehn_ports::{BoxFuture, Journal, JournalError};
use foehn_protocol::{Entry, SessionId};

#[derive(Debug)]
pub(crate) struct MemoryJournal {
    session: SessionId,
    entries: Mutex<Vec<Entry>>,
}

impl MemoryJournal {
    pub(crate) fn new(session: SessionId) -> Self {
        Self { session, entries: Mutex::default() }
    }
}

impl Journal for MemoryJournal {
    fn session(&self) -> &SessionId {
        &self.session
    }

    fn append(&self, entry: Entry) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.push(entry);
        }
    }

    fn committed(&self) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Entry>, JournalError>> {
        Box::pin(std::future::ready(Ok(self
            .entries
            .lock()
            .map(|entries| entries.clone())
            .unwrap_or_default())))
    }
}
