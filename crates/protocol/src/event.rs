//! What the engine tells: the only way out. `--json` prints exactly these, one a line.

use serde::{Deserialize, Serialize};

use crate::{Approval, ApprovalId, CallId, Decision, Executed, Risk, SessionId, ToolResult, TurnId, Usage};

/// Version of the event format, sent with each event. It rises when a reader of the old one would misread the new one.
pub const EVENT_VERSION: u32 = 1;

/// One event; in JSON one flat object: `{"v":1,"session":"..","turn":1,"type":"text_delta","text":".."}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub v: u32,
    pub session: SessionId,
    /// 0 outside of a turn.
    pub turn: TurnId,
    #[serde(flatten)]
    pub body: EventBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    SessionStarted {
        agent: String,
        provider: String,
        model: String,
        /// The model is the offline stand-in.
        stand_in: bool,
        tools: usize,
        resumed: bool,
    },
    TurnStarted {
        prompt: String,
    },
    /// One model call begins; counts from 1 in each turn.
    StepStarted {
        step: u32,
    },
    TextDelta {
        text: String,
    },
    ReasoningDelta {
        text: String,
    },
    /// The model's server failed and is asked again.
    Retrying {
        attempt: u32,
        wait_ms: u64,
        reason: String,
    },
    /// One answer of the model is complete.
    AssistantMessage {
        text: String,
        calls: usize,
        usage: Usage,
    },
    ApprovalRequested(Approval),
    ApprovalResolved {
        approval: ApprovalId,
        call: CallId,
        decision: Decision,
        /// Who or what decided.
        by: String,
    },
    CallStarted {
        call: CallId,
        tool: String,
        plugin: String,
        risk: Risk,
        operations: Vec<String>,
        /// What runs, as JSON text.
        arguments: String,
        /// The rule that allowed it.
        rule: String,
    },
    CallProgress {
        call: CallId,
        text: String,
    },
    CallFinished(ToolResult),
    Notice {
        level: NoticeLevel,
        text: String,
    },
    TurnDone {
        status: TurnStatus,
        /// The final answer, or the last words of the model when there is none.
        text: String,
        /// What went wrong or which limit ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        steps: u32,
        calls: u32,
        usage: Usage,
        elapsed_ms: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    Answered,
    /// The model or the journal failed.
    Failed,
    /// A limit of steps, repeated calls or size ended it.
    Limit,
    /// It answered, but a call was declined because nobody was there to approve it.
    Declined,
    Cancelled,
}

impl Event {
    pub fn new(session: SessionId, turn: TurnId, body: EventBody) -> Self {
        Self { v: EVENT_VERSION, session, turn, body }
    }
}

impl ToolResult {
    /// Whether anything may have changed.
    pub fn may_have_effects(&self) -> bool {
        self.executed != Executed::No
    }
}
