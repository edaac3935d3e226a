//! A conversation in the library's words, for the two dialects whose requests it writes, and the way back for what such
//! a vendor signs: its items are kept whole beside the answer, and go back only to the model that wrote them, under
//! the instructions and tools they were written under. Anything else is told in plain text, calls and results.

use std::collections::HashMap;

use foehn_ports::ModelRequest;
use foehn_protocol::{AssistantMessage, CallId, Message};
use rig_core::completion::{CompletionRequest, ToolDefinition};
use rig_core::message::{
    AssistantContent, AssistantMessage as LibraryAnswer, CallId as LibraryId, Message as LibraryMessage,
    Origin, ToolCall, ToolFunction, ToolName, ToolResult, ToolResultContent,
};
use serde_json::{Value, json};

use super::Asking;
use crate::chat::object_or_empty;
use crate::errors::Failure;
use crate::ids::{START, WireIds, hash};

/// The request, and the mark of the instructions and tools it was made under.
pub(super) fn request(
    request: &ModelRequest,
    origin: &str,
    asking: Asking,
) -> Result<(CompletionRequest, u64), Failure> {
    let context = context(request);
    let ids = WireIds::of(&request.messages);
    let mut spelled: HashMap<&CallId, LibraryId> = HashMap::new();
    let mut history = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        history.push(LibraryMessage::system(&request.system));
    }
    let mut results: Vec<ToolResult> = Vec::new();
    for message in &request.messages {
        if !matches!(message, Message::Tool { .. }) && !results.is_empty() {
            history.push(LibraryMessage::tool_results(std::mem::take(&mut results)));
        }
        match message {
            Message::User { text } => history.push(LibraryMessage::user(text)),
            Message::Assistant(answer) => {
                let said = kept(answer, origin, context).map_or_else(|| rebuilt(answer, &ids), Ok).map_err(
                    |name| Failure::protocol(format!("a call of the history has no name ({name})")),
                )?;
                for (ours, theirs) in answer.calls.iter().zip(said.tool_calls()) {
                    spelled.insert(&ours.id, theirs.id.clone());
                }
                if !said.content.is_empty() {
                    history.push(LibraryMessage::Assistant(said));
                }
            }
            Message::Tool { call, tool, content, is_error, .. } => results.push(ToolResult {
                call: spelled.get(call).cloned().unwrap_or_else(|| LibraryId::from_wire(ids.spell(call))),
                name: name(tool)
                    .map_err(|name| Failure::protocol(format!("a result has no tool ({name})")))?,
                content: vec![ToolResultContent::text(content)],
                is_error: *is_error,
            }),
        }
    }
    if !results.is_empty() {
        history.push(LibraryMessage::tool_results(results));
    }
    let tools: Result<Vec<ToolDefinition>, _> = request
        .tools
        .iter()
        .map(|tool| Ok(ToolDefinition::new(name(&tool.name)?, &tool.description, tool.parameters.clone())))
        .collect();
    let mut made = CompletionRequest::new("-");
    made.chat_history = history;
    made.tools = tools.map_err(|name: String| Failure::protocol(format!("a tool has no name ({name})")))?;
    made.temperature = asking.temperature;
    made.max_tokens = asking.max_output_tokens;
    made.accept_unknown_finish_reasons = true;
    Ok((made, context))
}

/// What of an answer must be kept whole, `None` when plain text and calls say it all.
pub(super) fn native(choice: Vec<AssistantContent>, origin: Origin, context: u64) -> Option<Value> {
    let signed = choice.iter().any(|block| match block {
        AssistantContent::Reasoning(_) | AssistantContent::Opaque(_) => true,
        block => block.native_item().is_some_and(|item| item.get("thoughtSignature").is_some()),
    });
    if !signed {
        return None;
    }
    let message = LibraryAnswer::new(choice).with_origin(origin);
    Some(json!({ "context": format!("{context:016x}"), "message": serde_json::to_value(message).ok()? }))
}

/// An answer as its vendor gave it, where it may go back.
fn kept(answer: &AssistantMessage, origin: &str, context: u64) -> Option<LibraryAnswer> {
    let native = answer.native.as_ref().filter(|_| answer.origin == origin)?;
    if native.get("context")?.as_str()? != format!("{context:016x}") {
        return None;
    }
    let said: LibraryAnswer = serde_json::from_value(native.get("message")?.clone()).ok()?;
    (said.tool_calls().count() == answer.calls.len()).then_some(said)
}

fn rebuilt(answer: &AssistantMessage, ids: &WireIds) -> Result<LibraryAnswer, String> {
    let mut content = Vec::new();
    if !answer.text.is_empty() {
        content.push(AssistantContent::text(&answer.text));
    }
    for call in &answer.calls {
        let arguments = serde_json::from_str(object_or_empty(&call.arguments)).unwrap_or_else(|_| json!({}));
        let function = ToolFunction::new(name(&call.name)?, arguments);
        let id = LibraryId::from_wire(ids.spell(&call.id));
        content.push(AssistantContent::ToolCall(ToolCall::new(id, function)));
    }
    Ok(LibraryAnswer::new(content))
}

fn name(text: &str) -> Result<ToolName, String> {
    ToolName::new(text).map_err(|error| error.to_string())
}

/// Vendors bind what they sign to the instructions and tools of the request.
fn context(request: &ModelRequest) -> u64 {
    let state = hash(START, request.system.as_bytes());
    request.tools.iter().fold(state, |state, tool| {
        let state = hash(hash(state, tool.name.as_bytes()), tool.description.as_bytes());
        hash(state, tool.parameters.to_string().as_bytes())
    })
}
