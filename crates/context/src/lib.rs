//! From a session's journal to the messages of a request: what the model sees, and nothing else.
//!
//! [`messages`] rebuilds a conversation and repairs it on the way, so that every request is one a strict server takes:
//! each call has exactly one result, right after the message that made it and in the order of its calls. What has no
//! result is told as interrupted, honestly: not run, or outcome unknown. [`TurnBudget`] keeps the results of one turn
//! together within a size.
//!
//! Pure: it reads no store and calls no model, never drops a word of the user, and never runs a call again.

mod budget;
mod rebuild;

pub use budget::{Limits, TurnBudget};
pub use rebuild::{messages, says_something};
