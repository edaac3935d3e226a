//! The tools of one agent: all of the plugins' or those that its configuration names, with known secrets masked in
//! whatever they give back.
//!
//! The mask is the second line: a plugin gets no secret but its own in the first place. What it prints all the same
//! reaches neither the model nor the journal nor a screen.

use std::sync::Arc;

use foehn_plugin_host::PluginSet;
use foehn_ports::{BoxFuture, CallContext, Outcome, ToolRequest, Toolbox, ToolboxError};
use foehn_protocol::{Classification, Part, Preview, ToolSpec};
use serde_json::Value;

use crate::logging::Secrets;

/// A tool that is not enabled does not exist for the agent: it is neither offered nor found.
pub(crate) struct AgentTools {
    plugins: Arc<PluginSet>,
    /// `None`: all that are not for those who name them.
    enabled: Option<Vec<String>>,
    /// Named otherwise, for instance by a section of their own.
    named: Vec<String>,
    secrets: Secrets,
}

impl AgentTools {
    pub(crate) fn new(
        plugins: Arc<PluginSet>,
        enabled: Option<Vec<String>>,
        named: Vec<String>,
        secrets: Secrets,
    ) -> Self {
        Self { plugins, enabled, named, secrets }
    }

    /// With a tool that the operator names on the spot.
    pub(crate) fn naming(mut self, tool: &str) -> Self {
        self.named.push(tool.to_owned());
        self
    }

    /// Names of the configuration that no plugin brings.
    pub(crate) fn unknown(&self) -> Vec<&str> {
        let enabled = self.enabled.iter().flatten();
        enabled.map(String::as_str).filter(|name| self.plugins.find(name).is_none()).collect()
    }

    /// Tools that the agent would get if it named them.
    pub(crate) fn on_demand(&self) -> Vec<String> {
        let tools = self.plugins.tools().into_iter();
        let waiting = tools.filter(|spec| self.enabled.is_none() && !self.is_enabled(spec));
        waiting.map(|spec| spec.name.clone()).collect()
    }

    fn is_enabled(&self, spec: &ToolSpec) -> bool {
        let is_in =
            |names: &[String]| names.iter().any(|name| *name == spec.name || spec.aliases.contains(name));
        match &self.enabled {
            Some(enabled) => is_in(enabled),
            None => !spec.on_demand || is_in(&self.named),
        }
    }
}

impl Toolbox for AgentTools {
    fn tools(&self) -> Vec<Arc<ToolSpec>> {
        let mut tools = self.plugins.tools();
        tools.retain(|spec| self.is_enabled(spec));
        tools
    }

    fn find(&self, name: &str) -> Option<Arc<ToolSpec>> {
        self.plugins.find(name).filter(|spec| self.is_enabled(spec))
    }

    fn classify<'a>(
        &'a self,
        request: &'a ToolRequest,
    ) -> BoxFuture<'a, Result<Classification, ToolboxError>> {
        if self.secrets.is_empty() {
            return self.plugins.classify(request);
        }
        Box::pin(async move {
            let mut classification = self.plugins.classify(request).await?;
            if let Some(refusal) = &mut classification.refusal {
                self.secrets.mask_in(refusal);
            }
            if let Some(Preview::Text { text } | Preview::Diff { text } | Preview::Command { text }) =
                &mut classification.preview
            {
                self.secrets.mask_in(text);
            }
            Ok(classification)
        })
    }

    fn execute<'a>(&'a self, request: &'a ToolRequest, context: CallContext<'a>) -> BoxFuture<'a, Outcome> {
        if self.secrets.is_empty() {
            return self.plugins.execute(request, context);
        }
        Box::pin(async move {
            let progress = |mut text: String| {
                self.secrets.mask_in(&mut text);
                (context.progress)(text);
            };
            let masked = CallContext { cancel: context.cancel.clone(), progress: &progress };
            let mut outcome = self.plugins.execute(request, masked).await;
            self.secrets.mask_in(&mut outcome.message);
            outcome.notes.iter_mut().for_each(|note| self.secrets.mask_in(note));
            outcome.parts.iter_mut().for_each(|part| mask_part(part, &self.secrets));
            outcome
        })
    }
}

fn mask_part(part: &mut Part, secrets: &Secrets) {
    match part {
        Part::Text { text } => secrets.mask_in(text),
        Part::Json { value } => mask_value(value, secrets),
        Part::File { path } => secrets.mask_in(path),
        Part::Image { .. } => {}
    }
}

fn mask_value(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => secrets.mask_in(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mask_value(field, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
