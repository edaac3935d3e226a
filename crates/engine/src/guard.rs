//! Ends loops that lead nowhere: the same call again and again, and calls that never become valid.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foehn_protocol::ToolCall;
use serde_json::Value;

use crate::profile::Limits;

/// Counts equal calls in a row; order of keys and blanks do not make a call different.
#[derive(Default)]
pub(crate) struct EqualCalls {
    last: Option<Seen>,
    in_a_row: u32,
}

struct Seen {
    tool: String,
    arguments: String,
    /// Parsed when a call is first compared to one with other text.
    value: Option<Option<Value>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Fine,
    /// Runs, with this note for the model.
    Warn(String),
    /// Is not run, and the turn ends for this reason.
    Stop(String),
}

impl EqualCalls {
    pub(crate) fn see(&mut self, call: &ToolCall, limits: &Limits) -> Repeat {
        if self.last.as_mut().is_some_and(|last| last.equals(call)) {
            self.in_a_row += 1;
        } else {
            self.in_a_row = 1;
            let (tool, arguments) = (call.name.clone(), call.arguments.clone());
            self.last = Some(Seen { tool, arguments, value: None });
        }
        let (count, tool) = (self.in_a_row, &call.name);
        if count >= limits.equal_calls_stop {
            Repeat::Stop(format!("`{tool}` was called {count} times in a row with equal arguments"))
        } else if count >= limits.equal_calls_warn {
            Repeat::Warn(format!(
                "this is equal call {count} in a row; do something else, at {} the turn is stopped",
                limits.equal_calls_stop
            ))
        } else {
            Repeat::Fine
        }
    }
}

impl Seen {
    fn equals(&mut self, call: &ToolCall) -> bool {
        if self.tool != call.name {
            return false;
        }
        if self.arguments.trim() == call.arguments.trim() {
            return true;
        }
        let value = self.value.get_or_insert_with(|| parsed(&self.arguments));
        // What does not parse has no other spelling, so two texts that differ are two calls.
        value.is_some() && *value == parsed(&call.arguments)
    }
}

/// The arguments whatever their spelling; nothing at all is one more spelling of an empty object.
fn parsed(arguments: &str) -> Option<Value> {
    let text = arguments.trim();
    serde_json::from_str(if text.is_empty() { "{}" } else { text }).ok()
}

/// Counts invalid calls of each tool in a row. Shared by calls that run at the same time.
#[derive(Default)]
pub(crate) struct InvalidCalls {
    in_a_row: Mutex<HashMap<String, u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The model may correct the call.
    Allowed,
    /// It should ask the user instead.
    Last(u32),
    /// The turn ends.
    Exhausted(u32),
}

impl InvalidCalls {
    pub(crate) fn invalid(&self, tool: &str, limits: &Limits) -> Retry {
        let mut counts = self.in_a_row.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(tool.to_owned()).or_default();
        *count += 1;
        match (*count).cmp(&limits.invalid_calls_per_tool) {
            std::cmp::Ordering::Less => Retry::Allowed,
            std::cmp::Ordering::Equal => Retry::Last(*count),
            std::cmp::Ordering::Greater => Retry::Exhausted(*count),
        }
    }

    /// The tool took its arguments: what was wrong before is forgiven.
    pub(crate) fn valid(&self, tool: &str) {
        self.in_a_row.lock().unwrap_or_else(PoisonError::into_inner).remove(tool);
    }
}

#[cfg(test)]
mod tests {
    use foehn_protocol::CallId;

    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: CallId::from("a"),
            provider_id: None,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn spelling_does_not_make_a_call_different() {
        let limits = Limits { equal_calls_warn: 2, equal_calls_stop: 3, ..Limits::default() };
        let check = |calls: &[(&str, &str)], expected: &str| {
            let mut guard = EqualCalls::default();
            let marks: String = calls
                .iter()
                .map(|(name, arguments)| match guard.see(&call(name, arguments), &limits) {
                    Repeat::Fine => '.',
                    Repeat::Warn(_) => 'w',
                    Repeat::Stop(_) => 's',
                })
                .collect();
            assert_eq!(marks, expected);
        };
        check(&[("t", r#"{"a":1,"b":2}"#), ("t", r#"{ "b":2, "a":1 }"#), ("t", r#"{"a":1,"b":2}"#)], ".ws");
        check(&[("t", "{}"), ("u", "{}"), ("t", "{}")], "...");
        check(&[("t", r#"{"a":1}"#), ("t", r#"{"a":2}"#), ("t", r#"{"a":2}"#)], "..w");
        check(&[("t", "{cut"), ("t", "{cut"), ("t", "{other")], ".w.");
        check(&[("t", ""), ("t", "{ }"), ("t", " ")], ".ws");
    }

    #[test]
    fn invalid_calls_are_counted_in_a_row() {
        let limits = Limits::default();
        let guard = InvalidCalls::default();
        assert_eq!(guard.invalid("t", &limits), Retry::Allowed);
        guard.valid("t");
        assert_eq!(guard.invalid("t", &limits), Retry::Allowed);
        assert_eq!(guard.invalid("u", &limits), Retry::Allowed);
        assert_eq!(guard.invalid("t", &limits), Retry::Last(2));
        assert_eq!(guard.invalid("t", &limits), Retry::Exhausted(3));
    }
}
