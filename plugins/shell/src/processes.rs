//! Programs that outlive the call that started them: servers, watchers, long jobs.
//!
//! They live in the plugin's process: these tools declare themselves lasting, so that their calls meet in one worker that stays
//! until the host ends, and takes every one of them with it. A session sees its own ones, which end with it, unless the
//! operator has them kept: then every later session sees them too. What runs that way is kept in memory and nowhere else:
//! nothing outlives the host, seen or unseen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{self, Command, DEFAULT_OUTPUT_LIMIT, Lasting, ProgramSettings};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::{LONGEST_COMMAND_BYTES, SHELL, checked_command, report, understand};

/// A program that cannot start at all says so within this time, and the answer of its start with it.
const FIRST_LOOK: Duration = Duration::from_millis(500);
/// A reader may wait so long for something new.
const LONGEST_WAIT_SECONDS: u64 = 30;
/// No host starts or prints more.
const LARGEST_ID: u32 = 99_999;
const MOST_CHARACTERS: u64 = 1_000_000_000_000;
/// Ended ones are remembered up to this number.
const REMEMBERED: usize = 20;
/// More than a program reads at once, less than a file.
const LONGEST_INPUT: usize = 32 * 1024;

const NEEDED: Capabilities = Capabilities::NONE.write_files().programs().opt_in_network();

static STARTED: Mutex<Started> = Mutex::new(Started { last: 0, processes: BTreeMap::new() });

struct Started {
    last: u32,
    processes: BTreeMap<u32, Arc<Process>>,
}

#[derive(Debug)]
struct Process {
    id: u32,
    session: String,
    /// For the sessions to come too.
    kept: bool,
    command: String,
    folder: RelPath,
    program: Lasting,
}

impl Process {
    fn is_of(&self, session: &str) -> bool {
        self.kept || self.session == session
    }

    /// For the operator.
    fn told(&self) -> String {
        format!("process {} `{}`, after {:.1} s", self.id, self.command, self.program.age().as_secs_f64())
    }

    /// How it goes, in a few words.
    fn state(&self) -> String {
        let age = self.program.age().as_secs_f64();
        let place = if self.folder.is_root() { String::new() } else { format!(" in `{}`", self.folder) };
        match self.program.exit() {
            None => format!("runs since {age:.1} s{place}"),
            Some(exit) => format!("ended: {}{place}", report::ended(exit)),
        }
    }
}

fn started() -> MutexGuard<'static, Started> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process of this session with this id.
fn find<C>(id: u32, cx: &Cx<'_, C>) -> Result<Arc<Process>> {
    let found = started().processes.get(&id).filter(|process| process.is_of(cx.session())).cloned();
    found.ok_or_else(|| {
        let hint = "list_processes shows those there are; they end with their session";
        Error::failed(format!("there is no process {id}; {hint}")).executed(false)
    })
}

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
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = NEEDED;
    const CLASSIFIES: bool = true;
    const LASTING: bool = true;
    const ON_DEMAND: bool = true;

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
        let process = remember(cx, args.command, folder, program);
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

/// Ends what ran for this session only, or, when the host ends, everything.
fn end_processes(session: &str, host_ends: bool) -> SessionEnded {
    let mut running: Vec<_> = started().processes.values().cloned().collect();
    running.retain(|process| process.program.exit().is_none());
    let (kept, ending): (Vec<_>, Vec<_>) = running
        .into_iter()
        .filter(|process| host_ends || process.is_of(session))
        .partition(|process| process.kept && !host_ends);
    let told = |processes: &[Arc<Process>]| processes.iter().map(|process| process.told()).collect();
    let ended = SessionEnded { ended: told(&ending), kept: told(&kept) };
    // All are asked before one is waited for: together they take no longer than the slowest.
    ending.iter().for_each(|process| process.program.ask_to_stop());
    ending.iter().for_each(|process| process.program.stop());
    started().processes.retain(|_, process| process.kept || process.session != session);
    ended
}

fn remember(
    cx: &Cx<'_, StartProcessConfig>,
    command: String,
    folder: RelPath,
    program: Lasting,
) -> Arc<Process> {
    let mut started = started();
    started.last += 1;
    let id = started.last;
    let (session, kept) = (cx.session().to_owned(), cx.config().keep);
    let process = Arc::new(Process { id, session, kept, command, folder, program });
    started.processes.insert(id, Arc::clone(&process));
    let ended: Vec<u32> = started
        .processes
        .iter()
        .filter(|(_, process)| process.program.exit().is_some())
        .map(|(id, _)| *id)
        .collect();
    for id in ended.iter().take(ended.len().saturating_sub(REMEMBERED)) {
        started.processes.remove(id);
    }
    process
}

/// Its state and what it printed from there on, or the latest of it.
fn shown(process: &Process, since: u64) -> Output {
    let printed = process.program.printed();
    let limit = DEFAULT_OUTPUT_LIMIT as u64;
    let piece = process.program.output(since.max(printed.saturating_sub(limit)), DEFAULT_OUTPUT_LIMIT);
    let state = process.state();
    let text = if piece.text.is_empty() { "(no new output)" } else { piece.text.as_str() };
    let output = Output::text(format!(
        "process {} {state}; output {}..{} of {printed} characters\n{text}",
        process.id, piece.start, piece.end
    ));
    if piece.start > since {
        return output.note(format!("characters {since}..{} are left out", piece.start));
    }
    output
}

/// The tool `list_processes`.
#[derive(Debug)]
pub struct ListProcesses;

/// What asks for nothing that a rule should stop.
fn only_reads(name: &str) -> Classification {
    let operation = Operation { name: name.to_owned(), risk: Some(Risk::ReadOnly), target: None };
    Classification { operations: vec![operation], ..Classification::default() }
}

impl Tool for ListProcesses {
    const NAME: &'static str = "list_processes";
    const DESCRIPTION: &'static str = "List the processes of start_process, with how they go.";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = NEEDED;
    const CLASSIFIES: bool = true;
    const LASTING: bool = true;
    const ON_DEMAND: bool = true;
    const POLLING: bool = true;

    type Args = NoArgs;
    type Out = Output;
    type Config = ();

    fn run(&self, _: NoArgs, cx: &Cx<'_>) -> Result<Output> {
        let lines: Vec<String> = started()
            .processes
            .values()
            .filter(|process| process.is_of(cx.session()))
            .map(|process| format!("{} {}: {}", process.id, process.state(), process.command))
            .collect();
        Ok(Output::text(if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }))
    }

    fn classify(&self, _: &NoArgs, _: &Cx<'_>) -> Result<Classification> {
        Ok(only_reads(Self::NAME))
    }
}

/// The tool `read_process_output`.
#[derive(Debug)]
pub struct ReadProcessOutput;

/// Arguments of `read_process_output`.
#[args]
pub struct ReadProcessOutputArgs {
    /// From start_process.
    #[schemars(range(min = 1, max = LARGEST_ID))]
    id: u32,
    /// Characters to skip.
    #[serde(default)]
    #[schemars(range(max = MOST_CHARACTERS))]
    since: u64,
    /// Seconds to wait for more.
    #[serde(default)]
    #[schemars(range(max = LONGEST_WAIT_SECONDS))]
    wait_seconds: u64,
}

impl Tool for ReadProcessOutput {
    const NAME: &'static str = "read_process_output";
    const DESCRIPTION: &'static str = "Read what a started process printed, and how it goes.";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = NEEDED;
    const CLASSIFIES: bool = true;
    const LASTING: bool = true;
    const ON_DEMAND: bool = true;
    const POLLING: bool = true;

    type Args = ReadProcessOutputArgs;
    type Out = Output;
    type Config = ();

    fn run(&self, args: ReadProcessOutputArgs, cx: &Cx<'_>) -> Result<Output> {
        let process = find(args.id, cx)?;
        let wait = Duration::from_secs(args.wait_seconds.min(LONGEST_WAIT_SECONDS));
        process.program.wait(Some(args.since), wait, cx);
        cx.check()?;
        Ok(shown(&process, args.since))
    }

    fn classify(&self, _: &ReadProcessOutputArgs, _: &Cx<'_>) -> Result<Classification> {
        Ok(only_reads(Self::NAME))
    }
}

/// The tool `write_process_input`.
#[derive(Debug)]
pub struct WriteProcessInput;

/// Arguments of `write_process_input`.
#[args]
pub struct WriteProcessInputArgs {
    /// From start_process.
    #[schemars(range(min = 1, max = LARGEST_ID))]
    id: u32,
    /// What to type, with line ends.
    #[schemars(length(max = LONGEST_INPUT))]
    text: String,
    /// End the input after it.
    #[serde(default)]
    close: bool,
}

impl Tool for WriteProcessInput {
    const NAME: &'static str = "write_process_input";
    const DESCRIPTION: &'static str = "Write to the input of a started process.";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = NEEDED;
    const LASTING: bool = true;
    const ON_DEMAND: bool = true;

    type Args = WriteProcessInputArgs;
    type Out = Output;
    type Config = ();

    fn run(&self, args: WriteProcessInputArgs, cx: &Cx<'_>) -> Result<Output> {
        let process = find(args.id, cx)?;
        let before = process.program.printed();
        process.program.write(&args.text)?;
        if args.close {
            process.program.close_input();
        }
        process.program.wait(Some(before), FIRST_LOOK, cx);
        Ok(shown(&process, before))
    }
}

/// The tool `stop_process`.
#[derive(Debug)]
pub struct StopProcess;

/// Arguments of `stop_process`.
#[args]
pub struct StopProcessArgs {
    /// From start_process.
    #[schemars(range(min = 1, max = LARGEST_ID))]
    id: u32,
}

impl Tool for StopProcess {
    const NAME: &'static str = "stop_process";
    const DESCRIPTION: &'static str = "End a started process and its children.";
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities = NEEDED;
    const LASTING: bool = true;
    const ON_DEMAND: bool = true;

    type Args = StopProcessArgs;
    type Out = Output;
    type Config = ();

    fn run(&self, args: StopProcessArgs, cx: &Cx<'_>) -> Result<Output> {
        let process = find(args.id, cx)?;
        let before = process.program.printed();
        process.program.stop();
        Ok(shown(&process, before))
    }
}
