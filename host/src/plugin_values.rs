//! What plugins keep between calls, in the store of the sessions: one place for everything that outlives a run.
//!
//! Plugins ask in the middle of a call and wait for the answer, so this waits too. The store answers from a thread of
//! its own; nothing it does can need the thread that waits here.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use foehn_plugin_host::{StateError, StateStore};
use foehn_store::{PluginState, Store, StoreError};
use serde_json::Value;

/// The values of all plugins under one agent; another agent's are out of reach.
#[derive(Debug)]
pub(crate) struct PluginValues {
    store: Store,
    agent: String,
}

impl PluginValues {
    pub(crate) fn new(store: Store, agent: String) -> Self {
        Self { store, agent }
    }

    fn of(&self, plugin: &str) -> PluginState {
        // Neither name can hold a `/`.
        self.store.plugin_state(&format!("{}/{plugin}", self.agent))
    }
}

impl StateStore for PluginValues {
    fn get(&self, plugin: &str, key: &str) -> Result<Option<Value>, StateError> {
        let stored = wait(self.of(plugin).get(key))?;
        stored.map(|stored| decode(key, &stored.value)).transpose()
    }

    fn put(&self, plugin: &str, key: &str, value: Option<Value>) -> Result<(), StateError> {
        match value {
            Some(value) => wait(self.of(plugin).put(key, encode(key, &value)?)).map(drop),
            None => wait(self.of(plugin).delete(key)).map(drop),
        }
    }

    fn swap(
        &self,
        plugin: &str,
        key: &str,
        expected: Option<&Value>,
        value: Option<Value>,
    ) -> Result<bool, StateError> {
        let values = self.of(plugin);
        let stored = wait(values.get(key))?;
        let present = stored.as_ref().map(|stored| decode(key, &stored.value)).transpose()?;
        if present.as_ref() != expected {
            return Ok(false);
        }
        let version = stored.map_or(0, |stored| stored.version);
        match value {
            Some(value) => wait(values.compare_and_set(key, version, encode(key, &value)?))
                .map(|version| version.is_some()),
            None => wait(values.compare_and_delete(key, version)),
        }
    }

    fn list(&self, plugin: &str, prefix: &str) -> Result<Vec<String>, StateError> {
        wait(self.of(plugin).list(prefix))
    }
}

fn encode(key: &str, value: &Value) -> Result<Vec<u8>, StateError> {
    let bytes = serde_json::to_vec(value).map_err(|error| StateError::Other(error.to_string()))?;
    foehn_plugin_host::check_value_size(key, bytes.len())?;
    Ok(bytes)
}

fn decode(key: &str, bytes: &[u8]) -> Result<Value, StateError> {
    serde_json::from_slice(bytes)
        .map_err(|error| StateError::Other(format!("the value of `{key}` is damaged: {error}")))
}

fn wait<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StateError> {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result.map_err(|error| StateError::Other(error.to_string())),
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_belong_to_one_plugin_of_one_agent() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("foehn.db")).unwrap();
        let values = PluginValues::new(store.clone(), "default".to_owned());
        let others = PluginValues::new(store, "other".to_owned());
        values.put("p", "k", Some(json!([1]))).unwrap();
        values.put("p", "null", Some(json!(null))).unwrap();
        assert_eq!(values.get("p", "k").unwrap(), Some(json!([1])));
        assert_eq!(values.get("p", "null").unwrap(), Some(json!(null)));
        assert_eq!(values.get("q", "k").unwrap(), None);
        assert_eq!(others.list("p", "").unwrap(), Vec::<String>::new());
        let swaps = [
            values.swap("p", "k", None, Some(json!(2))).unwrap(),
            values.swap("p", "k", Some(&json!([1])), Some(json!(2))).unwrap(),
            values.swap("p", "new", None, Some(json!(3))).unwrap(),
            values.swap("p", "null", Some(&json!(null)), None).unwrap(),
            values.swap("p", "gone", None, None).unwrap(),
        ];
        assert_eq!(swaps, [false, true, true, true, true]);
        assert_eq!(values.list("p", "").unwrap(), ["k", "new"]);
        values.put("p", "k", None).unwrap();
        assert_eq!(values.list("p", "n").unwrap(), ["new"]);
        assert_eq!(values.get("p", "k").unwrap(), None);
        let large = Some(json!("x".repeat(1 << 20)));
        assert!(matches!(values.put("p", "large", large), Err(StateError::ValueTooLarge { .. })));
    }
}
