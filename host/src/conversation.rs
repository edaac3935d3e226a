//! One session, wired: model, plugins, store and engine behind the two queues that a front end holds.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_engine::{Engine, EngineError};
use foehn_plugin_host::{PluginSet, PluginState, SessionEnding};
use foehn_ports::{Gate, Journal, Model};
use foehn_protocol::{Event, Op, SessionId};
use foehn_store::Store;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::agent_tools::AgentTools;
use crate::cli::SessionArgs;
use crate::command::plugins::state_words;
use crate::output::remark;
use crate::setup::Setup;

/// A running engine and the two queues to it.
pub(crate) struct Conversation {
    pub(crate) ops: UnboundedSender<Op>,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) engine: JoinHandle<Result<(), EngineError>>,
    pub(crate) session: SessionId,
}

/// What outlives one session of a chat.
pub(crate) struct House {
    pub(crate) plugins: Arc<PluginSet>,
    store: Store,
    model: Arc<dyn Model>,
    gate: Arc<dyn Gate>,
}

impl House {
    /// Opens everything that a conversation needs. Nothing here waits for a disk that is not needed before the first
    /// request: the store opens on its own thread, workers start with their first call.
    pub(crate) async fn open(setup: &Setup, gate: Arc<dyn Gate>) -> Result<Self> {
        let model = setup.connect()?;
        let store = setup.open_store()?;
        let plugins = Arc::new(setup.load_plugins(Some(&store)).await?);
        Ok(Self { plugins, store, model, gate })
    }

    /// Starts a new session, or goes on with a stored one.
    pub(crate) async fn converse(&self, setup: &Setup, session: &SessionArgs) -> Result<Conversation> {
        let stored = self.stored_session(setup, session).await?;
        let resume = stored.is_some();
        let journal: Arc<dyn Journal> = match stored {
            Some(id) => Arc::new(self.store.resume(&id)),
            None => Arc::new(self.store.create(&setup.agent, &setup.directory)),
        };
        let toolbox = self.toolbox(setup)?;
        let engine = Engine {
            model: Arc::clone(&self.model),
            toolbox,
            journal,
            gate: Arc::clone(&self.gate),
            profile: setup.agent_profile(&self.plugins)?,
            caller: setup.caller(),
            resume,
        };
        Ok(Conversation::start(engine))
    }

    async fn stored_session(&self, setup: &Setup, session: &SessionArgs) -> Result<Option<SessionId>> {
        if let Some(id) = &session.session {
            return Ok(Some(id.as_str().into()));
        }
        if !session.continue_latest {
            return Ok(None);
        }
        let latest = self.store.latest(&setup.directory).await?;
        let latest = latest.with_context(|| {
            format!(
                "no session of {} is stored yet; run without --continue to start one",
                setup.directory.display()
            )
        })?;
        Ok(Some(latest.id))
    }

    /// The agent's tools.
    pub(crate) fn toolbox(&self, setup: &Setup) -> Result<Arc<AgentTools>> {
        Ok(Arc::new(setup.toolbox(&self.plugins)?))
    }

    /// Tells which plugins are not used: a tool that is missing must not be a riddle.
    pub(crate) fn remark_on_plugins(&self) {
        for listed in self.plugins.listing() {
            if listed.state != PluginState::Ready {
                let (word, reason) = state_words(&listed.state);
                remark(&format!("warning: plugin {} is {word}: {reason}", listed.name));
            }
        }
        for warning in self.plugins.warnings() {
            remark(&format!("warning: {warning}"));
        }
    }

    /// Ends workers and store. Nothing is left running, and all that was said is kept.
    pub(crate) async fn close(self) -> Result<()> {
        self.plugins.shutdown().await;
        self.store.flush_and_close().await?;
        Ok(())
    }
}

impl Conversation {
    pub(crate) fn start(engine: Engine) -> Self {
        let (ops, ops_receiver) = unbounded_channel();
        let (events_sender, events) = unbounded_channel();
        let session = engine.journal.session().clone();
        Self { ops, events, engine: tokio::spawn(engine.run(ops_receiver, events_sender)), session }
    }
}

/// Waits for the engine. One that was stopped on purpose is no failure.
pub(crate) async fn end(engine: JoinHandle<Result<(), EngineError>>) -> Result<()> {
    match engine.await {
        Ok(result) => Ok(result?),
        Err(stopped) if stopped.is_cancelled() => Ok(()),
        Err(panicked) => Err(panicked).context("the engine ended by a fault of its own"),
    }
}

/// Ends what was kept running for a session, and says so: nothing of it ends, or runs on, unseen.
pub(crate) async fn end_session(setup: &Setup, plugins: &PluginSet, session: &SessionId, host_ends: bool) {
    let SessionEnding { ended, kept } = plugins.end_session(&setup.agent, session, host_ends).await;
    ended.iter().for_each(|line| remark(&format!("ended: {line}")));
    kept.iter().for_each(|line| remark(&format!("still runs: {line}")));
}
