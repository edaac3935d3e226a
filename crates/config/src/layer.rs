//! One source of settings as a tree, and how trees lie over each other.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use config::{Map, Source, Value, ValueKind};
use serde::{Deserialize, Deserializer};

use crate::settings::plugin_name;
use crate::strict::Document;
use crate::{Environment, Text};

/// Where a value came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Default,
    File {
        path: PathBuf,
        /// From 1, where the format tells.
        line: Option<usize>,
    },
    /// An environment variable.
    Variable(String),
    /// As the user wrote it: `--model`.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File { path, line: Some(line) } => write!(formatter, "{}:{line}", path.display()),
            Self::File { path, line: None } => path.display().fmt(formatter),
            Self::Variable(name) => write!(formatter, "environment variable {name}"),
            Self::Flag(name) => formatter.write_str(name),
        }
    }
}

/// A tree of values with the origin of each leaf. A reference is a leaf.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) values: Map<String, Value>,
    pub(crate) origins: BTreeMap<String, Origin>,
}

impl Layer {
    /// A file's layer: names in one spelling, references to files from the folder of the file that names them.
    pub(crate) fn of_file(path: &Path, document: Document, environment: &Environment) -> Self {
        let mut values = document.values;
        values.retain(|_, value| tidy(value, path.parent().unwrap_or(path), environment));
        if let Some(ValueKind::Table(plugins)) = values.get_mut("plugins").map(|plugins| &mut plugins.kind) {
            *plugins = std::mem::take(plugins)
                .into_iter()
                .map(|(name, value)| match value.kind {
                    ValueKind::Table(_) => (plugin_name(&name), value),
                    _ => (name, value),
                })
                .collect();
        }
        let mut origins = BTreeMap::new();
        for_leaves(&values, &mut |keys, _| {
            let key = path_of(keys);
            let line = document.lines.get(&key).copied();
            origins.insert(key, Origin::File { path: path.to_owned(), line });
        });
        Self { values, origins }
    }

    /// A layer with one value.
    pub(crate) fn of_value(keys: &[String], value: ValueKind, origin: Origin) -> Self {
        let mut keys_above = keys.iter().rev();
        let mut tree = Value::new(None, value);
        let mut values = Map::new();
        if let Some(last) = keys_above.next() {
            values.insert(last.clone(), tree);
            for key in keys_above {
                tree = Value::new(None, ValueKind::Table(std::mem::take(&mut values)));
                values.insert(key.clone(), tree);
            }
        }
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        Self { values, origins: BTreeMap::from([(path_of(&names), origin)]) }
    }

    pub(crate) fn get(&self, keys: &[&str]) -> Option<&Value> {
        let (first, rest) = keys.split_first()?;
        let mut value = self.values.get(*first)?;
        for key in rest {
            let ValueKind::Table(table) = &value.kind else { return None };
            value = table.get(*key)?;
        }
        Some(value)
    }

    pub(crate) fn for_leaves<'a>(&'a self, visit: &mut impl FnMut(&[&'a str], &'a Value)) {
        for_leaves(&self.values, visit);
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, config::ConfigError> {
        Ok(self.values.clone())
    }

    /// As the default, but a reference replaces what lies below it: merged, `env` over `file` would be both.
    fn collect_to(&self, below: &mut Value) -> Result<(), config::ConfigError> {
        if let ValueKind::Table(below) = &mut below.kind {
            for_leaves(&self.values, &mut |keys, value| {
                if matches!(value.kind, ValueKind::Table(_)) {
                    forget(below, keys);
                }
            });
        }
        Values(self.values.clone()).collect_to(below)
    }
}

/// Lies over what is below as the `config` crate does it: tables merge, everything else replaces.
#[derive(Clone, Debug)]
struct Values(Map<String, Value>);

impl Source for Values {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, config::ConfigError> {
        Ok(self.0.clone())
    }
}

/// The reference that this table is.
pub(crate) fn reference(value: &Value) -> Option<Text> {
    let ValueKind::Table(table) = &value.kind else { return None };
    let mut pairs = table.iter();
    let (Some((key, value)), None) = (pairs.next(), pairs.next()) else { return None };
    let ValueKind::String(text) = &value.kind else { return None };
    Text::from_pair(key, text)
}

/// Deserializes and gives the error of the format.
pub(crate) fn one<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// A key below another, as `config show` writes it.
pub(crate) fn join(above: &str, key: &str) -> String {
    let bare =
        !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if above.is_empty() { key } else { format!("{above}.{key}") }
}

pub(crate) fn path_of(keys: &[&str]) -> String {
    keys.iter().fold(String::new(), |above, key| join(&above, key))
}

fn for_leaves<'a>(table: &'a Map<String, Value>, visit: &mut impl FnMut(&[&'a str], &'a Value)) {
    fn walk<'a>(
        table: &'a Map<String, Value>,
        keys: &mut Vec<&'a str>,
        visit: &mut impl FnMut(&[&'a str], &'a Value),
    ) {
        for (key, value) in table {
            keys.push(key);
            match &value.kind {
                ValueKind::Table(inner) if reference(value).is_none() => walk(inner, keys, visit),
                _ => visit(keys, value),
            }
            keys.pop();
        }
    }
    walk(table, &mut Vec::new(), visit);
}

/// Drops what means "not set" and turns the paths of references absolute; `false` for what to drop.
fn tidy(value: &mut Value, folder: &Path, environment: &Environment) -> bool {
    let is_reference = matches!(reference(value), Some(Text::File(_)));
    match &mut value.kind {
        ValueKind::Nil => return false,
        ValueKind::Table(table) if is_reference => {
            if let Some(ValueKind::String(path)) = table.get_mut("file").map(|path| &mut path.kind) {
                let absolute = folder.join(environment.expand_home(Path::new(path.as_str())));
                *path = absolute.to_string_lossy().into_owned();
            }
        }
        ValueKind::Table(table) => table.retain(|_, value| tidy(value, folder, environment)),
        ValueKind::Array(values) => values.iter_mut().for_each(|value| {
            tidy(value, folder, environment);
        }),
        _ => {}
    }
    true
}

fn forget(table: &mut Map<String, Value>, keys: &[&str]) {
    match keys {
        [] => {}
        [last] => {
            table.remove(*last);
        }
        [first, rest @ ..] => {
            if let Some(ValueKind::Table(table)) = table.get_mut(*first).map(|value| &mut value.kind) {
                forget(table, rest);
            }
        }
    }
}
