//! The store as the host holds it.

use std::path::{Path, PathBuf};

use foehn_protocol::{Entry, SessionId};

use crate::worker::{Command, Mailbox, Target};
use crate::{PluginState, SessionInfo, SessionJournal, StoreError, StoredEntry, worker};

/// The file with all sessions. Cheap to clone; all clones share one thread and one connection.
#[derive(Clone, Debug)]
pub struct Store {
    mailbox: Mailbox,
}

impl Store {
    /// Starts the thread that will open `path` when something is first asked of it: returns at once, and touches no file.
    ///
    /// A file that is missing is made with its folder, both for their owner only. What is wrong with the file shows in
    /// the first answer.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Ok(Self { mailbox: worker::start(path.into())? })
    }

    /// A new session with an id of its own. It is stored with its first entry, so that one without any leaves no trace.
    pub fn create(&self, agent: &str, workspace: &Path) -> SessionJournal {
        let id = SessionId(uuid::Uuid::now_v7().to_string());
        let workspace = workspace.to_string_lossy().into_owned();
        SessionJournal::open(&self.mailbox, id, Target::New { agent: agent.to_owned(), workspace })
    }

    /// A session that exists, to go on with it. That it does not exist or is open elsewhere shows in the first answer
    /// of its journal: call [`foehn_ports::Journal::load`] first.
    pub fn resume(&self, id: &SessionId) -> SessionJournal {
        SessionJournal::open(&self.mailbox, id.clone(), Target::Existing)
    }

    /// All sessions; the one used last comes first.
    pub async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.mailbox.ask(|reply| Command::Sessions { workspace: None, limit: i64::MAX, reply }).await
    }

    /// The session of this workspace that was used last.
    pub async fn latest(&self, workspace: &Path) -> Result<Option<SessionInfo>, StoreError> {
        let workspace = Some(workspace.to_string_lossy().into_owned());
        let sessions = self.mailbox.ask(|reply| Command::Sessions { workspace, limit: 1, reply }).await?;
        Ok(sessions.into_iter().next())
    }

    /// The entries of a session, oldest first, also while another host writes it.
    pub async fn load(&self, id: &SessionId) -> Result<Vec<Entry>, StoreError> {
        self.load_stored(id)
            .await?
            .iter()
            .map(|entry| entry.decode(id).map_err(|problem| StoreError::new(self.path(), problem)))
            .collect()
    }

    /// The entries of a session exactly as they are stored, oldest first.
    pub async fn load_stored(&self, id: &SessionId) -> Result<Vec<StoredEntry>, StoreError> {
        self.mailbox.ask(|reply| Command::Load { id: id.clone(), reply }).await
    }

    /// What the plugin of this name keeps.
    pub fn plugin_state(&self, plugin: &str) -> PluginState {
        PluginState::new(plugin, self.mailbox.clone())
    }

    pub fn path(&self) -> &Path {
        self.mailbox.path()
    }

    /// Stores what is still queued, gives the sessions free, and ends the thread. Whatever is asked later, of any clone,
    /// answers that the store is closed.
    pub async fn flush_and_close(&self) -> Result<(), StoreError> {
        self.mailbox.ask(|reply| Command::Close { reply }).await
    }
}
