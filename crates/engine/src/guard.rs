//! Ends loops that lead nowhere: the same call again and again, and calls that never become valid.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::profile::Limits;

/// Counts equal calls in a row. What is compared is what would run: spelling, order of keys and what was read otherwise
/// than written do not make a call different.
#[derive(Default)]
pub(crate) struct EqualCalls {
    last: Option<(String, Arguments)>,
    in_a_row: u32,
}

/// The arguments of a call as they are compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    Value(Value),
    /// What does not parse has no other spelling.
    Text(String),
}

impl Arguments {
    /// Those of a call that was not accepted; nothing at all is one more spelling of an empty object.
    pub(crate) fn unaccepted(written: &str) -> Self {
        let text = written.trim();
        match serde_json::from_str(if text.is_empty() { "{}" } else { text }) {
            Ok(value) => Self::Value(value),
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Fine,
    /// Runs, with a note for the model.
    Warn(u32),
    /// Is not run, and the turn ends for this reason.
    Stop(String),
}

impl EqualCalls {
    pub(crate) fn see(&mut self, tool: &str, arguments: Arguments, limits: &Limits) -> Repeat {
        let equal = self.last.as_ref().is_some_and(|(last, before)| last == tool && *before == arguments);
        if equal {
            self.in_a_row += 1;
        } else {
            self.in_a_row = 1;
            self.last = Some((tool.to_owned(), arguments));
        }
        let count = self.in_a_row;
        if count >= limits.equal_calls_stop {
            Repeat::Stop(equal_calls(tool, count))
        } else if count >= limits.equal_calls_warn {
            Repeat::Warn(count)
        } else {
            Repeat::Fine
        }
    }

    /// A call of a tool that is made for asking again: it ends a row and begins none.
    pub(crate) fn see_polling(&mut self) {
        self.last = None;
    }
}

/// What was counted, in words.
pub(crate) fn equal_calls(tool: &str, count: u32) -> String {
    format!("`{tool}` was called {count} times in a row with equal arguments")
}

/// What was counted, in words.
pub(crate) fn invalid_calls(tool: &str, count: u32) -> String {
    match count {
        1 => format!("`{tool}` was called with invalid arguments"),
        count => format!("`{tool}` was called with invalid arguments {count} times in a row"),
    }
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
    use super::*;

    #[test]
    fn spelling_does_not_make_a_call_different() {
        let limits = Limits { equal_calls_warn: 2, equal_calls_stop: 3, ..Limits::default() };
        let check = |calls: &[(&str, &str)], expected: &str| {
            let mut guard = EqualCalls::default();
            let marks: String = calls
                .iter()
                .map(|(name, arguments)| match guard.see(name, Arguments::unaccepted(arguments), &limits) {
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
