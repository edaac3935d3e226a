//! One call of a tool, job or context, with whatever surroundings a test wants.

use std::path::Path;
use std::time::Duration;

use foehn_plugin_sdk::abi::{PluginBox, host_ref};
use foehn_plugin_sdk::wire::{CallHead, Caller, Classification, LogLevel, OpenConfig, Reply, op};
use foehn_plugin_sdk::{Plugin, Tool};
use serde_json::Value;

use crate::contract::spec_of;
use crate::{Lists, Outcome, TestHost};

/// A call of one tool by itself.
pub fn run<T: Tool>(tool: T, arguments: Value) -> Call {
    call(Plugin::new("foehn-plugin-test", "0.0.0", "").tool(tool), T::NAME, arguments)
}

/// A call of a tool, job or context of a whole plugin, such as the `foehn_plugin()` that `export_plugin!` makes.
pub fn call(plugin: Plugin, name: &str, arguments: Value) -> Call {
    let head = CallHead {
        call_id: "call-1".to_owned(),
        key: "key-1".to_owned(),
        tool: name.to_owned(),
        agent: "default".to_owned(),
        session: "session-1".to_owned(),
        log_level: LogLevel::Trace,
        ..CallHead::default()
    };
    Call { plugin, head, body: arguments.to_string(), config: OpenConfig::default() }
}

/// A call to be made; see [`run`] and [`call`].
#[derive(Debug)]
#[must_use = "nothing is called until `run` or one of its siblings"]
pub struct Call {
    plugin: Plugin,
    head: CallHead,
    body: String,
    config: OpenConfig,
}

impl Call {
    /// With this folder as its workspace, for instance a [`TempWorkspace`](crate::TempWorkspace).
    pub fn workspace(mut self, root: impl AsRef<Path>) -> Self {
        root.as_ref().clone_into(&mut self.head.workspace);
        self
    }

    /// With this config section for the tool.
    pub fn config(mut self, section: Value) -> Self {
        self.config.tools.insert(self.head.tool.clone(), section);
        self
    }

    /// With these arguments as text, exactly as a model could have written them.
    pub fn raw_arguments(mut self, text: impl Into<String>) -> Self {
        self.body = text.into();
        self
    }

    /// For this caller.
    pub fn caller(mut self, id: &str, kind: &str) -> Self {
        self.head.caller = Some(Caller { id: id.to_owned(), kind: kind.to_owned() });
        self
    }

    /// With this much time.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.head.deadline_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// With a head changed at will.
    pub fn head(mut self, change: impl FnOnce(&mut CallHead)) -> Self {
        change(&mut self.head);
        self
    }

    /// Runs the tool on a host of its own.
    ///
    /// # Panics
    /// When the plugin does not open, as all methods that call.
    #[track_caller]
    pub fn run(self) -> Reply {
        self.run_on(&TestHost::new())
    }

    /// Runs the tool on this host.
    #[track_caller]
    pub fn run_on(self, host: &TestHost) -> Reply {
        self.op(op::EXECUTE, host)
    }

    /// Asks the tool what the call would do.
    ///
    /// # Panics
    /// When it does not tell.
    #[track_caller]
    pub fn classify(self) -> Classification {
        let reply = self.op(op::CLASSIFY, &TestHost::new());
        reply.classification().unwrap_or_else(|| panic!("no classification but {reply:?}"))
    }

    /// What becomes of the call under an operator's lists.
    ///
    /// # Panics
    /// When the plugin does not tell what the call would do.
    #[track_caller]
    pub fn verdict(self, lists: &Lists) -> Outcome {
        let manifest = self.plugin.manifest();
        let spec = manifest.tools.iter().find(|spec| spec.name == self.head.tool);
        let spec = spec_of(&manifest.plugin, spec.expect("a call is of a tool of its plugin"));
        lists.decide(&spec, &self.classify())
    }

    /// Sends any op.
    #[track_caller]
    pub fn op(self, op: &str, host: &TestHost) -> Reply {
        let plugin = open(self.plugin, &self.config);
        let head = serde_json::to_vec(&self.head).expect("a head has a JSON form");
        let answer =
            plugin.call(op.into(), head.as_slice().into(), self.body.as_bytes().into(), host_ref(host));
        serde_json::from_slice(&answer).expect("the answer of a plugin is a reply")
    }

    /// Why the plugin does not open with this configuration; `None` when it does.
    pub fn open_error(self) -> Option<String> {
        self.plugin.open(self.config).err().map(|error| error.message().to_owned())
    }
}

#[track_caller]
fn open(plugin: Plugin, config: &OpenConfig) -> PluginBox {
    match plugin.open(config.clone()) {
        Ok(plugin) => plugin,
        Err(error) => panic!("the plugin does not open: {error}"),
    }
}
