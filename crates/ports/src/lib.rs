//! The sockets of the engine: what it asks of the world, as traits. `engine` calls them, the outer crates plug in.
//!
//! Nothing here does anything; a port refuses to know who implements it. Futures are boxed because the engine holds
//! its ports as trait objects, one allocation beside a model call or a process switch.

mod gate;
mod journal;
mod model;
mod toolbox;

pub use futures_util::future::BoxFuture;
pub use gate::{Gate, GrantKey};
pub use journal::{Journal, JournalError};
pub use model::{
    Delta, DeltaSink, Model, ModelError, ModelErrorKind, ModelIdentity, ModelRequest, ModelResponse,
    ToolDefinition,
};
pub use tokio_util::sync::CancellationToken;
pub use toolbox::{CallContext, Outcome, OutcomeKind, ProgressSink, ToolRequest, Toolbox, ToolboxError};
