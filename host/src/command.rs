//! One module per command. Each takes what is already resolved, does its work and answers with an exit code.

pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod contract;
pub(crate) mod doctor;
pub(crate) mod plugins;
pub(crate) mod run;
pub(crate) mod script_server;
pub(crate) mod sessions;
pub(crate) mod tools;
pub(crate) mod undo;
