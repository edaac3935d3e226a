//! Whatever changes: without a breaking change, every call that was accepted still is.

use std::sync::Arc;

use foehn_contract::change::{Class, changes};
use foehn_contract::snapshot::Snapshot;
use foehn_contract::{Coercion, Contract};
use foehn_protocol::ToolSpec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Schemas of one value, of every kind that changes are told of.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0_i64..3, 3_i64..6)
            .prop_map(|(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})),
        prop_oneof![Just("uint8"), Just("int64"), Just("int8")]
            .prop_map(|format| json!({"type": "integer", "format": format})),
        Just(json!({"type": "number"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": ["string", "integer"]})),
        (0_usize..3, 0_usize..3)
            .prop_map(|(least, most)| json!({"type": "string", "minLength": least, "maxLength": most})),
        Just(json!({"type": "string", "pattern": "^a"})),
        Just(json!({"type": "boolean"})),
        proptest::sample::subsequence(vec!["a", "b", "ab"], 1..3)
            .prop_map(|options| json!({ "enum": options })),
        Just(json!({"anyOf": [{"const": "a"}, {"type": "integer", "minimum": 2}]})),
        Just(json!({"not": {"type": "string"}})),
        Just(json!({})),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), 0_usize..3)
                .prop_map(|(items, most)| json!({"type": "array", "items": items, "maxItems": most})),
            object(inner.clone()),
            (inner.clone(), inner).prop_map(|(one, other)| json!({ "oneOf": [
                {"type": "object", "properties": {"a": {"const": "a"}, "b": one}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"const": "b"}, "b": other}, "required": ["a"]},
            ]})),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let properties =
        proptest::collection::btree_map(prop_oneof![Just("a"), Just("b")], (value, any::<bool>()), 0..3);
    (properties, any::<bool>()).prop_map(|(properties, is_closed)| {
        let required: Vec<&str> =
            properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| *name).collect();
        let shown: Map<String, Value> =
            properties.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
        let mut object = json!({"type": "object", "properties": shown, "required": required});
        if is_closed {
            object["additionalProperties"] = json!(false);
        }
        object
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_i64..7).prop_map(Value::from),
        Just(json!(300)),
        Just(json!(1.5)),
        prop_oneof![Just(""), Just("a"), Just("b"), Just("ab"), Just("abc")].prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(prop_oneof![Just("a"), Just("b"), Just("c")], inner, 0..3)
                .prop_map(|map| map
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()),
        ]
    })
}

/// A tool with one argument of this schema.
fn tool(schema: &Value) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
    ToolSpec { name: "tool".to_owned(), schema, ..ToolSpec::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_called_safe_is_safe(
        before in schema(),
        after in schema(),
        values in proptest::collection::vec(value(), 20),
    ) {
        let (old, new) = (tool(&before), tool(&after));
        let (kept, now) = (Snapshot::of([&old]), Snapshot::of([&new]));
        let changes = changes(&kept.tools, &now.tools);
        if changes.iter().any(|change| change.class == Class::Breaking) {
            return Ok(());
        }
        let (old, new) = (Contract::new(Arc::new(old)), Contract::new(Arc::new(new)));
        for value in values {
            let call = json!({ "x": value }).to_string();
            let accepts = |contract: &Contract| contract.check(&call, Coercion::Lenient).is_ok();
            prop_assert!(!accepts(&old) || accepts(&new), "{call}: {changes:?}");
        }
    }

    #[test]
    fn nothing_changes_by_itself(schema in schema()) {
        let kept = Snapshot::of([&tool(&schema)]);
        prop_assert_eq!(changes(&kept.tools, &kept.tools), Vec::new());
    }
}
