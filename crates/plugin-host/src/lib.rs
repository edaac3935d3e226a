//! Finds native plugins in a folder, checks and trusts them, and runs their tools: each in a confined worker process, or
//! in this process where the operator says so. To the engine it is one [`Toolbox`](foehn_ports::Toolbox).
//!
//! Reading order: [`Settings`] in, [`PluginSet`] out; `scan` and `preflight` look at files and execute nothing; `trust` and
//! `cache` remember; `process` and `pool` hold the workers; `worker` is the other end, inside the child.
//!
//! What it refuses: to map a library whose bytes the operator has not accepted, to map anything at all before it has been
//! read once, checked and copied into memory that nobody can change, and to fail as a whole because of one plugin.
//!
//! A program that uses this crate calls [`become_worker_if_asked`] as the first thing in `main`: workers are the same
//! binary. Unix only; confinement needs Linux (see `foehn_sandbox`).

mod bridge;
mod cache;
mod call;
mod discover;
mod ending;
mod exit;
mod frame;
mod image;
mod inprocess;
mod load;
mod log;
mod plugin;
mod pool;
mod preflight;
mod private_file;
mod process;
mod profile;
mod registry;
mod reply;
mod scan;
mod set;
mod settings;
mod signal;
mod state;
mod stats;
mod toolbox;
mod tree;
mod trust;
mod undo;
mod upcall;
mod watch;
mod worker;

pub use discover::Refusal;
pub use ending::SessionEnding;
pub use plugin::{Listed, PluginState};
pub use preflight::Unfit;
pub use process::StartError;
pub use scan::{plugin_files, plugin_name};
pub use set::{Checked, PluginSet, Reloaded};
pub use settings::{Isolation, PluginSettings, SandboxSettings, Settings, Timeouts, TrustMode};
pub use state::{MemoryState, StateError, StateStore, check_value_size};
pub use stats::Stats;
pub use trust::{Accepted, Trust, TrustError};
pub use undo::UndoError;
pub use watch::{WatchError, Watching};
pub use worker::{WORKER_COMMAND, become_worker_if_asked};

pub use foehn_plugin_sdk::wire::Manifest;
