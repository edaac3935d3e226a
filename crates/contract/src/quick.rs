//! Tells when arguments that the validator takes need no further look. Most calls are right at once, and for them to
//! walk schema and arguments side by side costs more than all other checks together.
//!
//! What that walk would change or refuse although the validator takes it is little: a number with a fraction of zero,
//! an integer outside of its Rust type, and an old name where the schema lets any name pass. Where one of these could
//! be, this module answers no; it never decides anything else.

use serde_json::Value;

use crate::keywords;
use crate::kinds::Range;

/// What a schema leaves to be looked at.
pub(crate) struct Quick {
    /// The integers that are in range whatever the place.
    safe: Range,
    /// Whether an old name can pass the validator.
    open_aliases: bool,
    /// Whether anything can be filled in.
    pub(crate) has_defaults: bool,
}

impl Quick {
    /// Of a schema with our own keywords still in it.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut quick = Self { safe: Range::ALL, open_aliases: false, has_defaults: false };
        quick.look(schema);
        quick
    }

    /// Whether arguments that are valid are fine as they stand.
    pub(crate) fn suffices(&self, valid: &Value) -> bool {
        !self.open_aliases && self.is_safe(valid)
    }

    fn is_safe(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => self.safe.contains(integer.into()),
                (_, Some(integer)) => self.safe.contains(integer.into()),
                _ => false,
            },
            Value::Array(items) => items.iter().all(|item| self.is_safe(item)),
            Value::Object(fields) => fields.values().all(|field| self.is_safe(field)),
            _ => true,
        }
    }

    /// Takes names and data for schemas, too: that can only make it say no more often.
    fn look(&mut self, schema: &Value) {
        match schema {
            Value::Object(node) => {
                if let Some(range) = Range::of_format(schema) {
                    self.safe = self.safe.and(range);
                }
                self.has_defaults |= node.contains_key("default");
                let renamed = |properties: &Value| {
                    properties.as_object().is_some_and(|properties| {
                        properties.values().any(|property| property.get(keywords::ALIASES).is_some())
                    })
                };
                if node.get("properties").is_some_and(renamed) {
                    self.open_aliases |= node.get("additionalProperties") != Some(&Value::Bool(false));
                }
                node.values().for_each(|below| self.look(below));
            }
            Value::Array(schemas) => schemas.iter().for_each(|below| self.look(below)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_needs_no_further_look() {
        let check = |schema: &Value, arguments: Value, expected: bool| {
            assert_eq!(Quick::of(schema).suffices(&arguments), expected, "{arguments}");
        };
        let plain = json!({"properties": {"a": {"type": "integer"}}});
        check(&plain, json!({"a": 18_446_744_073_709_551_615_u64, "b": ["x", null]}), true);
        check(&plain, json!({"a": 10.0}), false);
        let small = json!({"properties": {"a": {"items": {"type": "integer", "format": "int32"}}}});
        check(&small, json!({"a": [2_147_483_647]}), true);
        check(&small, json!({"a": [2_147_483_648_u32]}), false);
        let renamed = json!({"properties": {"a": {"x-foehn-aliases": ["b"]}}});
        check(&renamed, json!({}), false);
        let closed = json!({"properties": {"a": {"x-foehn-aliases": ["b"]}}, "additionalProperties": false});
        check(&closed, json!({}), true);
    }
}
