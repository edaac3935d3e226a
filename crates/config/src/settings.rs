//! The settings and their defaults: the one list of what can be set.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::words::words;
use crate::{Secret, Text};

/// Everything that can be set. Each field without a value has its default.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Settings {
    /// Who serves the model. Default `offline`, the stand-in.
    pub provider: String,
    /// Default: the provider's own.
    pub model: Option<Text>,
    /// Default: the provider's own.
    pub base_url: Option<Text>,
    /// Default: the provider's environment variable.
    pub api_key: Option<Secret>,
    /// What the offline stand-in plays. Default: its demonstration.
    pub offline_script: Option<PathBuf>,
    /// Bad habits of the offline stand-in, by name. Default: none.
    pub offline_habits: Vec<String>,
    /// Default `.plugins`.
    pub plugins_path: PathBuf,
    /// Where tools work. Empty, the default: the current folder.
    pub working_directory: PathBuf,
    /// Default `foehn.md`.
    pub system_message_file: PathBuf,
    /// Model calls per prompt. Default 30.
    pub max_tool_iterations: u32,
    /// Invalid calls of one tool in a row that a model may correct; one more ends the turn. Default 2.
    pub max_invalid_calls: u32,
    /// From this many equal calls in a row on, the model is warned. Default 3.
    pub equal_calls_warn: u32,
    /// At this many equal calls in a row, the turn ends. Default 5.
    pub equal_calls_stop: u32,
    /// How arguments are taken that are nearly right. Default `lenient`.
    pub coercion: Coercion,
    /// How long a tool call may take, and a model may stay silent. Default 120.
    pub timeout_seconds: u64,
    /// Further tries after a failed request to a model. Default 3.
    pub max_retries: u32,
    /// Default `true`.
    pub streaming: bool,
    /// 0 to 2. Default: the provider's own.
    pub temperature: Option<f64>,
    /// Default: the provider's own.
    pub max_output_tokens: Option<u64>,
    /// Folders, with all below them, whose settings files may set everything. Only the user can say so.
    pub trusted_folders: Vec<PathBuf>,
    pub plugins: Plugins,
    pub sandbox: Sandbox,
    pub log: Log,
    pub store: Store,
    pub undo: Undo,
    pub contract: Contract,
    /// `[agents.NAME]`
    pub agents: BTreeMap<AgentName, Agent>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: "offline".to_owned(),
            model: None,
            base_url: None,
            api_key: None,
            offline_script: None,
            offline_habits: Vec::new(),
            plugins_path: PathBuf::from(".plugins"),
            working_directory: PathBuf::new(),
            system_message_file: PathBuf::from("foehn.md"),
            max_tool_iterations: 30,
            max_invalid_calls: 2,
            equal_calls_warn: 3,
            equal_calls_stop: 5,
            coercion: Coercion::Lenient,
            timeout_seconds: 120,
            max_retries: 3,
            streaming: true,
            temperature: None,
            max_output_tokens: None,
            trusted_folders: Vec::new(),
            plugins: Plugins::default(),
            sandbox: Sandbox::default(),
            log: Log::default(),
            store: Store::default(),
            undo: Undo::default(),
            contract: Contract::default(),
            agents: BTreeMap::new(),
        }
    }
}

/// `[plugins]`, and `[plugins.NAME]` for one of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plugins {
    /// Default `pinned`.
    pub trust: Trust,
    /// Default `worker`.
    pub isolation: Isolation,
    /// How long a worker may wait for its next call. Default 60.
    pub idle_seconds: u64,
    /// How long a cancelled call may take to end by itself. Default 2.
    pub grace_seconds: u64,
    /// Workers of one plugin at the same time. Default 4.
    pub max_parallel: u32,
    /// By name, with `-` for each `_`.
    #[serde(flatten)]
    pub each: BTreeMap<String, Plugin>,
}

impl Default for Plugins {
    fn default() -> Self {
        Self {
            trust: Trust::Pinned,
            isolation: Isolation::Worker,
            idle_seconds: 60,
            grace_seconds: 2,
            max_parallel: 4,
            each: BTreeMap::new(),
        }
    }
}

words! {
    /// What happens to arguments of a call that are not what the tool's schema asks for.
    Coercion {
        /// What can mean one thing only is read as that, with a note to the model.
        Lenient = "lenient",
        /// They are refused.
        Strict = "strict",
    }
}

words! {
    /// Which plugins are loaded.
    Trust {
        /// Those whose hash the user has accepted.
        Pinned = "pinned",
        /// As `pinned`, and a terminal asks about the others.
        Prompt = "prompt",
        /// All.
        Any = "any",
    }
}

words! {
    /// Where a plugin runs.
    Isolation {
        /// A confined process of its own.
        Worker = "worker",
        /// The host itself: for a plugin that the user trusts as the host.
        InProcess = "in_process",
    }
}

/// What is set for one plugin; the rest is as for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Plugin {
    pub isolation: Option<Isolation>,
    pub idle_seconds: Option<u64>,
    pub grace_seconds: Option<u64>,
    pub max_parallel: Option<u32>,
    /// Without this plugin the host does not start. Default `false`.
    pub required: bool,
    /// Listed, but not loaded. Default `false`.
    pub disabled: bool,
}

/// What holds for one plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginLimits {
    pub isolation: Isolation,
    pub idle_seconds: u64,
    pub grace_seconds: u64,
    pub max_parallel: u32,
}

impl Plugins {
    pub fn of(&self, name: &str) -> PluginLimits {
        let one = self.each.get(&plugin_name(name)).cloned().unwrap_or_default();
        PluginLimits {
            isolation: one.isolation.unwrap_or(self.isolation),
            idle_seconds: one.idle_seconds.unwrap_or(self.idle_seconds),
            grace_seconds: one.grace_seconds.unwrap_or(self.grace_seconds),
            max_parallel: one.max_parallel.unwrap_or(self.max_parallel),
        }
    }
}

/// `[sandbox]`: what a worker may take. No value means no limit beyond the system's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Sandbox {
    /// Whether to refuse work where the kernel cannot confine. Default `false`.
    pub require: bool,
    /// Further folders that calls which may read files can read.
    pub read: Vec<PathBuf>,
    /// Further folders that calls which may write files can write.
    pub write: Vec<PathBuf>,
    /// Address space of a worker that runs no programs. Default 2048.
    pub memory_megabytes: Option<u64>,
    /// Data of each program that a call starts.
    pub program_megabytes: Option<u64>,
    /// Largest file that a call may write.
    pub file_megabytes: Option<u64>,
    pub open_files: Option<u64>,
    /// Processes and threads of a worker with all the programs that it starts. Default 2048.
    pub processes: Option<u64>,
    pub cpu_seconds: Option<u64>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            require: false,
            read: Vec::new(),
            write: Vec::new(),
            memory_megabytes: Some(2048),
            program_megabytes: None,
            file_megabytes: None,
            open_files: None,
            processes: Some(2048),
            cpu_seconds: None,
        }
    }
}

/// `[log]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Log {
    /// Default `warn`.
    pub level: LogLevel,
    /// Default `foehn.log` in the state folder.
    pub file: Option<PathBuf>,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: LogLevel::Warn, file: None }
    }
}

words! {
    /// The least weighty lines that are written; the words are those of `tracing`.
    LogLevel {
        Off = "off",
        Error = "error",
        Warn = "warn",
        Info = "info",
        Debug = "debug",
        Trace = "trace",
    }
}

/// `[undo]`: what `foehn undo` can take back beside the changes of tools that keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Undo {
    /// Whether what commands change in the workspace is kept as well. Default `false`.
    pub shell: bool,
}

/// `[store]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Store {
    /// Default `foehn.db` in the state folder.
    pub path: Option<PathBuf>,
}

/// `[contract]`: what the definitions of an agent's tools may cost with each request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Contract {
    /// Default 8000.
    pub max_characters: u64,
    /// Default: no limit.
    pub max_tokens: Option<u64>,
}

impl Default for Contract {
    fn default() -> Self {
        Self { max_characters: 8_000, max_tokens: None }
    }
}

/// `[agents.NAME]`: what is not set here is as at the top.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Agent {
    /// With another provider than at the top, model, address and key are not taken from there.
    pub provider: Option<String>,
    pub model: Option<Text>,
    pub base_url: Option<Text>,
    pub api_key: Option<Secret>,
    /// The message itself; wins over the file.
    pub system_message: Option<String>,
    pub system_message_file: Option<PathBuf>,
    /// Default: the tools of all plugins.
    pub enabled_tools: Option<Vec<String>>,
    pub max_tool_iterations: Option<u32>,
    pub max_invalid_calls: Option<u32>,
    pub equal_calls_warn: Option<u32>,
    pub equal_calls_stop: Option<u32>,
    pub coercion: Option<Coercion>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u64>,
    /// `[agents.NAME.tools.TOOL]`
    pub tools: BTreeMap<String, ToolSection>,
}

/// `[agents.NAME.tools.TOOL]`: permissions and coercion for the host, everything else for the plugin.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct ToolSection {
    /// Operations that need no question; with it everything else is asked. `*` is every operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Operations that are refused without a question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Default: the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coercion: Option<Coercion>,
    #[serde(flatten)]
    pub config: serde_json::Map<String, serde_json::Value>,
}

/// Without the values of the plugin's own settings: nobody here knows which are secrets.
impl fmt::Debug for ToolSection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolSection")
            .field("allow", &self.allow)
            .field("deny", &self.deny)
            .field("coercion", &self.coercion)
            .field("config", &self.config.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// A name like `code-review`: a lower-case letter, then lower-case letters, digits and `-`. Environment variables
/// could not name anything else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct AgentName(String);

impl AgentName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for AgentName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let good = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
        if good {
            Ok(Self(name))
        } else {
            Err(de::Error::custom(format!(
                "`{name}` is no name for an agent: it takes a lower-case letter, then lower-case letters, digits and `-`"
            )))
        }
    }
}

/// Plugin files spell their name with `_`, packages with `-`: one plugin all the same.
pub(crate) fn plugin_name(name: &str) -> String {
    name.replace('_', "-")
}

const PLUGINS_KEYS: &[&str] = &["trust", "isolation", "idle_seconds", "grace_seconds", "max_parallel"];

/// By hand, because a flattened map would take every misspelt key of `[plugins]` for the name of a plugin.
impl<'de> Deserialize<'de> for Plugins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PluginsVisitor;

        impl<'de> Visitor<'de> for PluginsVisitor {
            type Value = Plugins;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plugins, A::Error> {
                let mut plugins = Plugins::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "trust" => plugins.trust = map.next_value()?,
                        "isolation" => plugins.isolation = map.next_value()?,
                        "idle_seconds" => plugins.idle_seconds = map.next_value()?,
                        "grace_seconds" => plugins.grace_seconds = map.next_value()?,
                        "max_parallel" => plugins.max_parallel = map.next_value()?,
                        name => {
                            let plugin = map.next_value_seed(OnePlugin(name))?;
                            if plugins.each.insert(plugin_name(name), plugin).is_some() {
                                return Err(de::Error::custom(format!("plugin `{name}` is set twice")));
                            }
                        }
                    }
                }
                Ok(plugins)
            }
        }

        deserializer.deserialize_map(PluginsVisitor)
    }
}

/// The table of one plugin; anything but a table is a misspelt key.
struct OnePlugin<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for OnePlugin<'_> {
    type Value = Plugin;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Plugin, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OnePlugin<'_> {
    type Value = Plugin;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Plugin, A::Error> {
        Plugin::deserialize(de::value::MapAccessDeserializer::new(map))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Plugin, E> {
        Err(E::unknown_field(self.0, PLUGINS_KEYS))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Plugin, E> {
        Err(E::unknown_field(self.0, PLUGINS_KEYS))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Plugin, E> {
        Err(E::unknown_field(self.0, PLUGINS_KEYS))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Plugin, E> {
        Err(E::unknown_field(self.0, PLUGINS_KEYS))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Plugin, E> {
        Err(E::unknown_field(self.0, PLUGINS_KEYS))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Plugin, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Err(de::Error::unknown_field(self.0, PLUGINS_KEYS))
    }
}
