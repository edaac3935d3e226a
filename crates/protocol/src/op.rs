//! What front ends send to the engine: the only way in.

use serde::{Deserialize, Serialize};

use crate::ApprovalId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Op {
    /// A prompt given while a turn runs waits for that turn to end.
    Prompt {
        text: String,
    },
    Answer {
        approval: ApprovalId,
        decision: Decision,
    },
    /// Ends the running turn; every open call still gets a result. Without a turn it does nothing.
    Interrupt,
    /// Ends the engine once the running turn has ended.
    Shutdown,
}

/// A person's answer to an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Once,
    /// This and the same from now on, within the scope that the approval named.
    Always,
    No,
}
