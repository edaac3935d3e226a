//! Entries of a journal into messages, with every gap told honestly.

use std::collections::{HashMap, HashSet};

use foehn_protocol::{AssistantMessage, CallId, Entry, Message, ToolCall, ToolResult, TurnId};

use crate::{Limits, TurnBudget};

/// What a call is told by: its id is unique in its session, but a stored session is not trusted to keep that.
type Key<'e> = (TurnId, &'e CallId);

/// The messages of a conversation, oldest first, whatever state the journal is in: results that are doubled or belong
/// to no call are dropped, misplaced ones are put in place, missing ones are told as interrupted.
pub fn messages(entries: &[Entry], limits: Limits) -> Vec<Message> {
    let mut journal = Journal::index(entries);
    let mut messages = Vec::new();
    let mut budget = TurnBudget::new(limits, 0);
    for entry in entries {
        match entry {
            Entry::Prompt { text, .. } => {
                budget = TurnBudget::new(limits, messages.len());
                messages.push(Message::User { text: text.clone() });
            }
            Entry::Note { text, .. } | Entry::Undone { text, .. } => {
                messages.push(Message::User { text: text.clone() })
            }
            Entry::Answer { turn, message, .. } if says_something(message) => {
                messages.push(Message::Assistant(message.clone()));
                messages.extend(message.calls.iter().map(|call| journal.result(*turn, call)));
                budget.fit(&mut messages);
            }
            _ => {}
        }
    }
    messages
}

/// Whether an answer is part of the conversation: one without text, calls or anything the vendor wants back tells
/// nothing, and some servers refuse it.
pub fn says_something(message: &AssistantMessage) -> bool {
    !message.text.trim().is_empty() || !message.calls.is_empty() || message.native.is_some()
}

struct Journal<'e> {
    results: HashMap<Key<'e>, &'e ToolResult>,
    started: HashSet<Key<'e>>,
}

impl<'e> Journal<'e> {
    fn index(entries: &'e [Entry]) -> Self {
        let mut journal = Self { results: HashMap::new(), started: HashSet::new() };
        for entry in entries {
            match entry {
                Entry::Result { turn, result } => {
                    journal.results.entry((*turn, &result.call)).or_insert(result);
                }
                Entry::CallStarted { turn, call, .. } => {
                    journal.started.insert((*turn, call));
                }
                _ => {}
            }
        }
        journal
    }

    /// The result of a call, given out once.
    fn result(&mut self, turn: TurnId, call: &'e ToolCall) -> Message {
        let key = (turn, &call.id);
        let started = self.started.contains(&key);
        let (content, ok) = match self.results.remove(&key) {
            Some(result) => (result.envelope.clone(), result.ok),
            None => (interrupted(started), false),
        };
        Message::Tool {
            call: call.id.clone(),
            provider_id: call.provider_id.clone(),
            tool: call.name.clone(),
            content,
            is_error: !ok,
        }
    }
}

/// The envelope of a call that the end of the host left open, in the shape that all results have.
fn interrupted(started: bool) -> String {
    let (executed, retryable, message) = if started {
        (
            "\"unknown\"",
            false,
            "The host ended while this call ran: its outcome is unknown. Look at what it did before you repeat it.",
        )
    } else {
        ("false", true, "The host ended before this call began: it was not run.")
    };
    format!(
        r#"{{"ok":false,"error":{{"code":"interrupted","message":"{message}","executed":{executed},"retryable":{retryable}}}}}"#
    )
}
