//! The tools for what `start_process` started: telling, reading, writing, ending.

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;

use super::started::{find, shown, started};
use super::{FIRST_LOOK, about_processes};

/// A reader may wait so long for something new.
const LONGEST_WAIT_SECONDS: u64 = 30;
/// No host starts or prints more.
const LARGEST_ID: u32 = 99_999;
const MOST_CHARACTERS: u64 = 1_000_000_000_000;
/// More than a program reads at once, less than a file.
const LONGEST_INPUT: usize = 32 * 1024;

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
    const CLASSIFIES: bool = true;
    about_processes!();
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
    const CLASSIFIES: bool = true;
    about_processes!();
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
    about_processes!();

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
    about_processes!();

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
