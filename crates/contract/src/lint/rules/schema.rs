//! Rules about the schema as a whole: that it can be enforced, from what is in it.

use std::sync::Arc;

use serde_json::Value;

use super::super::{Found, Rule, Severity, Tool};
use crate::Contract;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "schema-not-enforceable",
        severity: Severity::Error,
        title: "The schema is valid and describes an object",
        reason: "What cannot be enforced is not offered: every call of the tool fails before it runs.",
        bad: r#"{"schema": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 80}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["titles"], "properties": {
                   "titles": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 80},
                              "description": "Which notes to read."}}}}"#,
        check: schema_not_enforceable,
    },
    Rule {
        id: "reference-remote",
        severity: Severity::Error,
        title: "Every reference stays in the schema",
        reason: "The host fetches nothing: what another server says tomorrow is no contract.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"$ref": "https://example.com/title.json", "description": "As it stands above the note."}}}}"#,
        good: r##"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"$ref": "#/$defs/title", "description": "As it stands above the note."}},
                   "$defs": {"title": {"type": "string", "maxLength": 80}}}}"##,
        check: reference_remote,
    },
];

fn schema_not_enforceable(tool: &Tool<'_>, found: &mut Found) {
    if references(tool.root).into_iter().any(is_remote) {
        return;
    }
    if let Err(error) = Contract::new(Arc::new(tool.spec.clone())).usable() {
        found.add("", error.to_string());
    }
}

fn reference_remote(tool: &Tool<'_>, found: &mut Found) {
    if let Some(remote) = references(tool.root).into_iter().find(|reference| is_remote(reference)) {
        found.add("", format!("the schema refers to `{remote}`; put that part into the schema"));
    }
}

fn is_remote(reference: &str) -> bool {
    !reference.starts_with('#')
}

/// Every `$ref` of a schema. A default or example that happens to hold such a key counts too, which harms nobody.
fn references(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(map) => {
            let own = ["$ref", "$dynamicRef"].into_iter().filter_map(|keyword| map.get(keyword)?.as_str());
            own.chain(map.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
