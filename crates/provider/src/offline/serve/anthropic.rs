//! The script server's Anthropic messages: blocks that open, grow and close.

use serde_json::{Value, json};

use super::{Written, event};
use crate::offline::play::{Asked, OfferedTool, Played, PlayedCall, Step};

pub(super) fn asked(body: &Value) -> Asked {
    let mut asked = Asked::default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let from_user = message.get("role").and_then(Value::as_str) == Some("user");
        asked.results.clear();
        asked.failed = false;
        if !from_user {
            asked.calls.clear();
        }
        if let Some(content) = message.get("content").and_then(Value::as_str).filter(|_| from_user) {
            asked.user = content.to_owned();
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match block.get("type").and_then(Value::as_str) {
                Some("text") if from_user => asked.user = text(block.get("text")),
                Some("tool_result") => {
                    asked.results.push(block.get("content").map(Value::to_string).unwrap_or_default());
                    asked.failed |= block.get("is_error") == Some(&Value::Bool(true));
                }
                Some("tool_use") => asked.calls.push(PlayedCall::new(
                    text(block.get("name")),
                    block.get("input").map(Value::to_string).unwrap_or_default(),
                )),
                _ => {}
            }
        }
    }
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    asked.tools = tools
        .map(|tool| OfferedTool {
            name: text(tool.get("name")),
            schema: tool.get("input_schema").cloned().unwrap_or_default(),
        })
        .collect();
    asked
}

pub(super) fn written(played: &Played) -> Written {
    let tokens = played.usage.unwrap_or_default();
    let usage = json!({
        "input_tokens": tokens.input.unwrap_or(0), "output_tokens": tokens.output.unwrap_or(0),
        "cache_read_input_tokens": tokens.cached.unwrap_or(0),
    });
    let stop = match played.finish.as_str() {
        "stop" => "end_turn",
        "tool_calls" => "tool_use",
        "length" => "max_tokens",
        other => other,
    };
    let message = |content: Value, stop: Value| {
        json!({
            "id": "msg_script", "type": "message", "role": "assistant", "model": "script", "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        })
    };
    let start =
        event("message_start", &json!({"type":"message_start","message":message(json!([]), Value::Null)}));
    let mut blocks = Blocks { open: None, next: 0 };
    let steps = played.steps().into_iter().map(|step| blocks.write(played, step)).collect();
    let end = json!({"type":"message_delta","delta":{"stop_reason":stop,"stop_sequence":null},"usage":usage});
    let tail = vec![
        blocks.close(),
        event("message_delta", &end),
        event("message_stop", &json!({"type":"message_stop"})),
    ];
    Written { head: vec![start], steps, tail, plain: message(whole(played), Value::from(stop)) }
}

fn whole(played: &Played) -> Value {
    let mut content = Vec::new();
    if !played.reasoning.is_empty() {
        content.push(json!({"type":"thinking","thinking":played.reasoning,"signature":"script"}));
    }
    if !played.text.is_empty() {
        content.push(json!({"type":"text","text":played.text}));
    }
    content.extend(played.calls.iter().map(|call| {
        let input: Value = serde_json::from_str(&call.draft.arguments).unwrap_or_default();
        json!({"type":"tool_use","id":call.id,"name":call.draft.name,"input":input})
    }));
    Value::Array(content)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Thinking,
    Text,
    Call(usize),
}

struct Blocks {
    open: Option<Kind>,
    next: usize,
}

impl Blocks {
    fn write(&mut self, played: &Played, step: Step) -> String {
        match step {
            Step::Reasoning(text) => {
                let opened =
                    self.open(Kind::Thinking, &json!({"type":"thinking","thinking":"","signature":""}));
                opened + &self.delta(&json!({"type":"thinking_delta","thinking":text}))
            }
            Step::Text(text) => {
                let opened = self.open(Kind::Text, &json!({"type":"text","text":""}));
                opened + &self.delta(&json!({"type":"text_delta","text":text}))
            }
            Step::Call(index) => {
                let call = &played.calls[index];
                let block = json!({"type":"tool_use","id":call.id,"name":call.draft.name,"input":{}});
                self.open(Kind::Call(index), &block)
            }
            Step::Arguments(_, text) => self.delta(&json!({"type":"input_json_delta","partial_json":text})),
        }
    }

    fn open(&mut self, kind: Kind, block: &Value) -> String {
        if self.open == Some(kind) {
            return String::new();
        }
        let closed = self.close();
        self.open = Some(kind);
        let index = self.next;
        closed
            + &event(
                "content_block_start",
                &json!({"type":"content_block_start","index":index,"content_block":block}),
            )
    }

    fn delta(&self, delta: &Value) -> String {
        event("content_block_delta", &json!({"type":"content_block_delta","index":self.next,"delta":delta}))
    }

    fn close(&mut self) -> String {
        let Some(kind) = self.open.take() else { return String::new() };
        let mut closed = String::new();
        if kind == Kind::Thinking {
            closed = self.delta(&json!({"type":"signature_delta","signature":"script"}));
        }
        closed += &event("content_block_stop", &json!({"type":"content_block_stop","index":self.next}));
        self.next += 1;
        closed
    }
}
