//! What holds for every input.

use std::sync::Arc;

use foehn_contract::{Coercion, Contract};
use foehn_protocol::{Risk, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

fn contract() -> Contract {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 20},
            "count": {"type": "integer", "format": "uint16", "minimum": 0},
            "ratio": {"type": ["number", "null"]},
            "flag": {"type": "boolean", "default": false},
            "level": {"enum": ["Low", "high", 3]},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Node"}]},
        },
        "required": ["text"],
        "additionalProperties": false,
        "$defs": {"Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "default": 0},
                "below": {"$ref": "#/$defs/Node"},
            },
            "additionalProperties": false,
        }},
    });
    Contract::new(Arc::new(ToolSpec {
        name: "tool".to_owned(),
        plugin: "plugin".to_owned(),
        risk: Risk::ReadOnly,
        schema,
        ..ToolSpec::default()
    }))
}

/// Values that are often right, often nearly right, and sometimes anything.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..70_000_u32).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2_000..2_000_i32).prop_map(|whole| Value::from(f64::from(whole))),
        "[a-z]{0,8}".prop_map(Value::from),
        prop_oneof![
            Just("12"),
            Just("true"),
            Just("LOW"),
            Just("[{}]"),
            Just("{\"size\":\"4\"}"),
            Just("-1.5")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof![Just("name"), Just("size"), Just("below"), Just("other")],
                inner,
                0..4
            )
            .prop_map(|object| object.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn arguments() -> impl Strategy<Value = String> {
    let keys = prop_oneof![
        Just("text"),
        Just("count"),
        Just("ratio"),
        Just("flag"),
        Just("level"),
        Just("items"),
        Just("either"),
    ];
    prop::collection::btree_map(keys, value(), 0..6).prop_map(|mut object| {
        object.entry("text").or_insert_with(|| json!("here"));
        json!(object).to_string()
    })
}

proptest! {
    #[test]
    fn accepted_arguments_fit_the_schema_shown_and_are_stable(raw in arguments()) {
        let contract = contract();
        let validator = jsonschema::validator_for(&contract.definition().parameters).unwrap();
        if let Ok(accepted) = contract.check(&raw, Coercion::Lenient) {
            let value: Value = serde_json::from_str(&accepted.arguments).unwrap();
            prop_assert!(validator.is_valid(&value), "{value}");
            prop_assert_eq!(&value, &accepted.value);
            let again = contract.check(&accepted.arguments, Coercion::Lenient).unwrap();
            prop_assert_eq!(again.notes, Vec::<String>::new());
            prop_assert_eq!(again.arguments, accepted.arguments);
        }
    }

    #[test]
    fn strict_accepts_nothing_that_lenient_refuses(raw in arguments()) {
        let contract = contract();
        if let Ok(strict) = contract.check(&raw, Coercion::Strict) {
            prop_assert_eq!(contract.check(&raw, Coercion::Lenient), Ok(strict));
        }
    }

    #[test]
    fn no_text_panics(raw in any::<String>(), cut in 0..80_usize, whole in arguments()) {
        let contract = contract();
        let start: String = whole.chars().take(cut).collect();
        for text in [raw, start] {
            if let Err(problems) = contract.check(&text, Coercion::Lenient) {
                prop_assert!(!problems.is_empty());
            }
        }
    }
}
