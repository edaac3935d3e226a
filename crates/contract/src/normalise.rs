//! Walks arguments and schema together: gives arguments their present names, applies the coercion policy, and checks
//! what a schema cannot say by itself: that an integer fits its type and lost no digit.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::coercion::{self, Coercion, Given, NULL_IS_ABSENT, Read};
use crate::kinds::{Kinds, Range};
use crate::place::{Place, in_words};
use crate::problems::{self, Problems};
use crate::schema::{self, Shape};

/// How many notes one call gets; what follows is counted.
const NOTES: usize = 16;

/// How much is read to find numbers as they were written; each search reads the whole text.
const SEARCHED_BYTES: usize = 256 << 10;

pub(crate) struct Normaliser<'s> {
    root: &'s Value,
    has_aliases: bool,
    coercion: Coercion,
    /// The arguments as they came.
    text: &'s str,
    searched: Cell<usize>,
    notes: Vec<String>,
    more_notes: usize,
    pub(crate) problems: Problems,
    /// Where a value can mean different things, and which.
    ambiguous: BTreeMap<String, Vec<Value>>,
}

impl<'s> Normaliser<'s> {
    /// `annotated` is the schema with our own keywords in it, if there are any.
    pub(crate) fn new(
        shown: &'s Value,
        annotated: Option<&'s Value>,
        text: &'s str,
        coercion: Coercion,
    ) -> Self {
        Self {
            root: annotated.unwrap_or(shown),
            has_aliases: annotated.is_some(),
            coercion,
            text,
            searched: Cell::new(0),
            notes: Vec::new(),
            more_notes: 0,
            problems: Problems::default(),
            ambiguous: BTreeMap::new(),
        }
    }

    pub(crate) fn arguments(&mut self, value: &mut Value) {
        self.value(&[self.root], value, &Place::ROOT, 0);
    }

    /// What was accepted although it was written otherwise.
    pub(crate) fn notes(mut self) -> Vec<String> {
        if self.more_notes > 0 {
            self.notes.push(format!("{} more arguments were read otherwise than written", self.more_notes));
        }
        self.notes
    }

    /// Says of a problem what is known here about its value.
    pub(crate) fn explain_ambiguous(&mut self) {
        for (pointer, readings) in std::mem::take(&mut self.ambiguous) {
            self.problems.make_ambiguous(&pointer, &readings);
        }
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
        if self.has_aliases && object.keys().any(|key| schema::renamed(form, key).is_some()) {
            self.rename(form, object, place);
        }
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

    /// Gives arguments their present names, in the order in which they came.
    fn rename(&mut self, form: &[&'s Value], object: &mut Map<String, Value>, place: &Place<'_>) {
        let present: Vec<&str> = schema::declared(form).map(String::as_str).collect();
        let given = std::mem::take(object);
        let names: Vec<String> = given.keys().cloned().collect();
        for (key, value) in given {
            let renamed = schema::renamed(form, &key).filter(|_| !present.contains(&key.as_str()));
            let Some(name) = renamed else {
                object.insert(key, value);
                continue;
            };
            if names.iter().any(|given| given == name) || object.contains_key(name) {
                // It leaves the arguments all the same: that it is also unknown need not be said.
                self.problems.add(|| problems::both_names(place.key(&key).pointer(), name, &key));
                continue;
            }
            self.note(&place.key(&key), &format!("this argument is now called `{name}`"));
            object.insert(name.to_owned(), value);
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
            self.note(&place.key(key), NULL_IS_ABSENT);
            false
        });
    }

    /// Brings a value into a kind that the place takes, where it can mean one thing only.
    fn fit(&mut self, shape: &Shape<'s>, value: &mut Value, place: &Place<'_>) {
        let read = coercion::read(&Given {
            value,
            root: self.root,
            shape,
            as_written: &|| self.as_written(&place.pointer()),
        });
        match (self.coercion, read) {
            (_, Read::Untouched) => {}
            (Coercion::Lenient, Read::As(reading, note)) => {
                self.note(place, note);
                *value = reading;
            }
            (Coercion::Lenient, Read::Ambiguous(readings)) => {
                if self.ambiguous.len() < NOTES {
                    self.ambiguous.insert(place.pointer(), readings);
                }
            }
            // The schema calls 10.0 an integer, so nobody else would refuse it.
            (Coercion::Strict, Read::As(reading, _)) if value.is_f64() && reading.is_i64() => {
                self.problems.add(|| problems::not_whole(place.pointer(), value));
            }
            (Coercion::Strict, _) => {}
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
            // is too large to know which integer was meant, or was refused already.
            value.as_f64().is_none_or(|float| float.fract() != 0.0 || float.abs() < crate::kinds::EXACT_FLOAT)
        };
        if !fits && !ranges.is_empty() {
            let pointer = place.pointer();
            let written = if value.is_f64() { self.as_written(&pointer) } else { None };
            self.problems.add(|| problems::outside(pointer, value, written.as_deref(), &widest(&ranges)));
        }
    }

    fn note(&mut self, place: &Place<'_>, note: &str) {
        if self.notes.len() < NOTES {
            self.notes.push(format!("{}: {note}", in_words(&problems::bounded(place.pointer()))));
        } else {
            self.more_notes += 1;
        }
    }

    /// The characters of the number at a place, if it came as a number at this very place.
    fn as_written(&self, pointer: &str) -> Option<String> {
        self.searched.set(self.searched.get().saturating_add(self.text.len()));
        if self.searched.get() > SEARCHED_BYTES {
            return None;
        }
        let mut here: &RawValue = serde_json::from_str(self.text).ok()?;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            here = if here.get().starts_with('[') {
                let items: Vec<&RawValue> = serde_json::from_str(here.get()).ok()?;
                items.get(step.parse::<usize>().ok()?).copied()?
            } else {
                let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(here.get()).ok()?;
                fields.get(step.as_str()).copied()?
            };
        }
        let number = here.get().starts_with(|first: char| first == '-' || first.is_ascii_digit());
        number.then(|| here.get().to_owned())
    }
}

fn widest(ranges: &[Range]) -> Range {
    ranges.iter().copied().fold(ranges.first().copied().unwrap_or(Range::ALL), |left, right| Range {
        from: left.from.min(right.from),
        to: left.to.max(right.to),
    })
}
