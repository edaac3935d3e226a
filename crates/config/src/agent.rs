//! One agent, with everything that it takes from the top of the settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::layer::path_of;
use crate::settings::{Agent, Coercion, ToolSection};
use crate::{ConfigError, DEFAULT_AGENT, Environment, Loaded, Secret, Text, load};

/// What holds for one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSettings {
    pub name: String,
    pub provider: String,
    pub model: Option<Text>,
    pub base_url: Option<Text>,
    pub system_message: SystemMessage,
    /// `None`: the tools of all plugins.
    pub enabled_tools: Option<Vec<String>>,
    pub max_tool_iterations: u32,
    pub max_invalid_calls: u32,
    pub equal_calls_warn: u32,
    pub equal_calls_stop: u32,
    pub coercion: Coercion,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u64>,
    pub tools: BTreeMap<String, ToolSection>,
    api_key: Option<(String, Secret)>,
    at_top: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemMessage {
    Text(String),
    /// Absolute. It need not exist when `optional`: nobody asked for it.
    File {
        path: PathBuf,
        optional: bool,
    },
}

/// A key and where it came from, in words for the message that it is wrong.
#[derive(Clone, Debug)]
pub struct ApiKey {
    pub value: SecretString,
    pub source: String,
}

impl Loaded {
    /// The agent of this name. `default` exists without being configured.
    pub fn agent(&self, name: &str) -> Result<AgentSettings, ConfigError> {
        let settings = &self.settings;
        let none = Agent::default();
        let agent = match settings.agents.get(name) {
            Some(agent) => agent,
            None if name == DEFAULT_AGENT => &none,
            None => return Err(load::unknown_agent(name, settings)),
        };
        let provider = agent.provider.as_ref().unwrap_or(&settings.provider);
        // Another vendor's model, address and above all key are not this one's.
        let at_top = *provider == settings.provider;
        let top = |value: &Option<Text>| value.clone().filter(|_| at_top);
        let own_key = agent.api_key.clone().map(|key| (path_of(&["agents", name, "api_key"]), key));
        let top_key = settings.api_key.clone().map(|key| ("api_key".to_owned(), key)).filter(|_| at_top);
        let system_message = match (&agent.system_message, &agent.system_message_file) {
            (Some(text), _) => SystemMessage::Text(text.clone()),
            (None, Some(file)) => SystemMessage::File { path: self.folder.join(file), optional: false },
            (None, None) => SystemMessage::File {
                path: self.folder.join(&settings.system_message_file),
                optional: !self.origins.contains_key("system_message_file"),
            },
        };
        Ok(AgentSettings {
            name: name.to_owned(),
            provider: provider.clone(),
            model: agent.model.clone().or_else(|| top(&settings.model)),
            base_url: agent.base_url.clone().or_else(|| top(&settings.base_url)),
            system_message,
            enabled_tools: agent.enabled_tools.clone(),
            max_tool_iterations: agent.max_tool_iterations.unwrap_or(settings.max_tool_iterations),
            max_invalid_calls: agent.max_invalid_calls.unwrap_or(settings.max_invalid_calls),
            equal_calls_warn: agent.equal_calls_warn.unwrap_or(settings.equal_calls_warn),
            equal_calls_stop: agent.equal_calls_stop.unwrap_or(settings.equal_calls_stop),
            coercion: agent.coercion.unwrap_or(settings.coercion),
            temperature: agent.temperature.or(settings.temperature),
            max_output_tokens: agent.max_output_tokens.or(settings.max_output_tokens),
            tools: agent.tools.clone(),
            // An address of the agent's own must not get the key that was meant for another.
            api_key: own_key.or(top_key.filter(|_| agent.base_url.is_none())),
            at_top,
        })
    }

    /// The key for the agent's provider: that of the settings, else the first of `variables` (the provider's own) that is
    /// set. `None` when there is neither.
    pub fn api_key(&self, agent: &AgentSettings, variables: &[&str]) -> Result<Option<ApiKey>, ConfigError> {
        if let Some((key, secret)) = &agent.api_key {
            let value = secret.resolve(key, &self.environment)?;
            let source = format!("`{key}` ({})", self.origin(key));
            return Ok(Some(ApiKey { value, source }));
        }
        for name in variables {
            let text = Text::Env((*name).to_owned());
            if self.environment.get(name) == Ok(None) {
                continue;
            }
            let value = text.resolve("api_key", &self.environment)?;
            return Ok(Some(ApiKey { value, source: format!("environment variable {name}") }));
        }
        Ok(None)
    }

    /// The model of the agent, resolved.
    pub fn model(&self, agent: &AgentSettings) -> Result<Option<String>, ConfigError> {
        self.text(agent, "model", agent.model.as_ref())
    }

    /// The address of the agent's provider, resolved. It may hold a password: not for printing.
    pub fn base_url(&self, agent: &AgentSettings) -> Result<Option<String>, ConfigError> {
        self.text(agent, "base_url", agent.base_url.as_ref())
    }

    fn text(
        &self,
        agent: &AgentSettings,
        key: &str,
        text: Option<&Text>,
    ) -> Result<Option<String>, ConfigError> {
        let Some(text) = text else { return Ok(None) };
        let own = path_of(&["agents", &agent.name, key]);
        let key = if agent.at_top && !self.origins.contains_key(&own) { key.to_owned() } else { own };
        Ok(Some(text.resolve(&key, &self.environment)?.expose_secret().to_owned()))
    }
}

impl AgentSettings {
    /// What the plugin of this tool gets: its section without the permissions, references resolved. Beside it all that a
    /// reference led to, for the masking.
    pub fn tool_config(
        &self,
        tool: &str,
        environment: &Environment,
    ) -> Result<(Map<String, Value>, Vec<SecretString>), ConfigError> {
        let mut config = self.tools.get(tool).map(|section| section.config.clone()).unwrap_or_default();
        let mut secrets = Vec::new();
        for (key, value) in &mut config {
            let path = path_of(&["agents", &self.name, "tools", tool, key]);
            resolve(value, &path, environment, &mut secrets)?;
        }
        Ok((config, secrets))
    }
}

fn resolve(
    value: &mut Value,
    path: &str,
    environment: &Environment,
    secrets: &mut Vec<SecretString>,
) -> Result<(), ConfigError> {
    match value {
        Value::Object(table) => {
            if let Some(reference) = reference(table) {
                let secret = reference.resolve(path, environment)?;
                *value = Value::String(secret.expose_secret().to_owned());
                secrets.push(secret);
                return Ok(());
            }
            table.values_mut().try_for_each(|value| resolve(value, path, environment, secrets))
        }
        Value::Array(items) => {
            items.iter_mut().try_for_each(|item| resolve(item, path, environment, secrets))
        }
        _ => Ok(()),
    }
}

fn reference(table: &Map<String, Value>) -> Option<Text> {
    let mut pairs = table.iter();
    let (Some((key, Value::String(value))), None) = (pairs.next(), pairs.next()) else { return None };
    Text::from_pair(key, value)
}
