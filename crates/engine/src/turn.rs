//! One turn: from a prompt to a final answer, a limit, a failure or an interrupt.

use std::sync::{Arc, Mutex, PoisonError};

use foehn_ports::{Delta, ModelResponse};
use foehn_protocol::{AssistantMessage, Entry, EventBody, Finish, Message, ToolResult, TurnStatus, Usage};

use crate::calls::{CallRunner, Stop};
use crate::guard::{EqualCalls, InvalidCalls};
use crate::session::Session;

/// What a turn has come to so far.
#[derive(Default)]
pub(crate) struct TurnState {
    pub(crate) steps: u32,
    pub(crate) calls: u32,
    pub(crate) usage: Usage,
    /// The last words of the model.
    pub(crate) text: String,
    /// A call was declined because nobody was there to approve it.
    pub(crate) declined_unattended: bool,
    pub(crate) equal_calls: EqualCalls,
    pub(crate) invalid_calls: InvalidCalls,
}

/// How a turn ended.
pub(crate) struct End {
    pub(crate) status: TurnStatus,
    pub(crate) reason: Option<String>,
}

impl End {
    fn because(status: TurnStatus, reason: impl Into<String>) -> Self {
        Self { status, reason: Some(reason.into()) }
    }

    fn cancelled() -> Self {
        Self::because(TurnStatus::Cancelled, "the user ended the turn")
    }

    fn of(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Self::cancelled(),
            Stop::Limit(reason) => Self::because(TurnStatus::Limit, reason),
            Stop::Failed(reason) => Self::because(TurnStatus::Failed, reason),
        }
    }
}

impl Session {
    /// Steps until the turn ends.
    pub(crate) async fn steps(&mut self, state: &mut TurnState) -> End {
        while state.steps < self.host.profile.limits.max_steps {
            self.offer_tools();
            let (message, finish) = match self.ask(state).await {
                Ok(answer) => answer,
                Err(end) => return end,
            };
            let has_calls = !message.calls.is_empty();
            self.say(message);
            if !has_calls {
                return answered(state, finish);
            }
            if let Some(stop) = self.answer_calls(state, finish).await {
                return End::of(stop);
            }
            if let Err(reason) = self.control.during(self.host.committed()).await {
                return End::because(TurnStatus::Failed, reason);
            }
            if self.control.cancelled() {
                return End::cancelled();
            }
        }
        self.summary(state).await
    }

    /// One request to the model, journalled and told, but not yet among the messages.
    async fn ask(&mut self, state: &mut TurnState) -> Result<(AssistantMessage, Finish), End> {
        state.steps += 1;
        let (host, turn, request) = (&self.host, self.turn, &self.request);
        host.emit(turn, EventBody::StepStarted { step: state.steps });
        let spoken = Arc::new(Mutex::new(String::new()));
        let (outbox, heard) = (host.outbox.clone(), spoken.clone());
        let deltas = move |delta: Delta| match delta {
            Delta::Text(text) => {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
                outbox.emit(turn, EventBody::TextDelta { text });
            }
            Delta::Reasoning(text) => outbox.emit(turn, EventBody::ReasoningDelta { text }),
            Delta::Retrying { attempt, wait_ms, reason } => {
                outbox.emit(turn, EventBody::Retrying { attempt, wait_ms, reason });
            }
        };
        let token = self.control.token().clone();
        let responding = host.model.respond(request, &deltas);
        let responded = self.control.during(token.run_until_cancelled(responding)).await;
        let ModelResponse { message, finish, usage } = match responded {
            Some(Ok(response)) => response,
            failed => {
                // What was said before the end is worth showing, though it is no answer.
                state.hear(&spoken.lock().unwrap_or_else(PoisonError::into_inner));
                return Err(match failed {
                    Some(Err(error)) => End::because(TurnStatus::Failed, error.to_string()),
                    _ => End::cancelled(),
                });
            }
        };
        state.usage += usage;
        state.calls += u32::try_from(message.calls.len()).unwrap_or(u32::MAX);
        state.hear(&message.text);
        host.journal.append(Entry::Answer { turn, message: message.clone(), finish, usage });
        host.emit(
            turn,
            EventBody::AssistantMessage { text: message.text.clone(), calls: message.calls.len(), usage },
        );
        Ok((message, finish))
    }

    /// Runs the calls of the last message and puts their results behind it.
    async fn answer_calls(&mut self, state: &mut TurnState, finish: Finish) -> Option<Stop> {
        let Some(Message::Assistant(message)) = self.request.messages.last() else { return None };
        let runner = CallRunner {
            host: &self.host,
            control: &mut self.control,
            tools: &mut self.tools,
            state,
            turn: self.turn,
        };
        let (results, stop) = runner.run(&message.calls, finish).await;
        let answers = tool_messages(message, results);
        self.request.messages.extend(answers);
        self.budget.fit(&mut self.request.messages);
        stop
    }

    fn say(&mut self, message: AssistantMessage) {
        if foehn_context::says_something(&message) {
            self.request.messages.push(Message::Assistant(message));
        }
    }

    /// The steps are used up: one last request, without tools, for a summary.
    async fn summary(&mut self, state: &mut TurnState) -> End {
        let limit = self.host.profile.limits.max_steps;
        let reason = format!("all {limit} steps of the turn are used");
        let text = format!(
            "All {limit} steps of this turn are used and no tool can be called any more. Say briefly what is done, what \
             is not, and what should come next."
        );
        let withdrawn = self.tools.withdraw(&self.host.profile.name, &mut self.request);
        withdrawn.into_iter().for_each(|entry| self.host.journal.append(entry));
        self.host.journal.append(Entry::Note { turn: self.turn, text: text.clone() });
        self.request.messages.push(Message::User { text });
        match self.ask(state).await {
            Ok((message, _)) => {
                let stop = Stop::Limit(reason.clone());
                let close = |call| {
                    let result = stop.result(call, &call.name);
                    self.host.close(self.turn, &result);
                    result
                };
                let results = message.calls.iter().map(close).collect();
                let answers = tool_messages(&message, results);
                self.say(message);
                self.request.messages.extend(answers);
                self.budget.fit(&mut self.request.messages);
                End::because(TurnStatus::Limit, reason)
            }
            Err(End { status: TurnStatus::Cancelled, .. }) => End::cancelled(),
            Err(End { reason: failure, .. }) => {
                let failure = failure.unwrap_or_default();
                End::because(TurnStatus::Limit, format!("{reason}, and no summary came: {failure}"))
            }
        }
    }
}

impl TurnState {
    fn hear(&mut self, text: &str) {
        if !text.trim().is_empty() {
            text.clone_into(&mut self.text);
        }
    }
}

/// The end of a turn whose last answer has no calls.
fn answered(state: &TurnState, finish: Finish) -> End {
    match finish {
        Finish::Length => End::because(TurnStatus::Limit, "the answer was cut by the model's output limit"),
        Finish::Filtered => End::because(TurnStatus::Failed, "the model's provider filtered the answer"),
        _ if state.text.is_empty() => End::because(TurnStatus::Failed, "the model answered with nothing"),
        _ if state.declined_unattended => {
            End::because(TurnStatus::Declined, "a call needed an approval and nobody was there to give it")
        }
        _ => End { status: TurnStatus::Answered, reason: None },
    }
}

fn tool_messages(message: &AssistantMessage, results: Vec<ToolResult>) -> Vec<Message> {
    let answers = message.calls.iter().zip(results).map(|(call, result)| Message::Tool {
        call: call.id.clone(),
        provider_id: call.provider_id.clone(),
        tool: call.name.clone(),
        content: result.envelope,
        is_error: !result.ok,
    });
    answers.collect()
}
