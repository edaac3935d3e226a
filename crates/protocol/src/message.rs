//! What a model reads and writes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, ToolCall};

/// One message of a request to a model, in the order it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    User {
        text: String,
    },
    Assistant(AssistantMessage),
    /// The result of one call. All results of one assistant message follow it directly, in the order of its calls.
    Tool {
        call: CallId,
        /// The vendor's own id of that call, when it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_id: Option<String>,
        tool: String,
        /// The result envelope, as JSON text.
        content: String,
        is_error: bool,
    },
}

/// One answer of a model. A turn of parallel calls is one message and is never split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    #[serde(default)]
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What the vendor wants back verbatim (signed reasoning and the like): opaque, only ever sent to `origin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Value>,
    /// `provider/model` that wrote this.
    #[serde(default)]
    pub origin: String,
}

/// A piece of a tool's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
    },
    Json {
        value: Value,
    },
    /// `data` is base64.
    Image {
        media_type: String,
        data: String,
    },
    File {
        path: String,
    },
}

/// Why a model stopped writing. Calls decide what happens next, not this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    Stop,
    ToolCalls,
    /// Cut by the output limit: no call of this answer may be complete.
    Length,
    Filtered,
    #[default]
    #[serde(other)]
    Other,
}

/// Tokens of one request or of a whole turn. Unknown is not zero: a vendor that reports nothing leaves `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let sum = |left: Option<u64>, right: Option<u64>| match (left, right) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0).saturating_add(right.unwrap_or(0))),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.cached_tokens = sum(self.cached_tokens, other.cached_tokens);
    }
}
