//! The journal of one session: the engine's socket, plugged into the store.

use foehn_ports::{BoxFuture, Journal, JournalError};
use foehn_protocol::{Entry, SessionId};

use crate::lease::now_ms;
use crate::worker::{Command, Mailbox, Target};

/// Implements [`Journal`]. Dropping it gives the session free for others.
///
/// When the store fails, entries wait and are tried again in their order with the next [`Journal::committed`]: the
/// journal never has a hole.
#[derive(Debug)]
pub struct SessionJournal {
    id: SessionId,
    handle: u64,
    mailbox: Mailbox,
}

impl SessionJournal {
    pub(crate) fn open(mailbox: &Mailbox, id: SessionId, target: Target) -> Self {
        let handle = mailbox.next_handle();
        mailbox.send(Command::Open { handle, id: id.clone(), target });
        Self { id, handle, mailbox: mailbox.clone() }
    }
}

impl Journal for SessionJournal {
    fn session(&self) -> &SessionId {
        &self.id
    }

    fn append(&self, entry: Entry) {
        self.mailbox.send(Command::Append { handle: self.handle, at_ms: now_ms(), entry: Box::new(entry) });
    }

    fn committed(&self) -> BoxFuture<'_, Result<(), JournalError>> {
        let answer = self.mailbox.ask(|reply| Command::Commit { handle: self.handle, reply });
        Box::pin(async { Ok(answer.await?) })
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Entry>, JournalError>> {
        let answer = self.mailbox.ask(|reply| Command::LoadOpen { handle: self.handle, reply });
        Box::pin(async { Ok(answer.await?) })
    }
}

impl Drop for SessionJournal {
    fn drop(&mut self) {
        self.mailbox.send(Command::Release { handle: self.handle });
    }
}
