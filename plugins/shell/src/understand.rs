//! What a command line would do, worked out without running it.
//!
//! The line is parsed, its simple commands are taken out of loops, substitutions and wrappers (`env`, `sudo`, `sh -c`), and
//! each becomes an operation: the program and its first words, with what is known of its effects. Whatever is not fully
//! understood is said to be so, as the operation `unknown`; the parts that were understood stand beside it, so that a rule
//! against a program still sees it.
//!
//! It refuses to guess. A word that is worked out at run time is no word of an operation, and a construct that shells
//! read in different ways is not understood, whatever `/bin/sh` is here. And it is no boundary: a program that is allowed can start
//! others. What a command can reach is decided by the sandbox.

mod commands;
mod effects;
mod git;
mod lexical;
mod options;
mod parse;
mod places;
mod scripts;
mod tools;
mod variables;
mod words;
mod wrappers;
mod written;

use std::path::PathBuf;

use foehn_plugin_sdk::prelude::{OperationSpec, Risk};

pub(crate) use effects::Effect;
pub(crate) use places::Places;

/// The operation of what was not understood. The host asks about it whatever else is allowed.
pub(crate) const UNKNOWN: &str = "unknown";
/// The operation of output that a redirection writes to a file of the workspace.
pub(crate) const WRITE_INSIDE: &str = "write inside";
/// The operation of writing a file elsewhere.
pub(crate) const WRITE_OUTSIDE: &str = "write outside";

/// Wrappers in wrappers, and literals of `sh -c` in each other, are followed so far.
const DEPTH: usize = 12;

/// One thing that a command line does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// As rules name it.
    pub name: String,
    pub effect: Effect,
    /// The file that is written, or what was not understood.
    pub target: Option<String>,
}

impl Found {
    fn unknown(why: impl Into<String>) -> Self {
        Self { name: UNKNOWN.to_owned(), effect: Effect::Unknown, target: Some(why.into()) }
    }
}

/// All that was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Understood {
    /// In the order of the line, each once. Never empty.
    pub found: Vec<Found>,
    /// Paths outside of the workspace that would be written.
    pub outside: Vec<PathBuf>,
    /// Hosts that are named by an address.
    pub hosts: Vec<String>,
}

/// What a command line can be, for who writes rules.
pub(crate) fn operations() -> Vec<OperationSpec> {
    vec![
        OperationSpec::new(
            "PROGRAM",
            "Run a program: named by itself and its first words, as in `git push`.",
        ),
        OperationSpec::new(WRITE_INSIDE, "Redirect output to a file of the workspace."),
        OperationSpec::new(WRITE_OUTSIDE, "Write a file elsewhere."),
        OperationSpec::new(UNKNOWN, "Run what is not fully understood.").risk(Risk::Destructive),
    ]
}

/// Works out a command line that starts in a folder of the workspace.
pub(crate) fn understand(line: &str, places: Places) -> Understood {
    let mut commands = commands::Commands::new(places);
    commands.line(line, 0);
    commands.finish()
}

#[cfg(test)]
mod tests;
