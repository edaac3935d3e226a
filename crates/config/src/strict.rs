//! Reads one settings file and refuses everything in it that would be ignored.
//!
//! The text is never repeated in a message: the line with the mistake may be the one with the key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::path::Path;

use config::{File, FileFormat, Map, Source, Value};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::layer::{join, one};
use crate::settings::plugin_name;
use crate::{ConfigError, Place, Settings, hint};

/// More than any settings need: what is larger is another file, or a trap.
const LIMIT: u64 = 1024 * 1024;

/// A file that passed, as a tree of values.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) values: Map<String, Value>,
    /// Key path to line, where the format tells.
    pub(crate) lines: BTreeMap<String, usize>,
}

/// The names that a settings file may have, and how each is read.
pub(crate) const FILE_NAMES: &[&str] = &["foehn.toml", "foehn.json", "foehn.yaml", "foehn.yml"];

/// `None` when there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<Document>, ConfigError> {
    let unreadable = |reason: String| ConfigError::Read { path: path.to_owned(), reason };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > LIMIT {
        return Err(unreadable(format!("it is larger than {LIMIT} bytes")));
    }
    let text = decode(path, &bytes)?;
    if text.trim().is_empty() {
        return Ok(Some(Document { values: Map::new(), lines: BTreeMap::new() }));
    }
    let document = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => json(path, text)?,
        Some("yaml" | "yml") => yaml(path, text)?,
        _ => toml(path, text)?,
    };
    Ok(Some(document))
}

fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, ConfigError> {
    let encoding = |encoding: String| ConfigError::Encoding { path: path.to_owned(), encoding };
    match bytes {
        [0xff, 0xfe, ..] => return Err(encoding("UTF-16 (little endian)".to_owned())),
        [0xfe, 0xff, ..] => return Err(encoding("UTF-16 (big endian)".to_owned())),
        [first, 0, ..] if first.is_ascii() => return Err(encoding("UTF-16 (little endian)".to_owned())),
        [0, second, ..] if second.is_ascii() => return Err(encoding("UTF-16 (big endian)".to_owned())),
        _ => {}
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        encoding(format!("another encoding (line {line})"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn toml(path: &Path, text: &str) -> Result<Document, ConfigError> {
    let failed = |error: toml::de::Error| {
        let position = error.span().map(|span| position(text, span.start));
        invalid(path, position, hint::reword(error.message()))
    };
    let table = toml::de::DeTable::parse(text).map_err(failed)?;
    let mut lines = BTreeMap::new();
    let starts: Vec<usize> = text.match_indices('\n').map(|(start, _)| start).collect();
    note_lines(table.get_ref(), "", &starts, &mut lines);
    one::<Settings, _>(toml::Deserializer::from(table)).map_err(failed)?;
    Ok(Document { values: values(path, text, FileFormat::Toml)?, lines })
}

fn note_lines(
    table: &toml::de::DeTable<'_>,
    above: &str,
    starts: &[usize],
    lines: &mut BTreeMap<String, usize>,
) {
    for (key, value) in table {
        let mut here = join(above, key.get_ref());
        if let toml::de::DeValue::Table(table) = value.get_ref() {
            if above == "plugins" {
                here = join(above, &plugin_name(key.get_ref()));
            }
            note_lines(table, &here, starts, lines);
        }
        lines.insert(here, starts.partition_point(|start| *start < key.span().start) + 1);
    }
}

fn json(path: &Path, text: &str) -> Result<Document, ConfigError> {
    let failed = |error: serde_json::Error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        invalid(path, Some((error.line(), error.column())), hint::reword(message))
    };
    let mut doubled = serde_json::Deserializer::from_str(text);
    NoDoubles.deserialize(&mut doubled).map_err(failed)?;
    serde_json::from_str::<Settings>(text).map_err(failed)?;
    Ok(Document { values: values(path, text, FileFormat::Json)?, lines: BTreeMap::new() })
}

fn yaml(path: &Path, text: &str) -> Result<Document, ConfigError> {
    // Aliases of aliases let a small file fill the memory, and no setting needs one.
    let anchors: BTreeSet<&str> = marked(text, '&').collect();
    if let Some(alias) = marked(text, '*').find(|alias| anchors.contains(alias)) {
        return Err(invalid(path, None, format!("the alias `*{alias}` is not read: write the value out")));
    }
    let values = values(path, text, FileFormat::Yaml)?;
    one::<Settings, _>(Value::from(values.clone())).map_err(|error| {
        let (problem, key) = explain(&error);
        let problem = match key {
            Some(key) => format!("`{key}`: {problem}"),
            None => problem,
        };
        invalid(path, None, problem)
    })?;
    Ok(Document { values, lines: BTreeMap::new() })
}

/// The names that follow a mark at the beginning of a word.
fn marked(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || "[{,".contains(letter))
        .filter_map(move |word| word.strip_prefix(mark))
        .map(|name| {
            let end = name.find(|letter: char| !letter.is_alphanumeric() && !"-_".contains(letter));
            &name[..end.unwrap_or(name.len())]
        })
        .filter(|name| !name.is_empty())
}

fn values(path: &Path, text: &str, format: FileFormat) -> Result<Map<String, Value>, ConfigError> {
    File::from_str(text, format).collect().map_err(|error| invalid(path, None, explain(&error).0))
}

/// What an error of the `config` crate says, without the key that it is about.
pub(crate) fn explain(error: &config::ConfigError) -> (String, Option<String>) {
    match error {
        config::ConfigError::Type { unexpected, expected, key, .. } => {
            (hint::reword(&format!("invalid type: {unexpected}, expected {expected}")), key.clone())
        }
        config::ConfigError::At { error, key, .. } => {
            let (problem, inner) = explain(error);
            (problem, key.clone().or(inner))
        }
        config::ConfigError::FileParse { cause, .. } => (hint::reword(&cause.to_string()), None),
        other => (hint::reword(&other.to_string()), None),
    }
}

fn invalid(path: &Path, position: Option<(usize, usize)>, problem: String) -> ConfigError {
    ConfigError::File { place: Place { path: path.to_owned(), position }, problem }
}

/// Line and column of a byte, both from 1; a column is a character.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Walks through JSON and refuses a key that comes twice: `serde_json` would take the last one silently.
struct NoDoubles;

impl<'de> DeserializeSeed<'de> for NoDoubles {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NoDoubles {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(de::Error::custom(format!("duplicate key `{key}`")));
            }
            map.next_value_seed(Self)?;
            seen.insert(key);
        }
        Ok(())
    }
}
