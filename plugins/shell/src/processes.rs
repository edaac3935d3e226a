//! Programs that outlive the call that started them: servers, watchers, long jobs.
//!
//! They live in the plugin's process: these tools declare themselves lasting, so that their calls meet in one worker that stays
//! until the host ends, and takes every one of them with it. A session sees its own ones, which end with it, unless the
//! operator has them kept: then every later session sees them too. What runs that way is kept in memory and nowhere else:
//! nothing outlives the host, seen or unseen.

mod start;
mod started;
mod use_started;

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;

pub use start::StartProcess;
pub use use_started::{ListProcesses, ReadProcessOutput, StopProcess, WriteProcessInput};

/// A program that cannot start at all says so within this time, and the answer of its start with it.
const FIRST_LOOK: Duration = Duration::from_millis(500);

const NEEDED: Capabilities = Capabilities::NONE.write_files().programs().opt_in_network();

/// What these tools have in common: they meet in one process, under what the programs in it need.
macro_rules! about_processes {
    () => {
        const RISK: Risk = Risk::Execute;
        const CAPABILITIES: Capabilities = $crate::processes::NEEDED;
        const LASTING: bool = true;
        const ON_DEMAND: bool = true;
    };
}

use about_processes;
