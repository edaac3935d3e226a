//! The schema keywords of Foehn's own: what a plugin's author tells the host inside a schema, and no model is shown.
//!
//! They exist because a schema crosses the plugin boundary as it is, so that an old host passes over what it does not
//! know. This module only names them and takes them out; what they mean is said where they are used.

use serde_json::Value;

/// On a property: the names it had before, which still work.
pub const ALIASES: &str = "x-foehn-aliases";

/// Every keyword of ours.
pub const ALL: [&str; 1] = [ALIASES];

/// Keywords whose value maps names of the author's choice to schemas.
const NAMED_SCHEMAS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is data and no schema.
const DATA: [&str; 5] = ["const", "default", "enum", "examples", "required"];

/// Deeper ones stay as they are; no schema of a type is that deep.
const DEPTH: usize = 128;

/// Takes every keyword of ours out of a schema. A property that happens to have such a name stays.
pub(crate) fn strip(schema: &mut Value) {
    strip_below(schema, 0);
}

fn strip_below(schema: &mut Value, depth: usize) {
    match schema {
        Value::Object(node) => {
            ALL.iter().for_each(|keyword| drop(node.shift_remove(*keyword)));
            for (keyword, below) in node.iter_mut().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())) {
                if depth > DEPTH {
                    return;
                }
                match below {
                    Value::Object(named) if NAMED_SCHEMAS.contains(&keyword.as_str()) => {
                        named.values_mut().for_each(|schema| strip_below(schema, depth + 1));
                    }
                    below => strip_below(below, depth + 1),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| strip_below(schema, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_go_and_names_stay() {
        let mut schema = json!({
            "properties": {
                "x-foehn-aliases": {"type": "string"},
                "list": {"items": {"x-foehn-aliases": ["a"], "type": "string"}, "x-foehn-aliases": ["lst"]},
            },
            "$defs": {"A": {"oneOf": [{"properties": {"b": {"x-foehn-aliases": ["c"]}}}]}},
            "default": {"x-foehn-aliases": 1},
        });
        strip(&mut schema);
        assert_eq!(
            schema,
            json!({
                "properties": {
                    "x-foehn-aliases": {"type": "string"},
                    "list": {"items": {"type": "string"}},
                },
                "$defs": {"A": {"oneOf": [{"properties": {"b": {}}}]}},
                "default": {"x-foehn-aliases": 1},
            }),
        );
    }
}
