//! Everything that happened, one thing a line, without what differs from run to run.

use foehn_protocol::{Entry, Event, EventBody, Message, ToolResult, Usage};

pub fn events(events: &[Event]) -> String {
    lines(events.iter().map(|event| format!("{} {}", event.turn, body(&event.body))))
}

pub fn journal(entries: &[Entry]) -> String {
    lines(entries.iter().map(entry))
}

pub fn messages(messages: &[Message]) -> String {
    lines(messages.iter().map(|message| match message {
        Message::User { text } => format!("user: {text}"),
        Message::Assistant(answer) => {
            let calls: Vec<String> = answer
                .calls
                .iter()
                .map(|call| format!(" {} {}({})", call.id, call.name, call.arguments))
                .collect();
            format!("assistant: {}{}", answer.text, calls.concat())
        }
        Message::Tool { call, tool, content, .. } => format!("{call} {tool}: {content}"),
    }))
}

fn body(body: &EventBody) -> String {
    match body {
        EventBody::SessionStarted { agent, provider, model, tools, resumed, .. } => {
            let word = if *resumed { "resumed" } else { "new" };
            format!("{word} session of {agent} with {provider}/{model}, {tools} tools")
        }
        EventBody::TurnStarted { prompt } => format!("prompt: {prompt}"),
        EventBody::StepStarted { step } => format!("step {step}"),
        EventBody::TextDelta { text } => format!("text: {text}"),
        EventBody::AssistantMessage { text, calls, .. } => format!("answer: {text} [{calls} calls]"),
        EventBody::ApprovalRequested(approval) => {
            let operations: Vec<&str> =
                approval.operations.iter().map(|operation| operation.name.as_str()).collect();
            let mut line = format!(
                "{} asks {} {} ({}) because {}",
                approval.id,
                approval.tool,
                approval.arguments,
                operations.join(", "),
                approval.rule
            );
            if let Some(always) = &approval.always {
                line.push_str(&format!(" | always: {always}"));
            }
            line
        }
        EventBody::ApprovalResolved { approval, decision, by, .. } => {
            format!("{approval} answered {decision:?} by {by}")
        }
        EventBody::CallStarted { call, tool, risk, operations, arguments, rule, .. } => {
            format!(
                "{call} starts {tool} {arguments} ({}: {}) because {rule}",
                risk.word(),
                operations.join(", ")
            )
        }
        EventBody::CallProgress { call, text } => format!("{call} progress: {text}"),
        EventBody::CallFinished(result) => finished(result),
        EventBody::Notice { level, text } => format!("{level:?}: {text}"),
        EventBody::TurnDone { status, text, reason, steps, calls, usage, .. } => {
            let mut line =
                format!("done {status:?}: {text} [{steps} steps, {calls} calls{}]", tokens(*usage));
            if let Some(reason) = reason {
                line.push_str(&format!(" because {reason}"));
            }
            line
        }
        other => format!("{other:?}"),
    }
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Instructions { agent, system, tools } => {
            let names: Vec<String> = serde_json::from_str::<Vec<serde_json::Value>>(tools)
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect();
            format!("instructions of {agent}: {system} [{}]", names.join(" "))
        }
        Entry::Prompt { turn, text } => format!("{turn} prompt: {text}"),
        Entry::Answer { turn, message, .. } => {
            let calls: Vec<&str> = message.calls.iter().map(|call| call.id.as_str()).collect();
            format!("{turn} answer: {} [{}]", message.text, calls.join(" "))
        }
        Entry::Approval { turn, call, decision, by } => format!("{turn} {call} {decision:?} by {by}"),
        Entry::CallStarted { turn, call, tool, arguments } => {
            format!("{turn} {call} starts {tool} {arguments}")
        }
        Entry::Result { turn, result } => format!("{turn} {}", finished(result)),
        Entry::Note { turn, text } => format!("{turn} note: {text}"),
        Entry::Undone { turn, text } => format!("{turn} undone: {text}"),
        Entry::TurnEnded { turn, status, .. } => format!("{turn} ended {status:?}"),
        Entry::Unknown => "unknown".to_owned(),
    }
}

fn finished(result: &ToolResult) -> String {
    format!("{} {} -> {}", result.call, result.tool, result.envelope)
}

fn tokens(usage: Usage) -> String {
    match (usage.input_tokens, usage.output_tokens) {
        (Some(input), Some(output)) => format!(", {input}+{output} tokens"),
        _ => String::new(),
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}
