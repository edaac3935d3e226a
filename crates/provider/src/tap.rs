//! Reads along the raw frames of an answer for what a decoder of parsed JSON cannot give: tool arguments verbatim when
//! they come as an object, the token counts and the finish as the server wrote them, and an error object.

use std::borrow::Cow;
use std::collections::HashMap;

use foehn_protocol::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{Ending, finish_of};
use crate::chat::REASONING_FIELD;
use crate::quirks::Dialect;

/// What was read of one answer so far.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    finish: Option<String>,
    usage: Usage,
    has_calls: bool,
    reasoning_field: Option<&'static str>,
    /// The calls of a stream by the index that the server gives them.
    open: HashMap<u64, OpenCall>,
    /// How many calls were given an index of ours.
    moves: u64,
    /// The ids, maybe empty, of calls that came without an index.
    unplaced: Vec<String>,
    pub(crate) verbatim_arguments: Vec<String>,
}

/// The call that an index stands for right now.
#[derive(Debug)]
struct OpenCall {
    id: String,
    arguments: String,
    /// The index the decoder knows it by.
    known_as: u64,
}

/// Indices of ours begin here, where no server's do.
const OWN_INDICES: u64 = 1 << 24;

/// What one frame asks of the decoder.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) error: Option<Value>,
    /// The frame to decode instead.
    pub(crate) rewritten: Option<String>,
}

impl Tap {
    pub(crate) fn read(&mut self, dialect: Dialect, frame: &str) -> Read {
        if let Some(error) = error_object(frame) {
            return Read { error: Some(error), rewritten: None };
        }
        let rewritten = match dialect {
            Dialect::Chat => self.chat(frame),
            Dialect::Gemini => {
                self.gemini(frame);
                None
            }
            Dialect::Anthropic | Dialect::None => None,
        };
        Read { error: None, rewritten }
    }

    /// The end of a chat-completions answer.
    pub(crate) fn ending(self) -> Ending {
        let finish = finish_of(self.finish.as_deref(), self.has_calls);
        if finish == Finish::Other {
            tracing::debug!(finish = ?self.finish, "the server ended an answer for a reason that is not known");
        }
        let native = self.reasoning_field.map(|field| serde_json::json!({ REASONING_FIELD: field }));
        Ending { finish, usage: self.usage, native, verbatim_arguments: Vec::new() }
    }

    fn chat(&mut self, frame: &str) -> Option<String> {
        // What does not fit here is for the decoder to judge.
        let chunk: ChatChunk<'_> = serde_json::from_str(frame).ok()?;
        let choice = chunk.choices.unwrap_or_default().into_iter().next();
        if let Some(usage) = chunk.usage.or_else(|| choice.as_ref().and_then(|choice| choice.usage.clone())) {
            self.usage = usage_of(&usage, self.usage);
        }
        let choice = choice?;
        if let Some(finish) = choice.finish_reason.filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish);
        }
        let message = choice.delta.or(choice.message)?;
        if message.reasoning.is_some_and(|text| text.is_string()) && message.reasoning_content.is_none() {
            self.reasoning_field = Some("reasoning");
        }
        let calls = message.tool_calls.unwrap_or_default();
        self.has_calls |= !calls.is_empty();
        let rewritten = with_text_arguments(frame, &calls);
        let moved: Vec<Option<u64>> = calls.iter().map(|call| self.moved(call)).collect();
        if moved.iter().all(Option::is_none) {
            return rewritten;
        }
        let mut chunk: Value = serde_json::from_str(rewritten.as_deref().unwrap_or(frame)).ok()?;
        for (position, index) in moved.into_iter().enumerate() {
            if let (Some(index), Some(call)) =
                (index, chunk.pointer_mut(&format!("/choices/0/delta/tool_calls/{position}")))
            {
                call["index"] = Value::from(index);
            }
        }
        Some(chunk.to_string())
    }

    /// The index under which the decoder must see this fragment, `None` when the server's own will do.
    ///
    /// Some servers put every call under one index, without ids: a fragment that names a tool and brings arguments,
    /// after a call whose arguments are whole, begins another call. (Where the id is new, the decoder sees it itself.)
    fn moved(&mut self, call: &Call<'_>) -> Option<u64> {
        let Some(index) = call.index.as_ref().and_then(Value::as_u64) else { return Some(self.placed(call)) };
        let id = call.id.as_ref().and_then(Value::as_str).unwrap_or_default();
        let function = call.function.as_ref();
        let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
        let raw = function.and_then(|function| function.arguments).map_or("null", RawValue::get);
        let text: Option<String> = serde_json::from_str(raw).unwrap_or_else(|_| Some(raw.to_owned()));
        let arguments = text.unwrap_or_default();
        let Some(open) = self.open.get_mut(&index) else {
            self.open.insert(index, OpenCall { id: id.to_owned(), arguments, known_as: index });
            return None;
        };
        if !id.is_empty() && id != open.id {
            *open = OpenCall { id: id.to_owned(), arguments, known_as: open.known_as };
        } else if !name.is_empty() && !arguments.trim().is_empty() && is_object(&open.arguments) {
            *open = OpenCall { id: id.to_owned(), arguments, known_as: OWN_INDICES + self.moves };
            self.moves += 1;
        } else {
            open.arguments.push_str(&arguments);
        }
        (open.known_as != index).then_some(open.known_as)
    }

    /// The index for a fragment that comes without any: that of the call with its id, else of the call begun last. One with
    /// a new id, or with a name after a named call, begins another.
    fn placed(&mut self, call: &Call<'_>) -> u64 {
        let id = call.id.as_ref().and_then(Value::as_str).unwrap_or_default();
        let is_named = call
            .function
            .as_ref()
            .and_then(|function| function.name.as_deref())
            .is_some_and(|name| !name.is_empty());
        let known = self.unplaced.iter().rposition(|known| id.is_empty() || known == id);
        let position = match known {
            Some(position) if !(id.is_empty() && is_named) => position,
            _ => {
                self.unplaced.push(id.to_owned());
                self.unplaced.len() - 1
            }
        };
        OWN_INDICES / 2 + position as u64
    }

    fn gemini(&mut self, frame: &str) {
        let Ok(chunk) = serde_json::from_str::<GeminiChunk<'_>>(frame) else { return };
        let content = chunk.candidates.unwrap_or_default().into_iter().next().and_then(|first| first.content);
        let parts = content.and_then(|content| content.parts).unwrap_or_default();
        for call in parts.into_iter().filter_map(|part| part.function_call) {
            self.verbatim_arguments.push(call.args.map_or("{}", RawValue::get).to_owned());
        }
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text.trim()).is_ok()
}

/// The frame with arguments that came as an object written as text, `None` when there are none: the decoder takes text
/// verbatim and objects apart.
fn with_text_arguments(frame: &str, calls: &[Call<'_>]) -> Option<String> {
    let objects: Vec<&RawValue> = calls
        .iter()
        .filter_map(|call| call.function.as_ref()?.arguments)
        .filter(|arguments| arguments.get().starts_with(['{', '[']))
        .collect();
    if objects.is_empty() {
        return None;
    }
    let mut rewritten = String::with_capacity(frame.len() + 64);
    let mut done = 0;
    for object in objects {
        let start = object.get().as_ptr() as usize - frame.as_ptr() as usize;
        rewritten.push_str(frame.get(done..start)?);
        rewritten.push_str(&Value::String(object.get().to_owned()).to_string());
        done = start + object.get().len();
    }
    rewritten.push_str(frame.get(done..)?);
    Some(rewritten)
}

/// Whether a frame is the last of an answer, so that nothing but the end of the body follows.
pub(crate) fn is_last(frame: &str) -> bool {
    frame == "[DONE]" || frame == r#"{"type":"message_stop"}"#
}

/// An error where an answer was expected; one beside content or one that is null is none.
fn error_object(frame: &str) -> Option<Value> {
    if !frame.contains("\"error\"") {
        return None;
    }
    let frame: ErrorFrame = serde_json::from_str(frame).ok()?;
    let answered =
        frame.choices.is_some_and(|choices| choices.as_array().is_some_and(|list| !list.is_empty()));
    frame.error.filter(|error| {
        !answered && (error.is_object() || error.as_str().is_some_and(|text| !text.is_empty()))
    })
}

fn usage_of(usage: &Value, earlier: Usage) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Usage {
        input_tokens: count("/prompt_tokens").or(earlier.input_tokens),
        output_tokens: count("/completion_tokens").or(earlier.output_tokens),
        cached_tokens: count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/num_cached_tokens"))
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .or(earlier.cached_tokens),
    }
}

#[derive(Deserialize)]
struct ErrorFrame {
    error: Option<Value>,
    choices: Option<Value>,
}

#[derive(Deserialize)]
struct ChatChunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Spoken<'a>>,
    #[serde(borrow)]
    message: Option<Spoken<'a>>,
    finish_reason: Option<String>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Spoken<'a> {
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
}

#[derive(Deserialize)]
struct Call<'a> {
    index: Option<Value>,
    id: Option<Value>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct GeminiChunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "functionCall")]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_as_arguments_goes_on_as_its_own_text() {
        let frame = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":{"a":1, "a":99999999999999999999}}}]}}]}"#;
        let read = Tap::default().read(Dialect::Chat, frame);
        let rewritten: Value = serde_json::from_str(&read.rewritten.unwrap()).unwrap();
        assert_eq!(
            rewritten["choices"][0]["delta"]["tool_calls"][0],
            serde_json::json!({"index":0,"id":"a","function":{"name":"t","arguments":"{\"a\":1, \"a\":99999999999999999999}"}})
        );
    }

    #[test]
    fn fragments_without_an_index_belong_to_the_call_begun_last() {
        let mut tap = Tap::default();
        let mut index = |call: &str| {
            let frame = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}"#);
            let rewritten = tap.read(Dialect::Chat, &frame).rewritten.unwrap();
            let rewritten: Value = serde_json::from_str(&rewritten).unwrap();
            rewritten["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64().unwrap() - OWN_INDICES / 2
        };
        let rows = [
            (r#"{"id":"a","function":{"name":"t","arguments":""}}"#, 0),
            (r#"{"function":{"arguments":"{"}}"#, 0),
            (r#"{"index":null,"function":{"arguments":"}"}}"#, 0),
            (r#"{"id":"b","function":{"name":"t","arguments":"{"}}"#, 1),
            (r#"{"id":"a","function":{"arguments":" "}}"#, 0),
            (r#"{"id":"","function":{"arguments":"}"}}"#, 1),
            (r#"{"function":{"name":"u","arguments":"{}"}}"#, 2),
        ];
        for (call, expected) in rows {
            assert_eq!(index(call), expected, "{call}");
        }
    }

    #[test]
    fn an_error_counts_only_where_nothing_is_answered() {
        let rows = [
            (r#"{"error":{"message":"x"}}"#, true),
            (r#"{"type":"error","error":{"type":"overloaded_error"}}"#, true),
            (r#"{"error":"x"}"#, true),
            (r#"{"error":null,"choices":[]}"#, false),
            (r#"{"error":{"message":"x"},"choices":[{"delta":{"content":"y"}}]}"#, false),
            (r#"{"choices":[{"delta":{"content":"\"error\""}}]}"#, false),
        ];
        for (frame, expected) in rows {
            assert_eq!(Tap::default().read(Dialect::Chat, frame).error.is_some(), expected, "{frame}");
        }
    }
}
