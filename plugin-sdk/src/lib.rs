#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod abi;
pub mod wire;

#[cfg(feature = "process")]
pub mod process;
#[cfg(feature = "roots")]
pub mod roots;
#[cfg(feature = "async")]
pub mod rt;
#[cfg(feature = "undo")]
pub mod undo;
#[cfg(feature = "walk")]
pub mod walk;
#[cfg(feature = "workspace")]
pub mod workspace;

mod cx;
mod error;
mod export;
mod host;
mod logging;
mod output;
mod panics;
mod plugin;
mod registered;
mod schema;
mod state;
mod tool;

pub use cx::Cx;
pub use error::{Error, ErrorKind, Result, ResultExt};
pub use foehn_plugin_sdk_macros::{args, config};
pub use output::{IntoOutput, Json, Output};
pub use plugin::Plugin;
pub use state::State;
pub use tool::{Context, Job, LintException, NoArgs, Tool};

pub use {schemars, serde, serde_json, tracing};

/// Everything that a plugin's source file usually names: `use foehn_plugin_sdk::prelude::*;`
pub mod prelude {
    pub use crate::wire::{
        Capabilities, Classification, ContextKind, Facts, FileAccess, Network, Operation, OperationSpec,
        Part, Preview, Risk, SessionEnd, SessionEnded, Undone,
    };
    pub use crate::{
        Context, Cx, Error, ErrorKind, IntoOutput, Job, Json, LintException, NoArgs, Output, Result,
        ResultExt, Tool, args, bail, config, export_plugin,
    };

    #[cfg(feature = "workspace")]
    pub use crate::workspace::{RelPath, Workspace};
}

/// For the SDK's own macros, and for a host that opens plugins. Not part of the stable interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{Export, header};
    pub use abi_stable;
    pub use abi_stable::library::LibHeader;
    pub use {schemars, serde};
}
