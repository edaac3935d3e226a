//! What a plugin says about itself before it is opened.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything a host knows about a plugin without running any of its tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Name of the plugin: its package name without `foehn-plugin-`.
    pub plugin: String,
    /// Version of the plugin's package.
    pub version: String,
    /// Version of the SDK it was built with.
    pub sdk: String,
    /// [`ABI_VERSION`](crate::abi::ABI_VERSION) of that SDK.
    pub abi: u32,
    /// Whether a panic unwinds. With `false` (`panic = "abort"`) a panic ends the whole process.
    pub unwind: bool,
    /// One sentence about the plugin.
    pub description: String,
    /// Text for the model about how the tools are used together; may be empty.
    pub instructions: String,
    /// Rules for the model, one sentence each.
    pub constraints: Vec<String>,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// The background jobs.
    pub jobs: Vec<JobSpec>,
    /// The texts that go into the model's context.
    pub contexts: Vec<ContextSpec>,
    /// Why the manifest is not usable, for instance two tools of one name; `None` when it is.
    pub error: Option<String>,
}

/// One tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSpec {
    /// Name the model uses: `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// Former names that still work, for stored sessions.
    pub aliases: Vec<String>,
    /// What the tool does, for the model.
    pub description: String,
    /// How much harm a call can do at most.
    pub risk: Risk,
    /// What a call may touch at all; the ceiling of its sandbox.
    pub capabilities: Capabilities,
    /// JSON Schema (draft 2020-12) of the arguments.
    pub schema: Value,
    /// JSON Schema of the tool's own config section; `None` when it takes none.
    pub config_schema: Option<Value>,
    /// What a call can be: the names that permissions refer to.
    pub operations: Vec<OperationSpec>,
    /// Whether [`op::CLASSIFY`](super::op::CLASSIFY) tells more than the manifest does.
    pub classifies: bool,
    /// Whether the tool refuses to run without a known caller.
    pub requires_caller: bool,
    /// Whether asking again with equal arguments is its use.
    pub polling: bool,
    /// Whether only an agent gets it that names it.
    pub on_demand: bool,
    /// Its calls meet in one process with those of the plugin's other lasting tools.
    pub lasting: bool,
    /// Findings of the contract's lint that the author answers for.
    pub lint_exceptions: Vec<LintException>,
}

/// A finding of the contract's lint that is meant to be, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LintException {
    /// Id of the rule, as `foehn contract lint` prints it.
    pub rule: String,
    /// JSON pointer of the one argument it is about; empty = the whole tool.
    pub at: String,
    /// Why it is meant to be.
    pub reason: String,
}

/// One operation that a tool's calls can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationSpec {
    /// Name as permissions write it, for instance `delete` or `git push`.
    pub name: String,
    /// What it does, for the operator.
    pub description: String,
    /// Its own risk; `None` = the tool's.
    pub risk: Option<Risk>,
}

impl OperationSpec {
    /// An operation with the tool's own risk.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), risk: None }
    }

    /// The same operation with its own risk.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.risk = Some(risk);
        self
    }
}

/// How much harm a call can do. Ordered: a later one is worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing.
    ReadOnly,
    /// Changes files or records, within what is allowed to it.
    Write,
    /// Runs programs or otherwise does what its arguments say.
    Execute,
    /// Destroys what cannot be brought back.
    Destructive,
    /// Not declared (or declared by a newer SDK): counts as [`Destructive`](Risk::Destructive).
    #[default]
    #[serde(other)]
    Undefined,
}

impl Risk {
    /// The risk to act on: an undefined one is destructive.
    #[must_use]
    pub fn effective(self) -> Self {
        if self == Self::Undefined { Self::Destructive } else { self }
    }
}

/// What a tool may touch at all. The sandbox of a call is the smaller of this and its risk.
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// const NEEDED: Capabilities = Capabilities::NONE.read_files().programs();
/// assert_eq!(NEEDED.files, FileAccess::Read);
/// assert!(NEEDED.programs && !NEEDED.secrets);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// Files of the workspace.
    pub files: FileAccess,
    /// The network.
    pub network: Network,
    /// Starting other programs.
    pub programs: bool,
    /// Secrets in its config section.
    pub secrets: bool,
    /// Questions to the user.
    pub ask_user: bool,
    /// Questions to a model.
    pub complete: bool,
}

impl Capabilities {
    /// Nothing: the tool only computes.
    pub const NONE: Self = Self {
        files: FileAccess::None,
        network: Network::None,
        programs: false,
        secrets: false,
        ask_user: false,
        complete: false,
    };

    /// Also reads files of the workspace.
    #[must_use]
    pub const fn read_files(mut self) -> Self {
        self.files = FileAccess::Read;
        self
    }

    /// Also reads and writes files of the workspace.
    #[must_use]
    pub const fn write_files(mut self) -> Self {
        self.files = FileAccess::Write;
        self
    }

    /// Also connects to the hosts that its config names.
    #[must_use]
    pub const fn configured_network(mut self) -> Self {
        self.network = Network::Configured;
        self
    }

    /// Also connects to any host, once the operator's section says `network = "on"`.
    #[must_use]
    pub const fn opt_in_network(mut self) -> Self {
        self.network = Network::OptIn;
        self
    }

    /// Also connects to any host, unless the operator's section says `network = "off"`.
    #[must_use]
    pub const fn any_network(mut self) -> Self {
        self.network = Network::Any;
        self
    }

    /// Also starts programs.
    #[must_use]
    pub const fn programs(mut self) -> Self {
        self.programs = true;
        self
    }

    /// Also receives secrets in its config section.
    #[must_use]
    pub const fn secrets(mut self) -> Self {
        self.secrets = true;
        self
    }

    /// Also asks the user.
    #[must_use]
    pub const fn ask_user(mut self) -> Self {
        self.ask_user = true;
        self
    }

    /// Also asks a model.
    #[must_use]
    pub const fn complete(mut self) -> Self {
        self.complete = true;
        self
    }
}

/// Access to the files of the workspace. Ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAccess {
    /// None at all.
    #[default]
    None,
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
    /// Declared by a newer SDK: treat like [`Write`](FileAccess::Write) when asking, like none when granting.
    #[serde(other)]
    Unknown,
}

/// Access to the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None at all.
    #[default]
    None,
    /// The hosts that its config names.
    Configured,
    /// Any host, once the operator's section says `network = "on"`.
    OptIn,
    /// Any host.
    Any,
    /// Declared by a newer SDK: treat like [`Any`](Network::Any) when asking, like none when granting.
    #[serde(other)]
    Unknown,
}

/// One background job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSpec {
    /// Name of the job.
    pub name: String,
    /// What it does, for the operator.
    pub description: String,
    /// JSON Schema (draft 2020-12) of its arguments.
    pub schema: Value,
    /// How often it wants to run, in seconds; `None` = only when asked.
    pub every_seconds: Option<u64>,
}

/// One text for the model's context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextSpec {
    /// Name of the context.
    pub name: String,
    /// How often its text changes.
    pub kind: ContextKind,
    /// The text itself (static) or with the host's placeholders (clock); `None` for a dynamic one.
    pub text: Option<String>,
}

/// How often a context changes, which decides whether a request has to start the plugin for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// Never: the text is in the manifest.
    Static,
    /// With the time: the text is in the manifest, and the host puts the time into its placeholders `{date}`, `{time}`,
    /// `{weekday}` and `{zone}`.
    Clock,
    /// At any moment: the plugin is asked before each request. Also what an unknown kind counts as.
    #[default]
    #[serde(other)]
    Dynamic,
}
