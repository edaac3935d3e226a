//! What can go wrong with the store, in words that say what to do.

use std::path::{Path, PathBuf};

use foehn_ports::JournalError;
use foehn_protocol::SessionId;

/// A failure of the store at `path`. Nothing of the step that failed was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session store {} {problem}", path.display())]
pub struct StoreError {
    pub path: PathBuf,
    pub problem: Problem,
}

/// Each text continues a sentence that began with the name of the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error(
        "is damaged or no database ({0}). It was left as it is: move it away to start with an empty one, or recover \
         a copy of it with `sqlite3 COPY .recover`"
    )]
    Damaged(String),
    #[error(
        "cannot grow: the disk is full ({0}). Free some space and try again; nothing stored before is lost"
    )]
    Full(String),
    #[error(
        "cannot be read or written by the system ({0}). Check free space, quota and the disk, then try again"
    )]
    Io(String),
    #[error(
        "cannot be opened for writing ({0}). Check who owns the file and its folder, or set `[store] path`"
    )]
    NotWritable(String),
    #[error("is locked by another program for too long. End that program, or try again later")]
    Busy,
    #[error(
        "was written by a newer Foehn (schema {found}, this one knows {known}). Use that version, or set `[store] path`"
    )]
    Newer { found: i64, known: i64 },
    #[error("has session `{session}` open in another Foehn{by}. End that one first, or start a new session")]
    InUse {
        session: SessionId,
        /// ` (process 123)` when the owner is known, else empty.
        by: String,
    },
    #[error(
        "has session `{0}` taken over by another Foehn while this one was paused. Nothing more is stored here: open \
         the session again"
    )]
    LeaseLost(SessionId),
    #[error("has no session `{0}`. `foehn sessions` lists those that exist")]
    NoSuchSession(SessionId),
    #[error(
        "holds an entry that cannot be read (session `{session}`, number {seq}: {reason}). It was left as it is"
    )]
    BadEntry { session: SessionId, seq: i64, reason: String },
    #[error("is closed")]
    Closed,
    #[error("failed: {0}")]
    Failed(String),
}

impl StoreError {
    pub(crate) fn new(path: &Path, problem: Problem) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        match error.problem {
            Problem::NoSuchSession(session) => Self::NoSuchSession(session),
            problem => Self::Store { place: error.path.display().to_string(), message: problem.to_string() },
        }
    }
}

impl Problem {
    /// Whether a session that met this can never be written again by the same journal.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::LeaseLost(_) | Self::NoSuchSession(_))
    }

    /// Whether the connection may be in a state that its driver no longer knows: SQLite ends a transaction by itself
    /// on some failures, and the driver goes on counting it as open.
    pub(crate) fn spoils_connection(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Full(_) | Self::Io(_) | Self::NotWritable(_) | Self::Failed(_) => true,
            Self::Busy
            | Self::Newer { .. }
            | Self::InUse { .. }
            | Self::LeaseLost(_)
            | Self::NoSuchSession(_)
            | Self::BadEntry { .. }
            | Self::Closed => false,
        }
    }

    pub(crate) fn from_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(error.to_string()),
            ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::NotFound => Self::NotWritable(error.to_string()),
            _ => Self::Io(error.to_string()),
        }
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(database) => {
                let text = database.message().to_owned();
                let code = database.code().and_then(|code| code.parse::<i32>().ok());
                // The low byte is SQLite's primary result code, the rest says where it happened.
                match code.map(|code| code & 0xff) {
                    Some(5 | 6) => Self::Busy,
                    Some(3 | 8 | 14 | 23) => Self::NotWritable(text),
                    Some(10) => Self::Io(text),
                    Some(11 | 26) => Self::Damaged(text),
                    Some(13) => Self::Full(text),
                    _ => Self::Failed(text),
                }
            }
            sqlx::Error::Io(error) => Self::from_io(&error),
            sqlx::Error::WorkerCrashed => Self::Failed("its database thread ended".to_owned()),
            other => Self::Failed(other.to_string()),
        }
    }
}
