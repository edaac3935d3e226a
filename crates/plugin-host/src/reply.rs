//! From the words of the SDK to the words of the host. A plugin may be older or newer than the host, so every value that is
//! not known gets its most careful meaning here.

use std::path::Path;
use std::time::Duration;

use foehn_plugin_sdk::wire;
use foehn_ports::{Outcome, OutcomeKind};
use foehn_protocol as protocol;

pub(crate) fn outcome(reply: wire::Reply) -> Outcome {
    let kind = match reply.kind {
        wire::ReplyKind::Ok => OutcomeKind::Ok,
        wire::ReplyKind::Failed | wire::ReplyKind::Panicked | wire::ReplyKind::Unknown => OutcomeKind::Failed,
        wire::ReplyKind::InvalidArguments => OutcomeKind::InvalidArguments,
        wire::ReplyKind::Refused => OutcomeKind::Refused,
        wire::ReplyKind::Cancelled => OutcomeKind::Cancelled,
        wire::ReplyKind::TimedOut => OutcomeKind::Timeout,
        wire::ReplyKind::Unauthorized => OutcomeKind::Unauthorized,
        wire::ReplyKind::Unsupported => OutcomeKind::Unavailable,
    };
    let message = match (kind, reply.message.is_empty()) {
        (OutcomeKind::Ok, _) => String::new(),
        (_, true) => "the tool gave no reason".to_owned(),
        (_, false) => reply.message,
    };
    Outcome {
        kind,
        parts: reply.parts.into_iter().map(part).collect(),
        message,
        notes: reply.notes,
        executed: reply.executed,
    }
}

/// An outcome without anything from the tool.
pub(crate) fn failure(kind: OutcomeKind, message: String) -> Outcome {
    Outcome { kind, parts: Vec::new(), message, notes: Vec::new(), executed: None }
}

pub(crate) fn classification(
    from: wire::Classification,
    tool: &protocol::ToolSpec,
) -> protocol::Classification {
    let declared = |name: &str| {
        let spec = tool.operations.iter().find(|operation| operation.name == name);
        spec.and_then(|operation| operation.risk).unwrap_or(tool.risk)
    };
    protocol::Classification {
        operations: from
            .operations
            .into_iter()
            .map(|operation| protocol::Operation {
                risk: operation.risk.map_or_else(|| declared(&operation.name), risk),
                name: operation.name,
                target: operation.target,
            })
            .collect(),
        facts: protocol::Facts {
            paths: from.facts.paths.iter().map(|path| path.display().to_string()).collect(),
            hosts: from.facts.hosts,
            tables: from.facts.tables,
        },
        refusal: from.refusal,
        preview: from.preview.and_then(preview),
    }
}

/// What a tool that does not classify its calls may do in any of them: everything it declares.
pub(crate) fn declared(tool: &protocol::ToolSpec) -> protocol::Classification {
    let operation = |name: &str, risk: Option<protocol::Risk>| protocol::Operation {
        name: name.to_owned(),
        risk: risk.unwrap_or(tool.risk),
        target: None,
    };
    let operations = if tool.operations.is_empty() {
        vec![operation(&tool.name, None)]
    } else {
        tool.operations.iter().map(|declared| operation(&declared.name, declared.risk)).collect()
    };
    protocol::Classification { operations, ..protocol::Classification::default() }
}

pub(crate) fn tool_spec(plugin: &str, from: &wire::ToolSpec) -> protocol::ToolSpec {
    protocol::ToolSpec {
        name: from.name.clone(),
        aliases: from.aliases.clone(),
        plugin: plugin.to_owned(),
        description: from.description.clone(),
        risk: risk(from.risk),
        capabilities: protocol::Capabilities {
            files: match from.capabilities.files {
                wire::FileAccess::None => protocol::FileAccess::None,
                wire::FileAccess::Read => protocol::FileAccess::Read,
                wire::FileAccess::Write | wire::FileAccess::Unknown => protocol::FileAccess::Write,
            },
            network: match from.capabilities.network {
                wire::Network::None => protocol::NetworkAccess::None,
                wire::Network::Configured => protocol::NetworkAccess::Configured,
                wire::Network::OptIn => protocol::NetworkAccess::OptIn,
                wire::Network::Any | wire::Network::Unknown => protocol::NetworkAccess::Any,
            },
            programs: from.capabilities.programs,
            secrets: from.capabilities.secrets,
            ask_user: from.capabilities.ask_user,
            complete: from.capabilities.complete,
        },
        schema: from.schema.clone(),
        operations: from
            .operations
            .iter()
            .map(|operation| protocol::OperationSpec {
                name: operation.name.clone(),
                description: operation.description.clone(),
                risk: operation.risk.map(risk),
            })
            .collect(),
        classifies: from.classifies,
        requires_caller: from.requires_caller,
        polling: from.polling,
        on_demand: from.on_demand,
        lint_exceptions: from
            .lint_exceptions
            .iter()
            .map(|exception| protocol::LintException {
                rule: exception.rule.clone(),
                at: exception.at.clone(),
                reason: exception.reason.clone(),
            })
            .collect(),
    }
}

/// `1.5 s`, `250 ms`.
pub(crate) fn duration(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{} s", duration.as_millis() as f64 / 1000.0)
    }
}

fn risk(from: wire::Risk) -> protocol::Risk {
    match from {
        wire::Risk::ReadOnly => protocol::Risk::ReadOnly,
        wire::Risk::Write => protocol::Risk::Write,
        wire::Risk::Execute => protocol::Risk::Execute,
        wire::Risk::Destructive => protocol::Risk::Destructive,
        wire::Risk::Undefined => protocol::Risk::Undefined,
    }
}

fn part(from: wire::Part) -> protocol::Part {
    match from {
        wire::Part::Text { text } => protocol::Part::Text { text },
        wire::Part::Json { value } => protocol::Part::Json { value },
        wire::Part::Image { media_type, data } => protocol::Part::Image { media_type, data },
        wire::Part::File { path } => protocol::Part::File { path: path.display().to_string() },
        wire::Part::Unknown => {
            protocol::Part::Text { text: "[a part of a kind that this host does not know]".to_owned() }
        }
    }
}

fn preview(from: wire::Preview) -> Option<protocol::Preview> {
    Some(match from {
        wire::Preview::Text { text } => protocol::Preview::Text { text },
        wire::Preview::Diff { diff, .. } => protocol::Preview::Diff { text: diff },
        wire::Preview::Command { command, directory }
            if directory.as_os_str().is_empty() || directory == Path::new(".") =>
        {
            protocol::Preview::Command { text: command }
        }
        wire::Preview::Command { command, directory } => {
            protocol::Preview::Command { text: format!("{command}\n(in {})", directory.display()) }
        }
        wire::Preview::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_not_classified_can_be_everything_declared() {
        let spec = wire::ToolSpec {
            name: "file".to_owned(),
            risk: wire::Risk::Write,
            operations: vec![
                wire::OperationSpec::new("create", ""),
                wire::OperationSpec::new("delete", "").risk(wire::Risk::Destructive),
            ],
            ..wire::ToolSpec::default()
        };
        let names = |spec: &wire::ToolSpec| -> Vec<_> {
            let operations = declared(&tool_spec("p", spec)).operations;
            operations.into_iter().map(|operation| (operation.name, operation.risk)).collect()
        };
        assert_eq!(
            names(&spec),
            [
                ("create".to_owned(), protocol::Risk::Write),
                ("delete".to_owned(), protocol::Risk::Destructive)
            ]
        );
        let plain = wire::ToolSpec { operations: Vec::new(), ..spec };
        assert_eq!(names(&plain), [("file".to_owned(), protocol::Risk::Write)]);
    }

    #[test]
    fn an_operation_without_risk_has_the_declared_one() {
        let spec = wire::ToolSpec {
            risk: wire::Risk::Execute,
            operations: vec![wire::OperationSpec::new("delete", "").risk(wire::Risk::Destructive)],
            ..wire::ToolSpec::default()
        };
        let mut found = wire::Classification::operation("delete");
        found.operations.push(wire::Operation { name: "other".to_owned(), ..wire::Operation::default() });
        let risks: Vec<_> = classification(found, &tool_spec("p", &spec))
            .operations
            .into_iter()
            .map(|operation| operation.risk)
            .collect();
        assert_eq!(risks, [protocol::Risk::Destructive, protocol::Risk::Execute]);
    }

    #[test]
    fn a_reason_is_never_empty() {
        let found = outcome(wire::Reply::error(wire::ReplyKind::Panicked, ""));
        assert_eq!(found, failure(OutcomeKind::Failed, "the tool gave no reason".to_owned()));
    }

    #[test]
    fn durations() {
        assert_eq!(
            [250, 1_500, 120_000].map(|ms| duration(Duration::from_millis(ms))),
            ["250 ms", "1.5 s", "120 s"]
        );
    }
}
