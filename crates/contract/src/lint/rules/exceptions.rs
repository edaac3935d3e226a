//! Rules about exceptions from rules. They are found where exceptions are applied, once all other findings are known.

use super::super::{EXCEPTION_UNUSED, EXCEPTION_WITHOUT_REASON, Found, Rule, Severity, Tool};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: EXCEPTION_UNUSED,
        severity: Severity::Warning,
        title: "An exception excuses something",
        reason: "An exception that outlived its cause hides the next finding of its kind.",
        bad: r#"{"lint_exceptions": [{"rule": "unbounded-text", "reason": "A note may have any length."}]}"#,
        good: r#"{"lint_exceptions": [{"rule": "unbounded-text", "at": "/note", "reason": "A note may have any length."}],
                 "schema": {"type": "object", "additionalProperties": false, "required": ["note"], "properties": {
                   "note": {"type": "string", "description": "Text to keep, as it is."}}}}"#,
        check: elsewhere,
    },
    Rule {
        id: EXCEPTION_WITHOUT_REASON,
        severity: Severity::Error,
        title: "An exception says why",
        reason: "Without its reason nobody can tell later whether it still holds; it excuses nothing.",
        bad: r#"{"lint_exceptions": [{"rule": "unbounded-text"}]}"#,
        good: "{}",
        check: elsewhere,
    },
];

fn elsewhere(_: &Tool<'_>, _: &mut Found) {}
