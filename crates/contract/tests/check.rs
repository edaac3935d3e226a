//! What is accepted, and what a model reads when it is not.

use std::sync::Arc;

use foehn_contract::{Coercion, Contract};
use foehn_protocol::{Risk, ToolSpec};
use serde_json::{Value, json};

fn contract(schema: Value) -> Contract {
    Contract::new(Arc::new(ToolSpec {
        name: "tool".to_owned(),
        plugin: "plugin".to_owned(),
        description: "A tool.".to_owned(),
        risk: Risk::ReadOnly,
        schema,
        ..ToolSpec::default()
    }))
}

/// One line per note or problem; `=` shows what will run.
fn outcome(schema: &Value, raw: &str, coercion: Coercion) -> String {
    match contract(schema.clone()).check(raw, coercion) {
        Ok(accepted) => {
            let mut lines = vec![format!("= {}", accepted.arguments)];
            lines.extend(accepted.notes.iter().map(|note| format!("  note {note}")));
            lines.join("\n")
        }
        Err(problems) => {
            let line = |problem: foehn_protocol::Problem| {
                let mut line = format!("! {} {}", problem.path, problem.code).replacen("!  ", "! ", 1);
                for (name, text) in
                    [("expected", problem.expected), ("got", problem.got), ("hint", problem.suggestion)]
                {
                    if let Some(text) = text {
                        line.push_str(&format!(" | {name}: {text}"));
                    }
                }
                line
            };
            problems.into_iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

fn check(schema: &Value, rows: &[(&str, &str)]) {
    check_with(schema, Coercion::Lenient, rows);
}

fn check_with(schema: &Value, coercion: Coercion, rows: &[(&str, &str)]) {
    for (raw, expected) in rows {
        assert_eq!(outcome(schema, raw, coercion), *expected, "{raw}");
    }
}

fn file_read() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Args",
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "offset": {"type": "integer", "format": "uint32", "minimum": 0},
            "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 1, "maximum": 1000},
            "filter": {"$ref": "#/$defs/Filter"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "mode": {"type": "string", "enum": ["Text", "hex"]},
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {"word": {"type": "string"}, "k": {"type": "integer"}},
                "additionalProperties": false,
            },
        },
    })
}

#[test]
fn no_arguments_at_all() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(
        &schema,
        &[
            ("", "= {}"),
            ("  \n", "= {}"),
            ("null", "= {}"),
            ("\"null\"", "= {}"),
            ("\"\"", "= {}"),
            ("{}", "= {}"),
        ],
    );
    check(&file_read(), &[("", "! /path missing_argument | expected: string")]);
}

#[test]
fn what_is_not_json() {
    check(
        &file_read(),
        &[
            (
                r##"{"path":"r.md","content":"# T\nabc"##,
                "! cut_off | expected: a complete JSON object | got: EOF while parsing a string at line 1 column 34 | hint: send the content in smaller pieces",
            ),
            ("{path: 1}", "! not_json | expected: one JSON object | got: key must be a string at line 1 column 2"),
            (r#"{"path":"a"} {"path":"b"}"#, "! not_json | expected: one JSON object | got: trailing characters at line 1 column 14"),
            ("[]", "! wrong_type | expected: object | got: [] | hint: "),
            ("7", "! wrong_type | expected: object | got: 7"),
        ]
        .map(|(raw, expected)| (raw, expected.trim_end_matches(" | hint: "))),
    );
}

#[test]
fn null_for_what_was_left_out() {
    check(
        &file_read(),
        &[
            (
                r#"{"path":"a.txt","offset":null,"limit":null}"#,
                "= {\"path\":\"a.txt\",\"limit\":null}\n  note `/offset`: null was taken as left out",
            ),
            (
                r#"{"path":"a.txt","filter":{"word":null,"k":1}}"#,
                "= {\"path\":\"a.txt\",\"filter\":{\"k\":1}}\n  note `/filter/word`: null was taken as left out",
            ),
            (r#"{"path":null}"#, "! /path wrong_type | expected: string | got: null"),
        ],
    );
    check_with(
        &file_read(),
        Coercion::Strict,
        &[(r#"{"path":"a.txt","offset":null}"#, "! /offset wrong_type | expected: integer | got: null")],
    );
}

#[test]
fn a_key_given_twice() {
    check(
        &file_read(),
        &[
            (
                r#"{"path":"tmp/x","path":"src/main.rs"}"#,
                "! /path duplicate_argument | expected: each argument once | hint: keep the one that is meant",
            ),
            (
                r#"{"path":"a","filter":{"k":1,"\u006b":2}}"#,
                "! /filter/k duplicate_argument | expected: each argument once | hint: keep the one that is meant",
            ),
        ],
    );
}

#[test]
fn unknown_and_misspelt_keys_with_all_other_problems() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "old": {"type": "string"}, "new": {"type": "string"},
            "replace_all": {"type": "boolean"},
        },
        "required": ["path", "old", "new"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &[
            (
                r#"{"path":"a","old":"x","new":"y","replaceAll":true}"#,
                "! /replaceAll unknown_argument | expected: only `path`, `old`, `new`, `replace_all` | got: `replaceAll` | hint: did you mean `replace_all`?",
            ),
            (
                r#"{"Path":7,"old":["x"],"verbose":1}"#,
                "! /Path unknown_argument | expected: only `path`, `old`, `new`, `replace_all` | got: `Path` | hint: did you mean `path`?\n\
                 ! /new missing_argument | expected: string\n\
                 ! /old wrong_type | expected: string | got: [\"x\"]\n\
                 ! /path missing_argument | expected: string\n\
                 ! /verbose unknown_argument | expected: only `path`, `old`, `new`, `replace_all` | got: `verbose`",
            ),
        ],
    );
    let open = json!({"type": "object", "properties": {}});
    check(&open, &[(r#"{"anything":1}"#, r#"= {"anything":1}"#)]);
}

#[test]
fn structures_given_as_text() {
    check(
        &file_read(),
        &[
            (
                r#"{"path":"a","paths":"[\"a.txt\",\"b.txt\"]"}"#,
                "= {\"path\":\"a\",\"paths\":[\"a.txt\",\"b.txt\"]}\n  note `/paths`: JSON text was read as an array",
            ),
            (
                r#"{"path":"a","filter":"{\"k\":\"1\"}"}"#,
                "= {\"path\":\"a\",\"filter\":{\"k\":1}}\n  note `/filter`: JSON text was read as an object\n  note `/filter/k`: text was read as an integer",
            ),
            (
                r#"{"path":"a","paths":"a.txt"}"#,
                "! /paths wrong_type | expected: array | got: \"a.txt\" | hint: write the JSON value itself, not text in quotes",
            ),
            (r#"{"path":"[\"x\"]"}"#, r#"= {"path":"[\"x\"]"}"#),
            (
                r#""{\"path\":\"a\"}""#,
                "= {\"path\":\"a\"}\n  note the arguments: JSON text was read as an object",
            ),
        ],
    );
    check_with(
        &file_read(),
        Coercion::Strict,
        &[(
            r#"{"path":"a","paths":"[]"}"#,
            "! /paths wrong_type | expected: array | got: \"[]\" | hint: write the JSON value itself, not text in quotes",
        )],
    );
}

#[test]
fn integers_keep_every_digit() {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}, "small": {"type": "integer", "format": "uint8", "minimum": 0}, "ratio": {"type": "number"}},
    });
    check(
        &schema,
        &[
            (r#"{"id":7301994455012233447}"#, r#"= {"id":7301994455012233447}"#),
            (r#"{"id":9007199254740995}"#, r#"= {"id":9007199254740995}"#),
            (r#"{"id":18446744073709551615}"#, r#"= {"id":18446744073709551615}"#),
            (
                r#"{"id":"4611686018427387905"}"#,
                "= {\"id\":4611686018427387905}\n  note `/id`: text was read as an integer",
            ),
            (r#"{"id":10.0}"#, "= {\"id\":10}\n  note `/id`: 10.0 was read as the integer 10"),
            (r#"{"id":1e3}"#, "= {\"id\":1000}\n  note `/id`: 1000.0 was read as the integer 1000"),
            (r#"{"id":10.5}"#, "! /id wrong_type | expected: integer | got: 10.5"),
            (
                r#"{"id":18446744073709551616}"#,
                "! /id out_of_range | expected: an integer from -9223372036854775808 to 18446744073709551615 | got: 1.8446744073709552e+19",
            ),
            (r#"{"small":256}"#, "! /small out_of_range | expected: an integer from 0 to 255 | got: 256"),
            (r#"{"small":255,"ratio":0.1}"#, r#"= {"small":255,"ratio":0.1}"#),
            (r#"{"ratio":10.0}"#, r#"= {"ratio":10.0}"#),
            (
                r#"{"ratio":1e400}"#,
                "! not_json | expected: one JSON object | got: number out of range at line 1 column 14",
            ),
        ],
    );
}

#[test]
fn limits_formats_and_lists() {
    check(
        &file_read(),
        &[
            (
                r#"{"path":"","limit":0}"#,
                "! /limit out_of_range | expected: at least 1 | got: 0\n! /path bad_length | expected: at least 1 characters | got: \"\"",
            ),
            (
                r#"{"path":"a","mode":"text"}"#,
                "= {\"path\":\"a\",\"mode\":\"Text\"}\n  note `/mode`: the listed value in its own case was used",
            ),
            (
                r#"{"path":"a","mode":"texts"}"#,
                "! /mode not_in_enum | expected: one of \"Text\", \"hex\" | got: \"texts\" | hint: did you mean `Text`?",
            ),
        ],
    );
    let long = format!(r#"{{"path":["{}"]}}"#, "ä".repeat(200));
    let shown = format!("! /path wrong_type | expected: string | got: [\"{}...", "ä".repeat(78));
    check(&file_read(), &[(&long, &shown)]);
}

#[test]
fn forms_with_a_tag() {
    let schema = json!({
        "type": "object",
        "properties": {"edit": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "insert"}, "line": {"type": "integer"}}, "required": ["kind", "line"], "additionalProperties": false},
            {"type": "object", "properties": {"kind": {"const": "delete"}}, "required": ["kind"], "additionalProperties": false},
        ]}, "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]}},
        "additionalProperties": false,
        "$defs": {"Filter": {"type": "object", "properties": {"size": {"enum": ["small", "large"]}}, "additionalProperties": false}},
    });
    check(
        &schema,
        &[
            (
                r#"{"edit":{"kind":"insert","line":"3"}}"#,
                "= {\"edit\":{\"kind\":\"insert\",\"line\":3}}\n  note `/edit/line`: text was read as an integer",
            ),
            (r#"{"edit":{"kind":"insert"}}"#, "! /edit/line missing_argument | expected: integer"),
            (
                r#"{"edit":{"kind":"inser"}}"#,
                "! /edit/kind not_in_enum | expected: one of \"insert\", \"delete\" | got: \"inser\" | hint: did you mean `insert`?",
            ),
            (
                r#"{"filter":{"size":"lage"}}"#,
                "! /filter/size not_in_enum | expected: one of \"small\", \"large\" | got: \"lage\" | hint: did you mean `large`?",
            ),
            (r#"{"filter":null}"#, r#"= {"filter":null}"#),
            (
                r#"{"filter":[]}"#,
                "! /filter wrong_type | expected: one of the forms of the schema; none fits: value is not of type \"object\"; value is not of type \"null\" | got: []",
            ),
        ],
    );
}

#[test]
fn defaults_are_filled_in() {
    let schema = json!({
        "type": "object",
        "properties": {
            "recursive": {"type": "boolean", "default": true},
            "pattern": {"type": ["string", "null"], "default": null},
            "range": {"type": "object", "properties": {"from": {"type": "integer", "default": 1}}},
        },
    });
    check(
        &schema,
        &[
            ("", r#"= {"recursive":true}"#),
            (r#"{"range":{}}"#, r#"= {"range":{"from":1},"recursive":true}"#),
            (r#"{ "recursive": false }"#, r#"= { "recursive": false }"#),
        ],
    );
    let wrong = json!({"type": "object", "properties": {"n": {"type": "integer", "default": "many"}}});
    check(&wrong, &[("{}", "= {}")]);
}

#[test]
fn schemas_that_cannot_be_enforced() {
    let rows = [
        (
            json!({"type": "string"}),
            "tool `tool` asks for arguments that are not an object; its schema needs `\"type\": \"object\"`",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}),
            "tool `tool` has a schema that cannot be enforced: ",
        ),
        (json!(null), "fine"),
        (json!({"properties": {"a": {}}}), "fine"),
    ];
    for (schema, expected) in rows {
        let actual = contract(schema).usable().map_or_else(|error| error.to_string(), |()| "fine".to_owned());
        assert!(actual.starts_with(expected), "{actual}");
    }
    assert_eq!(contract(json!(null)).definition().parameters, json!({"type": "object", "properties": {}}));
}
