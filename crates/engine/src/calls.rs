//! The calls of one answer, in order: what only reads runs together, everything else alone; and however it ends, each
//! call has one result.

use foehn_ports::BoxFuture;
use foehn_protocol::{ErrorCode, Finish, ToolCall, ToolResult, TurnId};
use futures_util::stream::{self, StreamExt};

use crate::control::Control;
use crate::execute::Done;
use crate::guard::{Retry, invalid_calls};
use crate::host::Host;
use crate::prepare::{Prepared, Ready};
use crate::results::Refusal;
use crate::tools::Tools;
use crate::turn::TurnState;

/// Why the rest of a turn is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    /// A limit, in words.
    Limit(String),
    /// The journal failed, in words.
    Failed(String),
}

impl Stop {
    pub(crate) fn of_retry(tool: &str, retry: Retry) -> Option<Self> {
        match retry {
            Retry::Exhausted(count) => Some(Self::Limit(invalid_calls(tool, count))),
            Retry::Allowed | Retry::Last(_) => None,
        }
    }

    /// The result of a call that was not run for this reason.
    pub(crate) fn result(&self, call: &ToolCall, tool: &str) -> ToolResult {
        let (code, message) = match self {
            Self::Cancelled => (ErrorCode::Cancelled, "Not run: the user ended the turn first.".to_owned()),
            Self::Limit(reason) => {
                (ErrorCode::BudgetExhausted, format!("Not run: the turn ended first ({reason})."))
            }
            Self::Failed(reason) => (ErrorCode::Internal, format!("Not run: {reason}.")),
        };
        Refusal::new(code, &message).result(call, tool)
    }
}

/// Everything that handling the calls of one answer needs.
pub(crate) struct CallRunner<'a> {
    pub(crate) host: &'a Host,
    pub(crate) control: &'a mut Control,
    pub(crate) tools: &'a mut Tools,
    pub(crate) state: &'a mut TurnState,
    pub(crate) turn: TurnId,
}

impl<'a> CallRunner<'a> {
    /// Answers each call; the results are in the order of the calls.
    pub(crate) async fn run(
        mut self,
        calls: &'a [ToolCall],
        finish: Finish,
    ) -> (Vec<ToolResult>, Option<Stop>) {
        let mut results = Results { slots: calls.iter().map(|_| None).collect(), stop: None };
        let mut reading: Vec<Ready<'a>> = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            if self.control.cancelled() {
                results.stop = Some(Stop::Cancelled);
            }
            if results.stop.is_some() {
                break;
            }
            match self.prepare(index, call, finish).await {
                Prepared::Ready(ready) if ready.is_read_only() && ready.is_allowed() => reading.push(*ready),
                Prepared::Ready(ready) => {
                    self.run_together(&mut reading, &mut results).await;
                    if results.stop.is_none() {
                        self.run_alone(*ready, &mut results).await;
                    }
                }
                Prepared::Refused(result) => self.refuse(index, result, None, &mut results),
                Prepared::Stopped(result, stop) => {
                    if stop != Stop::Cancelled {
                        // What was accepted before the call that ends the turn still runs.
                        self.run_together(&mut reading, &mut results).await;
                    }
                    self.refuse(index, result, Some(stop), &mut results);
                }
            }
        }
        if results.stop.is_none() {
            self.run_together(&mut reading, &mut results).await;
        }
        self.finish(calls, results)
    }

    /// Closes what is still open.
    fn finish(&self, calls: &[ToolCall], results: Results) -> (Vec<ToolResult>, Option<Stop>) {
        let stop = results.stop;
        let reason = stop.clone().unwrap_or(Stop::Cancelled);
        let closed = calls.iter().zip(results.slots).map(|(call, slot)| {
            slot.unwrap_or_else(|| {
                let result = reason.result(call, &call.name);
                self.host.close(self.turn, &result);
                result
            })
        });
        (closed.collect(), stop)
    }

    async fn run_together(&mut self, reading: &mut Vec<Ready<'a>>, results: &mut Results) {
        if reading.is_empty() {
            return;
        }
        let (host, turn, invalid_calls) = (self.host, self.turn, &self.state.invalid_calls);
        let token = self.control.token().clone();
        let run = |ready| -> BoxFuture<'_, Done> { Box::pin(host.run(turn, ready, &token, invalid_calls)) };
        let runs: Vec<_> = reading.drain(..).map(run).collect();
        let at_once = host.profile.limits.parallel.max(1);
        let done: Vec<_> = self.control.during(stream::iter(runs).buffer_unordered(at_once).collect()).await;
        for done in done {
            results.put(done.index, done.result, done.stop);
        }
    }

    async fn run_alone(&mut self, mut ready: Ready<'a>, results: &mut Results) {
        if let Err(declined) = self.authorise(&mut ready).await {
            self.refuse(ready.index, declined.result, declined.stop, results);
            return;
        }
        let token = self.control.token().clone();
        let run = self.host.run(self.turn, ready, &token, &self.state.invalid_calls);
        let done = self.control.during(run).await;
        results.put(done.index, done.result, done.stop);
    }

    fn refuse(&self, index: usize, result: ToolResult, stop: Option<Stop>, results: &mut Results) {
        self.host.close(self.turn, &result);
        results.put(index, result, stop);
    }
}

struct Results {
    slots: Vec<Option<ToolResult>>,
    stop: Option<Stop>,
}

impl Results {
    fn put(&mut self, index: usize, result: ToolResult, stop: Option<Stop>) {
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Some(result);
        }
        if self.stop.is_none() {
            self.stop = stop;
        }
    }
}
