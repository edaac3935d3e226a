//! The request of the chat-completions dialect, written straight from the conversation: what a model wrote goes back
//! byte for byte, and the same conversation gives the same bytes, which is what a server's prompt cache lives on.

use std::borrow::Cow;

use foehn_ports::ModelRequest;
use foehn_protocol::{AssistantMessage, Message, ToolCall};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::WireIds;
use crate::quirks::{BRIDGE_TEXT, OutputLimit, Quirks, ReasoningOut};

/// The key under which an answer's `native` keeps the field that its reasoning came in.
pub(crate) const REASONING_FIELD: &str = "reasoning_field";

/// What one request needs beside the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) model: &'a str,
    /// `provider/model`, as kept beside each answer.
    pub(crate) origin: &'a str,
    pub(crate) quirks: &'a Quirks,
    pub(crate) streaming: bool,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_output_tokens: Option<u64>,
}

/// The body of the request.
pub(crate) fn body(request: &ModelRequest, frame: &Frame<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let ids = WireIds::of(&request.messages);
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(Spoken { content: Some(Content::text(&request.system)), ..Spoken::by("system") });
    }
    for message in &request.messages {
        match message {
            Message::User { text } => {
                let after_result = messages.last().is_some_and(|sent| sent.role == "tool");
                if after_result && frame.quirks.assistant_after_results {
                    messages.push(Spoken {
                        content: Some(Content::text(BRIDGE_TEXT)),
                        ..Spoken::by("assistant")
                    });
                }
                messages.push(Spoken { content: Some(Content::text(text)), ..Spoken::by("user") });
            }
            Message::Assistant(answer) => messages.extend(spoken(answer, frame, &ids)),
            Message::Tool { call, content, .. } => messages.push(Spoken {
                tool_call_id: Some(ids.spell(call)),
                content: Some(Content::text(content)),
                ..Spoken::by("tool")
            }),
        }
    }
    let limit = frame.max_output_tokens;
    let tools = request.tools.iter().map(|tool| Tool {
        kind: "function",
        function: Definition {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        },
    });
    serde_json::to_vec(&Body {
        model: frame.model,
        messages,
        tools: tools.collect(),
        temperature: frame.temperature,
        max_tokens: limit.filter(|_| frame.quirks.output_limit == OutputLimit::MaxTokens),
        max_completion_tokens: limit
            .filter(|_| frame.quirks.output_limit == OutputLimit::MaxCompletionTokens),
        stream: frame.streaming.then_some(true),
        stream_options: (frame.streaming && frame.quirks.asks_stream_usage)
            .then_some(StreamOptions { include_usage: true }),
    })
}

/// Arguments as a history may hold them: the model's own text when it is a JSON object, else `{}`. A server that reads
/// them refuses the whole conversation over one broken call.
pub(crate) fn object_or_empty(arguments: &str) -> &str {
    let trimmed = arguments.trim();
    let is_object = trimmed.starts_with('{') && serde_json::from_str::<&RawValue>(trimmed).is_ok();
    if is_object { arguments } else { "{}" }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Spoken<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Default, Serialize)]
struct Spoken<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    /// Absent rather than empty beside calls: some servers refuse an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    Thinking { thinking: Vec<Part<'a>> },
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Definition<'a>,
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl Spoken<'_> {
    fn by(role: &'static str) -> Self {
        Self { role, ..Self::default() }
    }
}

impl<'a> Content<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// One earlier answer; `None` when nothing of it can be sent.
fn spoken<'a>(answer: &'a AssistantMessage, frame: &Frame<'_>, ids: &'a WireIds) -> Option<Spoken<'a>> {
    if answer.text.is_empty() && answer.calls.is_empty() {
        return None;
    }
    let calls = answer.calls.iter().map(|ToolCall { id, name, arguments, .. }| Call {
        id: ids.spell(id),
        kind: "function",
        function: Function { name, arguments: object_or_empty(arguments) },
    });
    let mut message = Spoken {
        content: (!answer.text.is_empty()).then(|| Content::text(&answer.text)),
        tool_calls: calls.collect(),
        ..Spoken::by("assistant")
    };
    // Another model's reasoning means nothing to this one, and some servers refuse it.
    if !answer.reasoning.is_empty() && answer.origin == frame.origin {
        match frame.quirks.reasoning_out {
            ReasoningOut::Never | ReasoningOut::Native => {}
            ReasoningOut::Field => {
                let field = answer.native.as_ref().and_then(|native| native.get(REASONING_FIELD)?.as_str());
                match field {
                    Some("reasoning") => message.reasoning = Some(&answer.reasoning),
                    _ => message.reasoning_content = Some(&answer.reasoning),
                }
            }
            ReasoningOut::ThinkingPart => {
                let mut parts =
                    vec![Part::Thinking { thinking: vec![Part::Text { text: &answer.reasoning }] }];
                parts.extend((!answer.text.is_empty()).then_some(Part::Text { text: &answer.text }));
                message.content = Some(Content::Parts(parts));
            }
        }
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use foehn_ports::ToolDefinition;
    use foehn_protocol::CallId;
    use serde_json::json;

    use super::*;
    use crate::quirks::providers;

    fn written(provider: &str, request: &ModelRequest) -> Value {
        let info = providers().iter().find(|info| info.name == provider).unwrap();
        let frame = Frame {
            model: "m",
            origin: "p/m",
            quirks: &info.quirks,
            streaming: true,
            temperature: None,
            max_output_tokens: Some(9),
        };
        serde_json::from_slice(&body(request, &frame).unwrap()).unwrap()
    }

    fn request() -> ModelRequest {
        let call = |id: &str, arguments: &str| ToolCall {
            id: CallId::from(id),
            provider_id: Some("call_theirs".into()),
            name: "t".into(),
            arguments: arguments.into(),
        };
        let result = |id: &str| Message::Tool {
            call: CallId::from(id),
            provider_id: Some("call_theirs".into()),
            tool: "t".into(),
            content: r#"{"ok":true}"#.into(),
            is_error: false,
        };
        ModelRequest {
            system: "be brief".into(),
            messages: vec![
                Message::User { text: "go".into() },
                Message::Assistant(AssistantMessage {
                    reasoning: "hm".into(),
                    calls: vec![
                        call("aaaaaaaa1", r#"{"a":1, "a":99999999999999999999}"#),
                        call("aaaaaaaa2", ""),
                        call("aaaaaaaa3", "{\"cut"),
                    ],
                    origin: "p/m".into(),
                    ..Default::default()
                }),
                result("aaaaaaaa1"),
                result("aaaaaaaa2"),
                result("aaaaaaaa3"),
                Message::Assistant(AssistantMessage::default()),
                Message::User { text: "more".into() },
            ],
            tools: vec![ToolDefinition {
                name: "t".into(),
                description: "does".into(),
                parameters: json!({"type":"object"}),
            }],
            max_output_tokens: None,
            temperature: None,
        }
    }

    #[test]
    fn a_compatible_server_gets_the_plain_form() {
        let calls = json!([
            {"id":"aaaaaaaa1","type":"function","function":{"name":"t","arguments":"{\"a\":1, \"a\":99999999999999999999}"}},
            {"id":"aaaaaaaa2","type":"function","function":{"name":"t","arguments":"{}"}},
            {"id":"aaaaaaaa3","type":"function","function":{"name":"t","arguments":"{}"}},
        ]);
        let result = |id: &str| json!({"role":"tool","tool_call_id":id,"content":"{\"ok\":true}"});
        assert_eq!(
            written("openai-compatible", &request()),
            json!({
                "model": "m",
                "messages": [
                    {"role":"system","content":"be brief"},
                    {"role":"user","content":"go"},
                    {"role":"assistant","reasoning_content":"hm","tool_calls":calls},
                    result("aaaaaaaa1"), result("aaaaaaaa2"), result("aaaaaaaa3"),
                    {"role":"user","content":"more"},
                ],
                "tools": [{"type":"function","function":{"name":"t","description":"does","parameters":{"type":"object"}}}],
                "max_tokens": 9,
                "stream": true,
                "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn mistral_gets_its_own_form() {
        let sent = written("mistral", &request());
        assert_eq!(sent.get("stream_options"), None);
        assert_eq!(
            sent["messages"][2]["content"],
            json!([{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}])
        );
        let roles: Vec<&str> =
            sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(
            roles,
            ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"],
            "a user message right after a result is refused"
        );
        assert_eq!(sent["messages"][6], json!({"role":"assistant","content":"(stopped here)"}));
    }

    #[test]
    fn reasoning_goes_only_to_the_model_that_wrote_it() {
        let mut request = request();
        let Message::Assistant(answer) = &mut request.messages[1] else { panic!() };
        answer.native = Some(json!({"reasoning_field":"reasoning"}));
        assert_eq!(written("openai-compatible", &request)["messages"][2]["reasoning"], "hm");
        let Message::Assistant(answer) = &mut request.messages[1] else { panic!() };
        answer.origin = "other/m".into();
        let sent = written("openai-compatible", &request);
        assert_eq!(sent["messages"][2].get("reasoning"), None);
        assert_eq!(written("openai", &request)["max_completion_tokens"], 9);
    }
}
