//! From a call as the model wrote it to a call that may run, or to the reason why not. Nothing here has an effect.

use std::sync::Arc;

use foehn_contract::contract::{cut_off, invalid_arguments, invalid_too_often, is_cut_off, is_unreadable};
use foehn_contract::names;
use foehn_policy::Ruling;
use foehn_ports::{ToolRequest, ToolboxError};
use foehn_protocol::{
    Classification, ErrorCode, Finish, Outcome, Preview, Problem, Risk, ToolCall, ToolResult, ToolSpec,
};
use serde_json::Value;

use crate::calls::{CallRunner, Stop};
use crate::guard::{self, Arguments, Repeat, Retry};
use crate::results::Refusal;

/// A call whose arguments, meaning and verdict are known.
pub(crate) struct Ready<'a> {
    /// Its place among the calls of its answer.
    pub(crate) index: usize,
    pub(crate) call: &'a ToolCall,
    pub(crate) request: ToolRequest,
    pub(crate) ruling: Ruling,
    /// All operations, by name.
    pub(crate) operations: Vec<String>,
    /// The largest risk of its operations.
    pub(crate) risk: Risk,
    pub(crate) preview: Option<Preview>,
    /// For the model, beside the result.
    pub(crate) notes: Vec<String>,
}

impl Ready<'_> {
    /// Whether it changes nothing, so that it may run beside others and before the journal is kept.
    pub(crate) fn is_read_only(&self) -> bool {
        self.risk == Risk::ReadOnly
    }

    pub(crate) fn is_allowed(&self) -> bool {
        self.ruling.verdict.outcome == Outcome::Allow
    }

    pub(crate) fn tool(&self) -> &str {
        &self.request.spec.name
    }
}

pub(crate) enum Prepared<'a> {
    Ready(Box<Ready<'a>>),
    /// It is not run; the turn may go on.
    Refused(ToolResult),
    /// It is not run, and the turn ends.
    Stopped(ToolResult, Stop),
}

impl<'a> CallRunner<'a> {
    pub(crate) async fn prepare(&mut self, index: usize, call: &'a ToolCall, finish: Finish) -> Prepared<'a> {
        let mut notes = Vec::new();
        let Some(spec) = self.resolve(call, &mut notes) else {
            if let Some(stopped) = self.repeated(call, &call.name, None, &mut notes) {
                return stopped;
            }
            let message = names::unknown_tool(&call.name, self.tools.names());
            return self.invalid(call, &call.name, ErrorCode::UnknownTool, &message, &[], &notes);
        };
        let coercion = self.host.profile.coercion_of(&spec.name);
        let mut checked = self.tools.contract(&spec).check(&call.arguments, coercion);
        if spec.polling {
            self.state.equal_calls.see_polling();
        } else {
            let accepted = checked.as_mut().ok().map(|accepted| std::mem::take(&mut accepted.value));
            if let Some(stopped) = self.repeated(call, &spec.name, accepted, &mut notes) {
                return stopped;
            }
        }
        if spec.requires_caller && self.host.caller.is_none() {
            let message = format!("`{}` runs only for a known caller, and this run has none.", spec.name);
            return refused(call, &spec, ErrorCode::Unauthorized, &message, &notes);
        }
        // Without any arguments, an answer that was cut may have lost them.
        let lost = finish == Finish::Length && call.arguments.trim().is_empty();
        let accepted = match checked {
            Ok(accepted) if !lost => accepted,
            checked => {
                let problems = checked.err().unwrap_or_default();
                let unreadable = finish == Finish::Length && is_unreadable(&problems);
                let message = if lost || unreadable || is_cut_off(&problems) {
                    cut_off(&spec.name)
                } else {
                    invalid_arguments(&spec.name, &problems)
                };
                let code = ErrorCode::InvalidArguments;
                return self.invalid(call, &spec.name, code, &message, &problems, &notes);
            }
        };
        notes.extend(accepted.notes);
        let request = ToolRequest {
            spec: spec.clone(),
            call: call.id.clone(),
            session: self.host.session.clone(),
            agent: self.host.profile.name.clone(),
            caller: self.host.caller.clone(),
            arguments: accepted.arguments,
            timeout: self.host.profile.limits.call_timeout,
        };
        let classification = match self.classify(call, &request, &notes).await {
            Ok(classification) => classification,
            Err(prepared) => return prepared,
        };
        if let Some(refusal) = &classification.refusal {
            return refused(call, &spec, ErrorCode::Refused, refusal, &notes);
        }
        let rules = foehn_policy::rules_of(&spec, &self.host.profile.rules);
        let ruling = foehn_policy::decide(&rules, &spec, &classification);
        if ruling.verdict.outcome == Outcome::Deny {
            let message = format!("Not run: a rule forbids it ({}).", ruling.verdict.rule);
            return refused(call, &spec, ErrorCode::Forbidden, &message, &notes);
        }
        let all = foehn_policy::operations(&spec, &classification);
        let risk = all.iter().map(|operation| operation.risk).max_by_key(|risk| risk.effective());
        Prepared::Ready(Box::new(Ready {
            index,
            call,
            request,
            ruling,
            operations: all.into_iter().map(|operation| operation.name).collect(),
            risk: risk.unwrap_or(spec.risk),
            preview: classification.preview,
            notes,
        }))
    }

    /// Whether a call is one too many of its kind. What is compared is what was accepted, else what was written.
    fn repeated(
        &mut self,
        call: &ToolCall,
        tool: &str,
        accepted: Option<Value>,
        notes: &mut Vec<String>,
    ) -> Option<Prepared<'a>> {
        let arguments = accepted.map_or_else(|| Arguments::unaccepted(&call.arguments), Arguments::Value);
        let limits = &self.host.profile.limits;
        match self.state.equal_calls.see(tool, arguments, limits) {
            Repeat::Fine => None,
            Repeat::Warn(count) => {
                let stop = limits.equal_calls_stop;
                notes.push(format!(
                    "this is equal call {count} in a row; do something else, at {stop} the turn is stopped"
                ));
                let counted = guard::equal_calls(tool, count);
                self.host.outbox.warn(self.turn, format!("{counted}; at {stop} the turn ends"));
                None
            }
            Repeat::Stop(reason) => {
                let message = format!("Not run: {reason}. The turn ends here.");
                let result = Refusal::new(ErrorCode::BudgetExhausted, &message).result(call, tool);
                Some(Prepared::Stopped(result, Stop::Limit(reason)))
            }
        }
    }

    /// The tool of a call. A decorated name counts only if without its decoration it is exactly a tool's name.
    fn resolve(&self, call: &ToolCall, notes: &mut Vec<String>) -> Option<Arc<ToolSpec>> {
        if let Some(spec) = self.host.toolbox.find(&call.name) {
            if spec.name != call.name {
                notes.push(format!("the tool `{}` is now called `{}`", call.name, spec.name));
            }
            return Some(spec);
        }
        let spec = names::clean_name(&call.name).and_then(|clean| self.host.toolbox.find(clean))?;
        notes.push(format!("the tool name was read as `{}`", spec.name));
        Some(spec)
    }

    async fn classify(
        &mut self,
        call: &ToolCall,
        request: &ToolRequest,
        notes: &[String],
    ) -> Result<Classification, Prepared<'a>> {
        let spec = &request.spec;
        if !spec.classifies {
            return Ok(Classification::default());
        }
        let token = self.control.token().clone();
        let classifying = self.host.toolbox.classify(request);
        match self.control.during(token.run_until_cancelled(classifying)).await {
            None => Err(Prepared::Stopped(Stop::Cancelled.result(call, &spec.name), Stop::Cancelled)),
            Some(Ok(classification)) => Ok(classification),
            Some(Err(error @ ToolboxError::InvalidArguments { .. })) => {
                let message = error.to_string();
                Err(self.invalid(call, &spec.name, ErrorCode::InvalidArguments, &message, &[], notes))
            }
            Some(Err(error)) => {
                let message = format!("Not run: {error}.");
                Err(refused(call, spec, ErrorCode::Failed, &message, notes))
            }
        }
    }

    /// The result of a call that was wrong in itself, within the budget for such calls.
    fn invalid(
        &self,
        call: &ToolCall,
        tool: &str,
        code: ErrorCode,
        message: &str,
        problems: &[Problem],
        notes: &[String],
    ) -> Prepared<'a> {
        let retry = self.host.count_invalid(self.turn, tool, &self.state.invalid_calls);
        let (message, retryable) = match retry {
            Retry::Allowed => (message.to_owned(), None),
            Retry::Last(count) | Retry::Exhausted(count) => {
                (format!("{message} {}", invalid_too_often(count)), Some(false))
            }
        };
        let result = Refusal { code, message: &message, problems, notes, retryable }.result(call, tool);
        match Stop::of_retry(tool, retry) {
            Some(stop) => Prepared::Stopped(result, stop),
            None => Prepared::Refused(result),
        }
    }
}

fn refused<'a>(
    call: &ToolCall,
    spec: &ToolSpec,
    code: ErrorCode,
    message: &str,
    notes: &[String],
) -> Prepared<'a> {
    Prepared::Refused(Refusal { notes, ..Refusal::new(code, message) }.result(call, &spec.name))
}
