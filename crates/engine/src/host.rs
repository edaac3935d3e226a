//! The ports and settings of one session, shared by everything that happens in it.

use std::sync::Arc;

use foehn_ports::{Gate, Journal, JournalError, Model, Toolbox};
use foehn_protocol::{Entry, Event, EventBody, NoticeLevel, SessionId, ToolResult, TurnId};
use tokio::sync::mpsc::UnboundedSender;

use crate::guard::{InvalidCalls, Retry, invalid_calls};
use crate::profile::AgentProfile;

pub(crate) struct Host {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) profile: AgentProfile,
    pub(crate) caller: Option<String>,
    pub(crate) session: SessionId,
    pub(crate) outbox: Outbox,
    pub(crate) journal: Arc<dyn Journal>,
}

/// Where events leave.
#[derive(Clone)]
pub(crate) struct Outbox {
    pub(crate) session: SessionId,
    pub(crate) events: UnboundedSender<Event>,
}

impl Outbox {
    pub(crate) fn emit(&self, turn: TurnId, body: EventBody) {
        // A front end that is gone also closes the ops, and that ends the session; nothing to do about it here.
        let _ = self.events.send(Event::new(self.session.clone(), turn, body));
    }

    pub(crate) fn warn(&self, turn: TurnId, text: String) {
        self.emit(turn, EventBody::Notice { level: NoticeLevel::Warning, text });
    }
}

impl Host {
    pub(crate) fn emit(&self, turn: TurnId, body: EventBody) {
        self.outbox.emit(turn, body);
    }

    /// One more invalid call of a tool: whether there may be another. Who watches is told before the last one.
    pub(crate) fn count_invalid(&self, turn: TurnId, tool: &str, calls: &InvalidCalls) -> Retry {
        let retry = calls.invalid(tool, &self.profile.limits);
        if let Retry::Last(count) = retry {
            self.outbox.warn(turn, format!("{}; one more ends the turn", invalid_calls(tool, count)));
        }
        retry
    }

    /// Keeps and tells the result of a call. Called once for each call.
    pub(crate) fn close(&self, turn: TurnId, result: &ToolResult) {
        self.journal.append(Entry::Result { turn, result: result.clone() });
        self.emit(turn, EventBody::CallFinished(result.clone()));
    }

    /// Waits until everything appended so far is kept; the words of a failure say what it means.
    pub(crate) async fn committed(&self) -> Result<(), String> {
        self.journal.committed().await.map_err(|error: JournalError| format!("{error}; nothing more is run"))
    }
}
