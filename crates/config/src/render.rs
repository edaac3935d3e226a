//! Settings as `foehn config show` lists them: key, value, origin, and never a secret.

use serde_json::Value;

use crate::layer::{Origin, join};
use crate::reference::MASK;
use crate::{ConfigError, Loaded};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: String,
    /// As TOML writes it; `-` when there is none. Secrets are masked.
    pub value: String,
    pub origin: Origin,
}

/// All settings in the order of their keys.
pub fn render(loaded: &Loaded) -> Result<Vec<Row>, ConfigError> {
    let tree = serde_json::to_value(&loaded.settings).map_err(|error| ConfigError::Value {
        key: String::new(),
        origin: Origin::Default,
        problem: format!("cannot be shown: {error}"),
    })?;
    let mut rows = Vec::new();
    list(&tree, "", loaded, &mut rows);
    rows.sort_by(|left, right| left.key.cmp(&right.key));
    Ok(rows)
}

fn list(value: &Value, key: &str, loaded: &Loaded, rows: &mut Vec<Row>) {
    match value {
        Value::Object(table) if !is_reference(table) => {
            for (name, value) in table {
                list(value, &join(key, name), loaded, rows);
            }
        }
        // Of what an agent or a plugin may set, only what it does set is worth a line.
        Value::Null if key.matches('.').count() > 1 => {}
        value => rows.push(Row { key: key.to_owned(), value: show(key, value), origin: loaded.origin(key) }),
    }
}

fn is_reference(table: &serde_json::Map<String, Value>) -> bool {
    table.len() == 1
        && table.iter().all(|(key, value)| matches!(key.as_str(), "env" | "file") && value.is_string())
}

fn show(key: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if is_secret(key) && text != MASK => MASK.to_owned(),
        Value::String(text) => format!("{:?}", mask_url(text)),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| show(key, item)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(table) => {
            let mut pairs: Vec<_> =
                table.iter().map(|(name, value)| format!("{name} = {}", show(name, value))).collect();
            // The layers know no order of keys.
            pairs.sort();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// A plugin's own settings are not known here; their names are all there is to go by.
fn is_secret(key: &str) -> bool {
    const WORDS: &[&str] =
        &["password", "passwd", "secret", "token", "key", "credential", "authorization", "cookie"];
    let name = key.rsplit('.').next().unwrap_or(key).to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// An address without what may be a secret in it: user, password and query.
pub(crate) fn mask_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => authority.to_owned(),
    };
    let rest = match rest.split_once('?') {
        Some((path, _)) => format!("{path}?{MASK}"),
        None => rest.to_owned(),
    };
    format!("{scheme}://{authority}{rest}")
}
