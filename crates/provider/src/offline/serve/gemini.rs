//! The script server's Gemini contents: parts, and calls whose arguments are objects.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Written;
use crate::offline::play::{Asked, OfferedTool, Played, PlayedCall, Step};

pub(super) fn asked(body: &Value) -> Asked {
    let mut asked = Asked::default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    for content in body.get("contents").and_then(Value::as_array).into_iter().flatten() {
        let from_user = content.get("role").and_then(Value::as_str) != Some("model");
        asked.results.clear();
        asked.failed = false;
        if !from_user {
            asked.calls.clear();
        }
        for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
            if let Some(said) = part.get("text").filter(|_| from_user) {
                asked.user = text(Some(said));
            }
            if let Some(response) = part.pointer("/functionResponse/response") {
                let response = response.to_string();
                asked.failed |= response.contains("\\\"ok\\\":false") || response.contains("\"ok\":false");
                asked.results.push(response);
            }
            if let Some(call) = part.get("functionCall") {
                let arguments = call.get("args").map(Value::to_string).unwrap_or_default();
                asked.calls.push(PlayedCall::new(text(call.get("name")), arguments));
            }
        }
    }
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let declared = tools.filter_map(|tool| {
        tool.get("functionDeclarations").or_else(|| tool.get("function_declarations"))?.as_array()
    });
    asked.tools = declared
        .flatten()
        .map(|tool| OfferedTool {
            name: text(tool.get("name")),
            schema: tool.get("parameters").cloned().unwrap_or_default(),
        })
        .collect();
    asked
}

pub(super) fn written(played: &Played) -> Written {
    let tokens = played.usage.unwrap_or_default();
    let usage = json!({
        "promptTokenCount": tokens.input.unwrap_or(0), "candidatesTokenCount": tokens.output.unwrap_or(0),
        "totalTokenCount": tokens.input.unwrap_or(0) + tokens.output.unwrap_or(0),
        "cachedContentTokenCount": tokens.cached.unwrap_or(0),
    });
    let finish = if played.finish == "length" { "MAX_TOKENS" } else { "STOP" };
    let chunk = |parts: &str, end: &str| {
        format!(
            "{{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{parts}]}},\"index\":0{end}}}]"
        )
    };
    let closing = format!(",\"finishReason\":\"{finish}\"");
    let counted = format!(",\"usageMetadata\":{usage},\"modelVersion\":\"script\"}}");
    let steps = played.steps().into_iter().map(|step| match step {
        Step::Reasoning(text) => stream(&chunk(&json!({"text":text,"thought":true}).to_string(), ""), "}"),
        Step::Text(text) => stream(&chunk(&json!({"text":text}).to_string(), ""), "}"),
        Step::Call(index) => stream(&chunk(&call(&played.calls[index]), ""), "}"),
        // Whole calls are all that this format knows.
        Step::Arguments(..) => String::new(),
    });
    let mut parts = Vec::new();
    if !played.reasoning.is_empty() {
        parts.push(json!({"text":played.reasoning,"thought":true}).to_string());
    }
    if !played.text.is_empty() {
        parts.push(json!({"text":played.text}).to_string());
    }
    parts.extend(played.calls.iter().map(call));
    let plain = chunk(&parts.join(","), &closing) + &counted;
    Written {
        head: Vec::new(),
        steps: steps.collect(),
        tail: vec![stream(&chunk("{\"text\":\"\"}", &closing), &counted)],
        plain: serde_json::from_str(&plain).unwrap_or_default(),
    }
}

fn stream(chunk: &str, end: &str) -> String {
    format!("data: {chunk}{end}\n\n")
}

/// A call whose arguments keep every digit of the script.
fn call(call: &PlayedCall) -> String {
    let is_json = serde_json::from_str::<&RawValue>(&call.draft.arguments).is_ok();
    let arguments = if is_json { call.draft.arguments.as_str() } else { "{}" };
    format!(
        "{{\"functionCall\":{{\"name\":{},\"args\":{arguments}}}}}",
        Value::from(call.draft.name.as_str())
    )
}
