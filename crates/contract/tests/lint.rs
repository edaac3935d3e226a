//! Every rule of the lint on its own examples, and what exceptions do.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

use foehn_contract::lint::{Finding, lint, rules};
use foehn_protocol::ToolSpec;
use serde_json::{Value, json};

/// Tools as an example writes them: one or a list, with a sound tool's values for what it does not say.
#[track_caller]
fn tools(example: &str) -> Vec<ToolSpec> {
    let value: Value = serde_json::from_str(example).unwrap_or_else(|error| panic!("{error}: {example}"));
    let written = if let Value::Array(tools) = value { tools } else { vec![value] };
    let tool = |written: Value| {
        let mut tool = json!({
            "name": "read_note",
            "plugin": "notes",
            "description": "Read one stored note and answer with its text.",
            "risk": "read_only",
            "schema": {"type": "object", "additionalProperties": false, "properties": {}},
        });
        for (key, value) in written.as_object().expect("a tool is an object") {
            tool[key] = value.clone();
        }
        serde_json::from_value(tool).expect("a tool")
    };
    written.into_iter().map(tool).collect()
}

fn ids(example: &str) -> Vec<&'static str> {
    lint(&tools(example)).iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_bad_example_breaks_its_rule_and_no_other() {
    let found: Vec<_> = rules().iter().map(|rule| (rule.id, ids(rule.bad))).collect();
    let expected: Vec<_> = rules().iter().map(|rule| (rule.id, vec![rule.id])).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_good_example_breaks_no_rule() {
    let found: Vec<_> = rules().iter().map(|rule| (rule.id, lint(&tools(rule.good)))).collect();
    let expected: Vec<_> = rules().iter().map(|rule| (rule.id, Vec::new())).collect();
    assert_eq!(found, expected);
}

#[test]
fn ids_are_unique_and_in_kebab_case() {
    let mut known: Vec<&str> = rules().iter().map(|rule| rule.id).collect();
    let count = known.len();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), count);
    assert!(count >= 24, "{count} rules");
    for id in known {
        assert!(id.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'), "{id}");
    }
}

#[track_caller]
fn check(example: &str, expected: &[(&str, &str)]) {
    let found = lint(&tools(example));
    let found: Vec<(&str, &str)> =
        found.iter().map(|Finding { rule, at, .. }| (*rule, at.as_str())).collect();
    assert_eq!(found, expected, "{example}");
}

#[test]
fn arguments_are_found_at_every_depth() {
    let nested = r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["a/b"], "properties": {
        "a/b": {"type": "array", "maxItems": 3, "description": "Which notes to read.", "items": {
            "type": "object", "required": ["title"], "properties": {"title": {"type": ["string", "null"]}}}}}}}"#;
    check(
        nested,
        &[
            ("argument-name-invalid", "/a~1b"),
            ("unknown-arguments-accepted", "/a~1b/*"),
            ("argument-undescribed", "/a~1b/*/title"),
            ("unbounded-text", "/a~1b/*/title"),
        ],
    );
}

#[test]
fn an_exception_is_for_its_rule_and_place_alone() {
    let with = |exceptions: &str| {
        format!(
            r#"{{"lint_exceptions": {exceptions}, "schema": {{"type": "object", "additionalProperties": false,
                "required": ["title", "text"], "properties": {{
                "title": {{"type": "string", "description": "As it stands above the note."}},
                "text": {{"type": "string", "description": "What the note says."}}}}}}}}"#
        )
    };
    check(&with("[]"), &[("unbounded-text", "/title"), ("unbounded-text", "/text")]);
    check(&with(r#"[{"rule": "unbounded-text", "reason": "As long as paper."}]"#), &[]);
    check(
        &with(r#"[{"rule": "unbounded-text", "at": "/text", "reason": "As long as paper."}]"#),
        &[("unbounded-text", "/title")],
    );
    check(
        &with(r#"[{"rule": "unbounded-text", "reason": " "}]"#),
        &[("exception-without-reason", ""), ("unbounded-text", "/title"), ("unbounded-text", "/text")],
    );
    let misspelt = with(r#"[{"rule": "unbound-text", "reason": "As long as paper."}]"#);
    let found = lint(&tools(&misspelt));
    assert_eq!(
        found.first().map(|finding| finding.message.as_str()),
        Some(
            "there is no rule `unbound-text` to make an exception from; `foehn contract explain` lists them"
        )
    );
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    check(
        r##"{"schema": {"type": "object", "additionalProperties": false, "required": ["all"], "properties": {
            "all": {"type": "array", "maxItems": 3, "description": "Which notes to read.", "items": {"$ref": "#"}}}}}"##,
        &[("nesting-deep", "/all/*/all/*/all/*/all/*")],
    );
    check(r#"{"schema": true}"#, &[("unknown-arguments-accepted", "")]);
}

/// One required argument, and the rules that find something about it.
#[track_caller]
fn check_argument(name: &str, argument: Value, expected: &[&str]) {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": [name], "properties": {name: argument},
    });
    let found = ids(&json!({ "schema": schema }).to_string());
    assert_eq!(found, expected, "{name}");
}

fn text(description: &str) -> Value {
    json!({"type": "string", "maxLength": 80, "description": description})
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 600, "description": description})
}

#[test]
fn what_only_looks_alike_is_no_finding() {
    check_argument("target", text("One of the files that scan lists."), &[]);
    check_argument("target", text("Path of either a file or a folder."), &[]);
    check_argument("pattern", text("What to match, as in `foo|bar`."), &[]);
    check_argument("target", text("Path with an optional line number, such as `a.rs:7`."), &[]);
    check_argument("page_size", count("Where a page ends."), &[]);
    check_argument("max_length", count("Most characters to show."), &[]);
    check_argument("depth", count("How far down to look."), &[]);
    check_argument("distance", count("How far, in metres."), &[]);
    check_argument("next_token", text("What the list before ended with."), &[]);
    check_argument(
        "temperature",
        json!({"type": "number", "minimum": 0, "maximum": 2, "description": "How bold to be."}),
        &[],
    );
    check_argument("ignore_case", json!({"type": "boolean", "description": "Whether `A` matches `a`."}), &[]);
    for name in ["sha256_file", "utf8_check", "base64_encode", "list_deleted_notes", "find_remove_candidates"]
    {
        check(&format!(r#"{{"name": "{name}"}}"#), &[]);
    }
}

#[test]
fn what_looks_different_is_found_all_the_same() {
    check_argument("order", text("How to sort (newest|oldest)."), &["enum-in-words"]);
    check_argument("order", text("Allowed values: `newest` or `oldest`."), &["enum-in-words"]);
    check_argument("waitTime", count("Until it gives up."), &["unit-missing"]);
    check_argument("githubPassword", text("What opens the account."), &["secret-argument"]);
    check_argument("userName", text("Whose notes to read."), &["identity-argument"]);
    check_argument("title", text("(optional) What stands above the text."), &["required-contradicted"]);
    check(r#"{"name": "note_delete"}"#, &[("risk-understated", "")]);
    for name in ["tool1", "fn_2", "read_note_v3", "read_note_a1b2c3", "notes__read"] {
        check(&format!(r#"{{"name": "{name}"}}"#), &[("tool-name-generated", "")]);
    }
}
