//! Strings that may stand elsewhere: `{ env = "NAME" }` or `{ file = "path" }`.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::render::mask_url;
use crate::{ConfigError, Environment};

/// What is shown in the place of a secret.
pub(crate) const MASK: &str = "********";

/// A secret file holds a key, not a book.
const FILE_LIMIT: u64 = 64 * 1024;

/// A string, or where to find it. What a reference leads to is a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Text {
    Plain(String),
    /// The name of an environment variable.
    Env(String),
    File(PathBuf),
}

/// A [`Text`] that is a secret also when it is written out: neither `Debug` nor `Serialize` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Text);

impl Text {
    /// The string itself, read now. `key` is named when there is nothing to read.
    ///
    /// An empty variable counts as unset, and the line end of a file is not part of the value.
    pub fn resolve(&self, key: &str, environment: &Environment) -> Result<SecretString, ConfigError> {
        let failed = |problem: &str| ConfigError::Reference {
            key: key.to_owned(),
            target: self.target(),
            problem: problem.to_owned(),
        };
        let text = match self {
            Self::Plain(text) => text.clone(),
            Self::Env(name) => environment
                .get(name)
                .map_err(|_| failed("is not valid UTF-8"))?
                .ok_or_else(|| failed("is not set or is empty"))?
                .to_owned(),
            Self::File(path) => read(path).map_err(|problem| failed(&problem))?,
        };
        Ok(SecretString::from(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// The string, when it is written out in the settings.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(text) => Some(text),
            Self::Env(_) | Self::File(_) => None,
        }
    }

    fn target(&self) -> String {
        match self {
            Self::Plain(_) => "its own text".to_owned(),
            Self::Env(name) => format!("the environment variable `{name}`"),
            Self::File(path) => format!("the file {}", path.display()),
        }
    }

    /// The reference that a table of settings stands for, if it is one.
    pub(crate) fn from_pair(key: &str, value: &str) -> Option<Self> {
        match key {
            "env" => Some(Self::Env(value.to_owned())),
            "file" => Some(Self::File(PathBuf::from(value))),
            _ => None,
        }
    }
}

impl Secret {
    /// As [`Text::resolve`].
    pub fn resolve(&self, key: &str, environment: &Environment) -> Result<SecretString, ConfigError> {
        self.0.resolve(key, environment)
    }
}

fn read(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    // To open a FIFO would wait for a writer, maybe for ever.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(FILE_LIMIT + 1).read_to_string(&mut text).map_err(unreadable)?;
    match text.len() as u64 {
        0 => Err("is empty".to_owned()),
        length if length > FILE_LIMIT => Err(format!("is larger than {FILE_LIMIT} bytes")),
        _ => Ok(text),
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(r#"a string, { env = "NAME" } or { file = "path" }"#)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::Plain(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value::<String>()?;
            let text = Text::from_pair(&key, &value)
                .ok_or_else(|| de::Error::unknown_field(&key, &["env", "file"]))?;
            if found.replace(text).is_some() {
                return Err(de::Error::custom(
                    "a reference is either { env = .. } or { file = .. }, not both",
                ));
            }
        }
        found.ok_or_else(|| de::Error::invalid_length(0, &self))
    }
}

/// An address may hold a password.
impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => formatter.debug_tuple("Plain").field(&mask_url(text)).finish(),
            Self::Env(name) => formatter.debug_tuple("Env").field(name).finish(),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, value) = match self {
            Self::Plain(text) => return serializer.serialize_str(text),
            Self::Env(name) => ("env", name.as_str().into()),
            Self::File(path) => ("file", path.to_string_lossy()),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, &value)?;
        map.end()
    }
}

/// Refuses numbers without repeating them, as serde's own message would: even a key of the wrong type is a key.
struct SecretVisitor;

impl<'de> Visitor<'de> for SecretVisitor {
    type Value = Secret;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        TextVisitor.expecting(formatter)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret(Text::Plain(text.to_owned())))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Secret, E> {
        Err(de::Error::invalid_type(de::Unexpected::Other("number"), &self))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Secret, E> {
        Err(de::Error::invalid_type(de::Unexpected::Other("number"), &self))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        Err(de::Error::invalid_type(de::Unexpected::Other("number"), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Secret, A::Error> {
        TextVisitor.visit_map(map).map(Secret)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretVisitor)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Text::Plain(_) => serializer.serialize_str(MASK),
            reference => reference.serialize(serializer),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Text::Plain(_) => formatter.write_str(MASK),
            reference => reference.fmt(formatter),
        }
    }
}
