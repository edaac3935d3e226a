//! `foehn contract replay`: calls of the past against the contracts of today. Nothing is executed.
//!
//! Only calls that were accepted then are looked at: one that was refused then tells nothing about a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_contract::{Coercion, Contract, names};
use foehn_protocol::{CallId, Entry, ErrorCode, Event, EventBody, Problem, ToolResult};
use foehn_terminal::ExitCode;
use serde_json::json;

use super::{Tools, counted};
use crate::output::{line, text};
use crate::setup::Setup;

/// One call of the past.
struct Call {
    /// The session, or the file it was printed into.
    source: String,
    id: CallId,
    tool: String,
    arguments: String,
}

/// A call that would be refused today.
struct Refusal {
    call: Call,
    message: String,
    problems: Vec<Problem>,
}

pub(super) async fn replay(
    setup: &Setup,
    tools: &Tools,
    files: &[PathBuf],
    as_json: bool,
) -> Result<ExitCode> {
    let mut calls = Vec::new();
    if files.is_empty() {
        let store = setup.open_store()?;
        let directory = setup.directory.to_string_lossy();
        for session in store.sessions().await? {
            if session.workspace == directory {
                calls.extend(of_entries(&session.id.0, &store.load(&session.id).await?));
            }
        }
        store.flush_and_close().await?;
    } else {
        for file in files {
            calls.extend(of_events(&setup.loaded.folder.join(file), file)?);
        }
    }
    let count = calls.len();
    let contracts = Contracts::of(tools, setup.agent_profile(&tools.plugins)?.coercion);
    let refusals: Vec<Refusal> = calls.into_iter().filter_map(|call| contracts.refusal(call)).collect();
    if as_json {
        for Refusal { call, message, problems } in &refusals {
            line(&json!({
                "session": call.source, "call": call.id, "tool": call.tool, "arguments": call.arguments,
                "message": message, "problems": problems,
            }))?;
        }
    } else {
        text(&report(&refusals, count))?;
    }
    Ok(u8::from(!refusals.is_empty()))
}

fn of_entries(session: &str, entries: &[Entry]) -> Vec<Call> {
    let results: BTreeMap<&CallId, &ToolResult> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Result { result, .. } => Some((&result.call, result)),
            _ => None,
        })
        .collect();
    let was_accepted = |id: &CallId| {
        results.get(id).is_some_and(|result| {
            !matches!(
                result.code,
                Some(ErrorCode::InvalidArguments | ErrorCode::UnknownTool | ErrorCode::TooLarge)
            )
        })
    };
    entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Answer { message, .. } => Some(&message.calls),
            _ => None,
        })
        .flatten()
        .filter(|call| was_accepted(&call.id))
        .map(|call| Call {
            source: session.to_owned(),
            id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
        })
        .collect()
}

fn of_events(path: &Path, shown: &Path) -> Result<Vec<Call>> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut calls = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {} is no event of `run --json`", path.display(), number + 1);
        // Kinds of events that a newer host wrote are none of a call.
        let value: serde_json::Value = serde_json::from_str(line).with_context(place)?;
        if value["type"] != "call_started" {
            continue;
        }
        let event: Event = serde_json::from_value(value).with_context(place)?;
        if let EventBody::CallStarted { call, tool, arguments, .. } = event.body {
            calls.push(Call { source: shown.display().to_string(), id: call, tool, arguments });
        }
    }
    Ok(calls)
}

/// The contracts of today, each made once, found by every name that works.
struct Contracts {
    by_name: BTreeMap<String, Arc<Contract>>,
    names: BTreeSet<String>,
    coercion: Coercion,
}

impl Contracts {
    fn of(tools: &Tools, coercion: Coercion) -> Self {
        let mut by_name = BTreeMap::new();
        for spec in &tools.all {
            let contract = Arc::new(Contract::new(Arc::clone(spec)));
            for alias in &spec.aliases {
                by_name.entry(alias.clone()).or_insert_with(|| Arc::clone(&contract));
            }
            by_name.insert(spec.name.clone(), contract);
        }
        Self { names: tools.all.iter().map(|spec| spec.name.clone()).collect(), by_name, coercion }
    }

    fn refusal(&self, call: Call) -> Option<Refusal> {
        let known = |name: &str| self.by_name.get(name);
        let Some(contract) = known(&call.tool).or_else(|| known(names::clean_name(&call.tool)?)) else {
            let message = names::unknown_tool(&call.tool, self.names.iter().map(String::as_str));
            return Some(Refusal { call, message, problems: Vec::new() });
        };
        let problems = contract.check(&call.arguments, self.coercion).err()?;
        let message = foehn_contract::contract::invalid_arguments(&call.tool, &problems);
        Some(Refusal { call, message, problems })
    }
}

fn report(refusals: &[Refusal], calls: usize) -> String {
    let mut report = String::new();
    let mut source = "";
    for refusal in refusals {
        if refusal.call.source != source {
            source = &refusal.call.source;
            report.push_str(&format!("{source}\n"));
        }
        report.push_str(&format!("  {}\n", refusal.message));
        for problem in &refusal.problems {
            let expected = problem
                .expected
                .as_deref()
                .map(|expected| format!(", expected: {expected}"))
                .unwrap_or_default();
            let place = if problem.path.is_empty() { "the arguments" } else { &problem.path };
            report.push_str(&format!("    {place}: {}{expected}\n", problem.code));
        }
    }
    if !refusals.is_empty() {
        report.push('\n');
    }
    report.push_str(&format!("{} of {} would no longer be accepted", refusals.len(), counted(calls, "call")));
    report
}
