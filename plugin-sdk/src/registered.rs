//! The author's typed tools, jobs and contexts behind plain traits: JSON in, reply out.

use std::any::TypeId;

use schemars::JsonSchema;
use serde_json::Value;

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::output::{IntoOutput, Output};
use crate::schema::{from_text, from_value, schema_of};
use crate::tool::{Context, Job, Tool};
use crate::wire::{
    CallHead, ContextKind, ContextSpec, JobSpec, LintException, OperationSpec, Part, SessionEnd,
    SessionEnded, ToolSpec, Undone,
};

/// A tool before its configuration is known.
pub(crate) trait RegisteredTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn open(self: Box<Self>, section: Option<Value>) -> Result<Box<dyn OpenTool>>;
}

/// A tool with its configuration.
pub(crate) trait OpenTool: Send + Sync {
    fn answers_to(&self, name: &str) -> bool;
    fn requires_caller(&self) -> bool;
    fn execute(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output>;
    fn classify(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output>;
    fn undo(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output>;
    fn undo_preview(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output>;
    fn end_session(&self, end: SessionEnd, head: &CallHead, host: &dyn Host) -> Result<SessionEnded>;
}

pub(crate) trait RegisteredJob: Send + Sync {
    fn spec(&self) -> JobSpec;
    fn name(&self) -> &'static str;
    fn run(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output>;
}

pub(crate) trait RegisteredContext: Send + Sync {
    fn spec(&self) -> ContextSpec;
    fn name(&self) -> &'static str;
    fn text(&self, head: &CallHead, host: &dyn Host) -> Result<Output>;
}

impl<T: Tool> RegisteredTool for T {
    fn spec(&self) -> ToolSpec {
        let mut operations = T::operations();
        if operations.is_empty() {
            operations.push(OperationSpec::new(T::NAME, T::DESCRIPTION));
        }
        ToolSpec {
            name: T::NAME.to_owned(),
            aliases: T::ALIASES.iter().map(|&alias| alias.to_owned()).collect(),
            description: T::DESCRIPTION.to_owned(),
            risk: T::RISK,
            capabilities: T::CAPABILITIES,
            schema: schema_of::<T::Args>(),
            config_schema: takes_config::<T>().then(schema_of::<T::Config>),
            operations,
            classifies: T::CLASSIFIES,
            requires_caller: T::REQUIRES_CALLER,
            polling: T::POLLING,
            on_demand: T::ON_DEMAND,
            lasting: T::LASTING,
            lint_exceptions: T::LINT_EXCEPTIONS
                .iter()
                .map(|exception| LintException {
                    rule: exception.rule.to_owned(),
                    at: exception.at.to_owned(),
                    reason: exception.reason.to_owned(),
                })
                .collect(),
        }
    }

    fn open(self: Box<Self>, section: Option<Value>) -> Result<Box<dyn OpenTool>> {
        let config = match section {
            None => T::Config::default(),
            Some(Value::Object(section)) if section.is_empty() => T::Config::default(),
            Some(_) if !takes_config::<T>() => {
                return Err(Error::failed(format!(
                    "tool `{}` takes no configuration; remove its section",
                    T::NAME
                )));
            }
            Some(section) => from_value(section).map_err(|problem| {
                let expected = expected_keys::<T::Config>(&problem);
                Error::failed(format!("configuration of tool `{}`: {problem}{expected}", T::NAME))
            })?,
        };
        Ok(Box::new(Configured { tool: *self, config }))
    }
}

struct Configured<T: Tool> {
    tool: T,
    config: T::Config,
}

impl<T: Tool> OpenTool for Configured<T> {
    fn answers_to(&self, name: &str) -> bool {
        name == T::NAME || T::ALIASES.contains(&name)
    }

    fn requires_caller(&self) -> bool {
        T::REQUIRES_CALLER
    }

    fn execute(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        self.tool.run(arguments(body)?, &Cx::new(head, host, &self.config))?.into_output()
    }

    fn classify(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        let classification = self.tool.classify(&arguments(body)?, &Cx::new(head, host, &self.config))?;
        Ok(Output::default().part(Part::Json { value: serde_json::to_value(classification)? }))
    }

    fn undo(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        undone(self.tool.undo(arguments(body)?, &Cx::new(head, host, &self.config))?)
    }

    fn undo_preview(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        undone(self.tool.undo_preview(arguments(body)?, &Cx::new(head, host, &self.config))?)
    }

    fn end_session(&self, end: SessionEnd, head: &CallHead, host: &dyn Host) -> Result<SessionEnded> {
        self.tool.end_session(end, &Cx::new(head, host, &self.config))
    }
}

fn undone(undone: Option<Undone>) -> Result<Output> {
    Ok(match undone {
        Some(undone) => Output::default().part(Part::Json { value: serde_json::to_value(undone)? }),
        None => Output::default(),
    })
}

impl<J: Job> RegisteredJob for J {
    fn spec(&self) -> JobSpec {
        JobSpec {
            name: J::NAME.to_owned(),
            description: J::DESCRIPTION.to_owned(),
            schema: schema_of::<J::Args>(),
            every_seconds: J::EVERY_SECONDS,
        }
    }

    fn name(&self) -> &'static str {
        J::NAME
    }

    fn run(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        Job::run(self, arguments(body)?, &Cx::new(head, host, &()))?.into_output()
    }
}

impl<C: Context> RegisteredContext for C {
    fn spec(&self) -> ContextSpec {
        let text = if C::KIND == ContextKind::Dynamic { None } else { C::TEXT.map(str::to_owned) };
        ContextSpec { name: C::NAME.to_owned(), kind: C::KIND, text }
    }

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn text(&self, head: &CallHead, host: &dyn Host) -> Result<Output> {
        Ok(Output::text(Context::text(self, &Cx::new(head, host, &()))?))
    }
}

/// serde names the keys that could have been meant, but not where some of them come from a flattened struct.
fn expected_keys<C: JsonSchema>(problem: &str) -> String {
    if !problem.contains("unknown field `") || problem.contains(", expected ") {
        return String::new();
    }
    let schema = schema_of::<C>();
    let keys = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
    format!(", expected one of {}", keys.join(", "))
}

fn takes_config<T: Tool>() -> bool {
    TypeId::of::<T::Config>() != TypeId::of::<()>()
}

fn arguments<A: serde::de::DeserializeOwned>(body: &[u8]) -> Result<A> {
    from_text(body).map_err(Error::invalid_arguments)
}
