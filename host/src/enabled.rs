//! The tools of one agent: all of the plugins' or those that its configuration names.

use std::sync::Arc;

use foehn_plugin_host::PluginSet;
use foehn_ports::{BoxFuture, CallContext, Outcome, ToolRequest, Toolbox, ToolboxError};
use foehn_protocol::{Classification, ToolSpec};

/// A tool that is not enabled does not exist for the agent: it is neither offered nor found.
pub(crate) struct EnabledTools {
    plugins: Arc<PluginSet>,
    /// `None`: all.
    enabled: Option<Vec<String>>,
}

impl EnabledTools {
    pub(crate) fn new(plugins: Arc<PluginSet>, enabled: Option<Vec<String>>) -> Self {
        Self { plugins, enabled }
    }

    /// Names of the configuration that no plugin brings.
    pub(crate) fn unknown(&self) -> Vec<&str> {
        let enabled = self.enabled.iter().flatten();
        enabled.map(String::as_str).filter(|name| self.plugins.find(name).is_none()).collect()
    }

    fn is_enabled(&self, spec: &ToolSpec) -> bool {
        self.enabled.as_ref().is_none_or(|enabled| {
            enabled.iter().any(|name| *name == spec.name || spec.aliases.contains(name))
        })
    }
}

impl Toolbox for EnabledTools {
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
        self.plugins.classify(request)
    }

    fn execute<'a>(&'a self, request: &'a ToolRequest, context: CallContext<'a>) -> BoxFuture<'a, Outcome> {
        self.plugins.execute(request, context)
    }
}
