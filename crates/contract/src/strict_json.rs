//! Reads JSON as a model wrote it, and sees what an ordinary parser hides: a key given twice.
//!
//! An ordinary parser keeps the last of two equal keys, so a person could approve one value while the other runs.

use std::cell::RefCell;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::place::Place;

pub(crate) struct Parsed {
    pub(crate) value: Value,
    /// JSON pointers of keys that occur more than once, each named once; not more than [`DUPLICATES`].
    pub(crate) duplicates: Vec<String>,
}

/// So many keys that occur more than once are named; that is more than anyone reads.
const DUPLICATES: usize = 32;

/// Reads exactly one JSON value. Nesting is limited by `serde_json` (128 levels).
pub(crate) fn parse(text: &str) -> Result<Parsed, serde_json::Error> {
    let duplicates = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Node { place: &Place::ROOT, duplicates: &duplicates }.read(&mut reader)?;
    reader.end()?;
    Ok(Parsed { value, duplicates: duplicates.into_inner() })
}

struct Node<'a> {
    place: &'a Place<'a>,
    duplicates: &'a RefCell<Vec<String>>,
}

impl Node<'_> {
    fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.read(deserializer)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let place = self.place.index(array.len());
            match items.next_element_seed(Node { place: &place, duplicates: self.duplicates })? {
                Some(item) => array.push(item),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = pairs.next_key::<String>()? {
            let place = self.place.key(&key);
            let value = pairs.next_value_seed(Node { place: &place, duplicates: self.duplicates })?;
            if object.contains_key(&key) {
                let mut duplicates = self.duplicates.try_borrow_mut().map_err(A::Error::custom)?;
                if duplicates.len() < DUPLICATES {
                    let pointer = place.pointer();
                    if !duplicates.contains(&pointer) {
                        duplicates.push(pointer);
                    }
                }
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let actual = match parse(text) {
            Ok(parsed) => format!("{} {:?}", parsed.value, parsed.duplicates),
            Err(error) => error.to_string(),
        };
        assert_eq!(actual, expected, "{text}");
    }

    #[test]
    fn values_and_duplicates() {
        check(
            r#"{"a":7301994455012233447,"b":[1.5,true,null]}"#,
            r#"{"a":7301994455012233447,"b":[1.5,true,null]} []"#,
        );
        check(r#"{"a":1,"a":2,"a":3}"#, r#"{"a":3} ["/a"]"#);
        check(r#"{"l":[0,{"x/y":1,"x\u002fy":2}]}"#, r#"{"l":[0,{"x/y":2}]} ["/l/1/x~1y"]"#);
        check(r#"{"a":1"#, "EOF while parsing an object at line 1 column 6");
        check("{} {}", "trailing characters at line 1 column 4");
    }
}
