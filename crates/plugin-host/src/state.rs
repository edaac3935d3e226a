//! Values that a plugin keeps between calls. The store belongs to whoever embeds this crate; a plugin reaches its own part
//! through upcalls and has no file of its own.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The largest value, as JSON text.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// Where plugins keep their values. `plugin` is the plugin's name; one never sees another's.
pub trait StateStore: Send + Sync {
    /// # Errors
    /// The store cannot be read.
    fn get(&self, plugin: &str, key: &str) -> Result<Option<Value>, StateError>;

    /// Stores a value; `None` deletes.
    ///
    /// # Errors
    /// The store cannot be read or written, or is full.
    fn put(&self, plugin: &str, key: &str, value: Option<Value>) -> Result<(), StateError>;

    /// Stores a value only when the present one is as expected; `false` when it is not. One step for everybody else.
    ///
    /// # Errors
    /// The store cannot be read or written, or is full.
    fn swap(
        &self,
        plugin: &str,
        key: &str,
        expected: Option<&Value>,
        value: Option<Value>,
    ) -> Result<bool, StateError>;

    /// The keys that begin with `prefix`, sorted.
    ///
    /// # Errors
    /// The store cannot be read.
    fn list(&self, plugin: &str, prefix: &str) -> Result<Vec<String>, StateError>;
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("the value of `{key}` has {size} bytes, at most {MAX_VALUE_BYTES} are kept")]
    ValueTooLarge { key: String, size: usize },
    /// From a store of the embedder's.
    #[error("{0}")]
    Other(String),
}

type Values = BTreeMap<String, Value>;

/// Values that are gone with the process, for tests and for hosts that keep nothing.
#[derive(Debug, Default)]
pub struct MemoryState {
    plugins: Mutex<BTreeMap<String, Values>>,
}

impl MemoryState {
    fn with<T>(&self, plugin: &str, act: impl FnOnce(&mut Values) -> T) -> T {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        act(plugins.entry(plugin.to_owned()).or_default())
    }
}

impl StateStore for MemoryState {
    fn get(&self, plugin: &str, key: &str) -> Result<Option<Value>, StateError> {
        Ok(self.with(plugin, |values| values.get(key).cloned()))
    }

    fn put(&self, plugin: &str, key: &str, value: Option<Value>) -> Result<(), StateError> {
        check_size(key, value.as_ref())?;
        self.with(plugin, |values| set(values, key, value));
        Ok(())
    }

    fn swap(
        &self,
        plugin: &str,
        key: &str,
        expected: Option<&Value>,
        value: Option<Value>,
    ) -> Result<bool, StateError> {
        check_size(key, value.as_ref())?;
        Ok(self.with(plugin, |values| {
            let fits = values.get(key) == expected;
            if fits {
                set(values, key, value);
            }
            fits
        }))
    }

    fn list(&self, plugin: &str, prefix: &str) -> Result<Vec<String>, StateError> {
        Ok(self.with(plugin, |values| values.keys().filter(|key| key.starts_with(prefix)).cloned().collect()))
    }
}

fn set(values: &mut Values, key: &str, value: Option<Value>) {
    match value {
        Some(value) => values.insert(key.to_owned(), value),
        None => values.remove(key),
    };
}

/// Whether a value of so many bytes of JSON may be kept.
///
/// # Errors
/// It is too large.
pub fn check_value_size(key: &str, size: usize) -> Result<(), StateError> {
    if size > MAX_VALUE_BYTES { Err(StateError::ValueTooLarge { key: key.to_owned(), size }) } else { Ok(()) }
}

fn check_size(key: &str, value: Option<&Value>) -> Result<(), StateError> {
    check_value_size(key, value.map_or(0, |value| value.to_string().len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(store: &dyn StateStore) {
        assert_eq!(store.get("a", "k").unwrap(), None);
        store.put("a", "k", Some(json!([1]))).unwrap();
        store.put("a", "l", Some(json!(null))).unwrap();
        store.put("b", "k", Some(json!("other"))).unwrap();
        assert_eq!(store.get("a", "k").unwrap(), Some(json!([1])));
        assert_eq!(store.get("a", "l").unwrap(), Some(json!(null)));
        assert_eq!(store.list("a", "").unwrap(), ["k", "l"]);
        assert_eq!(store.list("a", "l").unwrap(), ["l"]);
        let swaps = [
            store.swap("a", "k", None, Some(json!(2))).unwrap(),
            store.swap("a", "k", Some(&json!([1])), Some(json!(2))).unwrap(),
            store.swap("a", "new", None, Some(json!(3))).unwrap(),
            store.swap("a", "l", Some(&json!(null)), None).unwrap(),
        ];
        assert_eq!(swaps, [false, true, true, true]);
        assert_eq!(store.list("a", "").unwrap(), ["k", "new"]);
        assert_eq!(store.get("b", "k").unwrap(), Some(json!("other")));
        let large = Some(json!("x".repeat(MAX_VALUE_BYTES)));
        assert!(matches!(store.put("a", "large", large), Err(StateError::ValueTooLarge { .. })));
    }

    #[test]
    fn memory() {
        check(&MemoryState::default());
    }
}
