//! The contract of one tool: the definition a model is shown, and the check of what it sends back.

use std::fmt;
use std::sync::{Arc, OnceLock};

use foehn_protocol::{Problem, ToolSpec};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::coercion::Coercion;
use crate::defaults;
use crate::explain::explain;
use crate::formats;
use crate::keywords;
use crate::normalise::Normaliser;
use crate::problems::{self, Problems, code};
use crate::quick::Quick;
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

/// The validator keeps a location for each of its findings, all at once, and a location holds the keys on its way.
/// Arguments whose locations could take more than this are answered with the first finding alone.
const LOCATIONS_BYTES: usize = 16 << 20;
const LOCATION_BYTES: usize = 64;

/// The enforced contract of one tool. The validator is built at the first check and kept.
pub struct Contract {
    spec: Arc<ToolSpec>,
    definition: Definition,
    /// What is shown with our own keywords still in it, if there are any.
    annotated: Option<Value>,
    enforced: OnceLock<Result<Enforced, ContractError>>,
}

struct Enforced {
    validator: Validator,
    quick: Quick,
}

impl Contract {
    pub fn new(spec: Arc<ToolSpec>) -> Self {
        let whole = whole(&spec.schema);
        let parameters = shown(&spec.schema);
        let annotated = (parameters != whole).then_some(whole);
        let (name, description) = (spec.name.clone(), spec.description.clone());
        let definition = Definition { name, description, parameters };
        Self { spec, definition, annotated, enforced: OnceLock::new() }
    }

    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether the schema can be enforced at all: a local, valid draft 2020-12 schema of an object.
    pub fn usable(&self) -> Result<(), ContractError> {
        self.enforced().map(|_| ())
    }

    /// Checks arguments as a model wrote them and answers with what to run, or with every problem at once. Blank text
    /// and `null` mean no arguments.
    pub fn check(&self, raw: &str, coercion: Coercion) -> Result<Accepted, Vec<Problem>> {
        let text = raw.trim();
        let blank = matches!(text, "" | "null" | "\"null\"" | "\"\"");
        let parsed = strict_json::parse(if blank { "{}" } else { text })
            .map_err(|error| vec![problems::unreadable(&error)])?;
        let enforced = self.enforced().map_err(|error| vec![problems::bad_schema(&error.to_string())])?;

        let mut value = parsed.value;
        let quick = parsed.duplicates.is_empty()
            && enforced.validator.is_valid(&value)
            && enforced.quick.suffices(&value);
        let notes = if quick {
            Vec::new()
        } else {
            let mut normaliser =
                Normaliser::new(&self.definition.parameters, self.annotated.as_ref(), text, coercion);
            normaliser.arguments(&mut value);
            for pointer in parsed.duplicates {
                normaliser.problems.add(|| problems::duplicate(pointer));
            }
            if !normaliser.problems.is_empty() || !enforced.validator.is_valid(&value) {
                self.explain(&enforced.validator, &value, &mut normaliser.problems);
                normaliser.explain_ambiguous();
                return Err(normaliser.problems.in_order());
            }
            normaliser.notes()
        };
        let filled = enforced.quick.has_defaults && self.fill(&enforced.validator, &mut value);
        let as_written = !blank && notes.is_empty() && !filled;
        let arguments = if as_written { text.to_owned() } else { value.to_string() };
        Ok(Accepted { arguments, value, notes })
    }

    fn explain(&self, validator: &Validator, value: &Value, found: &mut Problems) {
        let root = &self.definition.parameters;
        if locations_bytes(value) > LOCATIONS_BYTES {
            let first = validator.validate(value).err();
            first.iter().for_each(|finding| explain(root, finding, found));
            found.and_more();
        } else {
            validator.iter_errors(value).for_each(|finding| explain(root, &finding, found));
        }
    }

    /// Whether anything was filled in.
    fn fill(&self, validator: &Validator, value: &mut Value) -> bool {
        let filled = defaults::fill(&self.definition.parameters, value);
        if !filled.is_empty() && !validator.is_valid(value) {
            // A default that its own schema refuses is the author's mistake, not the caller's.
            defaults::take_out(value, &filled);
            return false;
        }
        !filled.is_empty()
    }

    fn enforced(&self) -> Result<&Enforced, ContractError> {
        self.enforced.get_or_init(|| self.build()).as_ref().map_err(Clone::clone)
    }

    fn build(&self) -> Result<Enforced, ContractError> {
        let tool = || self.spec.name.clone();
        if self.definition.parameters.get("type") != Some(&json!("object")) {
            return Err(ContractError::NotAnObject { tool: tool() });
        }
        let validator = formats::asserted(jsonschema::options())
            .build(&self.definition.parameters)
            .map_err(|error| ContractError::Schema { tool: tool(), message: error.to_string() })?;
        let quick = Quick::of(self.annotated.as_ref().unwrap_or(&self.definition.parameters));
        Ok(Enforced { validator, quick })
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Contract").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// How much the locations of all parts of a value can take.
fn locations_bytes(value: &Value) -> usize {
    fn count(value: &Value, parts: &mut usize, longest_key: &mut usize) {
        *parts += 1;
        match value {
            Value::Array(items) => items.iter().for_each(|item| count(item, parts, longest_key)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    *longest_key = key.len().max(*longest_key);
                    count(field, parts, longest_key);
                }
            }
            _ => {}
        }
    }
    let (mut parts, mut longest_key) = (0, 0);
    count(value, &mut parts, &mut longest_key);
    parts.saturating_mul(longest_key + LOCATION_BYTES)
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

/// The schema as a model is shown it.
pub(crate) fn shown(schema: &Value) -> Value {
    let mut shown = whole(schema);
    keywords::strip(&mut shown);
    shown
}

/// The schema without the generator's headings at the root, and always an object with properties, which some vendors
/// insist on.
fn whole(schema: &Value) -> Value {
    let mut root = match schema {
        Value::Object(root) => root.clone(),
        _ => Map::new(),
    };
    // The order of what is left is the author's.
    root.shift_remove("$schema");
    root.shift_remove("title");
    root.entry("type").or_insert_with(|| json!("object"));
    if root.get("type") == Some(&json!("object")) {
        root.entry("properties").or_insert_with(|| json!({}));
    }
    Value::Object(root)
}
