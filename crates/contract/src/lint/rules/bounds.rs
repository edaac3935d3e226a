//! Rules about how much of a thing may come, and in which unit.

use serde_json::Value;

use super::super::tool::Argument;
use super::super::words::{any_word, of_text, says, stem};
use super::super::{Found, Rule, Severity, Tool};
use crate::kinds::Kinds;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "unbounded-text",
        severity: Severity::Warning,
        title: "A text has a longest length",
        reason: "A model in a loop writes until its output limit; a bound turns that into an error that it can read.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "description": "As it stands above the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        check: unbounded_text,
    },
    Rule {
        id: "unbounded-list",
        severity: Severity::Warning,
        title: "A list has a greatest length",
        reason: "One call with ten thousand items is a whole program that nobody approved piece by piece.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["titles"], "properties": {
                   "titles": {"type": "array", "items": {"type": "string", "maxLength": 80}, "description": "Which notes to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["titles"], "properties": {
                   "titles": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 80}, "description": "Which notes to read."}}}}"#,
        check: unbounded_list,
    },
    Rule {
        id: "unbounded-number",
        severity: Severity::Warning,
        title: "A number has a smallest and a greatest value",
        reason: "`limit: 1000000000` and `depth: -1` are what models write for \"all\"; the schema is where to say no.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "default": 20, "description": "Where the list ends."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "default": 20, "description": "Where the list ends."}}}}"#,
        check: unbounded_number,
    },
    Rule {
        id: "bounds-empty",
        severity: Severity::Error,
        title: "Some value lies within the bounds",
        reason: "With the least above the greatest every call is refused, with a message that cannot be followed.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["most_notes"], "properties": {
                   "most_notes": {"type": "integer", "minimum": 500, "maximum": 1, "description": "Where the list ends."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["most_notes"], "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "description": "Where the list ends."}}}}"#,
        check: bounds_empty,
    },
    Rule {
        id: "unit-missing",
        severity: Severity::Warning,
        title: "A quantity names its unit",
        reason: "`timeout: 30` is half a minute to one author and half a blink to the next; the model knows neither.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "timeout": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60, "description": "How long to wait."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60, "description": "How long to wait."}}}}"#,
        check: unit_missing,
    },
];

fn unbounded_text(tool: &Tool<'_>, found: &mut Found) {
    for argument in typed(tool, Kinds::STRING) {
        if !argument.listed()
            && !argument.has("maxLength")
            && !argument.has("format")
            && !argument.strings("pattern").any(is_bounded)
        {
            found.add(&argument.at, "the text may have any length; give the longest that makes sense");
        }
    }
}

/// Whether only texts up to some length match a pattern.
fn is_bounded(pattern: &str) -> bool {
    pattern.starts_with('^')
        && pattern.ends_with('$')
        && !pattern.contains(['*', '+'])
        && !pattern.contains(",}")
}

fn unbounded_list(tool: &Tool<'_>, found: &mut Found) {
    for argument in typed(tool, Kinds::ARRAY) {
        // A tuple has the length of its forms.
        if !argument.has("maxItems") && !argument.has("prefixItems") {
            found.add(&argument.at, "the list may have any length; give the greatest that makes sense");
        }
    }
}

fn unbounded_number(tool: &Tool<'_>, found: &mut Found) {
    /// Types that are bounds themselves.
    const SMALL: &[&str] = &["int8", "uint8", "int16", "uint16"];
    for argument in typed(tool, Kinds::INTEGER.or(Kinds::NUMBER)) {
        if argument.listed() || argument.strings("format").any(|format| SMALL.contains(&format)) {
            continue;
        }
        let has = |bound: &str, exclusive: &str| argument.has(bound) || argument.has(exclusive);
        let missing = match (has("minimum", "exclusiveMinimum"), has("maximum", "exclusiveMaximum")) {
            (true, true) => continue,
            (true, false) => "greatest",
            (false, true) => "smallest",
            (false, false) => "smallest and greatest",
        };
        found
            .add(&argument.at, format!("the number has no {missing} value; give the bounds that make sense"));
    }
}

/// Arguments that take one of `kinds` and say so; those without any type are a finding of their own.
fn typed<'t, 's>(tool: &'t Tool<'s>, kinds: Kinds) -> impl Iterator<Item = &'t Argument<'s>> {
    tool.arguments.iter().filter(move |argument| argument.kinds.has(kinds) && argument.kinds != Kinds::ALL)
}

fn bounds_empty(tool: &Tool<'_>, found: &mut Found) {
    const PAIRS: &[(&str, &str)] =
        &[("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")];
    for argument in &tool.arguments {
        for node in &argument.nodes {
            for (least, greatest) in PAIRS {
                let number = |key: &str| node.get(key).and_then(Value::as_f64);
                if let (Some(from), Some(to)) = (number(least), number(greatest))
                    && from > to
                {
                    found.add(
                        &argument.at,
                        format!("`{least}` {from} is above `{greatest}` {to}; no value can be right"),
                    );
                }
            }
            if node.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                found.add(&argument.at, "`enum` is empty; no value can be right");
            }
        }
    }
}

fn unit_missing(tool: &Tool<'_>, found: &mut Found) {
    const QUANTITIES: &[&str] = &[
        "age",
        "angle",
        "delay",
        "distance",
        "duration",
        "expiry",
        "height",
        "interval",
        "length",
        "memory",
        "period",
        "pressure",
        "size",
        "speed",
        "temperature",
        "timeout",
        "ttl",
        "volume",
        "wait",
        "weight",
        "width",
    ];
    const UNITS: &[&str] = &[
        "byte",
        "bytes",
        "celsius",
        "centimeters",
        "characters",
        "chars",
        "cm",
        "columns",
        "days",
        "degrees",
        "entries",
        "fahrenheit",
        "files",
        "gb",
        "gigabytes",
        "grams",
        "hours",
        "items",
        "kb",
        "kelvin",
        "kg",
        "kib",
        "kilobytes",
        "kilograms",
        "kilometers",
        "km",
        "lines",
        "liters",
        "mb",
        "megabytes",
        "meters",
        "metres",
        "mib",
        "millimeters",
        "milliseconds",
        "millis",
        "minutes",
        "mm",
        "months",
        "ms",
        "percent",
        "pixels",
        "pt",
        "px",
        "rows",
        "sec",
        "secs",
        "seconds",
        "steps",
        "tokens",
        "weeks",
        "words",
        "years",
    ];
    /// What is counted in pieces.
    const COUNTED: &[&str] = &["batch", "group", "page", "pool", "team"];
    for argument in tool.named().filter(|argument| argument.is_number() && !argument.listed()) {
        let Some(quantity) = any_word(argument.name, QUANTITIES) else { continue };
        let mut words = argument.words();
        words.extend(of_text(argument.description()));
        let has_unit = words.iter().any(|word| UNITS.iter().any(|unit| stem(unit) == stem(word)));
        let is_count = quantity == "size" && any_word(argument.name, COUNTED).is_some();
        // A share of one has no unit, and neither has the temperature of a model.
        let is_ratio = argument.get("maximum").and_then(Value::as_f64).is_some_and(|maximum| maximum <= 2.0);
        if !has_unit && !is_count && !is_ratio && !says(argument.description(), &["number of", "how many"]) {
            found.add(
                &argument.at,
                format!(
                    "`{quantity}` has no unit; put it into the name, such as `{quantity}_{}`",
                    unit_of(quantity)
                ),
            );
        }
    }
}

fn unit_of(quantity: &str) -> &'static str {
    match quantity {
        "memory" | "size" => "bytes",
        "distance" | "height" | "length" | "width" => "meters",
        "angle" | "temperature" => "degrees",
        "age" => "days",
        "pressure" | "speed" | "volume" | "weight" => "UNIT",
        _ => "seconds",
    }
}
