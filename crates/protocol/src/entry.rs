//! What a session's journal holds, in the order it happened: enough to rebuild every byte the model saw.

use serde::{Deserialize, Serialize};

use crate::{AssistantMessage, CallId, Decision, Finish, ToolResult, TurnId, TurnStatus, Usage};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// The system message and tool definitions from here on; written at the start and whenever they change.
    Instructions {
        agent: String,
        system: String,
        /// The definitions as sent, as JSON text.
        tools: String,
    },
    Prompt {
        turn: TurnId,
        text: String,
    },
    /// One whole answer of the model, with all of its calls.
    Answer {
        turn: TurnId,
        message: AssistantMessage,
        finish: Finish,
        usage: Usage,
    },
    Approval {
        turn: TurnId,
        call: CallId,
        decision: Decision,
        by: String,
    },
    /// Written before a call is handed to its plugin: a start without a result is a call with unknown outcome.
    CallStarted {
        turn: TurnId,
        call: CallId,
        tool: String,
        /// What ran, after validation, as JSON text.
        arguments: String,
    },
    Result {
        turn: TurnId,
        result: ToolResult,
    },
    /// Words of the host that the model saw as if the user had written them.
    Note {
        turn: TurnId,
        text: String,
    },
    TurnEnded {
        turn: TurnId,
        status: TurnStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        usage: Usage,
    },
    /// What the calls of an earlier turn did was taken back. The model reads the text before the next prompt.
    Undone {
        /// The turn that was taken back.
        turn: TurnId,
        text: String,
    },
    /// Written by a newer host; kept, not understood.
    #[serde(other)]
    Unknown,
}
