//! What a host sends: the configuration once, a head with each call.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Risk;

/// Body of `open`: the configuration of this plugin for one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenConfig {
    /// Name of a tool -> its own section. A tool without one gets its defaults; a section for a tool that the plugin does
    /// not have is an error.
    pub tools: BTreeMap<String, Value>,
}

/// What comes with each call beside its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallHead {
    /// Id of this call, for logs.
    pub call_id: String,
    /// Stays the same when the very same call is asked again: a tool with effects elsewhere may use it to do them once.
    pub key: String,
    /// Name (or alias) of the tool; of the job or context for those ops.
    pub tool: String,
    /// Root folder of the files that the call may touch; empty when there is none.
    pub workspace: PathBuf,
    /// Milliseconds that the call has left at the moment it is sent; `None` = no limit.
    pub deadline_ms: Option<u64>,
    /// Name of the agent that calls.
    pub agent: String,
    /// Id of the session that the call belongs to.
    pub session: String,
    /// Who started the run; `None` when the host does not know. Never taken from an argument.
    pub caller: Option<Caller>,
    /// The risk whose sandbox profile confines this call; `None` when it is not confined.
    pub risk_profile: Option<Risk>,
    /// The least important log lines that the host wants.
    pub log_level: LogLevel,
    /// Whether what the programs of this call change in the workspace should be possible to take back.
    pub take_back_programs: bool,
}

/// Body of [`op::END_SESSION`](super::op::END_SESSION).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEnd {
    /// Whether the host ends with it, and no session comes after this one.
    pub host_ends: bool,
}

/// Who started a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caller {
    /// Stable id, for instance a user name or the name of an API token.
    pub id: String,
    /// What kind of caller: `user`, `token`, `job`, ...
    pub kind: String,
}

/// How important a log line is. Ordered: a later one is more talkative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "&'static str")]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is odd.
    Warn,
    /// Worth knowing. Also what an unknown level counts as.
    #[default]
    Info,
    /// For finding faults.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// Its name in JSON, such as `info`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

impl From<String> for LogLevel {
    fn from(name: String) -> Self {
        [Self::Error, Self::Warn, Self::Debug, Self::Trace]
            .into_iter()
            .find(|level| level.as_str() == name)
            .unwrap_or_default()
    }
}

impl From<LogLevel> for &'static str {
    fn from(level: LogLevel) -> Self {
        level.as_str()
    }
}
