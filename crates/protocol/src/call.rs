//! A tool call and its result, as they are stored and shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CallId;

/// One call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    /// The vendor's own id, kept beside ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    pub name: String,
    /// The arguments verbatim: every digit, every duplicate key, even when it is not JSON. Empty means `{}`.
    pub arguments: String,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: CallId,
    pub tool: String,
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    pub executed: Executed,
    /// The JSON text that the model reads.
    pub envelope: String,
    #[serde(default)]
    pub elapsed_ms: u64,
}

/// Whether a call had effects. Never a guess: what is not known is [`Executed::Unknown`].
///
/// In JSON: `false`, `true` or `"unknown"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    No,
    Yes,
    Unknown,
}

impl Serialize for Executed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::No => serializer.serialize_bool(false),
            Self::Yes => serializer.serialize_bool(true),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

impl<'de> Deserialize<'de> for Executed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Bool(true) => Self::Yes,
            Value::Bool(false) => Self::No,
            _ => Self::Unknown,
        })
    }
}

/// Why a call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    InvalidArguments,
    UnknownTool,
    Unauthorized,
    /// A rule of the operator denies it.
    Forbidden,
    /// A person said no, or nobody was there to say yes.
    Declined,
    /// The plugin's own check refused before doing anything.
    Refused,
    Failed,
    Timeout,
    Cancelled,
    Crashed,
    /// The host ended while the call ran.
    Interrupted,
    TooLarge,
    BudgetExhausted,
    #[serde(other)]
    Internal,
}

/// One thing wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON pointer to the place, empty for the whole.
    pub path: String,
    pub code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// What came of taking a call back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// One line for each thing that is as it was before.
    pub restored: Vec<String>,
    /// One line for each thing that was left as it is, with the reason.
    pub left: Vec<String>,
    /// What else to know, for instance about what nobody looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
