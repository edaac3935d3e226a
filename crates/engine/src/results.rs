//! Results of calls, each with the envelope the model reads.

use std::time::{Duration, Instant};

use foehn_contract::envelope::{self, Failure};
use foehn_ports::{Outcome, OutcomeKind};
use foehn_protocol::{ErrorCode, Executed, Problem, ToolCall, ToolResult};

/// What a call without effects is told with.
pub(crate) struct Refusal<'a> {
    pub(crate) code: ErrorCode,
    pub(crate) message: &'a str,
    pub(crate) problems: &'a [Problem],
    pub(crate) notes: &'a [String],
    /// `None`: as the code's rule says.
    pub(crate) retryable: Option<bool>,
}

impl<'a> Refusal<'a> {
    pub(crate) fn new(code: ErrorCode, message: &'a str) -> Self {
        Self { code, message, problems: &[], notes: &[], retryable: None }
    }

    /// The result of a call that was not run.
    pub(crate) fn result(&self, call: &ToolCall, tool: &str) -> ToolResult {
        let executed = Executed::No;
        let failure = Failure {
            code: self.code,
            message: self.message,
            executed,
            retryable: self.retryable.unwrap_or_else(|| envelope::retryable(self.code, executed)),
            problems: self.problems,
            output: &[],
            notes: self.notes,
        };
        ToolResult {
            call: call.id.clone(),
            tool: tool.to_owned(),
            ok: false,
            code: Some(self.code),
            executed,
            envelope: envelope::error(&failure, 0),
            elapsed_ms: 0,
        }
    }
}

/// The result of a call that was handed to its plugin.
pub(crate) fn of_outcome(
    call: &ToolCall,
    tool: &str,
    outcome: &Outcome,
    notes: &[String],
    limit: usize,
    may_retry: bool,
    started: Instant,
) -> ToolResult {
    let elapsed_ms = milliseconds(started.elapsed());
    let (code, reached) = match outcome.kind {
        OutcomeKind::Ok => {
            return ToolResult {
                call: call.id.clone(),
                tool: tool.to_owned(),
                ok: true,
                code: None,
                executed: Executed::Yes,
                envelope: envelope::ok(&outcome.parts, notes, limit),
                elapsed_ms,
            };
        }
        OutcomeKind::Failed => (ErrorCode::Failed, true),
        OutcomeKind::InvalidArguments => (ErrorCode::InvalidArguments, true),
        OutcomeKind::Refused => (ErrorCode::Refused, true),
        OutcomeKind::Unauthorized => (ErrorCode::Unauthorized, true),
        OutcomeKind::Timeout => (ErrorCode::Timeout, true),
        OutcomeKind::Cancelled => (ErrorCode::Cancelled, true),
        OutcomeKind::Crashed => (ErrorCode::Crashed, true),
        OutcomeKind::Unavailable => (ErrorCode::Failed, false),
    };
    let executed = match outcome.executed {
        Some(true) => Executed::Yes,
        Some(false) => Executed::No,
        None => envelope::executed(code, reached),
    };
    let failure = Failure {
        code,
        message: &outcome.message,
        executed,
        retryable: may_retry && envelope::retryable(code, executed),
        problems: &[],
        output: &outcome.parts,
        notes,
    };
    ToolResult {
        call: call.id.clone(),
        tool: tool.to_owned(),
        ok: false,
        code: Some(code),
        executed,
        envelope: envelope::error(&failure, limit),
        elapsed_ms,
    }
}

pub(crate) fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
