//! Arbitrary schemas and arguments. Whatever both are: nothing panics, what is accepted fits the schema that was
//! shown and is accepted again without a note, and strict accepts nothing that lenient refuses.

#![no_main]

use std::sync::Arc;

use foehn_contract::{Coercion, Contract};
use foehn_protocol::ToolSpec;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// Few names, so that schemas and arguments meet.
const NAMES: [&str; 5] = ["a", "b", "old", "kind", "x-foehn-aliases"];

#[derive(Arbitrary, Debug)]
struct Input {
    properties: Vec<(u8, Schema, bool)>,
    open: bool,
    /// Structured arguments, or a text as it comes.
    arguments: Result<Vec<(u8, Json)>, String>,
}

#[derive(Arbitrary, Debug)]
enum Schema {
    Any,
    Never,
    Kinds(Vec<u8>),
    Integer { least: i8, most: i8, format: u8 },
    Text { least: u8, format: u8, listed: Vec<String> },
    Digits,
    List(Box<Schema>, u8),
    Object { properties: Vec<(u8, Schema, bool)>, open: bool },
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
    AllOf(Vec<Schema>),
    Tagged(String, Box<Schema>),
    Renamed(u8, Box<Schema>),
    Default(Box<Schema>, Box<Json>),
    Root,
}

#[derive(Arbitrary, Debug)]
enum Json {
    Null,
    Flag(bool),
    Integer(i64),
    Unsigned(u64),
    Small(i8),
    Float(f64),
    Whole(i16),
    Text(String),
    Likely(u8),
    Quoted(Box<Json>),
    List(Vec<Json>),
    Object(Vec<(u8, Json)>),
}

const KINDS: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

const FORMATS: [&str; 10] =
    ["date", "time", "partial-time", "date-time", "duration", "email", "uri", "uuid", "int32", "uint8"];

const LIKELY: [&str; 9] = ["6", " 6 ", "true", "A", "9:30", "2026-1-5", "[\"a\"]", "{\"a\":\"1\"}", "1,2"];

fn of<T: Copy>(choices: &[T], index: u8) -> T {
    choices[usize::from(index) % choices.len()]
}

impl Schema {
    fn json(self) -> Value {
        let all = |schemas: Vec<Schema>| schemas.into_iter().map(Schema::json).collect::<Vec<_>>();
        match self {
            Self::Any => json!({}),
            Self::Never => json!(false),
            Self::Kinds(kinds) if kinds.is_empty() => json!(true),
            Self::Kinds(kinds) => {
                let mut names: Vec<&str> = kinds.into_iter().map(|kind| of(&KINDS, kind)).collect();
                names.sort_unstable();
                names.dedup();
                json!({"type": names})
            }
            Self::Integer { least, most, format } => {
                json!({"type": "integer", "minimum": least, "maximum": most, "format": of(&FORMATS, format)})
            }
            Self::Text { least, format, listed } if listed.is_empty() => {
                json!({"type": "string", "minLength": least % 4, "format": of(&FORMATS, format)})
            }
            Self::Text { listed, .. } => json!({"type": "string", "enum": listed}),
            Self::Digits => json!({"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}$"}),
            Self::List(item, most) => json!({"type": "array", "items": item.json(), "maxItems": most % 8}),
            Self::Object { properties, open } => object(properties, open),
            Self::AnyOf(schemas) if !schemas.is_empty() => json!({"anyOf": all(schemas)}),
            Self::OneOf(schemas) if !schemas.is_empty() => json!({"oneOf": all(schemas)}),
            Self::AllOf(schemas) if !schemas.is_empty() => json!({"allOf": all(schemas)}),
            Self::AnyOf(_) | Self::OneOf(_) | Self::AllOf(_) => json!({}),
            Self::Tagged(tag, below) => json!({
                "type": "object",
                "properties": {"kind": {"const": tag}, "a": below.json()},
                "required": ["kind"],
            }),
            Self::Renamed(old, below) => with(below.json(), "x-foehn-aliases", json!([of(&NAMES, old)])),
            Self::Default(below, default) => with(below.json(), "default", default.json()),
            Self::Root => json!({"$ref": "#"}),
        }
    }
}

impl Json {
    fn json(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Flag(flag) => json!(flag),
            Self::Integer(integer) => json!(integer),
            Self::Unsigned(integer) => json!(integer),
            Self::Small(integer) => json!(integer),
            Self::Float(float) => json!(float),
            Self::Whole(whole) => json!(f64::from(whole)),
            Self::Text(text) => json!(text),
            Self::Likely(text) => json!(of(&LIKELY, text)),
            Self::Quoted(below) => json!(below.json().to_string()),
            Self::List(items) => items.into_iter().map(Self::json).collect(),
            Self::Object(fields) => fields_of(fields),
        }
    }
}

fn fields_of(fields: Vec<(u8, Json)>) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (of(&NAMES, name).to_owned(), value.json()));
    Value::Object(fields.collect())
}

fn object(properties: Vec<(u8, Schema, bool)>, open: bool) -> Value {
    let mut required = Vec::new();
    let mut all = Map::new();
    for (name, schema, is_required) in properties {
        let name = of(&NAMES, name);
        if is_required && !required.contains(&name) {
            required.push(name);
        }
        all.insert(name.to_owned(), schema.json());
    }
    json!({"type": "object", "properties": all, "required": required, "additionalProperties": open})
}

fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    if let Value::Object(node) = &mut schema {
        node.insert(keyword.to_owned(), value);
    }
    schema
}

fuzz_target!(|input: Input| {
    let schema = object(input.properties, input.open);
    let spec = ToolSpec { name: "tool".to_owned(), schema, ..ToolSpec::default() };
    let contract = Contract::new(Arc::new(spec));
    if contract.usable().is_err() {
        return;
    }
    let raw = input.arguments.map_or_else(|text| text, |fields| fields_of(fields).to_string());
    let lenient = contract.check(&raw, Coercion::Lenient);
    if let Ok(strict) = contract.check(&raw, Coercion::Strict) {
        assert_eq!(lenient.as_ref(), Ok(&strict));
    }
    match lenient {
        Ok(accepted) => {
            let value: Value = serde_json::from_str(&accepted.arguments).expect("what runs is JSON");
            assert_eq!(value, accepted.value);
            let shown =
                jsonschema::validator_for(&contract.definition().parameters).expect("a usable schema");
            assert!(shown.is_valid(&value), "{value} does not fit what was shown");
            let again = contract.check(&accepted.arguments, Coercion::Lenient);
            assert_eq!(again.map(|again| (again.value, again.notes)), Ok((accepted.value, Vec::new())));
        }
        Err(problems) => assert!(!problems.is_empty() && problems.len() <= 21),
    }
});
