//! From what was typed and configured to what it means: folders, model, plugins and the agent's profile.
//!
//! Everything is resolved here once; commands get values, not layers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use foehn_config::settings::{
    Coercion as ConfiguredCoercion, Isolation as ConfiguredIsolation, PluginLimits, Trust as ConfiguredTrust,
};
use foehn_config::{
    AgentSettings, DEFAULT_AGENT, Environment, ExposeSecret as _, Flag, Loaded, Origin, Request,
    SystemMessage,
};
use foehn_contract::Coercion;
use foehn_engine::{AgentProfile, Limits};
use foehn_plugin_host::{Isolation, PluginSet, PluginSettings, SandboxSettings, TrustMode};
use foehn_policy::Rules;
use foehn_ports::Model;
use foehn_provider::offline::{Habit, Shows};
use foehn_store::Store;
use serde_json::Value;

use crate::agent_tools::AgentTools;
use crate::cli::{Global, ModelArgs};
use crate::logging::{self, Secrets};
use crate::plugin_values::PluginValues;

/// What an agent is told when no `foehn.md` is there.
const DEFAULT_SYSTEM_MESSAGE: &str = include_str!("../../foehn.md");

/// The invocation, resolved.
pub(crate) struct Setup {
    pub(crate) loaded: Loaded,
    /// Where tools work, absolute.
    pub(crate) directory: PathBuf,
    pub(crate) state_dir: PathBuf,
    pub(crate) agent: String,
    secrets: Secrets,
}

/// Something the user wrote is wrong: the command line or the configuration. Exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl Setup {
    /// Reads the configuration under the flags, and starts the log.
    pub(crate) fn resolve(global: &Global, model: &ModelArgs) -> Result<Self> {
        let environment = Environment::of_process();
        let mut folder =
            std::env::current_dir().context("the current folder cannot be read; it may be deleted")?;
        if let Some(directory) = &global.directory {
            folder.push(directory);
            if !folder.is_dir() {
                return Err(usage(format!("--directory {}: there is no such folder", directory.display())));
            }
        }
        let request =
            Request { folder, environment, file: global.config.clone(), flags: flags(global, model) };
        let mut loaded = foehn_config::load(request).map_err(usage)?;
        choose_provider(&mut loaded);
        let directory = loaded.working_directory();
        if !directory.is_dir() {
            return Err(usage(format!(
                "working_directory {} is no folder ({})",
                directory.display(),
                loaded.origin("working_directory")
            )));
        }
        let agent = global.agent.clone().unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        loaded.agent(&agent).map_err(usage)?;
        let state_dir = loaded.state_dir().map_err(usage)?;
        let secrets = Secrets::default();
        let log = &loaded.settings.log;
        let log_file =
            log.file.as_ref().map_or_else(|| state_dir.join("foehn.log"), |file| loaded.folder.join(file));
        logging::start(log_file, log.level.as_str(), secrets.clone()).map_err(usage)?;
        // Also the keys of providers that are not in use: no result shows any of them.
        for variable in foehn_provider::providers().iter().flat_map(|provider| provider.key_variables) {
            if let Ok(Some(key)) = loaded.environment.get(variable) {
                secrets.add(key.trim());
            }
        }
        Ok(Self { loaded, directory, state_dir, agent, secrets })
    }

    pub(crate) fn agent_settings(&self) -> Result<AgentSettings> {
        self.loaded.agent(&self.agent).map_err(usage)
    }

    /// The model, checked but not yet called: what is wrong here is wrong in the settings.
    pub(crate) fn connect(&self) -> Result<Arc<dyn Model>> {
        foehn_provider::connect(&self.model_settings()?).map_err(usage)
    }

    pub(crate) fn model_settings(&self) -> Result<foehn_provider::Settings> {
        let agent = self.agent_settings()?;
        let settings = &self.loaded.settings;
        let variables = foehn_provider::providers()
            .iter()
            .find(|provider| provider.name == agent.provider)
            .map_or(&[][..], |provider| provider.key_variables);
        let mut model = foehn_provider::Settings::new(agent.provider.clone());
        if let Some(key) = self.loaded.api_key(&agent, variables).map_err(usage)? {
            self.secrets.add(key.value.expose_secret().trim());
            model.key_source = key.source;
            model.api_key = Some(key.value);
        }
        model.model = self.loaded.model(&agent).map_err(usage)?;
        model.base_url = self.loaded.base_url(&agent).map_err(usage)?;
        model.timeout = Duration::from_secs(settings.timeout_seconds);
        model.max_retries = settings.max_retries;
        model.streaming = settings.streaming;
        model.temperature = agent.temperature;
        model.max_output_tokens = agent.max_output_tokens;
        model.script = settings.offline_script.as_ref().map(|path| self.loaded.folder.join(path));
        model.habits = habits(settings)?;
        Ok(model)
    }

    pub(crate) fn open_store(&self) -> Result<Store> {
        Ok(Store::open(self.loaded.store_path().map_err(usage)?)?)
    }

    /// Finds the plugins. One that is bad is listed as such and keeps nobody else from working; one that the
    /// configuration calls required and that is not ready is an error.
    ///
    /// What they keep between calls goes into `store`; without one, for commands that call nothing, it goes nowhere.
    pub(crate) async fn load_plugins(&self, store: Option<&Store>) -> Result<PluginSet> {
        let mut settings = self.plugin_settings()?;
        if let Some(store) = store {
            settings.state = Some(Arc::new(PluginValues::new(store.clone(), self.agent.clone())));
        }
        let plugins = PluginSet::load(settings).await;
        let listing = plugins.listing();
        for (name, plugin) in &self.loaded.settings.plugins.each {
            if !plugin.required {
                continue;
            }
            let found = listing.iter().find(|listed| listed.name == *name);
            let ready = found.is_some_and(|listed| listed.state == foehn_plugin_host::PluginState::Ready);
            if !ready {
                let why = found.map_or_else(
                    || format!("there is no such plugin in {}", self.loaded.plugins_path().display()),
                    |listed| crate::command::plugins::state_words(&listed.state).1,
                );
                anyhow::bail!("the required plugin `{name}` is not ready: {why}");
            }
        }
        Ok(plugins)
    }

    pub(crate) fn plugin_settings(&self) -> Result<foehn_plugin_host::Settings> {
        let settings = &self.loaded.settings;
        let agent = self.agent_settings()?;
        let mut host =
            foehn_plugin_host::Settings::new(self.loaded.plugins_path(), &self.state_dir, &self.directory);
        host.trust = match settings.plugins.trust {
            ConfiguredTrust::Pinned => TrustMode::Pinned,
            ConfiguredTrust::Prompt => TrustMode::Prompt,
            ConfiguredTrust::Any => TrustMode::Any,
        };
        host.plugin = plugin_settings(settings.plugins.of(""));
        for (name, plugin) in &settings.plugins.each {
            host.plugins.insert(name.clone(), plugin_settings(settings.plugins.of(name)));
            if plugin.disabled {
                host.disabled.insert(name.clone());
            }
        }
        host.take_back_programs = settings.undo.shell;
        let sandbox = &settings.sandbox;
        let absolute = |paths: &[PathBuf]| paths.iter().map(|path| self.loaded.folder.join(path)).collect();
        let megabytes = |count: Option<u64>| count.map(|count| count.saturating_mul(1 << 20));
        host.sandbox = SandboxSettings {
            require: sandbox.require,
            read: absolute(&sandbox.read),
            write: absolute(&sandbox.write),
            limits: foehn_sandbox::Limits {
                address_space: megabytes(sandbox.memory_megabytes),
                data: megabytes(sandbox.program_megabytes),
                processes: sandbox.processes,
                file_size: megabytes(sandbox.file_megabytes),
                open_files: sandbox.open_files,
                cpu_seconds: sandbox.cpu_seconds,
            },
            ..SandboxSettings::default()
        };
        host.configured_tools = agent.tools.keys().cloned().collect();
        for tool in agent.tools.keys() {
            let (config, secrets) = agent.tool_config(tool, &self.loaded.environment).map_err(usage)?;
            for secret in secrets {
                self.secrets.add(secret.expose_secret());
            }
            for name in config.get("env_pass").and_then(Value::as_array).into_iter().flatten() {
                let value = name.as_str().filter(|name| sounds_secret(name)).map(std::env::var);
                if let Some(Ok(value)) = value {
                    self.secrets.add(value.trim());
                }
            }
            if !config.is_empty() {
                host.tools.insert(tool.clone(), Value::Object(config));
            }
        }
        Ok(host)
    }

    /// What makes the agent, with what the loaded plugins want it to know.
    pub(crate) fn agent_profile(&self, plugins: &PluginSet) -> Result<AgentProfile> {
        let settings = &self.loaded.settings;
        let agent = self.agent_settings()?;
        let mut system = self.system_message(&agent)?;
        for listed in plugins.listing() {
            if let Some(manifest) = listed.manifest {
                append_plugin_words(&mut system, &listed.name, &manifest.instructions, &manifest.constraints);
            }
        }
        let rules: BTreeMap<String, Rules> = agent
            .tools
            .iter()
            .map(|(tool, section)| {
                let rules = Rules { allow: section.allow.clone(), deny: section.deny.clone(), default: None };
                (tool.clone(), rules)
            })
            .collect();
        let tool_coercion = agent
            .tools
            .iter()
            .filter_map(|(tool, section)| Some((tool.clone(), coercion(section.coercion?))))
            .collect();
        Ok(AgentProfile {
            name: agent.name.clone(),
            system,
            rules,
            limits: Limits {
                max_steps: agent.max_tool_iterations,
                invalid_calls_per_tool: agent.max_invalid_calls,
                equal_calls_warn: agent.equal_calls_warn,
                equal_calls_stop: agent.equal_calls_stop,
                call_timeout: Duration::from_secs(settings.timeout_seconds),
                parallel: usize::try_from(settings.plugins.max_parallel).unwrap_or(usize::MAX),
                ..Limits::default()
            },
            coercion: coercion(agent.coercion),
            tool_coercion,
            max_output_tokens: agent.max_output_tokens,
            temperature: agent.temperature,
        })
    }

    /// The agent's tools out of all plugins.
    pub(crate) fn toolbox(&self, plugins: &Arc<PluginSet>) -> Result<AgentTools> {
        let agent = self.agent_settings()?;
        let named = agent.tools.keys().cloned().collect();
        Ok(AgentTools::new(Arc::clone(plugins), agent.enabled_tools, named, self.secrets.clone()))
    }

    /// Who started this: the user of the terminal, as the system names them.
    pub(crate) fn caller(&self) -> Option<String> {
        ["USER", "LOGNAME"]
            .iter()
            .find_map(|name| self.loaded.environment.get(name).ok().flatten().map(str::to_owned))
            .or_else(|| Some("operator".to_owned()))
    }

    fn system_message(&self, agent: &AgentSettings) -> Result<String> {
        match &agent.system_message {
            SystemMessage::Text(text) => Ok(text.clone()),
            SystemMessage::File { path, optional } => match std::fs::read_to_string(path) {
                Ok(text) => Ok(text),
                Err(error) if *optional && error.kind() == std::io::ErrorKind::NotFound => {
                    Ok(DEFAULT_SYSTEM_MESSAGE.to_owned())
                }
                Err(error) => {
                    Err(usage(format!("the system message {} cannot be read: {error}", path.display())))
                }
            },
        }
    }
}

fn append_plugin_words(system: &mut String, name: &str, instructions: &str, constraints: &[String]) {
    if instructions.is_empty() && constraints.is_empty() {
        return;
    }
    system.push_str(&format!("\n\n## Tools of `{name}`\n"));
    if !instructions.is_empty() {
        system.push_str(instructions.trim_end());
        system.push('\n');
    }
    for constraint in constraints {
        system.push_str(&format!("- {constraint}\n"));
    }
}

/// Whether a variable of this name is likely to hold what nobody should read. Others are not masked: `en_US` would
/// disappear from every text.
fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"].iter().any(|part| name.contains(part))
}

/// The configuration knows the stand-in's habits by name only.
fn habits(settings: &foehn_config::Settings) -> Result<Vec<Habit>> {
    let habit = |name: &String| {
        let habit: Habit = name.parse().map_err(|error| usage(format!("offline_habits: {error}")))?;
        if habit.shows() == Shows::Wire {
            return Err(usage(format!(
                "offline_habits: `{habit}` is a habit of a server, and the stand-in has none; write it into a script \
                 for `foehn script-server`"
            )));
        }
        Ok(habit)
    };
    settings.offline_habits.iter().map(habit).collect()
}

/// Where nobody has chosen a provider and a key of one is at hand, that one is meant; the first of the providers' table
/// when there are several. A script and habits are for the stand-in, whatever keys there are.
fn choose_provider(loaded: &mut Loaded) {
    let settings = &loaded.settings;
    let for_stand_in = settings.offline_script.is_some() || !settings.offline_habits.is_empty();
    if loaded.origins.contains_key("provider") || for_stand_in {
        return;
    }
    let has_key =
        |variable: &&str| matches!(loaded.environment.get(variable), Ok(Some(key)) if !key.trim().is_empty());
    // A provider without an address of its own needs more than a key.
    let chosen = foehn_provider::providers().iter().filter(|provider| provider.base_url.is_some()).find_map(
        |provider| Some((provider.name, *provider.key_variables.iter().find(|variable| has_key(variable))?)),
    );
    if let Some((provider, variable)) = chosen {
        loaded.settings.provider = provider.to_owned();
        loaded.origins.insert("provider".to_owned(), Origin::Variable(variable.to_owned()));
    }
}

fn coercion(configured: ConfiguredCoercion) -> Coercion {
    match configured {
        ConfiguredCoercion::Lenient => Coercion::Lenient,
        ConfiguredCoercion::Strict => Coercion::Strict,
    }
}

fn plugin_settings(configured: PluginLimits) -> PluginSettings {
    PluginSettings {
        isolation: match configured.isolation {
            ConfiguredIsolation::Worker => Isolation::Worker,
            ConfiguredIsolation::InProcess => Isolation::InProcess,
        },
        grace: Duration::from_secs(configured.grace_seconds),
        idle: Duration::from_secs(configured.idle_seconds),
        max_parallel: usize::try_from(configured.max_parallel).unwrap_or(usize::MAX),
    }
}

fn flags(global: &Global, model: &ModelArgs) -> Vec<Flag> {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
    [
        ("--plugins", "plugins_path", path(&global.plugins)),
        ("--provider", "provider", model.provider.clone()),
        ("--model", "model", model.model.clone()),
        ("--base-url", "base_url", model.base_url.clone()),
        ("--offline-script", "offline_script", path(&model.offline_script)),
        (
            "--offline-habit",
            "offline_habits",
            (!model.offline_habits.is_empty()).then(|| model.offline_habits.join(",")),
        ),
        ("--no-stream", "streaming", model.no_stream.then(|| "false".to_owned())),
        (
            "--max-tool-iterations",
            "max_tool_iterations",
            model.max_tool_iterations.map(|steps| steps.to_string()),
        ),
    ]
    .into_iter()
    .filter_map(|(name, key, value)| Some(Flag { name: name.to_owned(), key: key.to_owned(), value: value? }))
    .collect()
}

pub(crate) fn usage(error: impl std::fmt::Display) -> anyhow::Error {
    UsageError(error.to_string()).into()
}
