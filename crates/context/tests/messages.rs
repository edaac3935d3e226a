//! Journals in every state, and the messages a strict server takes.

use foehn_context::{Limits, messages};
use foehn_protocol::{
    AssistantMessage, CallId, Entry, Executed, Finish, Message, ToolCall, ToolResult, TurnId, TurnStatus,
    Usage,
};
use proptest::prelude::*;

fn shorten(envelope: &str, characters: usize) -> String {
    envelope.chars().take(characters).collect()
}

fn limits(turn_result_characters: usize) -> Limits {
    Limits { turn_result_characters, shorten }
}

fn prompt(turn: u32, text: &str) -> Entry {
    Entry::Prompt { turn: TurnId(turn), text: text.to_owned() }
}

fn answer(turn: u32, text: &str, calls: &[&str]) -> Entry {
    let calls = calls
        .iter()
        .map(|id| ToolCall {
            id: CallId::from(*id),
            provider_id: None,
            name: "tool".to_owned(),
            arguments: String::new(),
        })
        .collect();
    Entry::Answer {
        turn: TurnId(turn),
        message: AssistantMessage { text: text.to_owned(), calls, ..AssistantMessage::default() },
        finish: Finish::Stop,
        usage: Usage::default(),
    }
}

fn started(turn: u32, call: &str) -> Entry {
    Entry::CallStarted {
        turn: TurnId(turn),
        call: CallId::from(call),
        tool: "tool".to_owned(),
        arguments: "{}".to_owned(),
    }
}

fn result(turn: u32, call: &str, envelope: &str) -> Entry {
    Entry::Result {
        turn: TurnId(turn),
        result: ToolResult {
            call: CallId::from(call),
            tool: "tool".to_owned(),
            ok: true,
            code: None,
            executed: Executed::Yes,
            envelope: envelope.to_owned(),
            elapsed_ms: 0,
        },
    }
}

fn ended(turn: u32) -> Entry {
    Entry::TurnEnded {
        turn: TurnId(turn),
        status: TurnStatus::Answered,
        reason: None,
        usage: Usage::default(),
    }
}

/// One message a line.
fn shown(messages: &[Message]) -> String {
    let line = |message: &Message| match message {
        Message::User { text } => format!("user {text}"),
        Message::Assistant(answer) => {
            let calls: Vec<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
            format!("assistant {} [{}]", answer.text, calls.join(" "))
        }
        Message::Tool { call, content, .. } => {
            let interrupted = content.contains("interrupted");
            let unknown = content.contains(r#""executed":"unknown""#);
            let text = match (interrupted, unknown) {
                (true, true) => "interrupted, unknown",
                (true, false) => "interrupted, not run",
                _ => content,
            };
            format!("tool {call} {text}")
        }
    };
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn check(entries: &[Entry], limit: usize, expected: &[&str]) {
    assert_eq!(shown(&messages(entries, limits(limit))), expected.join("\n"));
}

#[test]
fn a_whole_conversation() {
    check(
        &[
            prompt(1, "hi"),
            answer(1, "looking", &["a", "b"]),
            started(1, "a"),
            result(1, "a", "ra"),
            result(1, "b", "rb"),
            answer(1, "done", &[]),
            ended(1),
            Entry::Undone { turn: TurnId(1), text: "taken back".to_owned() },
            prompt(2, "more"),
            answer(2, " ", &[]),
            Entry::Note { turn: TurnId(2), text: "sum up".to_owned() },
            answer(2, "all", &[]),
        ],
        100,
        &[
            "user hi",
            "assistant looking [a b]",
            "tool a ra",
            "tool b rb",
            "assistant done []",
            "user taken back",
            "user more",
            "user sum up",
            "assistant all []",
        ],
    );
}

#[test]
fn a_host_that_was_killed() {
    check(
        &[
            prompt(1, "hi"),
            answer(1, "", &["a", "b", "c"]),
            started(1, "a"),
            result(1, "a", "ra"),
            started(1, "b"),
            prompt(2, "go on"),
        ],
        1_000,
        &[
            "user hi",
            "assistant  [a b c]",
            "tool a ra",
            "tool b interrupted, unknown",
            "tool c interrupted, not run",
            "user go on",
        ],
    );
}

#[test]
fn results_out_of_order_doubled_and_of_nobody() {
    check(
        &[
            prompt(1, "hi"),
            result(1, "b", "rb"),
            answer(1, "", &["a", "b"]),
            result(1, "x", "of nobody"),
            result(1, "b", "late"),
            result(1, "a", "ra"),
            result(2, "a", "of another turn"),
            Entry::Unknown,
        ],
        100,
        &["user hi", "assistant  [a b]", "tool a ra", "tool b rb"],
    );
}

#[test]
fn results_of_one_turn_together() {
    check(
        &[
            prompt(1, "hi"),
            answer(1, "", &["a", "b"]),
            result(1, "a", "1234567890"),
            result(1, "b", "123"),
            answer(1, "", &["c"]),
            result(1, "c", "12345678"),
            answer(1, "ok", &[]),
            prompt(2, "again"),
            answer(2, "", &["d"]),
            result(2, "d", "123456789012"),
        ],
        12,
        &[
            "user hi",
            "assistant  [a b]",
            "tool a 1234",
            "tool b 123",
            "assistant  [c]",
            "tool c 1234",
            "assistant ok []",
            "user again",
            "assistant  [d]",
            "tool d 123456789012",
        ],
    );
}

fn entry() -> impl Strategy<Value = Entry> {
    let id = prop_oneof![Just("a"), Just("b"), Just("c"), Just("d")];
    let turn = 1..3_u32;
    prop_oneof![
        (turn.clone(), "[a-z]{0,3}").prop_map(|(turn, text)| prompt(turn, &text)),
        (turn.clone(), "[a-z]{0,3}", prop::collection::vec(id.clone(), 0..4))
            .prop_map(|(turn, text, calls)| answer(turn, &text, &calls)),
        (turn.clone(), id.clone()).prop_map(|(turn, call)| started(turn, call)),
        (turn.clone(), id, "[a-z]{0,30}").prop_map(|(turn, call, envelope)| result(turn, call, &envelope)),
        turn.prop_map(ended),
        Just(Entry::Unknown),
    ]
}

proptest! {
    #[test]
    fn every_call_has_one_result_right_after_it(entries in prop::collection::vec(entry(), 0..40), limit in 0..60_usize) {
        let messages = messages(&entries, limits(limit));
        let mut open: Vec<CallId> = Vec::new();
        for message in &messages {
            match message {
                Message::Tool { call, .. } => {
                    prop_assert_eq!(open.first(), Some(call));
                    open.remove(0);
                }
                Message::Assistant(answer) => {
                    prop_assert!(open.is_empty());
                    open = answer.calls.iter().map(|call| call.id.clone()).collect();
                }
                Message::User { .. } => prop_assert!(open.is_empty()),
            }
        }
        prop_assert!(open.is_empty());
        let said = entries.iter().filter(|entry| matches!(entry, Entry::Prompt { .. })).count();
        let heard = messages.iter().filter(|message| matches!(message, Message::User { .. })).count();
        prop_assert_eq!(said, heard);
    }
}
