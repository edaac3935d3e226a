//! Every kind of change of a contract, with what it means to those who rely on it.
#![allow(clippy::expect_used, reason = "a test fails by panicking, also in its helpers")]

use foehn_contract::change::changes;
use foehn_contract::snapshot::{Snapshot, SnapshotError};
use foehn_protocol::ToolSpec;
use serde_json::{Value, json};

/// The changes between two tools that differ in these fields, one a line.
#[track_caller]
fn of_tools(before: Value, after: Value) -> String {
    let snapshot = |fields: Value| {
        let mut tool = json!({
            "name": "read_note", "plugin": "notes", "description": "Read one note.", "risk": "write",
            "schema": {"type": "object"},
        });
        for (key, value) in fields.as_object().expect("fields of a tool") {
            tool[key] = value.clone();
        }
        let tool: ToolSpec = serde_json::from_value(tool).expect("a tool");
        Snapshot::of([&tool])
    };
    told(&snapshot(before), &snapshot(after))
}

fn told(before: &Snapshot, after: &Snapshot) -> String {
    let changes = changes(&before.tools, &after.tools);
    let lines: Vec<String> =
        changes.iter().map(|change| format!("{} {change}", change.class.word())).collect();
    lines.join("\n")
}

/// The changes between two schemas of the argument `x`, without the name of the tool.
#[track_caller]
fn of_argument(before: Value, after: Value) -> String {
    let schema = |argument: Value| json!({"schema": {"type": "object", "additionalProperties": false, "properties": {"x": argument}}});
    of_tools(schema(before), schema(after)).replace("`read_note` at ", "")
}

#[track_caller]
fn of_object(before: Value, after: Value) -> String {
    let schema = |mut object: Value| {
        object["type"] = "object".into();
        json!({ "schema": object })
    };
    of_tools(schema(before), schema(after)).replace("`read_note` at ", "")
}

#[test]
fn nothing_changed() {
    let schema = json!({"properties": {"a": {"oneOf": [{"type": "string"}, {"not": {"type": "object"}}]}}});
    assert_eq!(of_object(schema.clone(), schema), "");
}

#[test]
fn tools_come_go_and_are_renamed() {
    insta::assert_snapshot!(of_tools(json!({}), json!({"name": "get_note"})), @"
    breaking `read_note`: the tool is gone; who calls it is told that it does not exist
    safe `get_note`: the tool is new; nobody relied on it
    ");
    insta::assert_snapshot!(of_tools(json!({}), json!({"name": "get_note", "aliases": ["read_note"]})), @"safe `read_note`: renamed to `get_note`; the old name is an alias and still works");
    insta::assert_snapshot!(of_tools(json!({"aliases": ["a", "b"]}), json!({"name": "a", "aliases": ["read_note"]})), @"
    breaking `read_note`: the alias `b` is gone; sessions from before it was renamed still use it
    safe `read_note`: renamed to `a`; the old name is an alias and still works
    ");
    insta::assert_snapshot!(of_tools(json!({}), json!({"plugin": "papers"})), @"safe `read_note`: it moved from plugin `notes` to `papers`; nobody calls it by its plugin");
}

#[test]
fn what_a_tool_may_do_changes() {
    insta::assert_snapshot!(of_tools(json!({}), json!({"risk": "destructive"})), @"breaking `read_note`: its risk rose from write to destructive; what ran unasked may now be asked about or denied");
    insta::assert_snapshot!(of_tools(json!({}), json!({"risk": "read_only"})), @"breaking `read_note`: its risk fell from write to read-only; what was asked about may now run unasked");
    insta::assert_snapshot!(of_tools(json!({"risk": "undefined"}), json!({"risk": "destructive"})), @"");
    let capabilities =
        |files: &str, programs: bool| json!({"capabilities": {"files": files, "programs": programs}});
    insta::assert_snapshot!(of_tools(capabilities("write", false), capabilities("read", true)), @"
    breaking `read_note`: it may now touch more (`programs`); whoever trusted it did not agree to that
    safe `read_note`: it may now touch less (`files`)
    ");
    insta::assert_snapshot!(of_tools(json!({}), json!({"requires_caller": true})), @"breaking `read_note`: it now needs to know who calls; runs without a caller fail");
    let operations = |names: &[&str]| json!({"operations": names.iter().map(|name| json!({"name": name, "description": ""})).collect::<Vec<_>>()});
    insta::assert_snapshot!(of_tools(operations(&["read", "list"]), operations(&["read", "find"])), @"
    breaking `read_note`: the operation `list` is gone; permissions that name it match nothing
    safe `read_note`: the operation `find` is new; it is asked about where operations are listed
    ");
}

#[test]
fn arguments_come_go_and_are_renamed() {
    let keys = |keys: Value, required: &[&str]| json!({"additionalProperties": false, "properties": keys, "required": required});
    let text = json!({"type": "string"});
    insta::assert_snapshot!(of_object(keys(json!({"a": text}), &["a"]), keys(json!({"b": text}), &["b"])), @"
    breaking `/a`: it is gone; calls that give it are refused
    breaking `/b`: it is new and required; calls without it are refused
    ");
    let renamed = json!({"b": {"type": "string", "x-foehn-aliases": ["a"]}});
    insta::assert_snapshot!(of_object(keys(json!({"a": text}), &["a"]), keys(renamed.clone(), &["b"])), @"safe `/a`: renamed to `b`; the old name is an alias and still works");
    insta::assert_snapshot!(of_object(keys(renamed, &[]), keys(json!({"b": text}), &[])), @"breaking `/b`: its alias `a` is gone; calls that use it are refused");
    insta::assert_snapshot!(of_object(keys(json!({"a": text}), &[]), keys(json!({"a": text}), &["a"])), @"breaking `/a`: it is required now; calls without it are refused");
    insta::assert_snapshot!(of_object(keys(json!({"a": text}), &["a"]), keys(json!({"a": text, "c": text}), &[])), @"
    safe `/a`: it may be left out now
    safe `/c`: it is new and may be left out
    ");
    insta::assert_snapshot!(of_object(json!({}), json!({"properties": {"a": text}})), @"breaking `/a`: it is new, and was accepted and ignored before, whatever it was");
    insta::assert_snapshot!(of_object(json!({}), keys(json!({}), &[])), @"breaking `read_note`: keys that are not declared are refused now");
}

#[test]
fn values_narrow_and_widen() {
    let narrower_and_back = |wide: Value, narrow: Value| {
        format!("{}\n{}", of_argument(wide.clone(), narrow.clone()), of_argument(narrow, wide))
    };
    insta::assert_snapshot!(narrower_and_back(json!({"type": ["string", "integer"]}), json!({"type": "string"})), @"
    breaking `/x`: it no longer takes whole numbers
    safe `/x`: it now also takes whole numbers
    ");
    insta::assert_snapshot!(narrower_and_back(json!({"type": ["string", "null"]}), json!({"type": "string"})), @"
    safe `/x`: it no longer takes null; that is read as left out
    safe `/x`: it now also takes null
    ");
    insta::assert_snapshot!(narrower_and_back(json!({"type": "number"}), json!({"type": "integer"})), @"
    breaking `/x`: it no longer takes numbers with a fraction
    safe `/x`: it now also takes numbers with a fraction
    ");
    insta::assert_snapshot!(narrower_and_back(json!({"type": "string"}), json!({"enum": ["a", "b"]})), @r#"
    breaking `/x`: only "a", "b" are accepted now
    safe `/x`: it is no longer limited to listed values
    "#);
    insta::assert_snapshot!(narrower_and_back(json!({"enum": ["a", "b"]}), json!({"const": "b"})), @r#"
    breaking `/x`: no longer accepted: "a"
    safe `/x`: now also accepted: "a"
    "#);
    insta::assert_snapshot!(narrower_and_back(
        json!({"type": "integer", "minimum": 1, "maximum": 10}), json!({"type": "integer", "minimum": 2, "maximum": 9})), @"
    breaking `/x`: `minimum` changed from 1 to 2; values that were accepted are refused
    breaking `/x`: `maximum` changed from 10 to 9; values that were accepted are refused
    safe `/x`: `minimum` changed from 2 to 1; more values are accepted
    safe `/x`: `maximum` changed from 9 to 10; more values are accepted
    ");
    insta::assert_snapshot!(narrower_and_back(json!({"type": "string"}), json!({"type": "string", "maxLength": 5, "pattern": "^a"})), @"
    breaking `/x`: `maxLength` changed from none to 5; values that were accepted are refused
    breaking `/x`: `pattern` changed; whether all values are still accepted cannot be told
    safe `/x`: `maxLength` changed from 5 to none; more values are accepted
    safe `/x`: `pattern` is gone; more values are accepted
    ");
    insta::assert_snapshot!(narrower_and_back(
        json!({"type": "integer", "format": "uint64"}), json!({"type": "integer", "format": "uint8"})), @"breaking `/x`: its integer type became smaller; values that were accepted are refused");
    insta::assert_snapshot!(narrower_and_back(json!({"type": "string"}), json!({"type": "string", "format": "date"})), @"
    breaking `/x`: it has to be of the format `date` now
    safe `/x`: it no longer has to be of a format
    ");
    insta::assert_snapshot!(narrower_and_back(
        json!({"type": "array", "items": {"type": ["string", "boolean"]}}), json!({"type": "array", "items": {"type": "string"}})), @"
    breaking `/x/*`: it no longer takes booleans
    safe `/x/*`: it now also takes booleans
    ");
    insta::assert_snapshot!(narrower_and_back(json!({}), json!({"type": "string"})), @"
    breaking `/x`: it no longer takes booleans
    breaking `/x`: it no longer takes whole numbers
    breaking `/x`: it no longer takes numbers with a fraction
    breaking `/x`: it no longer takes lists
    breaking `/x`: it no longer takes objects
    safe `/x`: it no longer takes null; that is read as left out
    safe `/x`: it now also takes booleans
    safe `/x`: it now also takes whole numbers
    safe `/x`: it now also takes numbers with a fraction
    safe `/x`: it now also takes lists
    safe `/x`: it now also takes objects
    safe `/x`: it now also takes null
    ");
}

#[test]
fn a_type_that_gets_smaller_within_its_bounds_is_the_same() {
    let bounded = |format: &str| json!({"type": "integer", "format": format, "minimum": 1, "maximum": 100});
    assert_eq!(of_argument(bounded("uint64"), bounded("uint8")), "");
}

#[test]
fn defaults_and_descriptions_change() {
    let of = |default: Value| json!({"type": "integer", "default": default});
    insta::assert_snapshot!(of_argument(of(json!(1)), of(json!(2))), @"breaking `/x`: its default changed from 1 to 2; calls that leave it out do something else");
    insta::assert_snapshot!(of_argument(of(json!(1)), of(json!(null))), @"breaking `/x`: its default 1 is gone; calls that leave it out may do something else");
    insta::assert_snapshot!(of_argument(of(json!(null)), of(json!(2))), @"safe `/x`: its default 2 is now stated");
    insta::assert_snapshot!(of_argument(json!({"description": "One."}), json!({"description": "Two."})), @"safe `/x`: its description changed; the same values are accepted");
}

#[test]
fn forms_are_told_apart_by_their_constants() {
    let form = |tag: &str, extra: &str| json!({"type": "object", "properties": {"do": {"const": tag}, extra: {"type": "string"}}, "required": ["do"], "additionalProperties": false});
    let of = |forms: &[Value]| json!({ "oneOf": forms });
    insta::assert_snapshot!(of_object(of(&[form("on", "a"), form("off", "b")]), of(&[form("off", "b"), form("on", "c"), form("dim", "d")])), @r#"
    breaking `/a`: it is gone; calls that give it are refused
    safe `/c`: it is new and may be left out
    safe `read_note`: the form with `do` = "dim" is new
    "#);
    insta::assert_snapshot!(of_object(of(&[form("on", "a"), form("off", "b")]), of(&[form("on", "a"), form("dim", "b")])), @r#"
    breaking `read_note`: the form with `do` = "off" is gone
    safe `read_note`: the form with `do` = "dim" is new
    "#);
    let vague = |extra: &str| json!({"type": "object", "properties": {extra: {"type": "string"}}});
    insta::assert_snapshot!(of_object(of(&[vague("a"), vague("b")]), of(&[vague("a"), vague("c")])), @"breaking `read_note`: its alternatives changed; whether all values are still accepted cannot be told");
}

#[test]
fn a_snapshot_is_text_that_comes_back() {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        schema: json!({"type": "object"}),
        ..ToolSpec::default()
    };
    let snapshot = Snapshot::of([&tool("b"), &tool("a")]);
    let text = snapshot.write().expect("text");
    insta::assert_snapshot!(text, @r#"
    {
      "version": 1,
      "tools": [
        {
          "name": "a",
          "plugin": "",
          "description": "",
          "risk": "undefined",
          "capabilities": {
            "files": "none",
            "network": "none",
            "programs": false,
            "secrets": false,
            "ask_user": false,
            "complete": false
          },
          "schema": {
            "type": "object"
          }
        },
        {
          "name": "b",
          "plugin": "",
          "description": "",
          "risk": "undefined",
          "capabilities": {
            "files": "none",
            "network": "none",
            "programs": false,
            "secrets": false,
            "ask_user": false,
            "complete": false
          },
          "schema": {
            "type": "object"
          }
        }
      ],
      "history": []
    }
    "#);
    assert_eq!(Snapshot::read(&text), Ok(snapshot));
}

#[test]
fn a_damaged_snapshot_is_told() {
    let check = |text: &str, expected: SnapshotError| assert_eq!(Snapshot::read(text), Err(expected));
    check("{\"version\": 2}", SnapshotError::Version { found: 2 });
    check("[]", SnapshotError::Damaged("it has no `version`".to_owned()));
    check(
        "{\"version\"",
        SnapshotError::Damaged("EOF while parsing an object at line 1 column 10".to_owned()),
    );
    check("{\"version\": 1}", SnapshotError::Damaged("missing field `tools`".to_owned()));
}
