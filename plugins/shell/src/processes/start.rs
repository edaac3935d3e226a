//! The tool `start_process`.

use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{self, Command, ProgramSettings};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use super::started::{Process, end_processes, remember, shown, started};
use super::{FIRST_LOOK, about_processes};
use crate::{LONGEST_COMMAND_BYTES, SHELL, checked_command, understand};

/// Else a model would look for the fault in its server.
const ALONE: &str = "without a network its ports are reached by its own programs only, not from other calls: try out a \
                     server within one command";

/// The tool `start_process`.
#[derive(Debug)]
pub struct StartProcess;

/// Arguments of `start_process`.
#[args]
pub struct StartProcessArgs {
    /// For /bin/sh.
    #[schemars(length(max = LONGEST_COMMAND_BYTES))]
    command: String,
    /// Folder of the workspace to run in.
    #[serde(default = "crate::here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    working_directory: String,
}

/// Configuration of `start_process`.
#[config]
pub struct StartProcessConfig {
    /// Most programs that one session may have running.
    max_running: usize,
    /// Whether what a session started runs on for the sessions after it, until the host ends.
    keep: bool,
    #[serde(flatten)]
    programs: ProgramSettings,
}

impl Default for StartProcessConfig {
    fn default() -> Self {
        Self { max_running: 8, keep: false, programs: ProgramSettings::default() }
    }
}

impl Tool for StartProcess {
    const NAME: &'static str = "start_process";
    const DESCRIPTION: &'static str =
        "Start a command that goes on after the call, such as a server. Ends with the session.";
    const CLASSIFIES: bool = true;
    about_processes!();

    type Args = StartProcessArgs;
    type Out = Output;
    type Config = StartProcessConfig;

    fn run(&self, args: StartProcessArgs, cx: &Cx<'_, StartProcessConfig>) -> Result<Output> {
        checked_command(&args.command)?;
        let workspace = cx.workspace()?;
        let folder = process::working_directory(&workspace, &args.working_directory)?;
        let running =
            |process: &&Arc<Process>| process.is_of(cx.session()) && process.program.exit().is_none();
        let running = started().processes.values().filter(running).count();
        let most = cx.config().max_running;
        if running >= most {
            return Err(Error::failed(format!(
                "{running} processes run, at most {most} may; stop one first"
            ))
            .executed(false));
        }
        let program = Command::new(SHELL)
            .args(["-c", args.command.as_str()])
            .in_workspace(&workspace, &folder)?
            .configured(&cx.config().programs)
            .start_lasting(cx)?;
        let process = remember(Process {
            id: 0,
            session: cx.session().to_owned(),
            kept: cx.config().keep,
            command: args.command,
            folder,
            program,
        });
        process.program.wait(None, FIRST_LOOK, cx);
        let mut shown = shown(&process, 0);
        let left = process.program.left_running();
        if !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|left| left.name.as_str()).collect();
            shown = shown.note(format!(
                "what it left in the background was stopped with it: {}; leave out the `&`",
                names.join(", ")
            ));
        }
        if process.program.exit().is_none() && !cx.config().programs.has_network(false) {
            shown = shown.note(ALONE);
        }
        Ok(shown)
    }

    fn operations() -> Vec<OperationSpec> {
        understand::operations()
    }

    fn classify(&self, args: &StartProcessArgs, cx: &Cx<'_, StartProcessConfig>) -> Result<Classification> {
        let refusal = checked_command(&args.command).err();
        crate::classified(&args.command, &args.working_directory, refusal, false, cx)
    }

    fn end_session(&self, end: SessionEnd, cx: &Cx<'_, StartProcessConfig>) -> Result<SessionEnded> {
        Ok(end_processes(cx.session(), end.host_ends))
    }
}
