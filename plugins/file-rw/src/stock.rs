//! Changes one number in the text of a JSON object. Every other byte stays as it is: order, blanks, line ends, byte order
//! mark.

use std::fmt;

use foehn_plugin_sdk::serde::Deserializer;
use foehn_plugin_sdk::serde::de::{MapAccess, Visitor};
use foehn_plugin_sdk::serde_json::{self, value::RawValue};
use thiserror::Error;

use crate::text::BOM;

/// Bytes with the new number, and the number before and after.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) bytes: Vec<u8>,
    pub(crate) was: i64,
    pub(crate) now: i64,
}

/// Why nothing was added.
#[derive(Debug, Error)]
pub(crate) enum StockProblem {
    #[error("it is not UTF-8")]
    Encoding,
    #[error("it is not one JSON object: {0}")]
    NotAnObject(serde_json::Error),
    #[error("`{item}` is there {count} times; which one is meant cannot be told")]
    Twice { item: String, count: usize },
    #[error("`{item}` is {found}, not a whole number")]
    NotANumber { item: String, found: String },
    #[error("`{item}` is {was}; {quantity} more would be {}", .was.saturating_add(*.quantity))]
    OutOfRange { item: String, was: i64, quantity: i64 },
}

/// Adds a quantity to an item, which is made at the end when it is not there.
pub(crate) fn add(file: &[u8], item: &str, quantity: i64) -> Result<Added, StockProblem> {
    let body = file.strip_prefix(BOM).unwrap_or(file);
    let text = std::str::from_utf8(body).map_err(|_| StockProblem::Encoding)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let Entries(entries) = deserializer.deserialize_map(ReadEntries).map_err(StockProblem::NotAnObject)?;
    deserializer.end().map_err(StockProblem::NotAnObject)?;
    let of_item: Vec<&RawValue> =
        entries.iter().filter(|(key, _)| key == item).map(|(_, value)| *value).collect();
    let (was, replaced, new_text) = match of_item.as_slice() {
        [] => {
            let (at, before) = new_entry(text, entries.last().map(|(_, value)| *value));
            let key = serde_json::Value::from(item).to_string();
            (0, at..at, format!("{before}{key}: "))
        }
        [value] => {
            let was = value.get().parse::<i64>().map_err(|_| StockProblem::NotANumber {
                item: item.to_owned(),
                found: value.get().chars().take(60).collect(),
            })?;
            let start = place_of(text, value.get());
            (was, start..start + value.get().len(), String::new())
        }
        several => return Err(StockProblem::Twice { item: item.to_owned(), count: several.len() }),
    };
    let now = was.checked_add(quantity).filter(|&now| now >= 0).ok_or_else(|| StockProblem::OutOfRange {
        item: item.to_owned(),
        was,
        quantity,
    })?;
    let mut bytes = file[..file.len() - body.len()].to_vec();
    bytes.extend_from_slice(&body[..replaced.start]);
    bytes.extend_from_slice(format!("{new_text}{now}").as_bytes());
    bytes.extend_from_slice(&body[replaced.end..]);
    Ok(Added { bytes, was, now })
}

/// Where a new entry goes, and what stands before it: a comma, and the blanks that are between the others.
fn new_entry(text: &str, last: Option<&RawValue>) -> (usize, String) {
    let open = text.find('{').map_or(0, |at| at + 1);
    let Some(last) = last else { return (open, String::new()) };
    let blanks: String =
        text[open..].chars().take_while(|character| character.is_ascii_whitespace()).collect();
    let blanks = if blanks.is_empty() { " ".to_owned() } else { blanks };
    (place_of(text, last.get()) + last.get().len(), format!(",{blanks}"))
}

/// Where a part of a text begins in it.
fn place_of(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The keys of an object in their order, with their values as they are written.
struct Entries<'t>(Vec<(String, &'t RawValue)>);

struct ReadEntries;

impl<'t> Visitor<'t> for ReadEntries {
    type Value = Entries<'t>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of items and their quantities")
    }

    fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<Entries<'t>, M::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, item: &str, quantity: i64, expected: &str, numbers: (i64, i64)) {
        let Added { bytes, was, now } = add(file.as_bytes(), item, quantity).unwrap();
        assert_eq!((String::from_utf8(bytes).unwrap().as_str(), (was, now)), (expected, numbers));
    }

    #[track_caller]
    fn check_problem(file: &str, item: &str, quantity: i64, expected: &str) {
        assert_eq!(add(file.as_bytes(), item, quantity).unwrap_err().to_string(), expected);
    }

    #[test]
    fn one_number_changes_and_nothing_else() {
        check(
            "{\r\n\t\"a\" : 1 ,\r\n\t\"b\":2}\r\n",
            "a",
            41,
            "{\r\n\t\"a\" : 42 ,\r\n\t\"b\":2}\r\n",
            (1, 42),
        );
        check("\u{FEFF}{\"b\":2}", "b", -2, "\u{FEFF}{\"b\":0}", (2, 0));
        check(r#"{"a\u0062": 7}"#, "ab", 1, r#"{"a\u0062": 8}"#, (7, 8));
    }

    #[test]
    fn a_new_item_comes_last_and_looks_like_the_others() {
        check("{}", "a", 1, r#"{"a": 1}"#, (0, 1));
        check("{\n  \"a\": 1\n}\n", "b\"", 2, "{\n  \"a\": 1,\n  \"b\\\"\": 2\n}\n", (0, 2));
        check(r#"{"a":1}"#, "b", 0, r#"{"a":1, "b": 0}"#, (0, 0));
    }

    #[test]
    fn what_cannot_be_counted_is_left_alone() {
        check_problem(r#"{"a":1,"a":2}"#, "a", 1, "`a` is there 2 times; which one is meant cannot be told");
        check_problem(r#"{"a":1.5}"#, "a", 1, "`a` is 1.5, not a whole number");
        check_problem(r#"{"a":{"n":1}}"#, "a", 1, "`a` is {\"n\":1}, not a whole number");
        check_problem(r#"{"a":1}"#, "a", -2, "`a` is 1; -2 more would be -1");
        check_problem(
            "[1]",
            "a",
            1,
            "it is not one JSON object: invalid type: sequence, expected an object of items and their quantities at line 1 \
             column 0",
        );
    }
}
