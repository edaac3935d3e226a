//! What the host is told once, as data. Every default stands here and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foehn_sandbox::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::StateStore;

/// Everything about the plugins of one agent.
#[derive(Clone)]
pub struct Settings {
    /// The folder that is scanned; it need not exist.
    pub plugins_dir: PathBuf,
    /// The user's own folder for trust and cached manifests. Created when needed.
    pub state_dir: PathBuf,
    /// Root of the files that calls may touch, and the folder workers run in.
    pub workspace: PathBuf,
    pub trust: TrustMode,
    /// What holds for plugins that are not named in `plugins`.
    pub plugin: PluginSettings,
    /// Plugin name -> what holds for it instead.
    pub plugins: BTreeMap<String, PluginSettings>,
    /// Names of plugins that the operator switched off.
    pub disabled: BTreeSet<String>,
    /// Tool name -> its own section of this agent's configuration, secrets resolved.
    pub tools: BTreeMap<String, Value>,
    /// Every tool that the configuration speaks of, also where it says nothing to the plugin.
    pub configured_tools: BTreeSet<String>,
    /// Whether what commands change in the workspace should be possible to take back. Default `false`: it costs a look at
    /// every file before and after each.
    pub take_back_programs: bool,
    pub sandbox: SandboxSettings,
    pub timeouts: Timeouts,
    /// The program that becomes a worker when it is started with [`WORKER_COMMAND`](crate::WORKER_COMMAND). Default: this
    /// very binary, also after it was replaced on disk.
    pub worker_program: Option<PathBuf>,
    /// Where plugins keep their values. Default: in memory, gone with the set.
    pub state: Option<Arc<dyn StateStore>>,
}

impl Settings {
    /// Settings with every default.
    pub fn new(
        plugins_dir: impl Into<PathBuf>,
        state_dir: impl Into<PathBuf>,
        workspace: impl Into<PathBuf>,
    ) -> Self {
        Self {
            plugins_dir: plugins_dir.into(),
            state_dir: state_dir.into(),
            workspace: workspace.into(),
            trust: TrustMode::default(),
            plugin: PluginSettings::default(),
            plugins: BTreeMap::new(),
            disabled: BTreeSet::new(),
            tools: BTreeMap::new(),
            configured_tools: BTreeSet::new(),
            take_back_programs: false,
            sandbox: SandboxSettings::default(),
            timeouts: Timeouts::default(),
            worker_program: None,
            state: None,
        }
    }

    pub(crate) fn of(&self, plugin: &str) -> PluginSettings {
        self.plugins.get(plugin).copied().unwrap_or(self.plugin)
    }
}

impl std::fmt::Debug for Settings {
    /// Without the tools' sections: they hold secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("plugins_dir", &self.plugins_dir)
            .field("state_dir", &self.state_dir)
            .field("workspace", &self.workspace)
            .field("trust", &self.trust)
            .field("plugin", &self.plugin)
            .field("plugins", &self.plugins)
            .field("disabled", &self.disabled)
            .field("sandbox", &self.sandbox)
            .field("timeouts", &self.timeouts)
            .field("worker_program", &self.worker_program)
            .finish_non_exhaustive()
    }
}

/// Which plugins may be loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustMode {
    /// Only those whose very bytes were accepted.
    #[default]
    Pinned,
    /// The same; the front end asks the user about the others and calls [`Trust::accept`](crate::Trust::accept).
    Prompt,
    /// Every one. For a folder that only the operator can write.
    Any,
}

/// What holds for one plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginSettings {
    pub isolation: Isolation,
    /// How long a cancelled call may take to end by itself. Default 2 s.
    pub grace: Duration,
    /// How long an unused worker is kept. Default 60 s.
    pub idle: Duration,
    /// Most calls at once under one profile. Default 4.
    pub max_parallel: usize,
}

impl Default for PluginSettings {
    fn default() -> Self {
        Self {
            isolation: Isolation::default(),
            grace: Duration::from_secs(2),
            idle: Duration::from_secs(60),
            max_parallel: 4,
        }
    }
}

/// Where the code of a plugin runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In confined processes of its own.
    #[default]
    Worker,
    /// In this process: faster, and a crash of the plugin is a crash of the host. Nothing confines it.
    InProcess,
}

/// What the sandbox of every worker allows or demands beside what a call needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxSettings {
    /// Refuse to run a plugin where the kernel cannot enforce every rule. Default false.
    pub require: bool,
    /// Whether any tool may use the network at all. Default true; a tool still has to declare it.
    pub network: bool,
    /// Further folders that calls which may read files can read.
    pub read: Vec<PathBuf>,
    /// Further folders that calls which may write files can write.
    pub write: Vec<PathBuf>,
    /// What one worker, and each program it starts, can take. The address space holds only for workers that start no
    /// programs, by default 2 GiB: programs with a runtime of their own reserve far more than they use. For those that do, the
    /// data counts, by default without a limit: what is compiled with a sanitizer takes all there is. Their number, threads
    /// included, is by default 2,048 for each worker.
    pub limits: Limits,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            require: false,
            network: true,
            read: Vec::new(),
            write: Vec::new(),
            limits: Limits { address_space: Some(2 << 30), processes: Some(2048), ..Limits::default() },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// How long a plugin may take to load, and again to read its configuration. Default 5 s.
    pub start: Duration,
    /// How long it may take to say what a call would do. Default 10 s.
    pub classify: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { start: Duration::from_secs(5), classify: Duration::from_secs(10) }
    }
}
