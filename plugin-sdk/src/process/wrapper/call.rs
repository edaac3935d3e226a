//! What every wrapped program has in common towards its callers: arguments for the model, settings for the operator.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::Wrapper;
use super::check::MOST_ARGUMENTS;
use crate::process::{DEFAULT_OUTPUT_LIMIT, ProgramSettings};
use crate::workspace::MAX_PATH_BYTES;

/// What a call may ask for whatever is configured: a day.
const LONGEST_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;

/// The arguments of a wrapped program. Their schema names the subcommands of `W`.
pub struct WrapperArgs<W> {
    pub(super) subcommand: String,
    pub(super) arguments: Vec<String>,
    pub(super) working_directory: String,
    pub(super) timeout_seconds: Option<u64>,
    wrapper: PhantomData<fn() -> W>,
}

#[derive(Deserialize)]
#[serde(rename = "arguments", deny_unknown_fields)]
struct Written {
    subcommand: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    working_directory: String,
    #[serde(default)]
    timeout_seconds: Option<u64>,
}

impl<'de, W: Wrapper> Deserialize<'de> for WrapperArgs<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { subcommand, arguments, working_directory, timeout_seconds } =
            Written::deserialize(deserializer)?;
        if !W::SUBCOMMANDS.iter().any(|known| known.name == subcommand) {
            let known: Vec<&str> = W::SUBCOMMANDS.iter().map(|known| known.name).collect();
            return Err(de::Error::custom(format!(
                "there is no subcommand `{subcommand}` here; there are {}",
                known.join(", ")
            )));
        }
        Ok(Self { subcommand, arguments, working_directory, timeout_seconds, wrapper: PhantomData })
    }
}

impl<W: Wrapper> JsonSchema for WrapperArgs<W> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_arguments", W::NAME).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let subcommands: Vec<&str> = W::SUBCOMMANDS.iter().map(|subcommand| subcommand.name).collect();
        let seconds = format!(
            "Seconds until it is stopped; {} if left out, at most {}.",
            W::TIMEOUT_SECONDS,
            W::MOST_SECONDS
        );
        json_schema!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "subcommand": {"type": "string", "enum": subcommands, "description": "What to do."},
                "arguments": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": MAX_PATH_BYTES},
                    "description":
                        "Its arguments, one item each, unquoted. Paths stay in the workspace.",
                    "maxItems": MOST_ARGUMENTS,
                    "default": []
                },
                "working_directory": {
                    "type": "string",
                    "description": "Folder of the workspace to run in.",
                    "maxLength": MAX_PATH_BYTES,
                    "default": "."
                },
                "timeout_seconds": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "description": seconds,
                    "maximum": LONGEST_TIMEOUT_SECONDS
                }
            },
            "required": ["subcommand"]
        })
    }
}

impl<W: Wrapper> WrapperArgs<W> {
    /// The command line for a person: arguments with anything unusual in them are quoted.
    pub(super) fn shown(&self) -> String {
        let plain = |text: &str| {
            !text.is_empty()
                && text
                    .chars()
                    .all(|character| character.is_alphanumeric() || "-_./:=+,@%".contains(character))
        };
        let quoted = self.arguments.iter().map(|argument| {
            if plain(argument) { argument.clone() } else { format!("'{}'", argument.replace('\'', r"'\''")) }
        });
        let words: Vec<String> =
            [W::PROGRAM.to_owned(), self.subcommand.clone()].into_iter().chain(quoted).collect();
        words.join(" ")
    }
}

impl<W> fmt::Debug for WrapperArgs<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WrapperArgs")
            .field("subcommand", &self.subcommand)
            .field("arguments", &self.arguments)
            .field("working_directory", &self.working_directory)
            .field("timeout_seconds", &self.timeout_seconds)
            .finish()
    }
}

/// The configuration of a wrapped program: what all of them have, and `S` of its own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, bound = "S: Deserialize<'de> + Default")]
#[schemars(bound = "S: JsonSchema + Default")]
pub struct WrapperConfig<S = NoSettings> {
    /// The program: a name to look up in PATH, or an absolute path.
    pub program: Option<PathBuf>,
    /// Options that calls may use besides those that are always allowed.
    pub allowed_options: Vec<String>,
    /// Seconds a call gets when it does not say.
    pub default_timeout_seconds: Option<u64>,
    /// Most seconds a call may ask for.
    pub max_timeout_seconds: Option<u64>,
    /// Most characters of output in a result: half from its beginning, half from its end.
    pub output_characters: usize,
    /// What holds for the programs of any tool.
    #[serde(flatten)]
    pub programs: ProgramSettings,
    /// What this program has of its own.
    #[serde(flatten)]
    pub own: S,
}

impl<S: Default> Default for WrapperConfig<S> {
    fn default() -> Self {
        Self {
            program: None,
            allowed_options: Vec::new(),
            default_timeout_seconds: None,
            max_timeout_seconds: None,
            output_characters: DEFAULT_OUTPUT_LIMIT,
            programs: ProgramSettings::default(),
            own: S::default(),
        }
    }
}

/// For a program without settings of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NoSettings {}
