//! Runs one permitted call: journal first, then the plugin, then the result.

use std::pin::pin;
use std::time::Instant;

use foehn_contract::contract::invalid_too_often;
use foehn_ports::{CallContext, CancellationToken, Outcome, OutcomeKind};
use foehn_protocol::{Entry, ErrorCode, EventBody, ToolResult, TurnId};

use crate::calls::Stop;
use crate::guard::{InvalidCalls, Retry};
use crate::host::Host;
use crate::prepare::Ready;
use crate::results::{self, Refusal};

/// How a call ended, already journalled and told.
pub(crate) struct Done {
    pub(crate) index: usize,
    pub(crate) result: ToolResult,
    pub(crate) stop: Option<Stop>,
}

impl Host {
    /// Runs a call to its end. It always ends: what does not answer within its time and grace is left behind, with an
    /// outcome that is unknown.
    pub(crate) async fn run(
        &self,
        turn: TurnId,
        ready: Ready<'_>,
        cancel: &CancellationToken,
        invalid_calls: &InvalidCalls,
    ) -> Done {
        let (result, stop) = self.journalled(turn, &ready, cancel, invalid_calls).await;
        self.close(turn, &result);
        Done { index: ready.index, result, stop }
    }

    async fn journalled(
        &self,
        turn: TurnId,
        ready: &Ready<'_>,
        cancel: &CancellationToken,
        invalid_calls: &InvalidCalls,
    ) -> (ToolResult, Option<Stop>) {
        if cancel.is_cancelled() {
            return (Stop::Cancelled.result(ready.call, ready.tool()), Some(Stop::Cancelled));
        }
        self.journal.append(Entry::CallStarted {
            turn,
            call: ready.call.id.clone(),
            tool: ready.tool().to_owned(),
            arguments: ready.request.arguments.clone(),
        });
        // A call that changes nothing need not wait until its start is kept; the next step does.
        if !ready.is_read_only()
            && let Err(reason) = self.committed().await
        {
            let message = format!("Not run: {reason}.");
            let result = Refusal::new(ErrorCode::Internal, &message).result(ready.call, ready.tool());
            return (result, Some(Stop::Failed(reason)));
        }
        self.emit(
            turn,
            EventBody::CallStarted {
                call: ready.call.id.clone(),
                tool: ready.tool().to_owned(),
                plugin: ready.request.spec.plugin.clone(),
                risk: ready.risk,
                operations: ready.operations.clone(),
                arguments: ready.request.arguments.clone(),
                rule: ready.ruling.verdict.rule.clone(),
            },
        );
        let started = Instant::now();
        let mut outcome = self.outcome(turn, ready, cancel).await;
        let mut retry = Retry::Allowed;
        if outcome.kind == OutcomeKind::InvalidArguments {
            retry = self.count_invalid(turn, ready.tool(), invalid_calls);
            if let Retry::Last(count) | Retry::Exhausted(count) = retry {
                let message = outcome.message.trim_end_matches(['.', ' ', '\n']);
                outcome.message = format!("{message}. {}", invalid_too_often(count));
            }
        } else {
            invalid_calls.valid(ready.tool());
        }
        let notes: Vec<String> = ready.notes.iter().chain(&outcome.notes).cloned().collect();
        let limit = self.profile.limits.result_characters;
        let may_retry = retry == Retry::Allowed;
        let result =
            results::of_outcome(ready.call, ready.tool(), &outcome, &notes, limit, may_retry, started);
        (result, Stop::of_retry(ready.tool(), retry))
    }

    async fn outcome(&self, turn: TurnId, ready: &Ready<'_>, cancel: &CancellationToken) -> Outcome {
        let limits = &self.profile.limits;
        let token = cancel.child_token();
        let (outbox, call) = (self.outbox.clone(), ready.call.id.clone());
        let progress = move |text: String| {
            outbox.emit(turn, EventBody::CallProgress { call: call.clone(), text });
        };
        let context = CallContext { cancel: token.clone(), progress: &progress };
        let mut running = pin!(self.toolbox.execute(&ready.request, context));
        // The toolbox keeps the call's time itself; this is for one that does not.
        let stopped = tokio::select! {
            biased;
            outcome = &mut running => return outcome,
            () = cancel.cancelled() => OutcomeKind::Cancelled,
            () = tokio::time::sleep(ready.request.timeout + limits.grace) => OutcomeKind::Timeout,
        };
        token.cancel();
        tokio::time::timeout(limits.grace, running).await.unwrap_or_else(|_| Outcome {
            kind: stopped,
            parts: Vec::new(),
            message: "It was stopped and gave no answer in time: what it had done is unknown.".to_owned(),
            notes: Vec::new(),
            executed: None,
        })
    }
}
