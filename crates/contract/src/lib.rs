//! What a model is shown and what is accepted back: a tool is a public endpoint, and its caller writes its own
//! arguments.
//!
//! [`Contract`] checks the arguments of one tool against the very schema the model was shown and answers with all
//! problems at once; [`envelope`] writes the JSON that the model reads as a result; [`names`] keeps tool names sound.
//!
//! Before any model meets a tool, [`lint`] says what is wrong with what it declares, [`budget`] what it costs,
//! [`snapshot`] keeps what it promised, and [`change`] says who is let down by a difference.
//!
//! Everything here is pure: text in, text out. This crate refuses to run anything, to decide whether a call is
//! permitted, and to guess: what can mean one thing only is accepted with a note, everything else is refused.

pub mod budget;
pub mod change;
pub mod contract;
pub mod envelope;
pub mod example;
pub mod keywords;
pub mod lint;
pub mod names;
pub mod snapshot;

mod coercion;
mod cut;
mod defaults;
mod explain;
mod formats;
mod kinds;
mod nearest;
mod normalise;
mod place;
mod problems;
mod quick;
mod schema;
mod schema_nodes;
mod secret;
mod strict_json;

pub use coercion::{Answer, Coercion, Row, coercion_table};
pub use contract::{Accepted, Contract, ContractError, Definition};
