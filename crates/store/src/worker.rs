//! The thread that owns the connection: takes commands in order, and stores what is queued in one transaction.
//!
//! It refuses to block anybody: every command is a message, and who wants an answer awaits it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foehn_protocol::{Entry, SessionId};
use sqlx::AnyConnection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::connection::Lazy;
use crate::lease::{Claim, Process, RENEW_EVERY, Refused, now_ms};
use crate::sessions::{self, Pending};
use crate::{Problem, SessionInfo, StoreError, StoredEntry, Versioned, plugin_state};

/// How long an entry that nobody waits for is kept back, so that it shares a transaction with the next ones.
const GATHER: Duration = Duration::from_millis(20);

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Problem>>;

pub(crate) enum Command {
    Open { handle: u64, id: SessionId, target: Target },
    Append { handle: u64, at_ms: i64, entry: Box<Entry> },
    Commit { handle: u64, reply: Reply<()> },
    LoadOpen { handle: u64, reply: Reply<Vec<Entry>> },
    Release { handle: u64 },
    Load { id: SessionId, reply: Reply<Vec<StoredEntry>> },
    Sessions { workspace: Option<String>, limit: i64, reply: Reply<Vec<SessionInfo>> },
    StateGet { plugin: String, key: String, reply: Reply<Option<Versioned>> },
    StatePut { plugin: String, key: String, value: Vec<u8>, reply: Reply<i64> },
    StateSwap { plugin: String, key: String, expected: i64, value: Vec<u8>, reply: Reply<Option<i64>> },
    StateDelete { plugin: String, key: String, expected: Option<i64>, reply: Reply<bool> },
    StateList { plugin: String, prefix: String, reply: Reply<Vec<String>> },
    Close { reply: Reply<()> },
}

/// Which session a journal is for.
#[derive(Debug)]
pub(crate) enum Target {
    New { agent: String, workspace: String },
    Existing,
}

/// Where commands are put.
#[derive(Clone, Debug)]
pub(crate) struct Mailbox {
    path: Arc<Path>,
    handles: Arc<AtomicU64>,
    commands: mpsc::UnboundedSender<Command>,
}

impl Mailbox {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn next_handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// After the end of the thread the command is dropped; the next question says that the store is closed.
    pub(crate) fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// The command is queued now, its answer comes with the future.
    pub(crate) fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply));
        let path = Arc::clone(&self.path);
        async move {
            answer.await.unwrap_or(Err(Problem::Closed)).map_err(|problem| StoreError::new(&path, problem))
        }
    }
}

/// Starts the thread of a store. It ends with [`Command::Close`] or when the last mailbox is gone.
pub(crate) fn start(path: PathBuf) -> Result<Mailbox, StoreError> {
    let failed = |path: &Path, error: &std::io::Error| {
        StoreError::new(path, Problem::Failed(format!("its thread does not start: {error}")))
    };
    let path = std::path::absolute(&path).map_err(|error| failed(&path, &error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| failed(&path, &error))?;
    let (commands, inbox) = mpsc::unbounded_channel();
    let path: Arc<Path> = path.into();
    let worker = Worker {
        path: Arc::clone(&path),
        owner: uuid::Uuid::now_v7().to_string(),
        process: None,
        connection: Lazy::default(),
        sessions: HashMap::new(),
    };
    std::thread::Builder::new()
        .name("foehn-store".to_owned())
        .spawn(move || runtime.block_on(worker.run(inbox)))
        .map_err(|error| failed(&path, &error))?;
    Ok(Mailbox { path, handles: Arc::default(), commands })
}

struct Worker {
    path: Arc<Path>,
    owner: String,
    process: Option<Process>,
    connection: Lazy,
    sessions: HashMap<u64, Session>,
}

/// A session that this host may write.
struct Session {
    id: SessionId,
    target: Target,
    claim: Claim,
    held: Option<Held>,
    pending: Vec<Pending>,
    title: Option<String>,
    /// Whether the title is stored.
    is_entitled: bool,
    waiting: Vec<Reply<()>>,
    /// The final failure of this journal.
    broken: Option<Problem>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    epoch: i64,
    last_seq: i64,
}

enum Next {
    GoOn,
    End,
}

impl Worker {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        let mut renew_at = Instant::now() + RENEW_EVERY;
        let mut store_at = None;
        loop {
            let holds = self.sessions.values().any(|session| session.held.is_some());
            let command = tokio::select! {
                command = inbox.recv() => command,
                () = tokio::time::sleep_until(store_at.unwrap_or(renew_at)), if store_at.is_some() => {
                    self.flush_all().await;
                    store_at = None;
                    continue;
                }
                () = tokio::time::sleep_until(renew_at), if holds => {
                    self.renew().await;
                    renew_at = Instant::now() + RENEW_EVERY;
                    continue;
                }
            };
            let Some(mut command) = command else { break };
            loop {
                if let Next::End = self.handle(command).await {
                    return;
                }
                match inbox.try_recv() {
                    Ok(next) => command = next,
                    Err(_) => break,
                }
            }
            store_at = if self.sessions.values().any(Session::is_urgent) {
                self.flush_all().await;
                None
            } else {
                let gathers = self.sessions.values().any(|session| !session.pending.is_empty());
                gathers.then(|| store_at.unwrap_or_else(|| Instant::now() + GATHER))
            };
        }
        // Nobody is left to ask or to be told.
        let _ = self.close().await;
    }

    /// Appends and commits gather; questions about sessions first store what has gathered, so that they see it. What plugins
    /// keep has nothing to do with it and waits for no transaction but its own.
    async fn handle(&mut self, command: Command) -> Next {
        match command {
            Command::Open { handle, id, target } => self.open(handle, id, target),
            Command::Append { handle, at_ms, entry } => {
                if let Some(session) = self.sessions.get_mut(&handle) {
                    session.append(at_ms, &entry);
                }
                return Next::GoOn;
            }
            Command::Commit { handle, reply } => {
                match self.sessions.get_mut(&handle) {
                    Some(session) => session.waiting.push(reply),
                    None => answer(reply, Err(Problem::Closed)),
                }
                return Next::GoOn;
            }
            Command::Close { reply } => {
                answer(reply, self.close().await);
                return Next::End;
            }
            state @ (Command::StateGet { .. }
            | Command::StatePut { .. }
            | Command::StateSwap { .. }
            | Command::StateDelete { .. }
            | Command::StateList { .. }) => self.ask(state).await,
            session => {
                self.flush_all().await;
                self.ask(session).await;
            }
        }
        Next::GoOn
    }

    async fn ask(&mut self, command: Command) {
        let Self { connection, path, .. } = self;
        match command {
            Command::LoadOpen { handle, reply } => answer(reply, self.load_open(handle).await),
            Command::Release { handle } => self.release(handle).await,
            Command::Load { id, reply } => {
                let found = connection.single(path, async |connection| load(connection, &id).await).await;
                answer(reply, found);
            }
            Command::Sessions { workspace, limit, reply } => {
                let work = async |connection: &mut AnyConnection| {
                    sessions::list(connection, workspace.as_deref(), limit).await
                };
                answer(reply, connection.single(path, work).await);
            }
            Command::StateGet { plugin, key, reply } => {
                let work =
                    async |connection: &mut AnyConnection| plugin_state::get(connection, &plugin, &key).await;
                answer(reply, connection.single(path, work).await);
            }
            Command::StatePut { plugin, key, value, reply } => {
                let work = async |connection: &mut AnyConnection| {
                    plugin_state::put(connection, &plugin, &key, &value).await
                };
                answer(reply, connection.single(path, work).await);
            }
            Command::StateSwap { plugin, key, expected, value, reply } => {
                let work = async |connection: &mut AnyConnection| {
                    plugin_state::compare_and_set(connection, &plugin, &key, expected, &value).await
                };
                answer(reply, connection.single(path, work).await);
            }
            Command::StateDelete { plugin, key, expected, reply } => {
                let work = async |connection: &mut AnyConnection| {
                    plugin_state::delete(connection, &plugin, &key, expected).await
                };
                answer(reply, connection.single(path, work).await);
            }
            Command::StateList { plugin, prefix, reply } => {
                let work = async |connection: &mut AnyConnection| {
                    plugin_state::list(connection, &plugin, &prefix).await
                };
                answer(reply, connection.single(path, work).await);
            }
            Command::Open { .. }
            | Command::Append { .. }
            | Command::Commit { .. }
            | Command::Close { .. } => {}
        }
    }

    fn open(&mut self, handle: u64, id: SessionId, target: Target) {
        let process = self.process.get_or_insert_with(Process::current).clone();
        let claim =
            Claim { name: format!("session/{id}"), owner: format!("{}/{handle}", self.owner), process };
        let session = Session {
            id,
            target,
            claim,
            held: None,
            pending: Vec::new(),
            title: None,
            is_entitled: false,
            waiting: Vec::new(),
            broken: None,
        };
        self.sessions.insert(handle, session);
    }

    async fn flush_all(&mut self) {
        for session in self.sessions.values_mut() {
            if session.pending.is_empty() && session.waiting.is_empty() {
                continue;
            }
            let result = session.flush(&mut self.connection, &self.path).await;
            if let (Err(problem), true) = (&result, session.waiting.is_empty()) {
                tracing::warn!(session = %session.id, "the session store {} {problem}", self.path.display());
            }
            for reply in session.waiting.drain(..) {
                answer(reply, result.clone());
            }
        }
    }

    async fn load_open(&mut self, handle: u64) -> Result<Vec<Entry>, Problem> {
        let session = self.sessions.get_mut(&handle).ok_or(Problem::Closed)?;
        match session.target {
            Target::New { .. } if session.held.is_none() && session.pending.is_empty() => {
                return Ok(Vec::new());
            }
            _ => session.write(&mut self.connection, &self.path).await?,
        }
        let id = &session.id;
        let stored =
            self.connection.single(&self.path, async |connection| load(connection, id).await).await?;
        stored.iter().map(|entry| entry.decode(id)).collect()
    }

    async fn renew(&mut self) {
        for session in self.sessions.values_mut() {
            if let Err(problem) = session.renew(&mut self.connection, &self.path).await {
                tracing::warn!(session = %session.id, "the session store {} {problem}", self.path.display());
            }
        }
    }

    async fn release(&mut self, handle: u64) {
        let Some(session) = self.sessions.remove(&handle) else { return };
        if let Err(problem) = session.release(&mut self.connection, &self.path).await {
            tracing::warn!(session = %session.id, "the session store {} {problem}", self.path.display());
        }
    }

    async fn close(&mut self) -> Result<(), Problem> {
        self.flush_all().await;
        let mut result = Ok(());
        for (_, session) in self.sessions.drain() {
            if let Some(problem) = &session.broken {
                result = Err(problem.clone());
            } else if !session.pending.is_empty() {
                // What the flush ran into is told by a last try, since nobody may have waited for it.
                let mut session = session;
                result = session.write(&mut self.connection, &self.path).await;
            } else {
                let released = session.release(&mut self.connection, &self.path).await;
                result = result.and(released);
            }
        }
        self.connection.leave();
        result
    }
}

impl Session {
    fn append(&mut self, at_ms: i64, entry: &Entry) {
        match serde_json::to_string(entry) {
            Ok(body) => self.pending.push(Pending { at_ms, body }),
            // A journal with a hole would be worse than none.
            Err(error) => self.broken = Some(Problem::Failed(format!("an entry has no JSON form: {error}"))),
        }
        if self.title.is_none() {
            self.title = sessions::title(entry);
        }
    }

    /// Whether somebody waits for what is pending, or would soon wait for the store to open.
    fn is_urgent(&self) -> bool {
        !self.waiting.is_empty() || (self.held.is_none() && !self.pending.is_empty())
    }

    /// Stores what is pending; with nothing pending it asks nothing of the database.
    async fn flush(&mut self, connection: &mut Lazy, path: &Path) -> Result<(), Problem> {
        if self.broken.is_none() && self.pending.is_empty() {
            return Ok(());
        }
        self.write(connection, path).await
    }

    /// Takes the lease if it is not held yet and stores what is pending: everything, or nothing.
    async fn write(&mut self, connection: &mut Lazy, path: &Path) -> Result<(), Problem> {
        if let Some(problem) = &self.broken {
            return Err(problem.clone());
        }
        let session = &*self;
        let written = match session.held {
            Some(held) if session.is_entitled && session.pending.len() <= sessions::AT_ONCE => {
                connection.single(path, async |connection| session.append_in(held, connection).await).await
            }
            _ => connection.write(path, async |connection| session.write_in(connection).await).await,
        };
        match written {
            Ok(held) => {
                self.held = Some(held);
                self.is_entitled |= self.title.is_some();
                self.pending.clear();
                Ok(())
            }
            Err(problem) => {
                if problem.is_final() {
                    self.broken = Some(problem.clone());
                }
                Err(problem)
            }
        }
    }

    async fn write_in(&self, connection: &mut AnyConnection) -> Result<Held, Problem> {
        let held = match self.held {
            Some(held) => held,
            None => self.take(connection).await?,
        };
        if let Some(title) = self.title.as_deref().filter(|_| !self.is_entitled) {
            sessions::entitle(connection, &self.id, title).await?;
        }
        self.append_in(held, connection).await
    }

    /// Stores what is pending. A writer that was replaced finds out here.
    async fn append_in(&self, mut held: Held, connection: &mut AnyConnection) -> Result<Held, Problem> {
        for entries in self.pending.chunks(sessions::AT_ONCE) {
            let (claim, epoch) = (&self.claim, held.epoch);
            if !sessions::append(connection, &self.id, held.last_seq, entries, claim, epoch).await? {
                return Err(Problem::LeaseLost(self.id.clone()));
            }
            held.last_seq += i64::try_from(entries.len()).unwrap_or(i64::MAX);
        }
        Ok(held)
    }

    /// Says that the owner still lives.
    async fn renew(&mut self, connection: &mut Lazy, path: &Path) -> Result<(), Problem> {
        let Some(held) = self.held.filter(|_| self.broken.is_none()) else { return Ok(()) };
        let claim = &self.claim;
        let renewed = connection.single(path, async |connection| claim.renew(held.epoch, connection).await);
        if renewed.await? {
            return Ok(());
        }
        let lost = Problem::LeaseLost(self.id.clone());
        self.broken = Some(lost.clone());
        Err(lost)
    }

    async fn take(&self, connection: &mut AnyConnection) -> Result<Held, Problem> {
        match &self.target {
            Target::Existing => {
                if !sessions::exists(connection, &self.id).await? {
                    return Err(Problem::NoSuchSession(self.id.clone()));
                }
            }
            Target::New { agent, workspace } => {
                let created_ms = self.pending.first().map_or_else(now_ms, |first| first.at_ms);
                let session = SessionInfo {
                    id: self.id.clone(),
                    agent: agent.clone(),
                    workspace: workspace.clone(),
                    title: String::new(),
                    created_ms,
                    updated_ms: created_ms,
                };
                sessions::insert(connection, &session).await?;
            }
        }
        let epoch = self.claim.acquire(connection).await.map_err(|refused| match refused {
            Refused::Held(by) => Problem::InUse { session: self.id.clone(), by },
            Refused::Store(problem) => problem,
        })?;
        Ok(Held { epoch, last_seq: sessions::last_seq(connection, &self.id).await? })
    }

    async fn release(&self, connection: &mut Lazy, path: &Path) -> Result<(), Problem> {
        let Some(held) = self.held else { return Ok(()) };
        let claim = &self.claim;
        connection.write(path, async |connection| claim.release(held.epoch, connection).await).await
    }
}

async fn load(connection: &mut AnyConnection, id: &SessionId) -> Result<Vec<StoredEntry>, Problem> {
    let entries = sessions::entries(connection, id).await?;
    if entries.is_empty() && !sessions::exists(connection, id).await? {
        return Err(Problem::NoSuchSession(id.clone()));
    }
    Ok(entries)
}

/// Who asked may be gone; then nobody misses the answer.
fn answer<T>(reply: Reply<T>, result: Result<T, Problem>) {
    let _ = reply.send(result);
}
