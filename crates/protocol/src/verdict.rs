//! What a call would do, and whether it may.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, CallId, Risk};

/// What one call really does, worked out by the plugin from the arguments' content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classification {
    pub operations: Vec<Operation>,
    pub facts: Facts,
    /// Set when a hard limit of the plugin is crossed: the call is refused without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub name: String,
    pub risk: Risk,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Facts that rules can test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}

/// What the person who approves is shown, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Preview {
    Text { text: String },
    Diff { text: String },
    Command { text: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Allow,
    Ask,
    Deny,
}

/// Allow, ask or deny, always with the rule that decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub outcome: Outcome,
    pub rule: String,
}

/// One question to the user about one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub call: CallId,
    pub tool: String,
    pub plugin: String,
    pub risk: Risk,
    /// The operations in question, each named.
    pub operations: Vec<Operation>,
    /// The arguments that will run, as JSON text: exactly what was validated.
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Why this is asked.
    pub rule: String,
    /// What "always" would cover, in words; `None` when only "once" is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
}
