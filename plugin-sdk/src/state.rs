//! Values that a plugin keeps over calls. They live in the host: the plugin's process may be replaced after any call.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::ask;
use crate::error::Result;
use crate::host::Host;
use crate::wire::upcall::{
    self, StateCas, StateGet, StateKeys, StateList, StatePut, StateSwapped, StateValue,
};

/// The values of this plugin and agent; from [`Cx::state`](crate::Cx::state). No other plugin or agent sees them.
///
/// Every method fails as [`Unsupported`](crate::ErrorKind::Unsupported) on a host that keeps no state.
#[derive(Clone, Copy)]
pub struct State<'a> {
    host: &'a dyn Host,
}

impl<'a> State<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self { host }
    }

    /// The value of a key; `None` when there is none.
    ///
    /// # Errors
    /// When the stored value is no `T`, or the host fails.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let answer: StateValue = ask(self.host, upcall::STATE_GET, &StateGet { key: key.to_owned() })?;
        answer.value.map(|value| Ok(serde_json::from_value(value)?)).transpose()
    }

    /// Stores a value.
    ///
    /// # Errors
    /// When the value has no JSON form, or the host fails.
    pub fn put<T: Serialize>(&self, key: &str, value: &T) -> Result<()> {
        self.store(StatePut { key: key.to_owned(), value: Some(serde_json::to_value(value)?) })
    }

    /// Deletes a value; no error when there is none.
    ///
    /// # Errors
    /// When the host fails.
    pub fn delete(&self, key: &str) -> Result<()> {
        self.store(StatePut { key: key.to_owned(), value: None })
    }

    /// Stores `value` only if the present one equals `expected` (`None` = none); tells whether it did. `value` of `None`
    /// deletes.
    ///
    /// # Errors
    /// When a value has no JSON form, or the host fails.
    pub fn cas<T: Serialize>(&self, key: &str, expected: Option<&T>, value: Option<&T>) -> Result<bool> {
        let body = StateCas {
            key: key.to_owned(),
            expected: expected.map(serde_json::to_value).transpose()?,
            value: value.map(serde_json::to_value).transpose()?,
        };
        let answer: StateSwapped = ask(self.host, upcall::STATE_CAS, &body)?;
        Ok(answer.swapped)
    }

    /// The keys that begin with `prefix`, sorted.
    ///
    /// # Errors
    /// When the host fails.
    pub fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let answer: StateKeys = ask(self.host, upcall::STATE_LIST, &StateList { prefix: prefix.to_owned() })?;
        Ok(answer.keys)
    }

    fn store(&self, body: StatePut) -> Result<()> {
        self.host.upcall(upcall::STATE_PUT, &serde_json::to_vec(&body)?).map(drop)
    }
}

impl fmt::Debug for State<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("State")
    }
}
