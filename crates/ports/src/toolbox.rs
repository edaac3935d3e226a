//! The tools of an agent and the way to run them.

use std::sync::Arc;
use std::time::Duration;

use foehn_protocol::{CallId, Classification, Part, SessionId, ToolSpec};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// Everything callable by one agent.
pub trait Toolbox: Send + Sync {
    /// The tools offered now, in a stable order (by name). Cheap: called before each step.
    fn tools(&self) -> Vec<Arc<ToolSpec>>;

    /// Resolves a name or an alias.
    fn find(&self, name: &str) -> Option<Arc<ToolSpec>>;

    /// What the call would do. Runs read-only and without network, and has no effect.
    fn classify<'a>(
        &'a self,
        request: &'a ToolRequest,
    ) -> BoxFuture<'a, Result<Classification, ToolboxError>>;

    /// Runs the call to its end. Never fails as a future: every way it can go wrong is an [`Outcome`]. When
    /// `context.cancel` fires, it returns within the grace time, with what had been done.
    fn execute<'a>(&'a self, request: &'a ToolRequest, context: CallContext<'a>) -> BoxFuture<'a, Outcome>;
}

/// One accepted call.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    pub spec: Arc<ToolSpec>,
    pub call: CallId,
    pub session: SessionId,
    pub agent: String,
    /// Who started the run; set by the host, never from an argument.
    pub caller: Option<String>,
    /// Validated arguments, as JSON text.
    pub arguments: String,
    /// The time limit of the call.
    pub timeout: Duration,
}

pub struct CallContext<'a> {
    pub cancel: CancellationToken,
    pub progress: ProgressSink<'a>,
}

impl std::fmt::Debug for CallContext<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CallContext").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// Takes progress lines of a running call.
pub type ProgressSink<'a> = &'a (dyn Fn(String) + Send + Sync);

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// What the tool gave, also partial output of a call that was stopped.
    pub parts: Vec<Part>,
    /// What went wrong, in one line; empty when ok.
    pub message: String,
    pub notes: Vec<String>,
    /// Whether the tool did anything, where it says so itself; `None` leaves it to what the kind implies.
    pub executed: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    Ok,
    /// The tool ran and says that it did not work.
    Failed,
    /// The plugin's own types refused the arguments; nothing was done.
    InvalidArguments,
    /// The plugin refused before doing anything.
    Refused,
    Unauthorized,
    Timeout,
    Cancelled,
    /// The worker died; what it had done is unknown.
    Crashed,
    /// The call never reached the plugin (cannot load, disabled, no worker): nothing was done.
    Unavailable,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum ToolboxError {
    #[error("plugin `{plugin}` cannot run: {message}")]
    Unavailable { plugin: String, message: String },
    #[error("plugin `{plugin}` refused the arguments: {message}")]
    InvalidArguments { plugin: String, message: String },
    #[error("plugin `{plugin}` failed while it looked at the call: {message}")]
    Failed { plugin: String, message: String },
}
