//! What a user can set about a model, already resolved: no references, no files, no environment.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use foehn_ports::{ModelError, ModelErrorKind};
use secrecy::{ExposeSecret, SecretString};

use crate::offline::Habit;
use crate::quirks::{OFFLINE, ProviderInfo, providers};

/// One model at one provider. [`Settings::new`] fills everything but the provider with defaults.
#[derive(Clone)]
pub struct Settings {
    /// A name of [`providers`].
    pub provider: String,
    /// `None`: the provider's default model.
    pub model: Option<String>,
    /// `None`: the provider's own. With or without `/v1`, with or without a slash at the end.
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    /// Where the key came from or was looked for, for messages: a variable's name, or a place in a file.
    pub key_source: String,
    /// The longest silence of the server, before and within an answer.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// Further attempts after the first, as long as nothing of the answer was shown.
    pub max_retries: u32,
    pub streaming: bool,
    /// Used when a request sets none.
    pub temperature: Option<f64>,
    /// Used when a request sets none.
    pub max_output_tokens: Option<u64>,
    /// What the offline stand-in plays; without one it serves plain requests.
    pub script: Option<PathBuf>,
    /// Bad habits of the offline stand-in, on top of those of its script.
    pub habits: Vec<Habit>,
}

impl Settings {
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: None,
            base_url: None,
            api_key: None,
            key_source: String::new(),
            timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            max_retries: 3,
            streaming: true,
            temperature: None,
            max_output_tokens: None,
            script: None,
            habits: Vec::new(),
        }
    }

    pub(crate) fn info(&self) -> Result<&'static ProviderInfo, ModelError> {
        providers().iter().find(|info| info.name == self.provider).ok_or_else(|| {
            let known: Vec<&str> = providers().iter().map(|info| info.name).collect();
            self.refusal(format!(
                "there is no provider `{}`; set `provider` to one of: {}",
                self.provider,
                known.join(", ")
            ))
        })
    }

    /// The key as it is sent: without white space around it (a file's last line end), or refused without being shown.
    pub(crate) fn key(&self, info: &ProviderInfo) -> Result<Option<SecretString>, ModelError> {
        let source = self.key_source(info);
        let key = self.api_key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty());
        let Some(key) = key else {
            if !info.requires_key {
                return Ok(None);
            }
            let set = info.key_variables.first().map_or_else(String::new, |name| format!(" set {name} or"));
            return Err(ModelError {
                kind: ModelErrorKind::Auth,
                ..self.refusal(format!(
                    "no API key: looked for {source};{set} `api_key` in the configuration, or use provider \
                     `{OFFLINE}`, which needs none"
                ))
            });
        };
        if !key.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
            return Err(ModelError {
                kind: ModelErrorKind::Auth,
                ..self.refusal(format!(
                    "the API key from {source} holds a space, a line end or a character that no key has; copy it \
                     again"
                ))
            });
        }
        Ok(Some(SecretString::from(key)))
    }

    pub(crate) fn key_source(&self, info: &ProviderInfo) -> String {
        if !self.key_source.is_empty() {
            return self.key_source.clone();
        }
        if info.key_variables.is_empty() { "`api_key`".into() } else { info.key_variables.join(" or ") }
    }

    pub(crate) fn model(&self, info: &ProviderInfo) -> Result<String, ModelError> {
        let named = self.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        named.or(info.default_model).map(str::to_owned).ok_or_else(|| {
            self.refusal(format!("provider `{}` has no default model; set `model`", info.name))
        })
    }

    /// An error about the settings themselves, before anything was sent.
    pub(crate) fn refusal(&self, message: String) -> ModelError {
        ModelError {
            kind: ModelErrorKind::BadRequest { status: 0 },
            provider: self.provider.clone(),
            model: self.model.clone().unwrap_or_else(|| "-".into()),
            message,
            request_id: None,
            retryable: false,
        }
    }
}

impl fmt::Debug for Settings {
    /// Without the key, and without a base URL, which may hold a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("streaming", &self.streaming)
            .field("script", &self.script)
            .finish_non_exhaustive()
    }
}

/// The first of the provider's usual variables that holds a key, with its name for [`field@Settings::key_source`]. An empty
/// variable counts as unset.
pub fn key_from_environment(info: &ProviderInfo) -> Option<(SecretString, &'static str)> {
    info.key_variables.iter().find_map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty())?;
        Some((SecretString::from(value), *name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(provider: &str, key: Option<&str>) -> Result<Option<String>, String> {
        let settings = Settings {
            api_key: key.map(SecretString::from),
            model: Some("m".into()),
            ..Settings::new(provider)
        };
        let info = settings.info().map_err(|error| error.to_string())?;
        let key = settings.key(info).map_err(|error| error.to_string())?;
        Ok(key.map(|key| key.expose_secret().to_owned()))
    }

    #[test]
    fn keys_are_trimmed_or_refused_without_being_shown() {
        assert_eq!(key("mistral", Some("sk-test-123\n")), Ok(Some("sk-test-123".into())));
        assert_eq!(key("openai-compatible", None), Ok(None));
        let error = key("mistral", Some("sk-te\u{7}st-123")).unwrap_err();
        assert_eq!(
            error,
            "mistral/m: the API key from MISTRAL_API_KEY holds a space, a line end or a character that no key has; \
             copy it again"
        );
        assert_eq!(
            key("gemini", Some(" \n")).unwrap_err(),
            "gemini/m: no API key: looked for GEMINI_API_KEY or GOOGLE_API_KEY; set GEMINI_API_KEY or `api_key` in \
             the configuration, or use provider `offline`, which needs none"
        );
    }

    #[test]
    fn an_unknown_provider_is_told_the_known_ones() {
        assert_eq!(
            key("mistrall", None).unwrap_err(),
            "mistrall/m: there is no provider `mistrall`; set `provider` to one of: offline, mistral, openai, \
             anthropic, gemini, openai-compatible"
        );
    }

    #[test]
    fn debug_shows_neither_key_nor_password() {
        let settings = Settings {
            api_key: Some(SecretString::from("sk-test-123")),
            base_url: Some("http://user:hunter22@h".into()),
            ..Settings::new("openai")
        };
        let shown = format!("{settings:?}");
        assert!(!shown.contains("sk-test") && !shown.contains("hunter22"), "{shown}");
    }
}
