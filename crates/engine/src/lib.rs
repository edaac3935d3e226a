//! The loop between model and tools, as one state machine: prompts come in as `Op`s, everything that happens goes out
//! as `Event`s, and every byte the model saw is in the journal.
//!
//! One prompt, one way through: the prompt is journalled; the model answers; each of its calls is resolved, checked
//! against its contract, classified, judged by policy, approved where policy asks, journalled as started, run, and
//! answered with a result; until the model answers without calls, a limit ends the turn, or the user interrupts.
//! However a turn ends, every call of it has exactly one result.
//!
//! This crate opens nothing: no file, no socket, no process, no task. It starts no second attempt of a call, decides
//! nothing for an absent user, and knows neither vendors nor plugins, only its ports.
//!
//! It needs a tokio runtime with time enabled.

mod approve;
mod calls;
mod control;
mod execute;
mod guard;
mod host;
mod prepare;
mod profile;
mod results;
mod session;
mod tools;
mod turn;

pub use profile::{AgentProfile, Limits};
pub use session::{Engine, EngineError};
