//! What strict servers refuse, as switches: each is a rule that some vendor answers with 400 or 422.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// Each call has exactly one result, and the results follow their calls.
    PairedResults,
    /// The arguments of a call in the history parse as an object.
    ObjectArguments,
    /// Ids of calls are nine letters or digits.
    NineCharacterIds,
    /// No user message right after a result.
    NoUserAfterResult,
    /// No `stream_options`.
    NoStreamOptions,
}

/// Why this chat-completions request is refused, `None` when it is not.
pub(super) fn problem(rules: &[Strictness], body: &Value) -> Option<String> {
    let messages: &[Value] = body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    rules.iter().find_map(|rule| match rule {
        Strictness::PairedResults => unpaired(messages),
        Strictness::ObjectArguments => calls(messages).find_map(|call| {
            let text = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
            let parsed = serde_json::from_str::<Value>(text);
            (!parsed.is_ok_and(|value| value.is_object()))
                .then(|| format!("arguments are no object: {text:?}"))
        }),
        Strictness::NineCharacterIds => ids(messages).find(|id| !is_nine(id)).map(|id| {
            format!("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9. (code 3280)")
        }),
        Strictness::NoUserAfterResult => messages
            .windows(2)
            .find(|pair| role(&pair[0]) == "tool" && role(&pair[1]) == "user")
            .map(|_| "Unexpected role 'user' after role 'tool'".to_owned()),
        Strictness::NoStreamOptions => {
            body.get("stream_options").map(|_| "extra fields not permitted: stream_options".to_owned())
        }
    })
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn calls(messages: &[Value]) -> impl Iterator<Item = &Value> {
    messages.iter().filter_map(|message| message.get("tool_calls")?.as_array()).flatten()
}

fn ids(messages: &[Value]) -> impl Iterator<Item = &str> {
    let of_results = messages.iter().filter_map(|message| message.get("tool_call_id")?.as_str());
    calls(messages).map(|call| call.get("id").and_then(Value::as_str).unwrap_or_default()).chain(of_results)
}

fn is_nine(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn unpaired(messages: &[Value]) -> Option<String> {
    let mut open: HashSet<&str> = HashSet::new();
    for message in messages {
        if role(message) == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            if !open.remove(id) {
                return Some(format!("a result answers no open call: {id:?}"));
            }
            continue;
        }
        if !open.is_empty() {
            return Some("an assistant message with tool calls must be followed by their results".to_owned());
        }
        open = ids(std::slice::from_ref(message)).collect();
    }
    (!open.is_empty()).then(|| "the last calls have no results".to_owned())
}
