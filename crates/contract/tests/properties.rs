//! What holds for every input.

use std::collections::BTreeMap;
use std::sync::Arc;

use foehn_contract::{Coercion, Contract};
use foehn_protocol::{Risk, ToolSpec};
use proptest::prelude::*;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;

/// A type as an author writes it. What is accepted has to be one, whatever a schema cannot say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read counts")]
struct Args {
    #[schemars(length(max = 20))]
    #[schemars(extend("x-foehn-aliases" = ["label"]))]
    text: String,
    count: Option<u16>,
    id: Option<i64>,
    ratio: Option<f64>,
    #[serde(default)]
    flag: bool,
    level: Option<Level>,
    #[serde(default)]
    items: Vec<Node>,
    #[serde(default)]
    words: Vec<String>,
    #[schemars(extend("format" = "time"))]
    start: Option<String>,
    day: Option<Day>,
    step: Option<Step>,
    form: Option<Form>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it can be read counts")]
struct Day(#[schemars(extend("format" = "date"))] String);

#[derive(Deserialize, JsonSchema)]
enum Level {
    Low,
    #[serde(rename = "high")]
    High,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read counts")]
enum Step {
    Low { to: i32 },
    High { to: String, size: Option<u8> },
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only whether it can be read counts")]
enum Form {
    Name(String),
    Size(u8),
    Below(Box<Node>),
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Node {
    #[schemars(extend("x-foehn-aliases" = ["label"]))]
    name: String,
    size: i8,
    below: Option<Box<Node>>,
}

fn contract() -> Contract {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Args>();
    Contract::new(Arc::new(ToolSpec {
        name: "tool".to_owned(),
        plugin: "plugin".to_owned(),
        risk: Risk::ReadOnly,
        schema: schema.to_value(),
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
            Just("-1.5"),
            Just("9:30"),
            Just("09:30"),
            Just("2026-1-5"),
            Just("high"),
            Just(" 7 "),
            Just("[1.50]")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof![
                    Just("name"),
                    Just("size"),
                    Just("below"),
                    Just("kind"),
                    Just("to"),
                    Just("label"),
                    Just("other")
                ],
                inner,
                0..4
            )
            .prop_map(|object| object.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Arguments as models write them, right or nearly so, as JSON text.
const LIKELY: [(&str, &str); 40] = [
    ("text", r#""here""#),
    ("text", "42"),
    ("text", "1.50"),
    ("text", "null"),
    ("label", r#""old""#),
    ("label", "7301994455012233447"),
    ("count", "6"),
    ("count", r#"" 6 ""#),
    ("count", "10.0"),
    ("count", "1e3"),
    ("count", "65536"),
    ("count", "null"),
    ("id", "9007199254740995"),
    ("id", r#""4611686018427387905""#),
    ("id", "9223372036854775808"),
    ("ratio", r#""0.5""#),
    ("ratio", "3"),
    ("flag", r#""True""#),
    ("flag", "null"),
    ("level", r#""LOW""#),
    ("level", r#""high""#),
    ("items", r#"{"name":"a","size":"4"}"#),
    ("items", r#""[{\"size\":\"4\",\"below\":{\"label\":\"b\"}}]""#),
    ("items", r#"[{"label":7,"below":null},{"size":-128.0}]"#),
    ("words", r#""one""#),
    ("words", r#""one, two""#),
    ("words", "[1.50,true]"),
    ("words", r#"["one",2]"#),
    ("start", r#""9:30""#),
    ("start", r#""09:30:15""#),
    ("day", r#""2026-1-5""#),
    ("day", r#""2028-02-29""#),
    ("step", r#"{"kind":"low","to":"3"}"#),
    ("step", r#"{"kind":"HIGH","to":3}"#),
    ("step", r#"{"kind":"high","to":1.50,"size":null}"#),
    ("form", r#"{"size":"4"}"#),
    ("form", r#"{"name":4}"#),
    ("form", r#"{"below":{"label":"c"}}"#),
    ("form", r#""{\"below\":{\"size\":1e1}}""#),
    ("Text", r#""here""#),
];

fn arguments() -> impl Strategy<Value = String> {
    let likely = prop::sample::select(&LIKELY[..]).prop_map(|(key, text)| (key, text.to_owned()));
    let any =
        (prop::sample::select(&LIKELY[..]), value()).prop_map(|((key, _), value)| (key, value.to_string()));
    prop::collection::vec(prop_oneof![9 => likely, 1 => any], 0..5).prop_map(|entries| {
        let mut fields: BTreeMap<&str, String> = entries.into_iter().collect();
        if !fields.contains_key("label") {
            fields.entry("text").or_insert_with(|| r#""here""#.to_owned());
        }
        let fields: Vec<String> = fields.iter().map(|(key, text)| format!(r#""{key}":{text}"#)).collect();
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #[test]
    fn accepted_arguments_fit_the_schema_shown_and_the_type_and_are_stable(raw in arguments()) {
        let contract = contract();
        let validator = jsonschema::validator_for(&contract.definition().parameters).unwrap();
        if let Ok(accepted) = contract.check(&raw, Coercion::Lenient) {
            let value: Value = serde_json::from_str(&accepted.arguments).unwrap();
            prop_assert!(validator.is_valid(&value), "{value}");
            prop_assert!(serde_json::from_str::<Args>(&accepted.arguments).is_ok(), "{value}");
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
