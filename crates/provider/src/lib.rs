//! Model vendors behind the [`Model`] port, and the offline stand-in.
//!
//! One call, [`connect`], turns [`Settings`] into a model. Everything a vendor does differently is a row of a table
//! ([`providers`] and the quirks behind it); one module knows the client library, and no type of that library or of a
//! vendor's wire format leaves this crate.
//!
//! This crate refuses to read the environment on its own (see [`key_from_environment`]), to repair a conversation (the
//! caller sends one in which every call has a result), to run anything, and to show a key: error texts are masked.

mod answer;
mod chat;
mod errors;
mod http;
mod ids;
mod mask;
pub mod offline;
mod quirks;
mod remote;
mod retry;
mod settings;
mod tap;
#[cfg(test)]
mod tests;
mod vendor;

use std::sync::Arc;

use foehn_ports::{Model, ModelError};

pub use quirks::{ProviderInfo, providers};
pub use settings::{Settings, key_from_environment};

/// The model that `settings` describe. Opens no connection; says what is wrong with the settings (unknown provider, no
/// key, a base URL that is none, a script with a mistake) before anything is sent.
pub fn connect(settings: &Settings) -> Result<Arc<dyn Model>, ModelError> {
    let info = settings.info()?;
    if info.name == quirks::OFFLINE {
        return Ok(Arc::new(offline::Offline::open(settings)?));
    }
    Ok(Arc::new(remote::Remote::open(settings, info)?))
}
