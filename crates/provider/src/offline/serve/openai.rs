//! The script server's chat completions, with every way of writing calls that was met in the wild.

use serde_json::{Map, Value, json};

use super::{Written, data};
use crate::offline::habits::Habit;
use crate::offline::play::{Asked, OfferedTool, Played, PlayedCall, Step};

pub(super) fn asked(body: &Value) -> Asked {
    let mut asked = Asked::default();
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        match message.get("role").and_then(Value::as_str) {
            Some("user") => {
                asked.user = text(message.get("content"));
                asked.results.clear();
                asked.failed = false;
            }
            Some("assistant") => {
                asked.results.clear();
                asked.failed = false;
                let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
                asked.calls = calls.map(called).collect();
            }
            Some("tool") => {
                let content = text(message.get("content"));
                asked.failed |= content.contains("\"ok\":false");
                asked.results.push(content);
            }
            _ => {}
        }
    }
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    asked.tools = tools
        .map(|tool| OfferedTool {
            name: text(tool.pointer("/function/name")),
            schema: tool.pointer("/function/parameters").cloned().unwrap_or_default(),
        })
        .collect();
    asked
}

fn called(call: &Value) -> PlayedCall {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    PlayedCall::new(text("/function/name"), text("/function/arguments"))
}

pub(super) fn written(played: &Played, body: &Value) -> Written {
    let model = body.get("model").cloned().unwrap_or_else(|| Value::from("script"));
    let chunk = |choices: Value, usage: Option<&Value>| {
        let mut chunk = json!({
            "id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage.clone();
        } else if played.has(Habit::EmptyUsage) {
            chunk["usage"] = json!({});
        }
        framed(played, data(&chunk))
    };
    let delta = |delta: Value, finish: Value| json!([{"index":0,"delta":delta,"finish_reason":finish}]);
    let usage = played.usage.map(|tokens| {
        json!({
            "prompt_tokens": tokens.input, "completion_tokens": tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
        })
    });
    let steps = played.steps().into_iter().map(|step| {
        let piece = match step {
            Step::Reasoning(text) => json!({"reasoning_content":text}),
            Step::Text(text) if played.has(Habit::NullCalls) => json!({"content":text,"tool_calls":null}),
            Step::Text(text) => json!({"content":text}),
            Step::Call(index) if played.has(Habit::LateName) => {
                let opening = json!({"tool_calls":[opening(played, index)]});
                let mut named = Map::new();
                place(played, index, &mut named);
                named.insert("function".to_owned(), json!({"name":played.calls[index].draft.name}));
                return chunk(delta(opening, Value::Null), None)
                    + &chunk(delta(json!({"tool_calls":[named]}), Value::Null), None);
            }
            Step::Call(index) => json!({"tool_calls":[opening(played, index)]}),
            // The object went out with the opening.
            Step::Arguments(..) if played.has(Habit::ArgsObject) => return String::new(),
            Step::Arguments(index, text) => {
                let mut call = Map::new();
                place(played, index, &mut call);
                let mut function = json!({"arguments":text});
                if played.has(Habit::RepeatName) {
                    call.insert("id".to_owned(), Value::from(""));
                    function["name"] = Value::from(played.calls[index].draft.name.as_str());
                }
                call.insert("function".to_owned(), function);
                json!({"tool_calls":[call]})
            }
        };
        chunk(delta(piece, Value::Null), None)
    });
    let asks_usage = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    let with_finish = usage.as_ref().filter(|_| !asks_usage);
    let mut tail = vec![chunk(delta(json!({}), Value::from(played.finish.as_str())), with_finish)];
    if asks_usage && usage.is_some() {
        tail.push(chunk(json!([]), usage.as_ref()));
    }
    if !played.has(Habit::NoDone) {
        tail.push(framed(played, "data: [DONE]\n\n".to_owned()));
    }
    Written {
        head: vec![chunk(delta(json!({"role":"assistant","content":""}), Value::Null), None)],
        steps: steps.collect(),
        tail,
        plain: plain(played, &model, usage),
    }
}

fn plain(played: &Played, model: &Value, usage: Option<Value>) -> Value {
    let mut message = json!({"role":"assistant","content":played.text});
    if !played.reasoning.is_empty() {
        message["reasoning_content"] = Value::from(played.reasoning.as_str());
    }
    if !played.calls.is_empty() {
        let calls = played.calls.iter().map(|call| {
            let mut written =
                json!({"function":{"name":call.draft.name,"arguments":arguments(played, call)}});
            if !played.has(Habit::MissingType) {
                written["type"] = Value::from("function");
            }
            if let Some(id) = &call.id {
                written["id"] = Value::from(id.as_str());
            }
            written
        });
        message["tool_calls"] = calls.collect();
    }
    let mut document = json!({
        "id": "chatcmpl-script", "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index":0,"message":message,"finish_reason":played.finish}],
    });
    if let Some(usage) = usage {
        document["usage"] = usage;
    }
    document
}

/// The first piece of a call: id and name, and its arguments where they go whole.
fn opening(played: &Played, index: usize) -> Value {
    let call = &played.calls[index];
    let mut written = Map::new();
    place(played, index, &mut written);
    if let Some(id) = &call.id {
        written.insert("id".to_owned(), Value::from(id.as_str()));
    }
    if !played.has(Habit::MissingType) {
        written.insert("type".to_owned(), Value::from("function"));
    }
    let whole = if played.has(Habit::ArgsObject) { arguments(played, call) } else { Value::from("") };
    let mut function = json!({"name":call.draft.name,"arguments":whole});
    if played.has(Habit::LateName) {
        function = json!({"arguments":whole});
    }
    written.insert("function".to_owned(), function);
    Value::Object(written)
}

fn place(played: &Played, index: usize, call: &mut Map<String, Value>) {
    let index = if played.has(Habit::SameIndex) {
        0
    } else if played.has(Habit::IndexFromOne) {
        index + 1
    } else if played.has(Habit::HugeIndex) {
        index + 2_000_000
    } else {
        index
    };
    if !played.has(Habit::MissingIndex) {
        call.insert("index".to_owned(), Value::from(index));
    }
}

/// One event as its lines arrive.
fn framed(played: &Played, event: String) -> String {
    let noise = if played.has(Habit::Noise) { ": still here\n\ndata:\n\njunk\n\n" } else { "" };
    let event = format!("{noise}{event}");
    if played.has(Habit::CarriageReturns) { event.replace('\n', "\r\n") } else { event }
}

fn arguments(played: &Played, call: &PlayedCall) -> Value {
    let text = || Value::from(call.draft.arguments.as_str());
    if played.has(Habit::ArgsObject) {
        serde_json::from_str(&call.draft.arguments).unwrap_or_else(|_| text())
    } else {
        text()
    }
}
