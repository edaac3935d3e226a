//! What a plugin may ask of its host while a call runs: op names, and the JSON of each question and answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LogLevel, Part};

/// A word about how far the call is: body [`Progress`], no answer.
pub const PROGRESS: &str = "progress";
/// A log line: body [`Log`], no answer.
pub const LOG: &str = "log";
/// Read a stored value: body [`StateGet`], answer [`StateValue`].
pub const STATE_GET: &str = "state.get";
/// Store or delete a value: body [`StatePut`], no answer.
pub const STATE_PUT: &str = "state.put";
/// Store a value only if the present one is as expected: body [`StateCas`], answer [`StateSwapped`].
pub const STATE_CAS: &str = "state.cas";
/// Keys that begin with a prefix: body [`StateList`], answer [`StateKeys`].
pub const STATE_LIST: &str = "state.list";
/// A question to the user: body [`Question`], answer [`Answer`].
pub const ASK_USER: &str = "ask_user";
/// A question to a model: body [`Completion`], answer [`Completed`].
pub const COMPLETE: &str = "complete";

/// How an error text begins when the host does not know the op.
pub const UNSUPPORTED: &str = "unsupported";

/// Body of [`PROGRESS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// One short line for a person.
    pub text: String,
}

/// Body of [`LOG`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// How important it is.
    pub level: LogLevel,
    /// Where in the plugin it comes from: a module path.
    pub target: String,
    /// The text.
    pub message: String,
    /// Fields of the event and of the spans around it, inner ones first.
    pub fields: serde_json::Map<String, Value>,
}

/// Body of [`STATE_GET`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateGet {
    /// The key.
    pub key: String,
}

/// Answer to [`STATE_GET`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateValue {
    /// The value; `None` when there is none.
    pub value: Option<Value>,
}

/// Body of [`STATE_PUT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatePut {
    /// The key.
    pub key: String,
    /// The new value; `None` deletes.
    pub value: Option<Value>,
}

/// Body of [`STATE_CAS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateCas {
    /// The key.
    pub key: String,
    /// The value that must be there; `None` = none at all.
    pub expected: Option<Value>,
    /// The new value; `None` deletes.
    pub value: Option<Value>,
}

/// Answer to [`STATE_CAS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateSwapped {
    /// Whether the new value was stored.
    pub swapped: bool,
}

/// Body of [`STATE_LIST`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateList {
    /// How the keys begin; empty = all.
    pub prefix: String,
}

/// Answer to [`STATE_LIST`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateKeys {
    /// The keys, sorted.
    pub keys: Vec<String>,
}

/// Body of [`ASK_USER`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers to choose from; empty = free text.
    pub choices: Vec<String>,
}

/// Answer to [`ASK_USER`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// What the user answered: one of the choices, if there were any.
    pub text: String,
}

/// Body of [`COMPLETE`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Completion {
    /// What the model is told about its part; may be empty.
    pub system: String,
    /// The question: text and images.
    pub prompt: Vec<Part>,
    /// JSON Schema that the answer must fit; `None` = free text.
    pub schema: Option<Value>,
    /// Most tokens to answer with; `None` = the host's limit.
    pub max_output_tokens: Option<u32>,
}

/// Answer to [`COMPLETE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Completed {
    /// The model's answer.
    pub text: String,
}
