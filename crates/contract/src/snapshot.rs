//! The contract of all tools as a file that people keep beside their work: a change of it is a diff in a review.
//!
//! It refuses what it cannot read, and never repairs: a damaged snapshot is somebody's to look at.

use foehn_protocol::{Capabilities, OperationSpec, Risk, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Of the form of the file; it rises when an older host would misread it.
const VERSION: u32 = 1;

/// What the tools promised when it was taken, and which breaking changes were accepted since the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    pub tools: Vec<SnapshotTool>,
    #[serde(default)]
    pub history: Vec<Acceptance>,
}

/// What of a tool others rely on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotTool {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub plugin: String,
    pub description: String,
    pub risk: Risk,
    #[serde(default)]
    pub capabilities: Capabilities,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_caller: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSpec>,
    pub schema: Value,
}

/// Breaking changes that somebody answered for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    pub reason: String,
    /// Each in one line.
    pub changes: Vec<String>,
}

/// Why a file is no snapshot. The file is never touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("it is no snapshot of a contract: {0}; restore it, or take a new one after moving it away")]
    Damaged(String),
    #[error("it has version {found}, and this host reads version {VERSION}; use the host that wrote it")]
    Version { found: u64 },
}

impl Snapshot {
    /// The tools as they are, in the order of their names.
    pub fn of<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>) -> Self {
        let mut tools: Vec<SnapshotTool> = tools.into_iter().map(SnapshotTool::of).collect();
        tools.sort_by(|left, right| (&left.name, &left.plugin).cmp(&(&right.name, &right.plugin)));
        Self { version: VERSION, tools, history: Vec::new() }
    }

    /// Reads a file's text.
    pub fn read(text: &str) -> Result<Self, SnapshotError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| SnapshotError::Damaged(error.to_string()))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(found) => return Err(SnapshotError::Version { found }),
            None => return Err(SnapshotError::Damaged("it has no `version`".to_owned())),
        }
        serde_json::from_value(value).map_err(|error| SnapshotError::Damaged(error.to_string()))
    }

    /// The text of the file: one line a value, so that a diff shows what changed and nothing else.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The tools as a budget counts them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(SnapshotTool::spec).collect()
    }
}

impl SnapshotTool {
    fn of(tool: &ToolSpec) -> Self {
        Self {
            name: tool.name.clone(),
            aliases: tool.aliases.clone(),
            plugin: tool.plugin.clone(),
            description: tool.description.clone(),
            risk: tool.risk,
            capabilities: tool.capabilities,
            requires_caller: tool.requires_caller,
            operations: tool.operations.clone(),
            schema: tool.schema.clone(),
        }
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            plugin: self.plugin.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
            ..ToolSpec::default()
        }
    }
}
