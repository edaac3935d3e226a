//! The whole coercion policy: what is accepted although it is not what the schema asks for.
//!
//! One row per reading. A value of a kind that the place already takes is never touched. Otherwise every row whose
//! wanted kind the place takes gives its reading; exactly one reading is used, with a note that the model sees; none
//! or two different ones leave the value as it is, and the validator refuses it.

use serde_json::Value;

use crate::schema::{Kinds, Shape};
use crate::strict_json;

/// How forgiving a contract is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coercion {
    /// Accepts what can mean one thing only.
    #[default]
    Lenient,
    /// Refuses every coercion.
    Strict,
}

struct Row {
    wanted: Kinds,
    read: fn(&str) -> Option<Value>,
    note: &'static str,
}

/// Readings of a string where the schema takes no string.
const READINGS: [Row; 5] = [
    Row { wanted: Kinds::ARRAY, read: array_text, note: "JSON text was read as an array" },
    Row { wanted: Kinds::OBJECT, read: object_text, note: "JSON text was read as an object" },
    Row { wanted: Kinds::INTEGER, read: integer_text, note: "text was read as an integer" },
    Row { wanted: Kinds::NUMBER, read: number_text, note: "text was read as a number" },
    Row { wanted: Kinds::BOOLEAN, read: boolean_text, note: "text was read as true or false" },
];

/// Said when `null` stands for an argument that may be left out but not be null.
pub(crate) const NULL_IS_ABSENT: &str = "null was taken as left out";

/// Said when an integer was written with a fraction of zero or an exponent.
pub(crate) const WHOLE_FLOAT: &str = "was read as the integer";

const OTHER_CASE: &str = "the listed value in its own case was used";

/// The one thing a value can mean at a place, and the note that says so.
pub(crate) fn read(value: &Value, shape: &Shape<'_>) -> Option<(Value, &'static str)> {
    let Value::String(text) = value else { return None };
    let kinds = shape.kinds();
    if kinds.has(Kinds::STRING) {
        return listed_in_other_case(text, shape).map(|listed| (listed, OTHER_CASE));
    }
    let mut readings = READINGS
        .iter()
        .filter(|row| kinds.has(row.wanted))
        .filter_map(|row| (row.read)(text).map(|reading| (reading, row.note)));
    let first = readings.next()?;
    readings.all(|(other, _)| other == first.0).then_some(first)
}

fn listed_in_other_case(text: &str, shape: &Shape<'_>) -> Option<Value> {
    let listed = shape.listed_strings()?;
    if listed.contains(&text) {
        return None;
    }
    let lower = text.to_lowercase();
    let mut same = listed.into_iter().filter(|option| option.to_lowercase() == lower);
    let first = same.next()?;
    same.all(|other| other == first).then(|| Value::from(first))
}

fn array_text(text: &str) -> Option<Value> {
    json_text(text).filter(Value::is_array)
}

fn object_text(text: &str) -> Option<Value> {
    json_text(text).filter(Value::is_object)
}

/// One parse, never a second one inside; a key given twice has two readings.
fn json_text(text: &str) -> Option<Value> {
    let trimmed = text.trim_start();
    if !(trimmed.starts_with('[') || trimmed.starts_with('{')) {
        return None;
    }
    strict_json::parse(text).ok().filter(|parsed| parsed.duplicates.is_empty()).map(|parsed| parsed.value)
}

/// Decimal digits as JSON writes them: `007` may be an identifier, `1e3` a typing error, so neither is read.
fn integer_text(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if digits.is_empty() || !plain || leading_zero || text == "-0" {
        return None;
    }
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

fn number_text(text: &str) -> Option<Value> {
    if let Some(integer) = integer_text(text) {
        return Some(integer);
    }
    let starts_as_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !starts_as_number || text.ends_with(char::is_whitespace) {
        return None;
    }
    strict_json::parse(text).ok().map(|parsed| parsed.value).filter(Value::is_f64)
}

fn boolean_text(text: &str) -> Option<Value> {
    if text.eq_ignore_ascii_case("true") {
        Some(Value::Bool(true))
    } else if text.eq_ignore_ascii_case("false") {
        Some(Value::Bool(false))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_reading_or_none() {
        let check = |schema: Value, given: &str, expected: Option<Value>| {
            let shape = Shape::of(&schema, &[&schema]);
            let actual = read(&json!(given), &shape).map(|(value, _)| value);
            assert_eq!(actual, expected, "{given} for {schema}");
        };
        check(json!({"type": "integer"}), "6", Some(json!(6)));
        check(json!({"type": "integer"}), "-12", Some(json!(-12)));
        check(json!({"type": "integer"}), "4611686018427387905", Some(json!(4_611_686_018_427_387_905_u64)));
        check(json!({"type": "integer"}), "18446744073709551616", None);
        check(json!({"type": "integer"}), "007", None);
        check(json!({"type": "integer"}), "6.0", None);
        check(json!({"type": "integer"}), " 6", None);
        check(json!({"type": "number"}), "6", Some(json!(6)));
        check(json!({"type": "number"}), "6.5", Some(json!(6.5)));
        check(json!({"type": ["integer", "string"]}), "6", None);
        check(json!({"type": ["integer", "boolean"]}), "true", Some(json!(true)));
        check(json!({"type": "boolean"}), "False", Some(json!(false)));
        check(json!({"type": "boolean"}), "yes", None);
        check(json!({"type": "array"}), "[\"a\"]", Some(json!(["a"])));
        check(json!({"type": "array"}), "{\"a\":1}", None);
        check(json!({"type": "object"}), "{\"a\":1,\"a\":2}", None);
        check(json!({"type": "string"}), "[\"x\"]", None);
        check(json!({"enum": ["Read", "write"]}), "read", Some(json!("Read")));
        check(json!({"type": "string", "enum": ["Text", "hex"]}), "text", Some(json!("Text")));
        check(json!({"enum": ["a", "A"]}), "Á", None);
        check(json!({"oneOf": [{"const": "ab"}, {"const": "AB"}]}), "Ab", None);
    }
}
