//! The stand-in as a model of this process.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foehn_ports::{
    BoxFuture, DeltaSink, Model, ModelError, ModelErrorKind, ModelIdentity, ModelRequest, ModelResponse,
};
use foehn_protocol::{AssistantMessage, Usage};

use super::conduct::{Conduct, Reply};
use super::demo;
use super::play::{Asked, Played, Player, Step};
use super::script::{Fault, Script};
use crate::answer::{Assembly, Ending, Event, finish_of};
use crate::errors::{Failure, Scene};
use crate::ids::Ids;
use crate::mask::Mask;
use crate::quirks::OFFLINE;
use crate::retry::{self, Policy};
use crate::settings::Settings;

pub(crate) struct Offline {
    identity: ModelIdentity,
    player: Option<Player>,
    /// That of the demonstration; a player has its own.
    conduct: Conduct,
    policy: Policy,
    timeout: Duration,
}

impl Offline {
    pub(crate) fn open(settings: &Settings) -> Result<Self, ModelError> {
        let player = match &settings.script {
            None => None,
            Some(path) => {
                let mut script = Script::load(path).map_err(|error| ModelError {
                    kind: ModelErrorKind::Script,
                    ..settings.refusal(error.to_string())
                })?;
                script.habits.extend(&settings.habits);
                Some(Player::new(script))
            }
        };
        let model = if player.is_some() { "script" } else { "stand-in" };
        let model = settings.model.clone().unwrap_or_else(|| model.to_owned());
        Ok(Self {
            identity: ModelIdentity { provider: OFFLINE.to_owned(), model, stand_in: true },
            player,
            conduct: Conduct::new(settings.habits.clone()),
            policy: Policy::new(settings.max_retries),
            timeout: settings.timeout,
        })
    }

    #[cfg(test)]
    pub(crate) fn with_first_wait(mut self, first_wait: Duration) -> Self {
        self.policy.first_wait = first_wait;
        self
    }

    async fn answer(&self, request: &ModelRequest, deltas: DeltaSink<'_>) -> Result<ModelResponse, Failure> {
        let handed_out = AtomicBool::new(false);
        retry::run(self.policy, deltas, &handed_out, || async {
            let played = match &self.player {
                Some(player) => player
                    .answer(&Asked::of(request))
                    .map_err(|error| Failure::new(ModelErrorKind::Script, error.to_string()))?,
                None => self.demonstrate(request),
            };
            if !played.delay.is_zero() {
                tokio::time::sleep(played.delay).await;
            }
            let mut assembly = Assembly::new(deltas, &handed_out);
            self.play(&played, &mut assembly).await?;
            let usage = played.usage.unwrap_or_default();
            let ending = Ending {
                finish: finish_of(Some(&played.finish), !played.calls.is_empty()),
                usage: Usage {
                    input_tokens: usage.input,
                    output_tokens: usage.output,
                    cached_tokens: usage.cached,
                },
                ..Ending::default()
            };
            let answer = assembly.finish(&ending, &mut Ids::after(&request.messages));
            let message = AssistantMessage {
                text: answer.text,
                reasoning: answer.reasoning,
                calls: answer.calls,
                native: None,
                origin: self.identity.origin(),
            };
            Ok(ModelResponse { message, finish: ending.finish, usage: ending.usage })
        })
        .await
    }

    /// The demonstration, with the habits that were asked for.
    fn demonstrate(&self, request: &ModelRequest) -> Played {
        if self.conduct.habits().is_empty() {
            return demo::answer(request);
        }
        let asked = Asked::of(request);
        if let Some(Reply { text, calls }) = self.conduct.react(&asked) {
            let finish = if calls.is_empty() { "stop" } else { "tool_calls" }.to_owned();
            return Played { text, calls, finish, fragment: Some(demo::FRAGMENT), ..Played::default() };
        }
        let played = demo::answer(request);
        Played { calls: self.conduct.write(&[], played.calls, &asked), ..played }
    }

    async fn play(&self, played: &Played, assembly: &mut Assembly<'_>) -> Result<(), Failure> {
        let fault = played.fault.clone().unwrap_or_default();
        if let Some(status) = fault.status {
            let header = |name: &str| {
                fault
                    .headers
                    .iter()
                    .find(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.clone())
            };
            return Err(Failure::of_reply(status, &header, &fault.body, &self.scene()));
        }
        if fault.close {
            let message = "the connection ended without an answer";
            return Err(Failure::new(ModelErrorKind::Transport, message).retryable());
        }
        if fault.raw.is_some() {
            return Err(Failure::new(
                ModelErrorKind::Script,
                "`raw` is the text of a wire, and a script that is played in this process has none",
            ));
        }
        let steps = played.steps();
        for (number, step) in steps.into_iter().enumerate() {
            self.fail_after(&fault, number).await?;
            match step {
                Step::Reasoning(text) => assembly.take(Event::Reasoning(text))?,
                Step::Text(text) => assembly.take(Event::Text(text))?,
                Step::Call(part) => {
                    let call = &played.calls[part];
                    assembly.take(Event::CallStarted { part, name: call.draft.name.clone() })?;
                    let provider_id = call.id.clone();
                    assembly.take(Event::CallEnded { part, name: call.draft.name.clone(), provider_id })?;
                }
                Step::Arguments(part, json) => assembly.take(Event::Arguments { part, json })?,
            }
        }
        // A fault at or after the last event still comes before the end.
        self.fail_after(&fault, usize::MAX).await
    }

    async fn fail_after(&self, fault: &Fault, number: usize) -> Result<(), Failure> {
        let due = |after: Option<usize>| after.is_some_and(|after| after <= number);
        if due(fault.stall_after) {
            tokio::time::sleep(self.timeout).await;
            return Err(Failure::silent(self.timeout));
        }
        if due(fault.cut_after) {
            return Err(Failure::truncated());
        }
        if due(fault.malformed_after) {
            return Err(Failure::protocol("the server sent something that is not the JSON it should be"));
        }
        match &fault.error {
            Some(error) if due(fault.error_after) => Err(Failure::of_error_object(error, &self.scene())),
            None if due(fault.error_after) => {
                Err(Failure::of_error_object(&serde_json::Value::from("unknown"), &self.scene()))
            }
            _ => Ok(()),
        }
    }

    fn scene(&self) -> Scene {
        Scene {
            place: "the script".to_owned(),
            model: self.identity.model.clone(),
            key_source: "the script".to_owned(),
            has_key: true,
        }
    }
}

impl Model for Offline {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn respond<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let answered = self.answer(request, deltas).await;
            answered.map_err(|failure| failure.told(&self.identity, &Mask::default()))
        })
    }
}

impl fmt::Debug for Offline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Offline").field("identity", &self.identity).finish_non_exhaustive()
    }
}
