//! The contract of one tool: the definition a model is shown, and the check of what it sends back.

use std::fmt;
use std::sync::{Arc, OnceLock};

use foehn_protocol::{Problem, ToolSpec};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::coercion::Coercion;
use crate::defaults;
use crate::normalise::Normaliser;
use crate::problems::{self, code};
use crate::strict_json;

/// What a model is shown of a tool; `parameters` is also exactly what is enforced.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

/// Arguments that may run.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The JSON text to run: as the model wrote it, unless something had to be read otherwise or filled in.
    pub arguments: String,
    pub value: Value,
    /// What was read otherwise than written; for the model.
    pub notes: Vec<String>,
}

/// A tool that can never be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    #[error("tool `{tool}` has a schema that cannot be enforced: {message}")]
    Schema { tool: String, message: String },
    #[error(
        "tool `{tool}` asks for arguments that are not an object; its schema needs `\"type\": \"object\"`"
    )]
    NotAnObject { tool: String },
}

/// The enforced contract of one tool. The validator is built at the first check and kept.
pub struct Contract {
    spec: Arc<ToolSpec>,
    definition: Definition,
    validator: OnceLock<Result<Validator, ContractError>>,
}

impl Contract {
    pub fn new(spec: Arc<ToolSpec>) -> Self {
        let definition = Definition {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: shown(&spec.schema),
        };
        Self { spec, definition, validator: OnceLock::new() }
    }

    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether the schema can be enforced at all: a local, valid draft 2020-12 schema of an object.
    pub fn usable(&self) -> Result<(), ContractError> {
        self.validator().map(|_| ())
    }

    /// Checks arguments as a model wrote them and answers with what to run, or with every problem at once. Blank text
    /// and `null` mean no arguments.
    pub fn check(&self, raw: &str, coercion: Coercion) -> Result<Accepted, Vec<Problem>> {
        let text = raw.trim();
        let blank = matches!(text, "" | "null" | "\"null\"" | "\"\"");
        let parsed = strict_json::parse(if blank { "{}" } else { text })
            .map_err(|error| vec![problems::unreadable(&error)])?;
        let validator = self.validator().map_err(|error| vec![problems::bad_schema(&error.to_string())])?;

        let root = &self.definition.parameters;
        let mut value = parsed.value;
        let mut normaliser = Normaliser::new(root, coercion);
        normaliser.arguments(&mut value);
        let Normaliser { notes, problems: mut found, .. } = normaliser;
        found.extend(parsed.duplicates.into_iter().map(problems::duplicate));
        if !found.is_empty() || !validator.is_valid(&value) {
            for error in validator.iter_errors(&value) {
                problems::explain(root, &error, &mut found);
            }
            return Err(problems::in_order(found));
        }

        let mut filled = defaults::fill(root, &mut value);
        if !filled.is_empty() && !validator.is_valid(&value) {
            // A default that its own schema refuses is the author's mistake, not the caller's.
            defaults::take_out(&mut value, &filled);
            filled.clear();
        }
        let as_written = !blank && notes.is_empty() && filled.is_empty();
        let arguments = if as_written { text.to_owned() } else { value.to_string() };
        Ok(Accepted { arguments, value, notes })
    }

    fn validator(&self) -> Result<&Validator, ContractError> {
        self.validator.get_or_init(|| self.build()).as_ref().map_err(Clone::clone)
    }

    fn build(&self) -> Result<Validator, ContractError> {
        let tool = || self.spec.name.clone();
        if self.definition.parameters.get("type") != Some(&json!("object")) {
            return Err(ContractError::NotAnObject { tool: tool() });
        }
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .offline()
            .build(&self.definition.parameters)
            .map_err(|error| ContractError::Schema { tool: tool(), message: error.to_string() })
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Contract").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Whether the arguments end in the middle, as they do when the output limit cuts an answer.
pub fn is_cut_off(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.code == code::CUT_OFF)
}

/// Whether the arguments are not JSON at all.
pub fn is_unreadable(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.code == code::CUT_OFF || problem.code == code::NOT_JSON)
}

/// What a model reads above the problems of its arguments.
pub fn invalid_arguments(tool: &str, problems: &[Problem]) -> String {
    match problems {
        [one] => format!("`{tool}` was not run: its arguments have a problem, `{}`.", one.code),
        several => format!("`{tool}` was not run: its arguments have {} problems.", several.len()),
    }
}

/// What a model reads when its call was cut by the output limit.
pub fn cut_off(tool: &str) -> String {
    format!(
        "The call of `{tool}` was cut by the output limit: its arguments end in the middle. Nothing was executed. \
         Send the content in smaller pieces: first create the file with a short part, then append the rest in \
         further calls."
    )
}

/// What a model reads when it should not try again.
pub fn invalid_too_often(calls: u32) -> String {
    format!(
        "This was invalid call {calls} in a row: do not call it again, say what you need and ask the user."
    )
}

/// The schema as shown: without the generator's headings at the root, and always an object with properties, which
/// some vendors insist on.
pub(crate) fn shown(schema: &Value) -> Value {
    let mut root = match schema {
        Value::Object(root) => root.clone(),
        _ => Map::new(),
    };
    root.remove("$schema");
    root.remove("title");
    root.entry("type").or_insert_with(|| json!("object"));
    if root.get("type") == Some(&json!("object")) {
        root.entry("properties").or_insert_with(|| json!({}));
    }
    Value::Object(root)
}
