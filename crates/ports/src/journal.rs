//! The journal of a session: append in order, wait until what was appended is kept.

use foehn_protocol::{Entry, SessionId};
use futures_util::future::BoxFuture;

/// Append-only memory of one session.
///
/// `append` only queues, in order, and never blocks: the first model request may leave while the store still opens.
/// The engine awaits [`Journal::committed`] before a call with effects starts and before the next step begins.
pub trait Journal: Send + Sync {
    fn session(&self) -> &SessionId;

    fn append(&self, entry: Entry);

    /// Resolves once all that was appended so far survives the death of this process.
    fn committed(&self) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Everything kept of this session so far, oldest first.
    fn load(&self) -> BoxFuture<'_, Result<Vec<Entry>, JournalError>>;
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// The store could not keep or read something; `message` says what and what to do.
    #[error("the session journal {place} {message}")]
    Store { place: String, message: String },
    #[error("session `{0}` does not exist")]
    NoSuchSession(SessionId),
}
