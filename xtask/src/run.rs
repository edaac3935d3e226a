//! `cargo xtask run`: from a fresh clone to a running task in one command.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::build::{self, Profile};
use crate::workspace::{Workspace, program};

/// Builds, then lets `foehn run` work in the current folder. Its exit code is ours.
pub(crate) fn run(workspace: &Workspace, profile: Profile, arguments: &[OsString]) -> Result<ExitCode> {
    let host = build::install(workspace, profile)?;
    let mut command = program(host);
    command.arg("run");
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    if here != workspace.root {
        command.arg("--plugins").arg(workspace.plugins());
    }
    command.args(arguments);
    hand_over(command)
}

/// Becomes the host: signals, terminal and exit code are its own from here on.
#[cfg(unix)]
fn hand_over(mut command: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec()).with_context(|| format!("cannot start {}", command.get_program().display()))
}

#[cfg(not(unix))]
fn hand_over(mut command: Command) -> Result<ExitCode> {
    let status =
        command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
