//! Arguments of every kind of wrong.

use foehn_contract::Coercion;
use serde_json::{Value, json};

use crate::{check, check_with, contract};

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
            (
                r#"{"path":null}"#,
                "! /path wrong_type | expected: string | got: null | hint: it needs a value",
            ),
        ],
    );
    check_with(
        &file_read(),
        Coercion::Strict,
        &[(
            r#"{"path":"a.txt","offset":null}"#,
            "! /offset wrong_type | expected: integer | got: null | hint: it needs a value",
        )],
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
                 ! /old wrong_type | expected: string | got: [\"x\"] | hint: send it as text, in quotes\n\
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
                "= {\"path\":\"a\",\"paths\":[\"a.txt\"]}\n  note `/paths`: one value was read as a list of one",
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
            (
                r#"{"id":10.0}"#,
                "= {\"id\":10}\n  note `/id`: a number without fraction was read as an integer",
            ),
            (
                r#"{"id":1e3}"#,
                "= {\"id\":1000}\n  note `/id`: a number without fraction was read as an integer",
            ),
            (
                r#"{"id":10.5}"#,
                "! /id wrong_type | expected: integer | got: 10.5 | hint: write a whole number, such as 6",
            ),
            (
                r#"{"id":18446744073709551616}"#,
                "! /id out_of_range | expected: an integer from -9223372036854775808 to 18446744073709551615 | got: 18446744073709551616",
            ),
            (r#"{"small":-1}"#, "! /small out_of_range | expected: an integer from 0 to 255 | got: -1"),
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
    let shown = format!(
        "! /path wrong_type | expected: string | got: [\"{}... | hint: send it as text, in quotes",
        "ä".repeat(78)
    );
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

#[test]
fn arguments_that_do_not_exist_at_any_depth() {
    let schema = json!({
        "type": "object",
        "properties": {
            "durationMinutes": {"type": "integer"},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}},
        },
        "additionalProperties": false,
        "$defs": {"Guest": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "additionalProperties": false,
        }},
    });
    check(
        &schema,
        &[
            (
                r#"{"DurationMinutes":30,"userId":"admin"}"#,
                "! /DurationMinutes unknown_argument | expected: only `durationMinutes`, `guests` | got: `DurationMinutes` | hint: did you mean `durationMinutes`?\n\
                 ! /userId unknown_argument | expected: only `durationMinutes`, `guests` | got: `userId`",
            ),
            (
                r#"{"guests":[{"name":"Ada"},{"Name":"Bob"}]}"#,
                "! /guests/1/Name unknown_argument | expected: only `name` | got: `Name` | hint: did you mean `name`?",
            ),
            (
                r#"{"guests":[{"name":"Ada","name":"Bob"}]}"#,
                "! /guests/0/name duplicate_argument | expected: each argument once | hint: keep the one that is meant",
            ),
            (
                r#"{"guests":"[{\"name\":\"Ada\",\"name\":\"Bob\"}]"}"#,
                "! /guests wrong_type | expected: array | got: \"[{\\\"name\\\":\\\"Ada\\\",\\\"name\\\":\\\"Bob\\\"}]\" | hint: write the JSON value itself, not text in quotes",
            ),
        ],
    );
}

#[test]
fn the_form_that_was_meant() {
    let schema = json!({
        "type": "object",
        "properties": {
            "tagged": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "move"}, "to": {"type": "string"}}, "required": ["kind", "to"], "additionalProperties": false},
                {"type": "object", "properties": {"kind": {"const": "resize"}, "by": {"type": "integer"}}, "required": ["kind", "by"], "additionalProperties": false},
            ]},
            "named": {"oneOf": [
                {"type": "object", "properties": {"Move": {"$ref": "#/$defs/Move"}}, "required": ["Move"], "additionalProperties": false},
                {"type": "object", "properties": {"Resize": {"type": "integer"}}, "required": ["Resize"], "additionalProperties": false},
                {"type": "string", "enum": ["Close"]},
            ]},
        },
        "$defs": {"Move": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"], "additionalProperties": false}},
    });
    check(
        &schema,
        &[
            (
                r#"{"tagged":{"kind":"resize","by":"3","to":"left"}}"#,
                "! /tagged/to unknown_argument | expected: only `kind`, `by` | got: `to`",
            ),
            (
                r#"{"tagged":{"to":"left"}}"#,
                "! /tagged/kind missing_argument | expected: one of \"move\", \"resize\"",
            ),
            (r#"{"tagged":{}}"#, "! /tagged/kind missing_argument | expected: one of \"move\", \"resize\""),
            (
                r#"{"named":{"Resize":"3"}}"#,
                "= {\"named\":{\"Resize\":3}}\n  note `/named/Resize`: text was read as an integer",
            ),
            (
                r#"{"named":{"Move":{"too":"left"}}}"#,
                "! /named/Move/to missing_argument | expected: string\n\
                 ! /named/Move/too unknown_argument | expected: only `to` | got: `too` | hint: did you mean `to`?",
            ),
            (
                r#"{"named":"close"}"#,
                "= {\"named\":\"Close\"}\n  note `/named`: the listed value in its own case was used",
            ),
        ],
    );
}

#[test]
fn numbers_as_text_keep_every_digit() {
    let schema = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "codes": {"type": "array", "items": {"type": "string"}},
            "either": {"type": ["string", "number"]},
            "day": {"type": "string", "format": "date"},
        },
    });
    let as_text = |value: &str, place: &str| {
        format!("= {value}\n  note `{place}`: a number was read as text, digit by digit")
    };
    check(
        &schema,
        &[
            (r#"{"code":18446744073709551616}"#, &as_text(r#"{"code":"18446744073709551616"}"#, "/code")),
            (r#"{"code":-0.10e+2}"#, &as_text(r#"{"code":"-0.10e+2"}"#, "/code")),
            (
                r#"{"codes":["a",7301994455012233447]}"#,
                &as_text(r#"{"codes":["a","7301994455012233447"]}"#, "/codes/1"),
            ),
            // Text that was read as JSON has lost how the number was written.
            (
                r#"{"codes":"[1.50]"}"#,
                "! /codes/0 wrong_type | expected: string | got: 1.5 | hint: send it as text, in quotes",
            ),
            (r#"{"either":1.50}"#, r#"= {"either":1.50}"#),
            (
                r#"{"day":2026}"#,
                "! /day wrong_type | expected: string | got: 2026 | hint: send it as text, in quotes",
            ),
        ],
    );
}

#[test]
fn what_can_mean_two_things() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
            "flag": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "list": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}]},
        },
    });
    check(
        &schema,
        &[
            (
                r#"{"count":"6"}"#,
                "! /count ambiguous | expected: one of the forms of the schema; none fits: value is not of type \"integer\"; value is not of type \"array\" | got: \"6\" | hint: it can mean 6 or [\"6\"]: write the one that is meant",
            ),
            (r#"{"flag":"1"}"#, "= {\"flag\":1}\n  note `/flag`: text was read as an integer"),
            (
                r#"{"list":"a"}"#,
                "! /list wrong_type | expected: one of the forms of the schema; none fits: value is not of type \"array\"; value is not of type \"array\" | got: \"a\"",
            ),
        ],
    );
}
