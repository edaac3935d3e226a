//! The JSON that crosses the ABI: shared by plugins, worker frames and the host's manifest cache.
//!
//! Rules that keep a plugin and a host of different ages talking: every field has a default, unknown fields are ignored,
//! unknown enum values become `Unknown` and count as the most careful meaning. A minor version of the SDK may add fields:
//! build these types with `..Default::default()`.

pub mod upcall;

mod call;
mod manifest;
mod reply;

pub use call::{CallHead, Caller, LogLevel, OpenConfig, SessionEnd};
pub use manifest::{
    Capabilities, ContextKind, ContextSpec, FileAccess, JobSpec, LintException, Manifest, Network,
    OperationSpec, Risk, ToolSpec,
};
pub use reply::{Classification, Facts, Operation, Part, Preview, Reply, ReplyKind, SessionEnded, Undone};

/// Names of what a host asks a plugin to do.
pub mod op {
    /// Run a tool: body = its arguments; the answer's parts are its result.
    pub const EXECUTE: &str = "execute";
    /// Say what a call would do without doing it: body = the arguments of the tool; answers one
    /// [`Json`](super::Part::Json) part holding a [`Classification`](super::Classification).
    pub const CLASSIFY: &str = "classify";
    /// The current text of a context: [`tool`](super::CallHead::tool) = name of the context, no body.
    pub const CONTEXT: &str = "context";
    /// Run a job: [`tool`](super::CallHead::tool) = name of the job, body = its arguments.
    pub const JOB: &str = "job";
    /// Take back an earlier `execute` with the same [`key`](super::CallHead::key): body = the arguments of that call.
    pub const UNDO: &str = "undo";
    /// Tell what [`UNDO`] would do, without doing it. An op of its own, so that a plugin that does not know it cannot take
    /// it for the deed.
    pub const UNDO_PREVIEW: &str = "undo_preview";
    /// The [`session`](super::CallHead::session) is over: end what the plugin's lasting tools keep running for it. Body =
    /// a [`SessionEnd`](super::SessionEnd); answers one [`Json`](super::Part::Json) part holding a
    /// [`SessionEnded`](super::SessionEnded).
    pub const END_SESSION: &str = "end_session";
}
