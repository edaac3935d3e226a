//! A session: prompts one after another, each a turn, until the front end is done.

use std::sync::Arc;
use std::time::Instant;

use foehn_context::TurnBudget;
use foehn_contract::envelope;
use foehn_ports::{Gate, Journal, JournalError, Model, ModelRequest, Toolbox};
use foehn_protocol::{Entry, Event, EventBody, Message, Op, TurnId, TurnStatus};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::control::Control;
use crate::host::{Host, Outbox};
use crate::profile::AgentProfile;
use crate::results::milliseconds;
use crate::tools::Tools;
use crate::turn::{End, TurnState};

/// Why a result of a turn is shortened, as the model reads it.
const TURN_TOO_LARGE: &str =
    "the results of this turn are too large together; ask again for a smaller part if you need the rest";

/// One agent in one session, ready to run.
pub struct Engine {
    pub model: Arc<dyn Model>,
    pub toolbox: Arc<dyn Toolbox>,
    pub journal: Arc<dyn Journal>,
    pub gate: Arc<dyn Gate>,
    pub profile: AgentProfile,
    /// Who started the run; from the host, never from an argument.
    pub caller: Option<String>,
    /// The session has a past that has to be loaded first. A new one must not wait for its store to open.
    pub resume: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A stored session could not be read; nothing was run.
    #[error("the session cannot go on: {0}")]
    Resume(#[from] JournalError),
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("profile", &self.profile)
            .field("resume", &self.resume)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Runs until [`Op::Shutdown`] or until `ops` closes. Prompts run one after another; `Shutdown` lets the prompts
    /// before it end, a closed channel ends the running turn as an interrupt does. Each turn ends with
    /// [`EventBody::TurnDone`], when everything of it is kept.
    pub async fn run(
        self,
        ops: UnboundedReceiver<Op>,
        events: UnboundedSender<Event>,
    ) -> Result<(), EngineError> {
        let mut session = Session::open(self, ops, events).await?;
        while let Some(text) = session.control.next_prompt().await {
            session.turn(text).await;
        }
        Ok(())
    }
}

pub(crate) struct Session {
    pub(crate) host: Host,
    pub(crate) control: Control,
    pub(crate) tools: Tools,
    /// The request of the next step: it grows with the conversation and is never rebuilt.
    pub(crate) request: ModelRequest,
    pub(crate) budget: TurnBudget,
    pub(crate) turn: TurnId,
}

impl Session {
    async fn open(
        engine: Engine,
        ops: UnboundedReceiver<Op>,
        events: UnboundedSender<Event>,
    ) -> Result<Self, JournalError> {
        let Engine { model, toolbox, journal, gate, profile, caller, resume } = engine;
        let entries = if resume { journal.load().await? } else { Vec::new() };
        let session = journal.session().clone();
        let outbox = Outbox { session: session.clone(), events };
        let limits = context_limits(&profile);
        let request = ModelRequest {
            system: profile.system.clone(),
            messages: foehn_context::messages(&entries, limits),
            tools: Vec::new(),
            max_output_tokens: profile.max_output_tokens,
            temperature: profile.temperature,
        };
        let this = Self {
            control: Control::new(ops, outbox.clone()),
            tools: Tools::resumed(&entries),
            budget: TurnBudget::new(limits, request.messages.len()),
            request,
            turn: last_turn(&entries),
            host: Host { model, toolbox, gate, profile, caller, session, outbox, journal },
        };
        let identity = this.host.model.identity();
        this.host.emit(
            TurnId(0),
            EventBody::SessionStarted {
                agent: this.host.profile.name.clone(),
                provider: identity.provider.clone(),
                model: identity.model.clone(),
                stand_in: identity.stand_in,
                tools: this.host.toolbox.tools().len(),
                resumed: resume,
            },
        );
        Ok(this)
    }

    /// Brings the request up to date with the tools there are now.
    pub(crate) fn offer_tools(&mut self) {
        let agent = &self.host.profile.name;
        if let Some(entry) = self.tools.offer(&*self.host.toolbox, agent, &mut self.request) {
            self.host.journal.append(entry);
        }
    }

    async fn turn(&mut self, text: String) {
        let started = Instant::now();
        self.turn.0 += 1;
        let turn = self.turn;
        self.control.begin(turn);
        self.budget = TurnBudget::new(context_limits(&self.host.profile), self.request.messages.len());
        self.request.messages.push(Message::User { text: text.clone() });
        self.host.journal.append(Entry::Prompt { turn, text: text.clone() });
        self.host.emit(turn, EventBody::TurnStarted { prompt: text });

        let mut state = TurnState::default();
        let End { mut status, mut reason } = self.steps(&mut state).await;
        self.host.journal.append(Entry::TurnEnded {
            turn,
            status,
            reason: reason.clone(),
            usage: state.usage,
        });
        if let Err(failure) = self.control.during(self.host.committed()).await {
            status = TurnStatus::Failed;
            reason = Some(failure);
        }
        self.host.emit(
            turn,
            EventBody::TurnDone {
                status,
                text: state.text,
                reason,
                steps: state.steps,
                calls: state.calls,
                usage: state.usage,
                elapsed_ms: milliseconds(started.elapsed()),
            },
        );
    }
}

fn context_limits(profile: &AgentProfile) -> foehn_context::Limits {
    foehn_context::Limits {
        turn_result_characters: profile.limits.turn_result_characters,
        shorten: |envelope, characters| envelope::shorten(envelope, characters, TURN_TOO_LARGE),
    }
}

fn last_turn(entries: &[Entry]) -> TurnId {
    let turns = entries.iter().filter_map(|entry| match entry {
        Entry::Prompt { turn, .. } | Entry::TurnEnded { turn, .. } | Entry::Answer { turn, .. } => {
            Some(*turn)
        }
        _ => None,
    });
    turns.max().unwrap_or_default()
}
