//! Walks arguments and schema together, applies the coercion policy, and checks what a schema cannot say by itself:
//! that an integer fits its type and lost no digit.

use foehn_protocol::Problem;
use serde_json::{Map, Value};

use crate::coercion::{self, Coercion, NULL_IS_ABSENT, WHOLE_FLOAT};
use crate::place::{Place, in_words};
use crate::problems;
use crate::schema::{self, EXACT_FLOAT, Kinds, Range, Shape};

pub(crate) struct Normaliser<'s> {
    root: &'s Value,
    coercion: Coercion,
    /// What was accepted although it was written otherwise.
    pub(crate) notes: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

impl<'s> Normaliser<'s> {
    pub(crate) fn new(root: &'s Value, coercion: Coercion) -> Self {
        Self { root, coercion, notes: Vec::new(), problems: Vec::new() }
    }

    pub(crate) fn arguments(&mut self, value: &mut Value) {
        self.value(&[self.root], value, &Place::ROOT, 0);
    }

    fn value(&mut self, nodes: &[&'s Value], value: &mut Value, place: &Place<'_>, depth: usize) {
        if depth > schema::DEPTH {
            return;
        }
        let shape = Shape::of(self.root, nodes);
        self.fit(&shape, value, place);
        match value {
            Value::Object(object) => {
                if let Some(form) = shape.object(object) {
                    self.object(form, object, place, depth);
                }
            }
            Value::Array(items) => {
                if let Some(form) = shape.array() {
                    for (index, child) in items.iter_mut().enumerate() {
                        self.value(&schema::item(form, index), child, &place.index(index), depth + 1);
                    }
                }
            }
            Value::Number(_) => self.integer_fits(&shape, value, place),
            _ => {}
        }
    }

    fn object(
        &mut self,
        form: &[&'s Value],
        object: &mut Map<String, Value>,
        place: &Place<'_>,
        depth: usize,
    ) {
        if self.coercion == Coercion::Lenient && object.values().any(Value::is_null) {
            self.drop_nulls(form, object, place);
        }
        for (key, child) in object.iter_mut() {
            let nodes = schema::property(form, key);
            if !nodes.is_empty() {
                self.value(&nodes, child, &place.key(key), depth + 1);
            }
        }
    }

    fn drop_nulls(&mut self, form: &[&'s Value], object: &mut Map<String, Value>, place: &Place<'_>) {
        object.retain(|key, child| {
            if !child.is_null() || schema::required(form, key) {
                return true;
            }
            let nodes = schema::property(form, key);
            if nodes.is_empty() || Shape::of(self.root, &nodes).kinds().has(Kinds::NULL) {
                return true;
            }
            self.notes.push(format!("{}: {NULL_IS_ABSENT}", in_words(&place.key(key).pointer())));
            false
        });
    }

    /// Brings a value into a kind that the place takes, where it can mean one thing only.
    fn fit(&mut self, shape: &Shape<'_>, value: &mut Value, place: &Place<'_>) {
        let kinds = shape.kinds();
        if let Some(integer) =
            whole_float(value).filter(|_| !kinds.has(Kinds::NUMBER) && kinds.has(Kinds::INTEGER))
        {
            // The schema itself calls 10.0 an integer; only the plugin's own type would not.
            self.notes.push(format!("{}: {value} {WHOLE_FLOAT} {integer}", in_words(&place.pointer())));
            *value = Value::from(integer);
        } else if self.coercion == Coercion::Lenient
            && let Some((reading, note)) = coercion::read(value, shape)
        {
            self.notes.push(format!("{}: {note}", in_words(&place.pointer())));
            *value = reading;
        }
    }

    fn integer_fits(&mut self, shape: &Shape<'_>, value: &Value, place: &Place<'_>) {
        let Some(ranges) = shape.integer_ranges() else { return };
        let fits = if let Some(integer) = value.as_i64() {
            ranges.iter().any(|range| range.contains(integer.into()))
        } else if let Some(integer) = value.as_u64() {
            ranges.iter().any(|range| range.contains(integer.into()))
        } else {
            // What is left is a float. One with a fraction is the wrong type, which the validator says; a whole one
            // is too large to know which integer was meant.
            value.as_f64().is_none_or(|float| float.fract() != 0.0)
        };
        if !fits && !ranges.is_empty() {
            self.problems.push(problems::outside(place.pointer(), value, &widest(&ranges)));
        }
    }
}

/// The integer that a float stands for, if no digit can have been lost.
fn whole_float(value: &Value) -> Option<i64> {
    let float = value.as_f64().filter(|_| value.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT_FLOAT).then_some(float as i64)
}

fn widest(ranges: &[Range]) -> Range {
    ranges.iter().copied().fold(ranges.first().copied().unwrap_or(Range::ALL), |left, right| Range {
        from: left.from.min(right.from),
        to: left.to.max(right.to),
    })
}
