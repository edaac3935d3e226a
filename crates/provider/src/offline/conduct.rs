//! How a model with habits behaves over an answer and what comes back: what it really writes when it means something, and
//! what it does when a call was not taken.
//!
//! It remembers its last answer only, because a conversation shows what was written and never what was meant.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::habits::{Draft, Habit, Reaction};
use super::play::{Asked, PlayedCall};

#[derive(Debug, Default)]
pub(crate) struct Conduct {
    habits: Vec<Habit>,
    last: Mutex<Vec<Sent>>,
}

#[derive(Clone, Debug)]
struct Sent {
    meant: Draft,
    written: Draft,
}

/// What is answered instead of what was planned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<PlayedCall>,
}

impl Conduct {
    pub(crate) fn new(habits: Vec<Habit>) -> Self {
        Self { habits, last: Mutex::default() }
    }

    pub(crate) fn habits(&self) -> &[Habit] {
        &self.habits
    }

    /// The calls as they come out, with the habits of this answer on top; what was meant is remembered.
    pub(crate) fn write(&self, further: &[Habit], meant: Vec<PlayedCall>, asked: &Asked) -> Vec<PlayedCall> {
        let has = |habit: &Habit| self.habits.contains(habit) || further.contains(habit);
        let mut sent = Vec::new();
        let mut calls = Vec::new();
        for mut call in meant {
            let meant = call.draft.clone();
            let tool = asked.tools.iter().find(|tool| tool.name == meant.name);
            let schema = tool.map_or(&Value::Null, |tool| &tool.schema);
            for habit in self.habits.iter().chain(further) {
                call.draft = call.draft.spoiled(*habit, schema);
            }
            if has(&Habit::MissingId) {
                call.id = None;
            }
            let copies = if has(&Habit::DuplicateCalls) { 2 } else { 1 };
            for copy in 0..copies {
                let id = call.id.as_ref().map(|id| if copy == 0 { id.clone() } else { format!("{id}b") });
                sent.push(Sent { meant: meant.clone(), written: call.draft.clone() });
                calls.push(PlayedCall { id, draft: call.draft.clone() });
            }
        }
        self.remember(sent);
        calls
    }

    /// What these results call for, before anything that was planned; `None` when nothing.
    pub(crate) fn react(&self, asked: &Asked) -> Option<Reply> {
        if !asked.failed || asked.calls.is_empty() {
            return None;
        }
        if self.habits.contains(&Habit::Apologise) {
            let text = "I apologise for the mistake. Let me try again.".to_owned();
            return Some(Reply { text, calls: asked.calls.clone() });
        }
        if self.habits.contains(&Habit::IgnoreHints) {
            return Some(Reply { calls: asked.calls.clone(), ..Reply::default() });
        }
        let last = std::mem::take(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner));
        if last.len() != asked.results.len() {
            return None;
        }
        let mut again: Vec<Sent> = Vec::new();
        for (sent, result) in last.into_iter().zip(&asked.results) {
            // What was written as it was meant is wrong on purpose, and the script goes on about it.
            if sent.meant == sent.written {
                continue;
            }
            match sent.written.reaction(&sent.meant, result) {
                Reaction::GoOn => {}
                Reaction::GiveUp => {
                    let text = format!("I give up: `{}` is not called as I write it.", sent.written.name);
                    return Some(Reply { text, ..Reply::default() });
                }
                Reaction::Correct(written) => again.push(Sent { written, ..sent }),
            }
        }
        if again.is_empty() {
            return None;
        }
        let calls = again.iter().map(|sent| PlayedCall { id: None, draft: sent.written.clone() }).collect();
        self.remember(again);
        Some(Reply { calls, ..Reply::default() })
    }

    fn remember(&self, sent: Vec<Sent>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> PlayedCall {
        PlayedCall { id: None, draft: Draft { name: "t".into(), arguments: arguments.into() } }
    }

    /// What a model answers whose call of `{"n":1}` came back with this.
    fn answer(habits: &[Habit], result: &str) -> Option<Reply> {
        let conduct = Conduct::new(habits.to_vec());
        let calls = conduct.write(&[], vec![call(r#"{"n":1}"#)], &Asked::default());
        let failed = result.contains("false");
        let results = vec![result.to_owned(); calls.len()];
        conduct.react(&Asked { calls, failed, results, ..Asked::default() })
    }

    #[test]
    fn what_comes_after_a_call_that_was_not_taken() {
        let check = |habits: &[Habit], result: &str, text: &str, calls: &[&str]| {
            let expected =
                Reply { text: text.into(), calls: calls.iter().map(|call_| call(call_)).collect() };
            assert_eq!(answer(habits, result), Some(expected), "{habits:?}");
        };
        let invalid = r#"{"ok":false,"error":{"code":"invalid_arguments","problems":[{"path":"/n"}]}}"#;
        let last = r#"{"ok":false,"error":{"code":"invalid_arguments","retryable":false}}"#;
        let spoiled = r#"{"n":"1"}"#;
        check(&[Habit::NumbersAsStrings], invalid, "", &[r#"{"n":1}"#]);
        check(&[Habit::NumbersAsStrings, Habit::DuplicateCalls], invalid, "", &[r#"{"n":1}"#; 2]);
        check(&[Habit::NumbersAsStrings], last, "I give up: `t` is not called as I write it.", &[]);
        check(&[Habit::NumbersAsStrings, Habit::IgnoreHints], invalid, "", &[spoiled]);
        let apology = "I apologise for the mistake. Let me try again.";
        check(&[Habit::NumbersAsStrings, Habit::Apologise], last, apology, &[spoiled]);
    }

    #[test]
    fn nothing_comes_in_between_when_the_habit_is_not_what_failed() {
        let failed = r#"{"ok":false,"error":{"code":"failed"}}"#;
        let invalid = r#"{"ok":false,"error":{"code":"invalid_arguments"}}"#;
        assert_eq!(answer(&[Habit::NumbersAsStrings], failed), None);
        assert_eq!(answer(&[Habit::NumbersAsStrings], r#"{"ok":true}"#), None);
        assert_eq!(answer(&[], invalid), None);
    }

    #[test]
    fn a_call_twice_has_two_ids() {
        let conduct = Conduct::new(vec![Habit::DuplicateCalls]);
        let calls =
            conduct.write(&[], vec![PlayedCall { id: Some("a".into()), ..call("{}") }], &Asked::default());
        let ids: Vec<_> = calls.into_iter().filter_map(|call| call.id).collect();
        assert_eq!(ids, ["a", "ab"]);
    }
}
