//! Readings of what a model put into quotes that belong there not, the reverse, and single values for lists.

use serde_json::Value;

use super::Given;
use crate::kinds::{EXACT_FLOAT, Kinds};
use crate::schema::{self, Shape};
use crate::strict_json;

pub(super) fn array(given: &Given<'_>) -> Option<Value> {
    json(given.value.as_str()?).filter(Value::is_array)
}

pub(super) fn object(given: &Given<'_>) -> Option<Value> {
    json(given.value.as_str()?).filter(Value::is_object)
}

/// Decimal digits as JSON writes them: `007` may be an identifier, `1e3` a typing error, so neither is read.
pub(super) fn integer(given: &Given<'_>) -> Option<Value> {
    integer_of(given.value.as_str()?.trim())
}

pub(super) fn number(given: &Given<'_>) -> Option<Value> {
    let text = given.value.as_str()?.trim();
    if let Some(integer) = integer_of(text) {
        return Some(integer);
    }
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    strict_json::parse(text).ok().map(|parsed| parsed.value).filter(Value::is_f64)
}

pub(super) fn boolean(given: &Given<'_>) -> Option<Value> {
    let text = given.value.as_str()?.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(Value::Bool(true))
    } else if text.eq_ignore_ascii_case("false") {
        Some(Value::Bool(false))
    } else {
        None
    }
}

/// The integer that a number without fraction stands for, if no digit can have been lost.
pub(super) fn whole(given: &Given<'_>) -> Option<Value> {
    let float = given.value.as_f64().filter(|_| given.value.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT_FLOAT).then_some(Value::from(float as i64))
}

/// A number as the text it was written as. Not where only some texts go: no number is one of a list, or a date.
pub(super) fn from_number(given: &Given<'_>) -> Option<Value> {
    let takes_numbers = given.shape.kinds().has(Kinds::INTEGER.or(Kinds::NUMBER));
    if takes_numbers || given.shape.listed_strings().is_some() {
        return None;
    }
    let nodes = given.shape.text()?;
    if nodes.iter().any(|node| node.get("format").is_some()) {
        return None;
    }
    match given.value {
        Value::Number(number) if !number.is_f64() => Some(Value::from(number.to_string())),
        // A float has forgotten how it was written: `1.50`, or more digits than it holds.
        _ => (given.as_written)().map(Value::from),
    }
}

/// One value where a list of such goes. Text that may itself be a list has two readings.
pub(super) fn list(given: &Given<'_>) -> Option<Value> {
    let nodes = given.shape.array()?;
    if nodes.iter().any(|node| node.get("prefixItems").is_some()) {
        return None;
    }
    let items = schema::item(nodes, 0);
    let takes = Shape::of(given.root, &items).kinds();
    if items.is_empty() || !takes.has(Kinds::of(given.value)) {
        return None;
    }
    if let Value::String(text) = given.value {
        let trimmed = text.trim_start();
        if trimmed.is_empty() || trimmed.starts_with(['[', '{']) || text.contains([',', ';', '\n']) {
            return None;
        }
    }
    Some(Value::Array(vec![given.value.clone()]))
}

/// The listed value that differs in case alone.
pub(super) fn listed_in_other_case<'s>(text: &str, listed: &[&'s str]) -> Option<&'s str> {
    // Lower case may be longer, but not by more than this.
    const GROWTH: usize = 3;
    let longest = listed.iter().map(|option| option.len()).max()?;
    if listed.contains(&text) || text.len() > longest.saturating_mul(GROWTH) {
        return None;
    }
    let lower = text.to_lowercase();
    let mut same = listed.iter().copied().filter(|option| option.to_lowercase() == lower);
    let first = same.next()?;
    same.all(|other| other == first).then_some(first)
}

fn integer_of(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if digits.is_empty() || !plain || leading_zero || text == "-0" {
        return None;
    }
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

/// One parse, never a second one inside; a key given twice has two readings.
fn json(text: &str) -> Option<Value> {
    let trimmed = text.trim_start();
    if !(trimmed.starts_with('[') || trimmed.starts_with('{')) {
        return None;
    }
    strict_json::parse(text).ok().filter(|parsed| parsed.duplicates.is_empty()).map(|parsed| parsed.value)
}
