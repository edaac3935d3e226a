//! Drives the built `foehn` from outside: real plugins, real files, real processes, scripted models.
//!
//! A test makes a [`World`], puts files and a script into it, runs the binary and compares what came out. Nothing here
//! reaches into the product; what a user cannot see, these tests do not see either.

mod build;
mod clean;
mod left;
mod outline;
mod run;
mod served;
mod terminal;
mod world;

pub use build::{Built, built};
pub use outline::{OF_THE_SYSTEM, brief};
pub use run::{Run, Started};
pub use served::Served;
pub use terminal::Terminal;
pub use world::World;
