//! Examples are taken by the contract they were made from.

use std::sync::Arc;

use foehn_contract::example::{Extent, arguments};
use foehn_contract::{Coercion, Contract};
use foehn_protocol::ToolSpec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn contract(schema: &Value) -> Contract {
    Contract::new(Arc::new(ToolSpec {
        name: "tool".to_owned(),
        schema: schema.clone(),
        ..ToolSpec::default()
    }))
}

#[track_caller]
fn check(property: Value, expected: Value) {
    let schema = json!({"type": "object", "properties": {"it": property}, "required": ["it"]});
    let made = arguments(&schema, Extent::All);
    assert_eq!(made, json!({"it": expected}), "{schema}");
    let accepted = contract(&schema).check(&made.to_string(), Coercion::Strict);
    assert!(accepted.is_ok(), "{schema}: {accepted:?}");
}

#[test]
fn what_the_author_wrote_comes_first() {
    check(json!({"type": "string", "examples": ["birch", "oak"], "default": "elm"}), json!("birch"));
    check(json!({"type": "string", "default": "elm"}), json!("elm"));
    check(json!({"type": ["string", "null"], "default": null}), json!("text"));
    check(json!({"enum": ["Low", "High"]}), json!("Low"));
    check(json!({"const": 3}), json!(3));
    check(
        json!({"type": "array", "items": {"enum": ["A", "B"]}, "minItems": 3, "default": []}),
        json!(["A", "B", "A"]),
    );
}

#[test]
fn else_the_smallest_value_that_fits() {
    check(json!({"type": "string"}), json!("text"));
    check(json!({"type": "string", "maxLength": 2}), json!("te"));
    check(json!({"type": "string", "minLength": 6}), json!("textxx"));
    check(json!({"type": "string", "pattern": "^[a-z]{2,20}$", "minLength": 3}), json!("aaa"));
    check(json!({"type": "string", "format": "time"}), json!("09:30"));
    check(json!({"type": "integer"}), json!(1));
    check(json!({"type": "integer", "minimum": 15, "maximum": 480, "multipleOf": 10}), json!(20));
    check(json!({"type": "integer", "maximum": -3.5}), json!(-4));
    check(json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}), json!(2));
    check(json!({"type": "integer", "minimum": 18_446_744_073_709_551_615_u64}), json!(u64::MAX));
    check(json!({"type": "number", "minimum": 0, "maximum": 1}), json!(0.5));
    check(json!({"type": "number"}), json!(1));
    check(json!({"type": "boolean"}), json!(true));
    check(
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": true}),
        json!([1, 2]),
    );
    check(json!({"type": "array", "maxItems": 0}), json!([]));
    check(json!({}), json!("text"));
}

#[test]
fn references_parts_and_alternatives_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/Node"},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 7}]},
            "form": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "line"}, "to": {"type": "integer"}}, "required": ["kind", "to"]},
                {"type": "object", "properties": {"kind": {"const": "text"}}, "required": ["kind"]},
            ]},
            "both": {"allOf": [{"type": "string", "minLength": 1}, {"minLength": 6}]},
        },
        "required": ["tree"],
        "$defs": {"Node": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "below": {"$ref": "#/$defs/Node"}},
            "required": ["name"],
        }},
    });
    assert_eq!(arguments(&schema, Extent::Required), json!({"tree": {"name": "text"}}));
    let all = arguments(&schema, Extent::All);
    assert_eq!(
        all,
        json!({
            "tree": {"name": "text", "below": {"name": "text", "below": {"name": "text", "below": {"name": "text"}}}},
            "maybe": 7,
            "form": {"kind": "line", "to": 1},
            "both": "textxx",
        })
    );
    assert!(contract(&schema).check(&all.to_string(), Coercion::Strict).is_ok());
}

/// A schema of one value, as authors' types give them.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..12_u32, 0..12_u32).prop_map(
            |(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})
        ),
        prop_oneof![
            Just("date"),
            Just("time"),
            Just("date-time"),
            Just("duration"),
            Just("email"),
            Just("uri"),
            Just("uuid")
        ]
        .prop_map(|format| json!({"type": "string", "format": format})),
        prop_oneof![
            Just("^[a-z]{2,20}$"),
            Just(r"^\d{4}-\d{2}$"),
            Just("^(GET|POST)$"),
            Just("^#[0-9a-fA-F]{6}$"),
            Just(r"^[^\s/]+(/[^\s/]+)*$"),
        ]
        .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        (-500..500_i64, 0..500_i64)
            .prop_map(|(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})),
        (-500..500_i64, 1..40_i64)
            .prop_map(|(least, step)| json!({"type": "integer", "minimum": least, "multipleOf": step})),
        Just(json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255})),
        (-9.0..9.0_f64, 0.5..9.0_f64).prop_map(
            |(least, more)| json!({"type": "number", "exclusiveMinimum": least, "maximum": least + more})
        ),
        Just(json!({"type": "boolean", "default": false})),
        prop::collection::vec("[A-Za-z]{1,8}", 1..4).prop_map(|listed| json!({"enum": listed})),
        (0..9_u32).prop_map(|value| json!({"const": value})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|schema| json!({"anyOf": [schema, {"type": "null"}]})),
            (inner.clone(), 0..3_u32, 0..3_u32).prop_map(|(items, least, more)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})
            }),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z_]{1,6}", (inner, any::<bool>()), 0..5).prop_map(|properties| {
        let required: Vec<&String> =
            properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let schemas: Map<String, Value> =
            properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        json!({"type": "object", "properties": schemas, "required": required, "additionalProperties": false})
    })
}

#[test]
fn what_has_no_example_ends_all_the_same() {
    let check = |schema: Value| {
        let made = arguments(&schema, Extent::All).to_string();
        assert!(made.len() < 1_000_000, "{schema}");
        assert!(contract(&schema).check(&made, Coercion::Strict).is_err(), "{schema}");
    };
    let twice = json!({"l": {"$ref": "#"}, "r": {"$ref": "#"}});
    check(json!({"type": "object", "properties": twice, "required": ["l", "r"]}));
    check(json!({"type": "object", "allOf": [{"$ref": "#"}, {"$ref": "#"}], "required": 1}));
    check(json!({"type": "object", "properties": {"a": {"type": "array", "minItems": 1e12 as u64}}}));
    check(json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1e12 as u64}}}));
    check(json!({"type": "object", "properties": {"a": false}, "required": ["a"]}));
}

proptest! {
    #[test]
    fn every_example_is_accepted_as_it_stands(schema in object(schema())) {
        let contract = contract(&schema);
        for extent in [Extent::Required, Extent::All] {
            let made = arguments(&schema, extent);
            let accepted = contract.check(&made.to_string(), Coercion::Strict);
            prop_assert!(accepted.is_ok(), "{schema}\n{made}\n{accepted:?}");
            prop_assert_eq!(accepted.unwrap().notes, Vec::<String>::new());
        }
    }
}
