//! What plugins keep between calls: small values under a key, each with a version that rises.

use std::path::PathBuf;

use sqlx::{AnyConnection, Row};

use crate::worker::{Command, Mailbox};
use crate::{Problem, StoreError};

/// The state of one plugin. Cheap to clone; another plugin's keys are out of its reach.
#[derive(Clone, Debug)]
pub struct PluginState {
    plugin: String,
    mailbox: Mailbox,
}

/// A value and its version, which counts from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    pub value: Vec<u8>,
    pub version: i64,
}

impl PluginState {
    pub(crate) fn new(plugin: &str, mailbox: Mailbox) -> Self {
        Self { plugin: plugin.to_owned(), mailbox }
    }

    pub async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let (plugin, key) = (self.plugin.clone(), key.to_owned());
        self.mailbox.ask(|reply| Command::StateGet { plugin, key, reply }).await
    }

    /// Stores `value` whatever was there; gives the new version.
    pub async fn put(&self, key: &str, value: Vec<u8>) -> Result<i64, StoreError> {
        let (plugin, key) = (self.plugin.clone(), key.to_owned());
        self.mailbox.ask(|reply| Command::StatePut { plugin, key, value, reply }).await
    }

    /// Stores `value` only if the key still has version `expected` (0: is not there); gives the new version, or `None`
    /// when somebody else was quicker.
    pub async fn compare_and_set(
        &self,
        key: &str,
        expected: i64,
        value: Vec<u8>,
    ) -> Result<Option<i64>, StoreError> {
        let (plugin, key) = (self.plugin.clone(), key.to_owned());
        self.mailbox.ask(|reply| Command::StateSwap { plugin, key, expected, value, reply }).await
    }

    /// Whether the key was there.
    pub async fn delete(&self, key: &str) -> Result<bool, StoreError> {
        let (plugin, key) = (self.plugin.clone(), key.to_owned());
        self.mailbox.ask(|reply| Command::StateDelete { plugin, key, expected: None, reply }).await
    }

    /// Deletes the key only if it still has version `expected` (0: is not there); tells whether it had.
    pub async fn compare_and_delete(&self, key: &str, expected: i64) -> Result<bool, StoreError> {
        if expected == 0 {
            return Ok(self.get(key).await?.is_none());
        }
        let (plugin, key) = (self.plugin.clone(), key.to_owned());
        self.mailbox.ask(|reply| Command::StateDelete { plugin, key, expected: Some(expected), reply }).await
    }

    /// The keys that begin with `prefix`, in order.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let (plugin, prefix) = (self.plugin.clone(), prefix.to_owned());
        self.mailbox.ask(|reply| Command::StateList { plugin, prefix, reply }).await
    }

    /// The file that holds it, for messages.
    pub fn path(&self) -> PathBuf {
        self.mailbox.path().to_owned()
    }
}

pub(crate) async fn get(
    connection: &mut AnyConnection,
    plugin: &str,
    key: &str,
) -> Result<Option<Versioned>, Problem> {
    let row = sqlx::query("SELECT value, version FROM plugin_state WHERE plugin = $1 AND key = $2")
        .bind(plugin)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    row.map(|row| Ok(Versioned { value: row.try_get(0)?, version: row.try_get(1)? })).transpose()
}

pub(crate) async fn put(
    connection: &mut AnyConnection,
    plugin: &str,
    key: &str,
    value: &[u8],
) -> Result<i64, Problem> {
    let version = sqlx::query_scalar::<_, i64>(
        "INSERT INTO plugin_state (plugin, key, value, version) VALUES ($1, $2, $3, 1) \
         ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, version = plugin_state.version + 1 \
         RETURNING version",
    )
    .bind(plugin)
    .bind(key)
    .bind(value)
    .fetch_one(connection)
    .await?;
    Ok(version)
}

pub(crate) async fn compare_and_set(
    connection: &mut AnyConnection,
    plugin: &str,
    key: &str,
    expected: i64,
    value: &[u8],
) -> Result<Option<i64>, Problem> {
    let statement = if expected == 0 {
        sqlx::query(
            "INSERT INTO plugin_state (value, version, plugin, key) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
    } else {
        sqlx::query(
            "UPDATE plugin_state SET value = $1, version = $2 WHERE plugin = $3 AND key = $4 AND version = $5",
        )
    };
    let statement = statement.bind(value).bind(expected + 1).bind(plugin).bind(key);
    let statement = if expected == 0 { statement } else { statement.bind(expected) };
    let changed = statement.execute(connection).await?.rows_affected();
    Ok((changed == 1).then_some(expected + 1))
}

pub(crate) async fn delete(
    connection: &mut AnyConnection,
    plugin: &str,
    key: &str,
    expected: Option<i64>,
) -> Result<bool, Problem> {
    let gone =
        sqlx::query("DELETE FROM plugin_state WHERE plugin = $1 AND key = $2 AND ($3 = 0 OR version = $4)")
            .bind(plugin)
            .bind(key)
            .bind(expected.unwrap_or(0))
            .bind(expected.unwrap_or(0))
            .execute(connection)
            .await?
            .rows_affected();
    Ok(gone == 1)
}

pub(crate) async fn list(
    connection: &mut AnyConnection,
    plugin: &str,
    prefix: &str,
) -> Result<Vec<String>, Problem> {
    // No LIKE: `%` and `_` in a prefix would be patterns, and case would not count.
    let keys = sqlx::query_scalar::<_, String>(
        "SELECT key FROM plugin_state WHERE plugin = $1 AND substr(key, 1, $2) = $3 ORDER BY key",
    )
    .bind(plugin)
    .bind(i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX))
    .bind(prefix)
    .fetch_all(connection)
    .await?;
    Ok(keys)
}
