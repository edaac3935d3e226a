//! The plugin `shell`: runs command lines in the workspace, and keeps processes running beside the calls.
//!
//! Each call is a fresh `/bin/sh` with empty input, no terminal and a clean environment; nothing carries over. Before it runs,
//! `understand` works out what it would do, for the operator's rules. What it may reach is not decided here, but by the
//! sandbox around the worker.

mod processes;
mod report;
mod understand;

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{self, Command, DEFAULT_OUTPUT_LIMIT, ProgramSettings};
use foehn_plugin_sdk::undo;
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

/// POSIX, and on every system at the same place. A command that needs another shell names it.
const SHELL: &str = "/bin/sh";
/// Linux takes no longer argument than 128 KiB with its closing zero.
const LONGEST_COMMAND_BYTES: usize = 128 * 1024 - 1;
/// What a call may ask for whatever is configured: a day.
const LONGEST_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;

pub use processes::{ListProcesses, ReadProcessOutput, StartProcess, StopProcess, WriteProcessInput};

export_plugin!(RunShell, StartProcess, ListProcesses, ReadProcessOutput, WriteProcessInput, StopProcess);

/// The tool `run_shell`.
#[derive(Debug)]
pub struct RunShell;

/// Arguments of `run_shell`.
#[args]
pub struct RunShellArgs {
    /// For /bin/sh.
    #[schemars(length(max = LONGEST_COMMAND_BYTES))]
    command: String,
    /// Folder of the workspace to run in.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    working_directory: String,
    /// Seconds until it is stopped; 120 if left out, at most 600.
    #[schemars(range(min = 1, max = LONGEST_TIMEOUT_SECONDS))]
    timeout_seconds: Option<u64>,
    /// Show stdout and stderr apart.
    #[serde(default)]
    separate_streams: bool,
}

/// Configuration of `run_shell`.
#[config]
pub struct RunShellConfig {
    /// Seconds a command gets when the call does not say.
    default_timeout_seconds: u64,
    /// Most seconds a call may ask for.
    max_timeout_seconds: u64,
    /// Most characters of output in a result: half from its beginning, half from its end.
    output_characters: usize,
    /// Whether well-known commands that only read, such as `ls` and `git status`, run unasked where no `allow` list is set.
    read_only_unasked: bool,
    #[serde(flatten)]
    programs: ProgramSettings,
}

impl Default for RunShellConfig {
    fn default() -> Self {
        Self {
            default_timeout_seconds: 120,
            max_timeout_seconds: 600,
            output_characters: DEFAULT_OUTPUT_LIMIT,
            read_only_unasked: false,
            programs: ProgramSettings::default(),
        }
    }
}

impl Tool for RunShell {
    const NAME: &'static str = "run_shell";
    const DESCRIPTION: &'static str = "Run a command line. Each call is a new shell without input or terminal: a cd or \
                                       variable does not last.";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files().programs().opt_in_network();
    const CLASSIFIES: bool = true;

    type Args = RunShellArgs;
    type Out = Output;
    type Config = RunShellConfig;

    fn run(&self, args: RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Output> {
        let timeout = checked(&args, cx.config())?;
        let workspace = cx.workspace()?;
        let folder = process::working_directory(&workspace, &args.working_directory)?;
        let command = Command::new(SHELL)
            .args(["-c", args.command.as_str()])
            .in_workspace(&workspace, &folder)?
            .timeout(timeout)
            .output_limit(cx.config().output_characters)
            .configured(&cx.config().programs)
            .keep_whole("shell")
            .separate_streams(args.separate_streams);
        let (output, lost) = undo::surveyed(cx, &workspace, || command.run(cx))?;
        let result = report::report(&output, &folder, &args.command)?;
        Ok(lost.into_iter().fold(result, Output::note))
    }

    fn undo(&self, _: RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Option<Undone>> {
        undo::undo_survey::<Self, _>(cx)
    }

    fn undo_preview(&self, _: RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Option<Undone>> {
        undo::preview_survey::<Self, _>(cx)
    }

    fn operations() -> Vec<OperationSpec> {
        understand::operations()
    }

    fn classify(&self, args: &RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Classification> {
        let refusal = checked(args, cx.config()).err();
        classified(&args.command, &args.working_directory, refusal, cx.config().read_only_unasked, cx)
    }
}

/// What a command line would do.
fn classified<C>(
    command: &str,
    working_directory: &str,
    refusal: Option<Error>,
    read_only_unasked: bool,
    cx: &Cx<'_, C>,
) -> Result<Classification> {
    let workspace = cx.workspace()?;
    let folder = refusal.map_or_else(|| process::working_directory(&workspace, working_directory), Err);
    let (directory, refusal) = match folder {
        Ok(folder) => (folder.as_path().to_owned(), None),
        Err(error) => (working_directory.into(), Some(error.message().to_owned())),
    };
    let roots = [workspace.root().to_owned(), cx.workspace_root().to_owned()];
    let understood = understand::understand(command, understand::Places::new(roots, &directory));
    let operation = |found: understand::Found| Operation {
        name: found.name,
        risk: Some(found.effect.risk(read_only_unasked)),
        target: found.target,
    };
    Ok(Classification {
        operations: understood.found.into_iter().map(operation).collect(),
        facts: Facts { paths: understood.outside, hosts: understood.hosts, ..Facts::default() },
        refusal,
        preview: Some(Preview::Command { command: command.to_owned(), directory }),
    })
}

/// The time the command gets, once the arguments make sense.
fn checked(args: &RunShellArgs, config: &RunShellConfig) -> Result<Duration> {
    checked_command(&args.command)?;
    let problem = |text: String| Err(Error::invalid_arguments(text));
    let most = config.max_timeout_seconds.max(1);
    match args.timeout_seconds {
        None => Ok(Duration::from_secs(config.default_timeout_seconds.clamp(1, most))),
        Some(0) => problem("timeout_seconds is 0; give at least 1".to_owned()),
        Some(asked) if asked > most => {
            problem(format!("timeout_seconds is {asked}; at most {most} are allowed"))
        }
        Some(asked) => Ok(Duration::from_secs(asked)),
    }
}

fn checked_command(command: &str) -> Result<()> {
    if command.trim().is_empty() {
        return Err(Error::invalid_arguments("command is empty"));
    }
    if command.contains('\0') {
        return Err(Error::invalid_arguments("command has a NUL character"));
    }
    if command.len() > LONGEST_COMMAND_BYTES {
        let text = format!(
            "command has {} bytes, at most {LONGEST_COMMAND_BYTES} are possible; write a script file and run that",
            command.len()
        );
        return Err(Error::invalid_arguments(text));
    }
    Ok(())
}

fn here() -> String {
    ".".to_owned()
}
