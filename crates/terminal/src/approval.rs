//! The question a person answers before a call runs, and what the answer means.
//!
//! The whole of what will run is shown, never a beginning of it: a dangerous tail must not fall off the screen. An
//! answer that is not clearly yes is no.

use std::fmt::Write as _;

use foehn_protocol::{Approval, Decision, Preview};
use serde_json::Value;

use crate::visible::visible;

/// The card, several lines, without the final prompt.
pub fn approval_card(approval: &Approval) -> String {
    let mut card = String::new();
    let operations: Vec<String> = approval
        .operations
        .iter()
        .map(|operation| match &operation.target {
            Some(target) => format!("{} `{target}`", operation.name),
            None => operation.name.clone(),
        })
        .collect();
    let _ = writeln!(
        card,
        "? the model wants to run `{}` ({}, plugin {}): {}",
        visible(&approval.tool),
        approval.risk.word(),
        visible(&approval.plugin),
        if operations.is_empty() {
            "no operation named".to_owned()
        } else {
            visible(&operations.join(", ")).into_owned()
        }
    );
    let body = match &approval.preview {
        Some(Preview::Text { text } | Preview::Diff { text } | Preview::Command { text }) => text.clone(),
        None => readable_arguments(&approval.arguments),
    };
    for line in body.lines() {
        let _ = writeln!(card, "  | {}", visible(line));
    }
    let (characters, lines) = (body.chars().count(), body.lines().count());
    if characters > LONG || lines > MANY {
        let _ = writeln!(card, "  ({characters} characters in {lines} lines)");
    }
    if visible(&body) != body {
        let _ =
            writeln!(card, "  ! it holds characters that do not show; they are written as \\u{{..}} above");
    }
    let _ = writeln!(card, "  asked because: {}", visible(&approval.rule));
    if let Some(scope) = &approval.always {
        let _ = writeln!(card, "  always covers: {}", visible(scope));
    }
    card
}

/// From here on the card states its length: what is longer can leave the screen before it is read.
const LONG: usize = 400;
const MANY: usize = 8;

/// One `key: value` a line, so that a long text argument is read as text and not as one escaped line.
fn readable_arguments(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else {
        return arguments.to_owned();
    };
    let mut lines = String::new();
    for (key, value) in &fields {
        match value {
            Value::String(text) if text.contains('\n') => {
                let _ = writeln!(lines, "{key}:");
                for line in text.split('\n') {
                    let _ = writeln!(lines, "    {line}");
                }
            }
            other => {
                let _ = writeln!(lines, "{key}: {other}");
            }
        }
    }
    lines
}

/// What a line typed at the question means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Decided(Decision),
    /// Neither yes nor no: ask again.
    Unclear,
}

/// `y`, `n` or `a` (or the whole word), in any case. `a` counts only where the card offered it.
pub fn parse_reply(line: &str, always_offered: bool) -> Reply {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Reply::Decided(Decision::Once),
        "n" | "no" => Reply::Decided(Decision::No),
        "a" | "always" if always_offered => Reply::Decided(Decision::Always),
        _ => Reply::Unclear,
    }
}

/// The line a person types behind.
pub(crate) fn reply_prompt(always_offered: bool) -> &'static str {
    if always_offered { "  [y]es once, [n]o, [a]lways: " } else { "  [y]es once, [n]o: " }
}

#[cfg(test)]
mod tests {
    use foehn_protocol::{ApprovalId, CallId, Operation, Risk};

    use super::*;

    fn approval(arguments: &str, preview: Option<Preview>) -> Approval {
        Approval {
            id: ApprovalId::from("a1"),
            call: CallId::from("c00000001"),
            tool: "run_shell".into(),
            plugin: "shell".into(),
            risk: Risk::Execute,
            operations: vec![Operation { name: "run".into(), risk: Risk::Execute, target: None }],
            arguments: arguments.into(),
            preview,
            rule: "risk: execute asks".into(),
            always: None,
        }
    }

    #[test]
    fn a_long_command_is_shown_to_its_end() {
        let command = format!("{}; rm -rf data", "true; ".repeat(500));
        let card = approval_card(&approval("{}", Some(Preview::Command { text: command.clone() })));
        assert!(card.contains("; rm -rf data\n"), "{card}");
        assert!(card.contains(&format!("({} characters in 1 lines)", command.len())), "{card}");
    }

    #[test]
    fn hidden_characters_are_written_out_and_pointed_at() {
        insta::assert_snapshot!(
            approval_card(&approval(r#"{"path":"a\u202etxt.exe","content":"one\ntwo"}"#, None)),
            @r#"
            ? the model wants to run `run_shell` (execute, plugin shell): run
              | path: "a\u{202e}txt.exe"
              | content:
              |     one
              |     two
              ! it holds characters that do not show; they are written as \u{..} above
              asked because: risk: execute asks
            "#
        );
    }

    #[test]
    fn only_a_clear_yes_is_yes() {
        for (line, always, expected) in [
            ("y\n", false, Reply::Decided(Decision::Once)),
            ("YES", false, Reply::Decided(Decision::Once)),
            ("n", true, Reply::Decided(Decision::No)),
            ("a", true, Reply::Decided(Decision::Always)),
            ("a", false, Reply::Unclear),
            ("", true, Reply::Unclear),
            ("yep", true, Reply::Unclear),
        ] {
            assert_eq!(parse_reply(line, always), expected, "{line:?}");
        }
    }
}
