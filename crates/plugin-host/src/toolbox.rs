//! The set as the engine sees it, and every end of a call in one line for its reader.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foehn_plugin_sdk::wire::{self, CallHead, Caller, ReplyKind, op};
use foehn_ports::{
    BoxFuture, CallContext, CancellationToken, Outcome, OutcomeKind, ToolRequest, Toolbox, ToolboxError,
};
use foehn_protocol::{Classification, ToolSpec};

use crate::call::{Call, Ended, Stop};
use crate::plugin::Plugin;
use crate::profile::Grant;
use crate::registry::Tool;
use crate::reply;
use crate::set::PluginSet;

impl Toolbox for PluginSet {
    fn tools(&self) -> Vec<Arc<ToolSpec>> {
        self.registry().offered().to_vec()
    }

    fn find(&self, name: &str) -> Option<Arc<ToolSpec>> {
        self.registry().find(name).map(|tool| Arc::clone(&tool.spec))
    }

    fn classify<'a>(
        &'a self,
        request: &'a ToolRequest,
    ) -> BoxFuture<'a, Result<Classification, ToolboxError>> {
        Box::pin(self.classify_call(request))
    }

    fn execute<'a>(&'a self, request: &'a ToolRequest, context: CallContext<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(self.execute_call(request, context))
    }
}

impl PluginSet {
    async fn classify_call(&self, request: &ToolRequest) -> Result<Classification, ToolboxError> {
        let tool = self
            .resolve(request)
            .await
            .map_err(|message| ToolboxError::Unavailable { plugin: request.spec.plugin.clone(), message })?;
        if !tool.spec.classifies {
            return Ok(reply::declared(&tool.spec));
        }
        let timeout = self.inner.shared.settings.timeouts.classify;
        let head = self.head(request, &tool, tool.classify, timeout);
        let call = Call {
            op: op::CLASSIFY,
            head: &head,
            body: request.arguments.as_bytes(),
            grant: tool.classify,
            timeout,
            cancel: CancellationToken::new(),
            progress: None,
            may_change: false,
        };
        let ended = self.run(&tool.plugin, call).await;
        classified(&tool.plugin.name, &tool.spec, ended, timeout)
    }

    async fn execute_call(&self, request: &ToolRequest, context: CallContext<'_>) -> Outcome {
        let tool = match self.resolve(request).await {
            Ok(tool) => tool,
            Err(message) => return reply::failure(OutcomeKind::Unavailable, message),
        };
        let head = self.head(request, &tool, tool.execute, request.timeout);
        let started = Instant::now();
        let call = Call {
            op: op::EXECUTE,
            head: &head,
            body: request.arguments.as_bytes(),
            grant: tool.execute,
            timeout: request.timeout,
            cancel: context.cancel,
            progress: Some(context.progress),
            may_change: true,
        };
        let ended = self.run(&tool.plugin, call).await;
        let time_is_up = started.elapsed() >= request.timeout;
        self.outcome(&tool.plugin, request, ended, time_is_up)
    }

    /// The newest version of the tool. Its file may have changed since the model was told of it.
    pub(crate) async fn resolve(&self, request: &ToolRequest) -> Result<Arc<Tool>, String> {
        let name = &request.spec.name;
        if let Some(tool) = self.registry().find(name).cloned() {
            self.refresh(&tool.plugin).await;
        }
        let registry = self.registry();
        let tool = registry.find(name).cloned();
        tool.ok_or_else(|| match registry.plugin(&request.spec.plugin).map(|slot| &slot.plugin) {
            Some(Err(reason)) => format!("plugin `{}` {reason}", request.spec.plugin),
            _ => format!("no plugin brings the tool `{name}` any more"),
        })
    }

    pub(crate) fn head(
        &self,
        request: &ToolRequest,
        tool: &Tool,
        grant: Grant,
        timeout: Duration,
    ) -> CallHead {
        let workspace = match grant.files {
            wire::FileAccess::None => Default::default(),
            _ => self.inner.shared.settings.workspace.clone(),
        };
        CallHead {
            call_id: request.call.to_string(),
            key: format!("{}/{}", request.session, request.call),
            tool: tool.spec.name.clone(),
            workspace,
            deadline_ms: Some(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            agent: request.agent.clone(),
            session: request.session.to_string(),
            caller: request.caller.as_ref().map(|id| Caller { id: id.clone(), ..Caller::default() }),
            risk_profile: Some(grant.risk),
            log_level: tool.plugin.log.level(),
            take_back_programs: grant.programs && self.inner.shared.settings.take_back_programs,
        }
    }

    fn outcome(&self, plugin: &Plugin, request: &ToolRequest, ended: Ended, time_is_up: bool) -> Outcome {
        let name = &plugin.name;
        let limit = reply::duration(request.timeout);
        let grace = reply::duration(plugin.settings.grace);
        match ended {
            Ended::Replied { reply, stop } => replied(reply, stop, time_is_up, &limit),
            Ended::NotBegun(Stop::Closing) => {
                reply::failure(OutcomeKind::Unavailable, "the host is shutting down".to_owned())
            }
            Ended::NotBegun(_) => {
                reply::failure(OutcomeKind::Cancelled, "cancelled before it began".to_owned())
            }
            Ended::Forced { stop, left_running } => {
                let what = if left_running { "its thread is left running" } else { "its worker was killed" };
                let (kind, why) = match stop {
                    Stop::TimedOut => (
                        OutcomeKind::Timeout,
                        format!("no result within {limit}; it did not stop within {grace} more"),
                    ),
                    Stop::Cancelled => {
                        (OutcomeKind::Cancelled, format!("cancelled; it did not stop within {grace}"))
                    }
                    Stop::Closing => (OutcomeKind::Cancelled, "the host is shutting down".to_owned()),
                };
                reply::failure(kind, format!("{why}, {what}"))
            }
            Ended::Crashed(how) => {
                let message = format!("plugin `{name}` {how}");
                let mut outcome = reply::failure(OutcomeKind::Crashed, message);
                outcome.notes.extend(plugin.disabled().map(|reason| format!("plugin `{name}`: {reason}")));
                outcome
            }
            Ended::Unavailable(why) => {
                reply::failure(OutcomeKind::Unavailable, format!("plugin `{name}` cannot run: {why}"))
            }
        }
    }
}

/// What the plugin says counts, but when its time was up is known better here; it watches its deadline by itself, and
/// which of both noticed first makes no difference to the reader.
fn replied(reply: wire::Reply, stop: Option<Stop>, time_is_up: bool, limit: &str) -> Outcome {
    let mut outcome = reply::outcome(reply);
    let timed_out = match outcome.kind {
        OutcomeKind::Timeout => time_is_up,
        OutcomeKind::Cancelled => stop == Some(Stop::TimedOut),
        _ => false,
    };
    if timed_out {
        outcome.kind = OutcomeKind::Timeout;
        outcome.message = format!("no result within {limit}; it was stopped");
    }
    outcome
}

fn classified(
    plugin: &str,
    tool: &ToolSpec,
    ended: Ended,
    limit: Duration,
) -> Result<Classification, ToolboxError> {
    let plugin = plugin.to_owned();
    let failed = |plugin, message| Err(ToolboxError::Failed { plugin, message });
    match ended {
        Ended::Replied { reply, stop: None } => {
            if let Some(found) = reply.classification() {
                return Ok(reply::classification(found, tool));
            }
            match reply.kind {
                ReplyKind::InvalidArguments => {
                    Err(ToolboxError::InvalidArguments { plugin, message: reply.message })
                }
                // A hard limit that is crossed is an answer, not a failure.
                ReplyKind::Refused => {
                    Ok(Classification { refusal: Some(reply.message), ..reply::declared(tool) })
                }
                ReplyKind::Ok => failed(plugin, "its answer is not a classification".to_owned()),
                _ => failed(plugin, reply.message),
            }
        }
        Ended::Replied { .. } | Ended::Forced { .. } | Ended::NotBegun(_) => {
            failed(plugin, format!("no answer within {}", reply::duration(limit)))
        }
        Ended::Crashed(how) => failed(plugin, format!("it {how}")),
        Ended::Unavailable(message) => Err(ToolboxError::Unavailable { plugin, message }),
    }
}
