//! Plays a script: which turn answers a request, and the answer as a row of events that the stand-in hands out and the
//! server writes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use foehn_ports::ModelRequest;
use foehn_protocol::Message;
use serde_json::Value;

use super::conduct::{Conduct, Reply};
use super::habits::{Draft, Habit};
use super::script::{Call, Fault, Script, ScriptError, Tokens, Turn};

/// What a turn's conditions are tested against.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) user: String,
    /// The results at the end of the request, if it ends in results.
    pub(crate) results: Vec<String>,
    /// The calls that those results answer.
    pub(crate) calls: Vec<PlayedCall>,
    /// One of the results tells of a failure.
    pub(crate) failed: bool,
    pub(crate) tools: Vec<OfferedTool>,
}

/// One call on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayedCall {
    pub(crate) id: Option<String>,
    pub(crate) draft: Draft,
}

/// A tool as the request offers it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// One answer, ready to be handed out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Played {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<PlayedCall>,
    /// As written on the wire.
    pub(crate) finish: String,
    pub(crate) usage: Option<Tokens>,
    pub(crate) delay: Duration,
    pub(crate) fragment: Option<usize>,
    pub(crate) habits: Vec<Habit>,
    pub(crate) fault: Option<Fault>,
}

/// One event of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Reasoning(String),
    Text(String),
    /// The first piece of a call, with its place among the calls.
    Call(usize),
    Arguments(usize, String),
}

#[derive(Debug)]
pub(crate) struct Player {
    script: Script,
    conduct: Conduct,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    asked: u32,
    played: Vec<bool>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Self {
        let played = vec![false; script.turns.len()];
        let conduct = Conduct::new(script.habits.clone());
        Self { script, conduct, state: Mutex::new(State { asked: 0, played }) }
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Result<Played, ScriptError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let number = state.asked;
        if let Some(Reply { text, mut calls }) = self.conduct.react(asked) {
            for (index, call) in calls.iter_mut().enumerate() {
                call.id = Some(given_id(number, index));
            }
            return Ok(self.played(&Turn { text, ..Turn::default() }, calls));
        }
        let position = self.script.turns.iter().enumerate().position(|(position, turn)| {
            (turn.always || !state.played[position]) && holds(turn, number, asked)
        });
        let Some(position) = position else {
            return Err(ScriptError::NoTurn { request: number, user: asked.user.clone() });
        };
        state.played[position] = true;
        let turn = &self.script.turns[position];
        let calls = turn.calls.iter().enumerate().map(|(index, call)| played_call(call, number, index));
        let calls = self.conduct.write(&turn.habits, calls.collect(), asked);
        Ok(self.played(turn, calls))
    }

    fn played(&self, turn: &Turn, calls: Vec<PlayedCall>) -> Played {
        let habits: Vec<Habit> = self.conduct.habits().iter().chain(&turn.habits).copied().collect();
        let fitting = if calls.is_empty() { "stop" } else { "tool_calls" };
        let finish = turn.finish.clone().unwrap_or_else(|| fitting.to_owned());
        Played {
            reasoning: turn.reasoning.clone(),
            text: turn.text.clone(),
            finish: if habits.contains(&Habit::FinishStop) {
                "stop".to_owned()
            } else if habits.contains(&Habit::FinishUnknown) {
                "eos".to_owned()
            } else {
                finish
            },
            calls,
            usage: turn.usage,
            delay: Duration::from_millis(turn.delay_ms),
            fragment: turn.fragment.or(self.script.fragment),
            habits,
            fault: turn.fault.clone(),
        }
    }
}

impl Played {
    pub(crate) fn steps(&self) -> Vec<Step> {
        let pieces = |text: &str| pieces(text, self.fragment);
        let mut steps: Vec<Step> = pieces(&self.reasoning).into_iter().map(Step::Reasoning).collect();
        steps.extend(pieces(&self.text).into_iter().map(Step::Text));
        for (index, call) in self.calls.iter().enumerate() {
            steps.push(Step::Call(index));
            steps
                .extend(pieces(&call.draft.arguments).into_iter().map(|piece| Step::Arguments(index, piece)));
        }
        steps
    }

    pub(crate) fn has(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }
}

impl PlayedCall {
    pub(crate) fn new(name: String, arguments: String) -> Self {
        Self { id: None, draft: Draft { name, arguments } }
    }
}

impl Asked {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let mut asked = Self::default();
        for message in &request.messages {
            match message {
                Message::User { text } => {
                    asked.user.clone_from(text);
                    asked.results.clear();
                    asked.failed = false;
                }
                Message::Assistant(answer) => {
                    asked.results.clear();
                    asked.failed = false;
                    asked.calls = answer.calls.iter().map(called).collect();
                }
                Message::Tool { content, is_error, .. } => {
                    asked.results.push(content.clone());
                    asked.failed |= is_error;
                }
            }
        }
        let offered = |tool: &foehn_ports::ToolDefinition| OfferedTool {
            name: tool.name.clone(),
            schema: tool.parameters.clone(),
        };
        asked.tools = request.tools.iter().map(offered).collect();
        asked
    }
}

/// `text` in pieces of so many letters.
pub(crate) fn pieces(text: &str, letters: Option<usize>) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let Some(letters) = letters.filter(|letters| *letters > 0) else { return vec![text.to_owned()] };
    let all: Vec<char> = text.chars().collect();
    all.chunks(letters).map(|piece| piece.iter().collect()).collect()
}

fn called(call: &foehn_protocol::ToolCall) -> PlayedCall {
    PlayedCall::new(call.name.clone(), call.arguments.clone())
}

fn played_call(call: &Call, number: u32, index: usize) -> PlayedCall {
    let id = call.id.clone().unwrap_or_else(|| given_id(number, index));
    PlayedCall { id: Some(id), ..PlayedCall::new(call.name.clone(), call.arguments_text()) }
}

fn given_id(number: u32, index: usize) -> String {
    format!("call_{number}_{index}")
}

fn holds(turn: &Turn, number: u32, asked: &Asked) -> bool {
    turn.nth.is_none_or(|nth| nth == number)
        && turn.user.as_ref().is_none_or(|pattern| pattern.matches(&asked.user))
        && turn
            .tool_result
            .as_ref()
            .is_none_or(|pattern| asked.results.iter().any(|result| pattern.matches(result)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn check(script: &str, asked: &[(&str, &[&str])], expected: &[&str]) {
        let player = Player::new(Script::parse(script, Path::new("s.toml")).unwrap());
        let texts: Vec<String> = asked
            .iter()
            .map(|(user, results)| {
                let results = results.iter().map(|result| (*result).to_owned()).collect();
                let asked = Asked { user: (*user).to_owned(), results, ..Asked::default() };
                player.answer(&asked).map_or_else(|error| error.to_string(), |played| played.text)
            })
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn turns_are_chosen_in_order_by_their_conditions() {
        check(
            "[[turn]]\nuser = \"two\"\ntext = \"by user\"\n[[turn]]\ntext = \"first\"\n[[turn]]\nnth = 3\ntext = \
             \"third\"\n[[turn]]\ntool_result = \"ok\"\nalways = true\ntext = \"by result\"\n",
            &[("one", &[]), ("two", &[]), ("x", &[]), ("x", &["ok"]), ("x", &["ok"]), ("x", &[])],
            &[
                "first",
                "by user",
                "third",
                "by result",
                "by result",
                "the script has no turn left for request 6 (last user text: \"x\")",
            ],
        );
    }

    #[test]
    fn a_failed_call_is_repeated_by_a_model_that_ignores_hints() {
        let script = "habits = [\"ignore_hints\"]\n[[turn]]\ntext = \"done\"\n";
        let player = Player::new(Script::parse(script, Path::new("s")).unwrap());
        let call = PlayedCall::new("t".into(), "{}".into());
        let asked = Asked { calls: vec![call.clone()], failed: true, ..Asked::default() };
        let again = PlayedCall { id: Some("call_1_0".into()), ..call };
        assert_eq!(player.answer(&asked).unwrap().calls, [again]);
        assert_eq!(player.answer(&Asked::default()).unwrap().text, "done");
    }

    #[test]
    fn pieces_never_cut_a_letter() {
        assert_eq!(pieces("aäöü€", Some(2)), ["aä", "öü", "€"]);
        assert_eq!(pieces("abc", None), ["abc"]);
        assert_eq!(pieces("abc", Some(0)), ["abc"]);
        assert!(pieces("", Some(2)).is_empty());
    }
}
