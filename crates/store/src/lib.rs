//! What outlives a run: sessions with their journal, and the state of plugins.
//!
//! Everything sits in one SQLite file, written by one background thread, so that opening it never stands between a
//! user and the first request to a model. The SQL is kept to what Postgres reads as well.
//!
//! What this crate refuses: it never deletes, replaces or repairs a file that it cannot read, it never stores half of
//! a batch, it lets only one process at a time write a session, and it makes no disk flush per step. What is committed
//! survives the death of the process; a power cut may take the last moments, but never the file.
//!
//! ```no_run
//! # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
//! use foehn_ports::Journal;
//!
//! let store = foehn_store::Store::open("/home/me/.local/state/foehn/foehn.db")?;
//! let journal = store.create("default", std::path::Path::new("/home/me/project"));
//! journal.committed().await?;
//! store.flush_and_close().await?;
//! # Ok(())
//! # }
//! ```

mod error;
mod journal;
mod store;

mod connection;
mod lease;
mod plugin_state;
mod sessions;
mod worker;

pub use error::{Problem, StoreError};
pub use journal::SessionJournal;
pub use plugin_state::{PluginState, Versioned};
pub use sessions::{SessionInfo, StoredEntry};
pub use store::Store;
