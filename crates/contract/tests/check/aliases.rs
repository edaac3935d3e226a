//! Arguments under a name they had before.

use foehn_contract::Coercion;
use serde_json::{Value, json};

use crate::{check, check_with, contract};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "start": {"type": "string", "x-foehn-aliases": ["from", "begin"]},
            "minutes": {"type": "integer", "x-foehn-aliases": ["duration"], "default": 30},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}},
            "what": {"oneOf": [
                {"type": "object", "properties": {"Talk": {"$ref": "#/$defs/Guest"}}, "required": ["Talk"], "additionalProperties": false},
                {"type": "object", "properties": {"Meal": {"type": "string", "x-foehn-aliases": ["dish"]}, "Seats": {"type": "integer"}}, "required": ["Meal"], "additionalProperties": false},
            ]},
        },
        "required": ["start"],
        "additionalProperties": false,
        "$defs": {"Guest": {
            "type": "object",
            "properties": {"name": {"type": "string", "x-foehn-aliases": ["who"]}},
            "required": ["name"],
            "additionalProperties": false,
        }},
    })
}

#[test]
fn an_old_name_still_works_and_is_told() {
    let rows = [
        (
            r#"{"from":"09:30"}"#,
            "= {\"start\":\"09:30\",\"minutes\":30}\n  note `/from`: this argument is now called `start`",
        ),
        (r#"{"start":"09:30","minutes":5}"#, r#"= {"start":"09:30","minutes":5}"#),
        (
            r#"{"begin":"09:30","duration":5,"guests":[{"who":"Ada"},{"name":"Bob"}]}"#,
            "= {\"start\":\"09:30\",\"minutes\":5,\"guests\":[{\"name\":\"Ada\"},{\"name\":\"Bob\"}]}\n  \
             note `/begin`: this argument is now called `start`\n  \
             note `/duration`: this argument is now called `minutes`\n  \
             note `/guests/0/who`: this argument is now called `name`",
        ),
        (
            r#"{"start":"09:30","minutes":1,"what":{"dish":"soup"}}"#,
            "= {\"start\":\"09:30\",\"minutes\":1,\"what\":{\"Meal\":\"soup\"}}\n  \
             note `/what/dish`: this argument is now called `Meal`",
        ),
        (
            r#"{"from":"09:30","start":"10:30"}"#,
            "! /from duplicate_argument | expected: `start` alone: `from` is its old name | hint: keep `start` with the value that is meant",
        ),
        (
            r#"{"from":"09:30","begin":"10:30"}"#,
            "! /begin duplicate_argument | expected: `start` alone: `begin` is its old name | hint: keep `start` with the value that is meant",
        ),
    ];
    check(&schema(), &rows);
    // A new name is a promise of the author, not a reading of what the model wrote.
    check_with(&schema(), Coercion::Strict, &rows);
    check(
        &schema(),
        &[(
            r#"{"from":"9:30","duration":"5"}"#,
            "= {\"start\":\"9:30\",\"minutes\":5}\n  \
             note `/from`: this argument is now called `start`\n  \
             note `/duration`: this argument is now called `minutes`\n  \
             note `/minutes`: text was read as an integer",
        )],
    );
    check(
        &schema(),
        &[(
            r#"{"start":"9:30","form":1}"#,
            "! /form unknown_argument | expected: only `start`, `minutes`, `guests`, `what` | got: `form`",
        )],
    );
}

#[test]
fn old_names_are_not_shown() {
    let shown = contract(schema()).definition().parameters.to_string();
    assert!(!shown.contains("x-foehn"), "{shown}");
    assert!(!shown.contains("begin"), "{shown}");
}

#[test]
fn a_name_that_two_arguments_had_is_unknown() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"x-foehn-aliases": ["old", "b"]}, "b": {"x-foehn-aliases": ["old"]},
        },
        "additionalProperties": false,
    });
    check(
        &schema,
        &[
            (r#"{"old":1}"#, "! /old unknown_argument | expected: only `a`, `b` | got: `old`"),
            (r#"{"b":1}"#, r#"= {"b":1}"#),
        ],
    );
}
