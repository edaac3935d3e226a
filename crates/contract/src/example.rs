//! Valid arguments made up from a schema, so that a tool's contract can be tried without anybody who knows the tool.
//!
//! What the author wrote comes first: constants, listed values, examples, defaults. What is left is the smallest value
//! that type, format, pattern and bounds take. Pure, and the same for the same schema. It does not solve schemas: what
//! `not`, `if` or `contains` ask for is met by luck alone, so the caller checks the arguments as it checks a model's.

mod pattern;

use std::cell::Cell;

use serde_json::{Map, Value, json};

use crate::formats::FORMATS;
use crate::schema::{DEPTH, resolve};

/// Which arguments an example has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only what may not be left out.
    Required,
    /// All there are.
    All,
}

/// Deeper, only what is required is given: a schema may hold itself.
const OPTIONAL_DEPTH: usize = 4;

/// Schema nodes that are looked at for one example; one that holds itself twice would else never be done.
const NODES: usize = 10_000;

/// The longest list and the longest text; whoever asks for more gets no valid example.
const ITEMS: u64 = 1_000;
const LETTERS: usize = 100_000;

/// Arguments that this schema takes.
pub fn arguments(schema: &Value, extent: Extent) -> Value {
    Maker { root: schema, extent, nodes: Cell::new(0) }.value(schema, 0, 0)
}

struct Maker<'s> {
    root: &'s Value,
    extent: Extent,
    nodes: Cell<usize>,
}

impl Maker<'_> {
    /// `turn` makes the items of a list differ.
    fn value(&self, schema: &Value, turn: u64, depth: usize) -> Value {
        if depth > DEPTH || self.is_spent() {
            return Value::Null;
        }
        let node = self.merged(schema, 0);
        if let Some(constant) = node.get("const") {
            return constant.clone();
        }
        let list =
            |keyword: &str| node.get(keyword).and_then(Value::as_array).filter(|list| !list.is_empty());
        let nth = |list: &Vec<Value>| list[usize::try_from(turn).unwrap_or_default() % list.len()].clone();
        if let Some(listed) = list("enum") {
            return nth(listed);
        }
        let default = node.get("default").filter(|default| !default.is_null() && !is_empty(default));
        if let Some(written) = list("examples").map(nth).or_else(|| default.cloned().filter(|_| turn == 0)) {
            return written;
        }
        match kind(&node) {
            "object" => self.object(&node, depth),
            "array" => self.array(&node, depth),
            "integer" => integer(&node, turn),
            "number" => number(&node, turn),
            "boolean" => Value::Bool(turn == 0),
            "null" => Value::Null,
            _ => Value::String(text(&node, turn)),
        }
    }

    /// Counts one more node.
    fn is_spent(&self) -> bool {
        self.nodes.set(self.nodes.get() + 1);
        self.nodes.get() > NODES
    }

    fn object(&self, node: &Map<String, Value>, depth: usize) -> Value {
        let required: Vec<&str> = names(node.get("required")).collect();
        let empty = Map::new();
        let properties = node.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let all = self.extent == Extent::All && depth < OPTIONAL_DEPTH;
        let mut object = Map::new();
        for (name, schema) in properties {
            if all || required.contains(&name.as_str()) {
                object.insert(name.clone(), self.value(schema, 0, depth + 1));
            }
        }
        let others = node.get("additionalProperties").unwrap_or(&Value::Null);
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), self.value(others, 0, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn array(&self, node: &Map<String, Value>, depth: usize) -> Value {
        let bound = |keyword: &str| node.get(keyword).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        // An empty list shows nothing of its items.
        let wanted = if depth < OPTIONAL_DEPTH { least.max(1) } else { least };
        let count = wanted.min(bound("maxItems").unwrap_or(u64::MAX)).max(least).min(ITEMS);
        let first = node.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = node.get("items").unwrap_or(&Value::Null);
        let items = (0..count).map(|turn| {
            let place = usize::try_from(turn).unwrap_or(usize::MAX);
            self.value(first.get(place).unwrap_or(rest), turn, depth + 1)
        });
        items.collect()
    }

    /// A node with what its references, its parts and the first of its alternatives say, in one.
    fn merged(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut node = schema.as_object().cloned().unwrap_or_default();
        if depth > DEPTH || self.is_spent() {
            return node;
        }
        let reference = node.remove("$ref");
        let target = reference.as_ref().and_then(Value::as_str).and_then(|to| resolve(self.root, to));
        let parts = node.remove("allOf");
        let mut more: Vec<Value> = target.cloned().into_iter().collect();
        more.extend(parts.as_ref().and_then(Value::as_array).into_iter().flatten().cloned());
        for keyword in ["anyOf", "oneOf"] {
            let choices = node.remove(keyword);
            let mut choices = choices.as_ref().and_then(Value::as_array).into_iter().flatten();
            more.extend(choices.find(|choice| choice.get("type") != Some(&json!("null"))).cloned());
        }
        for part in more {
            let part = self.merged(&part, depth + 1);
            merge(&mut node, part);
        }
        node
    }
}

/// Both hold. Bounds are taken where they are tighter, properties of both, all else from the first that says it.
fn merge(node: &mut Map<String, Value>, other: Map<String, Value>) {
    for (keyword, value) in other {
        let Some(own) = node.get_mut(&keyword) else {
            node.insert(keyword, value);
            continue;
        };
        match (keyword.as_str(), own, value) {
            ("properties", Value::Object(own), Value::Object(more)) => {
                for (name, schema) in more {
                    let both = own.remove(&name).map(|first| json!({"allOf": [first, schema]}));
                    own.insert(name, both.unwrap_or(schema));
                }
            }
            ("required", Value::Array(own), Value::Array(more)) => own.extend(more),
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", own, more)
                if more.as_f64() > own.as_f64() =>
            {
                *own = more;
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", own, more)
                if more.as_f64() < own.as_f64() =>
            {
                *own = more;
            }
            _ => {}
        }
    }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Array(items) if items.is_empty())
        || matches!(value, Value::Object(object) if object.is_empty())
        || value == ""
}

/// The kind of value to make; without a type, what the other keywords are about.
fn kind(node: &Map<String, Value>) -> &str {
    let named = match node.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| node.contains_key(*keyword));
    named.unwrap_or_else(|| {
        if has(&["properties", "required"]) {
            "object"
        } else if has(&["items", "prefixItems", "minItems"]) {
            "array"
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "integer"
        } else {
            "string"
        }
    })
}

fn names(required: Option<&Value>) -> impl Iterator<Item = &str> {
    required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// 1 where that is allowed, else what is nearest to it.
fn integer(node: &Map<String, Value>, turn: u64) -> Value {
    let least = bound(node, "minimum", 0).max(bound(node, "exclusiveMinimum", 1));
    let most = [bound(node, "maximum", 0), bound(node, "exclusiveMaximum", -1)].into_iter().flatten().min();
    let start = match (least, most) {
        (Some(least), _) if least > 1 => least,
        (_, Some(most)) if most < 1 => least.unwrap_or(most),
        _ => 1,
    };
    let step = bound(node, "multipleOf", 0).filter(|step| *step > 1).unwrap_or(1);
    let up = (start + step - 1).div_euclid(step) * step;
    let first = if most.is_some_and(|most| up > most) { up - step } else { up };
    // Where there are not enough values, they come again.
    let count = most.map_or(i128::MAX, |most| (most - first).div_euclid(step) + 1).max(1);
    let value = first + i128::from(turn) % count * step;
    let number = i64::try_from(value).map(Value::from).or_else(|_| u64::try_from(value).map(Value::from));
    number.unwrap_or_else(|_| json!(1))
}

/// A bound as a whole number that it allows; `beyond` is where the next one lies when the bound itself is excluded.
fn bound(node: &Map<String, Value>, keyword: &str, beyond: i128) -> Option<i128> {
    let value = node.get(keyword)?;
    if let Some(whole) = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from)) {
        return Some(whole + beyond);
    }
    // What lies beyond all integers bounds none.
    let float = value.as_f64().filter(|float| float.abs() < 1e19)?;
    let inward = if keyword.ends_with("inimum") { float.ceil() } else { float.floor() };
    Some(inward as i128 + if float.fract() == 0.0 { beyond } else { 0 })
}

fn number(node: &Map<String, Value>, turn: u64) -> Value {
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_f64);
    let least = bound("minimum").into_iter().chain(bound("exclusiveMinimum")).reduce(f64::max);
    let most = bound("maximum").into_iter().chain(bound("exclusiveMaximum")).reduce(f64::min);
    let multiple = node.contains_key("multipleOf");
    match (least, most) {
        (Some(least), Some(most)) if !multiple => {
            let share = 0.5 / (turn + 1) as f64;
            json!(least + (most - least) * share)
        }
        (Some(least), None) if !multiple => json!(least + 1.0 + turn as f64),
        (None, Some(most)) if !multiple => json!(most - 1.0 - turn as f64),
        _ => integer(node, turn),
    }
}

fn text(node: &Map<String, Value>, turn: u64) -> String {
    let bound = |keyword: &str| {
        node.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok())
    };
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX));
    let fits = |text: &String| (least..=most).contains(&text.chars().count());
    if let Some(pattern) = node.get("pattern").and_then(Value::as_str)
        && let Some(text) = pattern::matching(pattern, &fits)
    {
        return text;
    }
    let format = node.get("format").and_then(Value::as_str);
    if let Some(known) = format.and_then(|format| FORMATS.iter().find(|known| known.name == format)) {
        return known.example.to_owned();
    }
    let mut text: String = if turn == 0 { "text".to_owned() } else { format!("text {}", turn + 1) };
    text = text.chars().take(most).collect();
    let missing = least.min(LETTERS).saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('x', missing));
    text
}
