//! The whole coercion policy: what is accepted although it is not what the schema asks for, and what is not.
//!
//! One table with one row per reading, each with an example that runs as a test, and rows for what is refused on
//! purpose. A value that the place takes is never touched. Otherwise every row that knows the kind which the place
//! takes gives its reading; exactly one reading is used, with a note that the model sees. Two different ones are told
//! to the model, none leaves the value as it is, and the validator refuses it.
//!
//! Not in the table: an argument under a name it had before. That is a promise of the author and holds in
//! [`Coercion::Strict`], too.

mod table;
mod text;
mod times;

use serde_json::Value;

use crate::kinds::Kinds;
use crate::schema::Shape;

pub(crate) use table::NULL_IS_ABSENT;

/// How forgiving a contract is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coercion {
    /// Accepts what can mean one thing only.
    #[default]
    Lenient,
    /// Refuses every coercion.
    Strict,
}

/// One line of the policy, with an example.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Kebab-case and stable.
    pub id: &'static str,
    /// What the place asks for.
    pub wanted: &'static str,
    /// JSON schema of the place in the example.
    pub schema: &'static str,
    /// Whether the place must be filled.
    pub required: bool,
    /// What the model sends, as JSON.
    pub given: &'static str,
    pub answer: Answer,
    reading: Option<Reading>,
}

/// What comes of the example of a row. [`Coercion::Strict`] refuses those that are accepted, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Accepted {
        /// What runs, as JSON; `None`: the argument is left out.
        runs: Option<&'static str>,
        /// What the model reads beside the result.
        note: &'static str,
    },
    Refused {
        /// Code of the problem.
        code: &'static str,
        /// What the problem says was expected.
        expected: &'static str,
        /// What to do instead.
        suggestion: Option<&'static str>,
    },
}

/// How a value of some kind is read where none of that kind goes.
#[derive(Clone, Copy, Debug)]
struct Reading {
    given: Kinds,
    wanted: Kinds,
    read: fn(&Given<'_>) -> Option<Value>,
}

/// What a reading sees.
pub(crate) struct Given<'a> {
    pub(crate) value: &'a Value,
    pub(crate) root: &'a Value,
    pub(crate) shape: &'a Shape<'a>,
    /// The characters of a number that JSON values cannot keep.
    pub(crate) as_written: &'a dyn Fn() -> Option<String>,
}

/// The whole policy, for people and for documents that must agree with it.
pub fn coercion_table() -> &'static [Row] {
    &table::ROWS
}

/// What came of a value that may not be what its place takes.
pub(crate) enum Read {
    /// It stays as it is.
    Untouched,
    /// It means this, and the note says so.
    As(Value, &'static str),
    /// It can mean different things.
    Ambiguous(Vec<Value>),
}

pub(crate) fn read(given: &Given<'_>) -> Read {
    let taken = given.shape.kinds();
    let kind = Kinds::of(given.value);
    if taken.has(kind) {
        return match given.value {
            Value::String(text) => respelt(text, given.shape),
            _ => Read::Untouched,
        };
    }
    let mut readings: Vec<(Value, &'static str)> = Vec::new();
    for row in &table::ROWS {
        let (Some(reading), Answer::Accepted { note, .. }) = (row.reading, row.answer) else { continue };
        if reading.given.has(kind)
            && taken.has(reading.wanted)
            && let Some(value) = (reading.read)(given)
            && readings.iter().all(|(other, _)| *other != value)
        {
            readings.push((value, note));
        }
    }
    match readings.pop() {
        None => Read::Untouched,
        Some((value, note)) if readings.is_empty() => Read::As(value, note),
        Some(last) => Read::Ambiguous(readings.into_iter().chain([last]).map(|(value, _)| value).collect()),
    }
}

/// A text in another spelling than the place lists or formats.
fn respelt(text: &str, shape: &Shape<'_>) -> Read {
    if let Some(listed) = shape.listed_strings() {
        return match text::listed_in_other_case(text, &listed) {
            Some(option) => Read::As(Value::from(option), table::OTHER_CASE),
            None => Read::Untouched,
        };
    }
    match times::respelt(text, shape) {
        Some((time, note)) => Read::As(Value::from(time), note),
        None => Read::Untouched,
    }
}
