//! A plugin as a value: what `export_plugin!` builds, what the exported root module opens, and what a test opens without
//! any host. One dispatch for all of them.

use std::collections::BTreeSet;
use std::fmt;

use abi_stable::std_types::{RSlice, RStr, RVec};

use crate::abi::{ABI_VERSION, AbiPlugin, AbiPlugin_TO, HostRef, PluginBox, TD_Opaque};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::logging;
use crate::output::Output;
use crate::panics::{Panicked, caught};
use crate::registered::{OpenTool, RegisteredContext, RegisteredJob, RegisteredTool};
use crate::schema::from_text;
use crate::tool::{Context, Job, Tool};
use crate::wire::{CallHead, Manifest, OpenConfig, Part, Reply, ReplyKind, SessionEnd, SessionEnded, op};

/// What a plugin consists of. [`export_plugin!`](crate::export_plugin) makes one; a test may make one by hand.
pub struct Plugin {
    about: Manifest,
    tools: Vec<Box<dyn RegisteredTool>>,
    jobs: Vec<Box<dyn RegisteredJob>>,
    contexts: Vec<Box<dyn RegisteredContext>>,
}

impl Plugin {
    /// An empty plugin. `package` is the package's name; `foehn-plugin-` in front of it is left out.
    pub fn new(package: &str, version: &str, description: &str) -> Self {
        let about = Manifest {
            plugin: package.strip_prefix("foehn-plugin-").unwrap_or(package).to_owned(),
            version: version.to_owned(),
            sdk: env!("CARGO_PKG_VERSION").to_owned(),
            abi: ABI_VERSION,
            unwind: cfg!(panic = "unwind"),
            description: description.to_owned(),
            ..Manifest::default()
        };
        Self { about, tools: Vec::new(), jobs: Vec::new(), contexts: Vec::new() }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(Box::new(tool));
        self
    }

    /// Adds a job.
    #[must_use]
    pub fn job(mut self, job: impl Job) -> Self {
        self.jobs.push(Box::new(job));
        self
    }

    /// Adds a context.
    #[must_use]
    pub fn context(mut self, context: impl Context) -> Self {
        self.contexts.push(Box::new(context));
        self
    }

    /// Sets the text for the model about how the tools are used together.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        text.clone_into(&mut self.about.instructions);
        self
    }

    /// Adds a rule for the model.
    #[must_use]
    pub fn constraint(mut self, text: &str) -> Self {
        self.about.constraints.push(text.to_owned());
        self
    }

    /// What the plugin says about itself.
    pub fn manifest(&self) -> Manifest {
        let mut manifest = self.about.clone();
        manifest.tools = self.tools.iter().map(|tool| tool.spec()).collect();
        manifest.jobs = self.jobs.iter().map(|job| job.spec()).collect();
        manifest.contexts = self.contexts.iter().map(|context| context.spec()).collect();
        manifest.error = name_problem(&manifest);
        manifest
    }

    /// Opens the plugin: reads each tool's section of the configuration.
    ///
    /// # Errors
    /// A text for the operator that names the tool and the key: a section that does not fit the tool's config type, or
    /// one for a tool that is not there.
    pub fn open(self, config: OpenConfig) -> Result<PluginBox> {
        logging::install();
        let manifest = self.manifest();
        if let Some(problem) = manifest.error {
            return Err(Error::failed(problem));
        }
        let mut sections = config.tools;
        let mut tools = Vec::with_capacity(self.tools.len());
        for (tool, spec) in self.tools.into_iter().zip(&manifest.tools) {
            tools.push(tool.open(sections.remove(&spec.name))?);
        }
        if let Some(unknown) = sections.keys().next() {
            return Err(Error::failed(format!(
                "plugin `{}` has no tool `{unknown}` to configure",
                manifest.plugin
            )));
        }
        let opened = Opened { name: manifest.plugin, tools, jobs: self.jobs, contexts: self.contexts };
        Ok(AbiPlugin_TO::from_value(opened, TD_Opaque))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Plugin").field(&self.manifest()).finish()
    }
}

struct Opened {
    name: String,
    tools: Vec<Box<dyn OpenTool>>,
    jobs: Vec<Box<dyn RegisteredJob>>,
    contexts: Vec<Box<dyn RegisteredContext>>,
}

impl AbiPlugin for Opened {
    fn call(&self, op: RStr<'_>, head: RSlice<'_, u8>, body: RSlice<'_, u8>, host: HostRef<'_>) -> RVec<u8> {
        // The whole of it, not only the tool: nothing may unwind over the border.
        let answer = caught(|| encode(&self.answer(op.as_str(), head.as_slice(), body.as_slice(), &host)));
        answer.unwrap_or_else(|panic| encode(&panicked(&panic))).into()
    }
}

impl Opened {
    fn answer(&self, op: &str, head: &[u8], body: &[u8], host: &dyn Host) -> Reply {
        let head: CallHead = match from_text(head) {
            Ok(head) => head,
            Err(problem) => {
                return failure(Error::failed(format!("the head of the call: {problem}")).executed(false));
            }
        };
        logging::scope(host, head.log_level, || match caught(|| self.dispatch(op, &head, body, host)) {
            Ok(Ok(output)) => Reply { notes: output.notes, ..Reply::ok(output.parts) },
            Ok(Err(error)) => failure(error),
            Err(panic) => {
                tracing::error!(place = panic.place.as_deref(), "{}", panic.message);
                panicked(&panic)
            }
        })
    }

    fn dispatch(&self, op: &str, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        match op {
            op::EXECUTE => self.tool(head)?.execute(head, body, host),
            op::CLASSIFY => self.tool(head)?.classify(head, body, host),
            op::UNDO => self.tool(head)?.undo(head, body, host),
            op::UNDO_PREVIEW => self.tool(head)?.undo_preview(head, body, host),
            op::END_SESSION => self.end_session(head, body, host),
            op::JOB => match self.jobs.iter().find(|job| job.name() == head.tool) {
                Some(job) => job.run(head, body, host),
                None => Err(self.has_no("job", &head.tool)),
            },
            op::CONTEXT => match self.contexts.iter().find(|context| context.name() == head.tool) {
                Some(context) => context.text(head, host),
                None => Err(self.has_no("context", &head.tool)),
            },
            _ => Err(Error::unsupported(format!("plugin `{}` does not know the op `{op}`", self.name))
                .executed(false)),
        }
    }

    fn end_session(&self, head: &CallHead, body: &[u8], host: &dyn Host) -> Result<Output> {
        let end: SessionEnd = from_text(body).map_err(Error::failed)?;
        let mut all = SessionEnded::default();
        for tool in &self.tools {
            let SessionEnded { ended, kept } = tool.end_session(end, head, host)?;
            all.ended.extend(ended);
            all.kept.extend(kept);
        }
        Ok(Output::default().part(Part::Json { value: serde_json::to_value(all)? }))
    }

    fn tool(&self, head: &CallHead) -> Result<&dyn OpenTool> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.answers_to(&head.tool))
            .ok_or_else(|| self.has_no("tool", &head.tool))?;
        if tool.requires_caller() && head.caller.is_none() {
            return Err(Error::unauthorized(format!("`{}` runs only for a known caller", head.tool)));
        }
        Ok(tool.as_ref())
    }

    fn has_no(&self, kind: &str, name: &str) -> Error {
        Error::unsupported(format!("plugin `{}` has no {kind} `{name}`", self.name)).executed(false)
    }
}

fn failure(error: Error) -> Reply {
    Reply { executed: error.was_executed(), ..Reply::error(error.kind().into(), error.message()) }
}

fn panicked(panic: &Panicked) -> Reply {
    Reply::error(ReplyKind::Panicked, panic.message.as_str())
}

fn encode(reply: &Reply) -> Vec<u8> {
    // A reply always has a JSON form: its maps have string keys and its paths come from JSON or are checked before.
    serde_json::to_vec(reply).unwrap_or_else(|error| {
        let message = format!("the result has no JSON form: {error}");
        serde_json::to_vec(&Reply::error(ReplyKind::Failed, message)).unwrap_or_default()
    })
}

fn name_problem(manifest: &Manifest) -> Option<String> {
    let tools = manifest.tools.iter().flat_map(|tool| std::iter::once(&tool.name).chain(&tool.aliases));
    let mut seen = BTreeSet::new();
    for name in tools {
        if !is_name(name) {
            return Some(format!(
                "tool name `{name}` is not usable: 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`"
            ));
        }
        if !seen.insert(name) {
            return Some(format!("two tools of plugin `{}` are named `{name}`", manifest.plugin));
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
