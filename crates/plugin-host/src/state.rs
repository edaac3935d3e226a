//! Values that a plugin keeps between calls. The store belongs to the host; a plugin reaches its own part through upcalls
//! and has no file of its own.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::private_file;

/// The largest value, as JSON text.
const MAX_VALUE_BYTES: usize = 1 << 20;
/// The most that one plugin can keep.
const MAX_TOTAL_BYTES: usize = 16 << 20;

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
    #[error("the values in `{}` cannot be used: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("the value of `{key}` has {size} bytes, at most {MAX_VALUE_BYTES} are kept")]
    ValueTooLarge { key: String, size: usize },
    #[error("the plugin would keep {size} bytes, at most {MAX_TOTAL_BYTES} are allowed; delete some first")]
    Full { size: usize },
    /// From a store of the embedder's.
    #[error("{0}")]
    Other(String),
}

type Values = BTreeMap<String, Value>;

/// One JSON file per plugin, each change written whole and in one step. Several hosts may share the folder.
#[derive(Debug)]
pub struct FileState {
    folder: PathBuf,
}

impl FileState {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn path(&self, plugin: &str) -> PathBuf {
        // A plugin's name comes from a file name, so it holds no separator.
        self.folder.join(format!("{plugin}.json"))
    }

    fn read(&self, plugin: &str) -> Result<Values, StateError> {
        let path = self.path(plugin);
        let content = private_file::read(&path).map_err(|source| file_error(&path, source))?;
        content.map_or(Ok(Values::new()), |text| {
            serde_json::from_slice(&text).map_err(|error| file_error(&path, error.into()))
        })
    }

    fn change<T>(
        &self,
        plugin: &str,
        change: impl FnOnce(&mut Values) -> Option<T>,
    ) -> Result<Option<T>, StateError> {
        let path = self.path(plugin);
        let _lock = self.lock(&path).map_err(|source| file_error(&path, source))?;
        let mut values = self.read(plugin)?;
        let Some(result) = change(&mut values) else { return Ok(None) };
        let text = serde_json::to_vec(&values).map_err(|error| file_error(&path, error.into()))?;
        if text.len() > MAX_TOTAL_BYTES {
            return Err(StateError::Full { size: text.len() });
        }
        private_file::write(&path, &text).map_err(|source| file_error(&path, source))?;
        Ok(Some(result))
    }

    /// The file itself is replaced, so it cannot carry the lock.
    fn lock(&self, path: &Path) -> io::Result<File> {
        private_file::create_folder(&self.folder)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }
}

fn file_error(path: &Path, source: io::Error) -> StateError {
    StateError::File { path: path.to_path_buf(), source }
}

impl StateStore for FileState {
    fn get(&self, plugin: &str, key: &str) -> Result<Option<Value>, StateError> {
        Ok(self.read(plugin)?.remove(key))
    }

    fn put(&self, plugin: &str, key: &str, value: Option<Value>) -> Result<(), StateError> {
        check_size(key, value.as_ref())?;
        self.change(plugin, |values| {
            set(values, key, value);
            Some(())
        })?;
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
        let swapped =
            self.change(plugin, |values| (values.get(key) == expected).then(|| set(values, key, value)))?;
        Ok(swapped.is_some())
    }

    fn list(&self, plugin: &str, prefix: &str) -> Result<Vec<String>, StateError> {
        Ok(self.read(plugin)?.into_keys().filter(|key| key.starts_with(prefix)).collect())
    }
}

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

fn check_size(key: &str, value: Option<&Value>) -> Result<(), StateError> {
    let size = value.map_or(0, |value| value.to_string().len());
    if size > MAX_VALUE_BYTES { Err(StateError::ValueTooLarge { key: key.to_owned(), size }) } else { Ok(()) }
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

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        check(&FileState::new(folder.path().join("values")));
    }

    #[test]
    fn a_broken_file_is_kept_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        private_file::write(&path, b"{ broken").unwrap();
        let store = FileState::new(folder.path());
        assert!(store.put("a", "k", None).unwrap_err().to_string().starts_with("the values in `"));
        assert_eq!(std::fs::read(&path).unwrap(), b"{ broken");
    }
}
