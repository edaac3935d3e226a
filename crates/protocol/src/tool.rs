//! A tool as the host and the model know it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool declares about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The plugin that brings it.
    pub plugin: String,
    pub description: String,
    pub risk: Risk,
    #[serde(default)]
    pub capabilities: Capabilities,
    /// JSON schema (draft 2020-12) of the arguments.
    pub schema: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSpec>,
    /// Whether the plugin works out operation, facts and preview from the arguments.
    #[serde(default)]
    pub classifies: bool,
    #[serde(default)]
    pub requires_caller: bool,
    /// Whether asking again with equal arguments is its use, so that equal calls are no loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polling: bool,
    /// Whether only an agent gets it that names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_demand: bool,
    /// Findings of the contract's lint that its author answers for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lint_exceptions: Vec<LintException>,
}

/// A finding of the contract's lint that is meant to be, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LintException {
    /// Id of the rule.
    pub rule: String,
    /// JSON pointer of the one argument it is about; empty: the whole tool.
    pub at: String,
    pub reason: String,
}

/// How much harm a call can do. The order is the order of harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    ReadOnly,
    Write,
    Execute,
    Destructive,
    /// Not declared, or declared in words this host does not know: treated as [`Risk::Destructive`].
    #[default]
    #[serde(other)]
    Undefined,
}

impl Risk {
    pub fn effective(self) -> Self {
        if self == Self::Undefined { Self::Destructive } else { self }
    }

    /// The word shown to people.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Destructive => "destructive",
            Self::Undefined => "undefined",
        }
    }
}

/// What a tool may touch at all: the ceiling of its sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    pub files: FileAccess,
    pub network: NetworkAccess,
    pub programs: bool,
    pub secrets: bool,
    pub ask_user: bool,
    pub complete: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAccess {
    #[default]
    None,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    #[default]
    None,
    /// Only what the operator configures.
    Configured,
    /// Everything, once the operator switches it on.
    OptIn,
    /// Everything, unless the operator switches it off.
    Any,
}

/// An operation a tool declares it can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSpec {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// `None`: the tool's own risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
}
