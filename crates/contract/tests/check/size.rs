//! A megabyte of arguments is answered in few words. What is measured is the size of the answer; that the test ends
//! at all is the rest.

use foehn_contract::Coercion;
use serde_json::{Value, json};

use crate::contract;

const MEGABYTE: usize = 1 << 20;

/// The longest answer, all texts of all problems together.
const ANSWER_BYTES: usize = 21 * 1_000;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 10},
            "word": {"enum": ["low", "high"]},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "texts": {"type": "array", "items": {"type": "string"}},
            "open": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
            "form": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}}, "additionalProperties": false},
                {"type": "object", "properties": {"kind": {"const": "b"}}, "additionalProperties": false},
            ]},
        },
        "additionalProperties": false,
    })
}

fn repeated(part: &str, separator: &str) -> String {
    let count = MEGABYTE / (part.len() + separator.len());
    vec![part; count].join(separator)
}

fn keys(value: &str) -> String {
    let fields: Vec<String> = (0..MEGABYTE / 16).map(|index| format!("\"key{index:08}\":{value}")).collect();
    fields.join(",")
}

#[test]
fn problems_of_a_megabyte_are_few_and_short() {
    let rows = [
        ("a long text", format!(r#"{{"text":"{}"}}"#, "x".repeat(MEGABYTE))),
        ("a long word", format!(r#"{{"word":"{}"}}"#, "ä".repeat(MEGABYTE / 2))),
        (
            "deep arrays",
            format!(r#"{{"numbers":{}1{}}}"#, "[".repeat(MEGABYTE / 2), "]".repeat(MEGABYTE / 2)),
        ),
        (
            "arrays as text",
            format!(r#"{{"numbers":"{}1{}"}}"#, "[".repeat(MEGABYTE / 2), "]".repeat(MEGABYTE / 2)),
        ),
        ("wrong items", format!(r#"{{"numbers":[{}]}}"#, repeated("true", ","))),
        ("unknown keys", format!("{{{}}}", keys("1"))),
        ("unknown keys of a form", format!(r#"{{"form":{{{}}}}}"#, keys("1"))),
        ("one long key", format!(r#"{{"{}":1}}"#, "k".repeat(MEGABYTE))),
        (
            "a long key of much",
            format!(r#"{{"open":{{"{}":[{}]}}}}"#, "k".repeat(MEGABYTE / 2), repeated("true", ",")),
        ),
        ("equal keys", format!(r#"{{{}}}"#, repeated(r#""text":"""#, ","))),
        ("equal pairs of keys", format!("{{{},{}}}", keys("1"), keys("1"))),
        ("numbers for texts", format!(r#"{{"texts":[{}]}}"#, repeated("1.5", ","))),
        ("no JSON", "{".repeat(MEGABYTE)),
    ];
    let contract = contract(schema());
    for (name, raw) in rows {
        let problems = contract.check(&raw, Coercion::Lenient).unwrap_err();
        assert!(!problems.is_empty() && problems.len() <= 21, "{name}: {}", problems.len());
        let size = serde_json::to_string(&problems).unwrap().len();
        assert!(size <= ANSWER_BYTES, "{name}: {size} bytes");
    }
}

#[test]
fn notes_of_a_megabyte_are_few() {
    let contract = contract(schema());
    let accepted = contract
        .check(&format!(r#"{{"numbers":[{}]}}"#, repeated(r#""6""#, ",")), Coercion::Lenient)
        .unwrap();
    assert_eq!(accepted.notes.len(), 17);
    assert_eq!(accepted.notes[0], "`/numbers/0`: text was read as an integer");
    assert_eq!(accepted.notes[16], "262128 more arguments were read otherwise than written");
}
