//! The plugin `shell`: runs one command line in the workspace.
//!
//! Each call is a fresh `/bin/sh` with empty input, no terminal and a clean environment; nothing carries over. What a command
//! may reach is decided by the sandbox around the worker, not here: this plugin looks at no word of the command.

mod report;

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{Command, DEFAULT_OUTPUT_LIMIT};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

/// POSIX, and on every system at the same place. A command that needs another shell names it.
const SHELL: &str = "/bin/sh";
/// Linux takes no longer argument than 128 KiB with its closing zero.
const LONGEST_COMMAND_BYTES: usize = 128 * 1024 - 1;
/// What a call may ask for whatever is configured: a day.
const LONGEST_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;
const OPERATION: &str = "run";

export_plugin!(RunShell);

/// The tool `run_shell`.
#[derive(Debug)]
pub struct RunShell;

/// Arguments of `run_shell`.
#[args]
pub struct RunShellArgs {
    /// Command line for /bin/sh.
    #[schemars(length(max = LONGEST_COMMAND_BYTES))]
    command: String,
    /// Folder to run in, of the workspace; the workspace itself if left out.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    working_directory: String,
    /// Seconds until it is stopped; 120 if left out, at most 600.
    #[schemars(range(min = 1, max = LONGEST_TIMEOUT_SECONDS))]
    timeout_seconds: Option<u64>,
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
}

impl Default for RunShellConfig {
    fn default() -> Self {
        Self {
            default_timeout_seconds: 120,
            max_timeout_seconds: 600,
            output_characters: DEFAULT_OUTPUT_LIMIT,
        }
    }
}

impl Tool for RunShell {
    const NAME: &'static str = "run_shell";
    const DESCRIPTION: &'static str = "Run a command line. Each call is a new shell without input or terminal: a cd or \
                                       variable does not last. Answers with exit code and output (stdout and stderr).";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files().programs();
    const CLASSIFIES: bool = true;

    type Args = RunShellArgs;
    type Out = Output;
    type Config = RunShellConfig;

    fn run(&self, args: RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Output> {
        let timeout = checked(&args, cx.config())?;
        let workspace = cx.workspace()?;
        let folder = folder(&workspace, &args)?;
        let output = Command::new(SHELL)
            .args(["-c", args.command.as_str()])
            .in_workspace(&workspace, &folder)?
            .timeout(timeout)
            .output_limit(cx.config().output_characters)
            .run(cx)?;
        report::report(&output, &folder, &args.command)
    }

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Run a command line.")]
    }

    fn classify(&self, args: &RunShellArgs, cx: &Cx<'_, RunShellConfig>) -> Result<Classification> {
        let folder = checked(args, cx.config()).and_then(|_| folder(&cx.workspace()?, args));
        let mut classification = Classification::operation(OPERATION);
        let directory = match folder {
            Ok(folder) => folder.as_path().to_owned(),
            Err(error) => {
                classification.refusal = Some(error.message().to_owned());
                args.working_directory.clone().into()
            }
        };
        classification.preview = Some(Preview::Command { command: args.command.clone(), directory });
        Ok(classification)
    }
}

/// The time the command gets, once the arguments make sense.
fn checked(args: &RunShellArgs, config: &RunShellConfig) -> Result<Duration> {
    let problem = |text: String| Err(Error::invalid_arguments(text));
    if args.command.trim().is_empty() {
        return problem("command is empty".to_owned());
    }
    if args.command.contains('\0') {
        return problem("command has a NUL character".to_owned());
    }
    if args.command.len() > LONGEST_COMMAND_BYTES {
        return problem(format!(
            "command has {} bytes, at most {LONGEST_COMMAND_BYTES} are possible; write a script file and run that",
            args.command.len()
        ));
    }
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

fn folder(workspace: &Workspace, args: &RunShellArgs) -> Result<RelPath> {
    let given = if args.working_directory.is_empty() { "." } else { args.working_directory.as_str() };
    let path =
        workspace.resolve(given).context("working_directory").map_err(|error| error.executed(false))?;
    workspace.open_directory(&path).context("working_directory").map_err(|error| error.executed(false))?;
    Ok(path)
}

fn here() -> String {
    ".".to_owned()
}
