//! What runs, and what is remembered of what ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{DEFAULT_OUTPUT_LIMIT, Lasting};

use crate::report;

/// Ended ones are remembered up to this number.
const REMEMBERED: usize = 20;
/// As much of a command as is told of one that was ended.
const TOLD_CHARACTERS: usize = 120;

static STARTED: Mutex<Started> = Mutex::new(Started { last: 0, processes: BTreeMap::new() });

pub(super) struct Started {
    last: u32,
    pub(super) processes: BTreeMap<u32, Arc<Process>>,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) session: String,
    /// For the sessions to come too.
    pub(super) kept: bool,
    pub(super) command: String,
    pub(super) folder: RelPath,
    pub(super) program: Lasting,
}

impl Process {
    pub(super) fn is_of(&self, session: &str) -> bool {
        self.kept || self.session == session
    }

    /// For the operator, in one line.
    fn told(&self) -> String {
        let line = self.command.lines().next().unwrap_or_default();
        let start: String = line.chars().take(TOLD_CHARACTERS).collect();
        let more = if start == self.command { "" } else { "..." };
        format!("process {} `{start}{more}`, after {:.1} s", self.id, self.program.age().as_secs_f64())
    }

    /// How it goes, in a few words.
    pub(super) fn state(&self) -> String {
        let age = self.program.age().as_secs_f64();
        let place = if self.folder.is_root() { String::new() } else { format!(" in `{}`", self.folder) };
        match self.program.exit() {
            None => format!("runs since {age:.1} s{place}"),
            Some(exit) => format!("ended: {}{place}", report::ended(exit)),
        }
    }
}

pub(super) fn started() -> MutexGuard<'static, Started> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process of this session with this id.
pub(super) fn find<C>(id: u32, cx: &Cx<'_, C>) -> Result<Arc<Process>> {
    let found = started().processes.get(&id).filter(|process| process.is_of(cx.session())).cloned();
    found.ok_or_else(|| {
        let hint = "list_processes shows those there are; they end with their session";
        Error::failed(format!("there is no process {id}; {hint}")).executed(false)
    })
}

/// Ends what ran for this session only, or, when the host ends, everything.
pub(super) fn end_processes(session: &str, host_ends: bool) -> SessionEnded {
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

/// Gives a program that was just started its number.
pub(super) fn remember(unnumbered: Process) -> Arc<Process> {
    let mut started = started();
    started.last += 1;
    let id = started.last;
    let process = Arc::new(Process { id, ..unnumbered });
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
pub(super) fn shown(process: &Process, since: u64) -> Output {
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
