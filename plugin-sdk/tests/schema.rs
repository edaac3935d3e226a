//! What a model is shown: the schema of an author's type, flat and without noise.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a failure is reported by a panic")]

use std::collections::BTreeMap;

use foehn_plugin_sdk::Plugin;
use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::serde::de::DeserializeOwned;
use foehn_plugin_sdk::serde_json::{self, json};
use foehn_plugin_sdk::wire::{CallHead, LogLevel, Manifest, Reply, ReplyKind};
use foehn_plugin_testkit::{accepted, assert_contract};

struct Edit;

/// What to change.
#[args]
#[allow(dead_code)]
struct EditArgs {
    /// File to change.
    path: String,
    /// Changes, in order.
    #[schemars(length(min = 1))]
    edits: Vec<Change>,
    /// How to look for the old text.
    #[serde(default)]
    mode: Mode,
    /// Most changes to make.
    limit: Option<u8>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// One change.
#[args]
#[allow(dead_code)]
struct Change {
    /// Text to find.
    old: String,
    /// Text to put there.
    new: String,
}

#[args]
#[derive(Default)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Exact,
    IgnoreBlanks,
}

#[config]
#[derive(Default)]
struct EditConfig {
    /// Keep a copy of each file.
    backup: bool,
}

impl Tool for Edit {
    const NAME: &'static str = "edit";
    const DESCRIPTION: &'static str = "Change a file.";
    type Args = EditArgs;
    type Out = String;
    type Config = EditConfig;

    fn run(&self, args: EditArgs, cx: &Cx<'_, EditConfig>) -> Result<String> {
        Ok(format!("{args:?} {}", cx.config().backup))
    }
}

#[test]
fn schemas_are_flat_and_closed() {
    let manifest = Plugin::new("foehn-plugin-edit", "1.0.0", "").tool(Edit).manifest();
    let text = |description: &str| json!({"type": "string", "description": description});
    let change = json!({
        "type": "object",
        "description": "One change.",
        "properties": {"old": text("Text to find."), "new": text("Text to put there.")},
        "required": ["old", "new"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "path": text("File to change."),
            "edits": {"type": "array", "description": "Changes, in order.", "minItems": 1, "items": change},
            "mode": {
                "type": "string",
                "description": "How to look for the old text.",
                "enum": ["exact", "ignore_blanks"],
            },
            "limit": {
                "type": ["integer", "null"],
                "description": "Most changes to make.",
                "minimum": 0,
                "maximum": 255,
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
        },
        "required": ["path", "edits"],
        "additionalProperties": false,
    });
    assert_eq!(manifest.tools[0].schema, expected);
    let expected = json!({
        "type": "object",
        "properties": {
            "backup": {"type": "boolean", "description": "Keep a copy of each file.", "default": false},
        },
        "additionalProperties": false,
    });
    assert_eq!(manifest.tools[0].config_schema, Some(expected));
}

struct Switch;

#[args]
#[allow(dead_code)]
#[serde(tag = "do", rename_all = "snake_case")]
enum SwitchArgs {
    /// Turn it on.
    On {
        /// How bright.
        level: u8,
    },
    Off,
}

impl Tool for Switch {
    const NAME: &'static str = "switch";
    const DESCRIPTION: &'static str = "Switch the light on or off.";
    const RISK: Risk = Risk::Write;
    type Args = SwitchArgs;
    type Out = ();
    type Config = ();

    fn run(&self, _: SwitchArgs, _: &Cx<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn an_enum_is_an_object_as_well() {
    let plugin = Plugin::new("foehn-plugin-switch", "1.0.0", "").tool(Switch);
    assert_contract!(plugin);
    assert_eq!(plugin.manifest().tools[0].schema["type"], "object");
    assert_eq!(accepted(&plugin, "switch", r#"{"do":"off"}"#), Ok(json!({"do": "off"})));
    assert!(accepted(&plugin, "switch", r#"{"do":"off","level":1}"#).is_err());
}

struct Book;

#[args]
struct BookArgs {
    /// When it begins.
    #[serde(alias = "from")]
    #[schemars(length(max = 5))]
    start: String,
    #[serde(default, alias = "duration", alias = "length")]
    minutes: u16,
    place: Place,
}

#[args]
#[allow(dead_code)]
#[serde(rename_all = "snake_case")]
enum Place {
    Room {
        #[serde(alias = "id")]
        number: u8,
    },
    #[serde(alias = "virtual")]
    Online,
}

impl Tool for Book {
    const NAME: &'static str = "book";
    const DESCRIPTION: &'static str = "Book a room.";
    type Args = BookArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: BookArgs, _: &Cx<'_>) -> Result<String> {
        Ok(format!("{} {} {:?}", args.start, args.minutes, args.place))
    }
}

#[test]
fn old_names_of_fields_are_in_the_schema() {
    let plugin = Plugin::new("foehn-plugin-book", "1.0.0", "").tool(Book);
    let schema = &plugin.manifest().tools[0].schema;
    let aliases = |pointer: &str| schema.pointer(pointer).map(|property| property["x-foehn-aliases"].clone());
    assert_eq!(aliases("/properties/start"), Some(json!(["from"])));
    assert_eq!(aliases("/properties/minutes"), Some(json!(["duration", "length"])));
    assert_eq!(aliases("/properties/place"), Some(json!(null)));
    let forms = schema["properties"]["place"]["oneOf"].to_string();
    assert_eq!(forms.matches("x-foehn-aliases").count(), 1, "{forms}");
    assert_eq!(
        accepted(&plugin, "book", r#"{"from":"09:30","length":5,"place":{"room":{"id":7}}}"#),
        Ok(json!({"start": "09:30", "minutes": 5, "place": {"room": {"number": 7}}})),
    );
}

#[track_caller]
fn check_reads<T: DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str, expected: T) {
    assert_eq!(serde_json::from_str::<T>(text).unwrap(), expected);
}

#[test]
fn what_a_newer_side_says_is_understood_carefully() {
    check_reads(r#"{"plugin":"a","surprise":1}"#, Manifest { plugin: "a".to_owned(), ..Manifest::default() });
    check_reads(r#""cosmic""#, Risk::Undefined);
    check_reads(r#""read_only""#, Risk::ReadOnly);
    check_reads(r#""append""#, FileAccess::Unknown);
    check_reads(r#""some""#, Network::Unknown);
    check_reads(r#""hourly""#, ContextKind::Dynamic);
    check_reads(r#""chatty""#, LogLevel::Info);
    check_reads(r#""trace""#, LogLevel::Trace);
    check_reads(r#""postponed""#, ReplyKind::Unknown);
    check_reads(r#"{"type":"video","data":"x"}"#, Part::Unknown);
    check_reads(r#"{"type":"table","rows":[]}"#, Preview::Unknown);
    check_reads("{}", CallHead::default());
    check_reads("{}", Reply::default());
}

#[test]
fn risks_are_ordered_and_the_undeclared_one_is_the_worst() {
    let all = [Risk::ReadOnly, Risk::Write, Risk::Execute, Risk::Destructive];
    assert!(all.is_sorted());
    assert_eq!(Risk::default().effective(), Risk::Destructive);
}
