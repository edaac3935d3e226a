//! Settings in layers, where each value remembers where it came from.
//!
//! Defaults < the user's file < the project's file < `FOEHN_*` variables < flags. A file is read strictly: an unknown
//! key, a wrong type or a doubled key ends the load with file, line and column, because a host that runs with other
//! limits than those written down is worse than one that does not start.
//!
//! What this crate refuses: it never reads a `.env` file, never prints a secret, and lets no file that came with a
//! folder weaken what the user decided (see [`project`]).

pub mod project;
pub mod render;
pub mod settings;

mod agent;
mod environment;
mod error;
mod hint;
mod layer;
mod load;
mod reference;
mod strict;
mod words;

pub use agent::{AgentSettings, ApiKey, SystemMessage};
pub use environment::{Environment, NotUtf8};
pub use error::{ConfigError, Place};
pub use layer::Origin;
pub use load::{Flag, Loaded, Request, load};
pub use reference::{Secret, Text};
pub use secrecy::{ExposeSecret, SecretString};
pub use settings::Settings;

/// The agent that runs when none is named; it exists without being configured.
pub const DEFAULT_AGENT: &str = "default";

/// A commented `foehn.toml` with every setting at its default.
pub const SAMPLE: &str = include_str!("foehn.sample.toml");
