//! `foehn undo`: takes back what the calls of one prompt did to files, the last call first. The plugins do it; here is only
//! told which calls, and written down that it was done, so that the model knows before the next prompt.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_plugin_host::PluginSet;
use foehn_ports::{Journal, ToolRequest, Toolbox as _};
use foehn_protocol::{CallId, Entry, Risk, SessionId, TurnId, Undone};
use foehn_store::{SessionInfo, Store};
use foehn_terminal::ExitCode;
use serde_json::json;

use crate::cli::UndoArgs;
use crate::output::{line, remark, table, text};
use crate::setup::{Setup, usage};

/// How much of a prompt stands in a list.
const PROMPT_CHARACTERS: usize = 60;

/// How many lines of each kind the model reads: a command can change thousands of files.
const LINES_FOR_THE_MODEL: usize = 50;

/// One prompt and what was run for it: what is taken back at once.
struct Unit {
    turn: TurnId,
    prompt: String,
    calls: Vec<Started>,
    undone: bool,
}

struct Started {
    call: CallId,
    tool: String,
    arguments: String,
}

/// Exit code 1 when something had to be left as it is.
pub(crate) async fn run(setup: &Setup, arguments: &UndoArgs) -> Result<ExitCode> {
    let store = setup.open_store()?;
    let code = run_in(setup, arguments, &store).await;
    store.flush_and_close().await?;
    code
}

async fn run_in(setup: &Setup, arguments: &UndoArgs, store: &Store) -> Result<ExitCode> {
    let session = session(setup, arguments, store).await?;
    // Before anything is looked at: no other host may go on with the session meanwhile.
    let journal = store.resume(&session);
    let entries = if arguments.list || arguments.dry_run {
        store.load(&session).await?
    } else {
        journal.load().await.with_context(|| format!("session {session} cannot be changed now"))?
    };
    let plugins = Arc::new(setup.load_plugins(Some(store)).await?);
    let units = changing(units(&entries), &plugins);
    let code = if arguments.list {
        list(&units, arguments.json)
    } else {
        take_back(setup, arguments, &plugins, &journal, &session, &units).await
    };
    plugins.shutdown().await;
    code
}

async fn session(setup: &Setup, arguments: &UndoArgs, store: &Store) -> Result<SessionId> {
    let here = setup.directory.display();
    let stored = match &arguments.session {
        None => {
            let latest = store.latest(&setup.directory).await?;
            latest.with_context(|| format!("no session of {here} is stored"))?
        }
        Some(id) => {
            let sessions = store.sessions().await?;
            let stored = sessions.into_iter().find(|stored| stored.id.as_str() == id);
            stored.ok_or_else(|| usage(format!("there is no session {id}; see `foehn sessions`")))?
        }
    };
    let SessionInfo { id, agent, workspace, .. } = stored;
    if setup.directory.as_os_str() != workspace.as_str() {
        return Err(usage(format!("session {id} worked in {workspace}, not here; add `-C {workspace}`")));
    }
    if setup.agent != agent {
        return Err(usage(format!("session {id} is one of agent `{agent}`; add `--agent {agent}`")));
    }
    Ok(id)
}

/// The prompts of a session, oldest first.
fn units(entries: &[Entry]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Prompt { turn, text } => {
                units.push(Unit { turn: *turn, prompt: text.clone(), calls: Vec::new(), undone: false });
            }
            Entry::CallStarted { turn, call, tool, arguments } => {
                let started =
                    Started { call: call.clone(), tool: tool.clone(), arguments: arguments.clone() };
                if let Some(unit) = units.iter_mut().find(|unit| unit.turn == *turn) {
                    unit.calls.push(started);
                }
            }
            Entry::Undone { turn, .. } => {
                units.iter_mut().filter(|unit| unit.turn == *turn).for_each(|unit| unit.undone = true);
            }
            _ => {}
        }
    }
    units
}

/// Those that ran something that may change anything, with those calls alone. A tool that is not there any more may.
fn changing(mut units: Vec<Unit>, plugins: &PluginSet) -> Vec<Unit> {
    for unit in &mut units {
        unit.calls.retain(|call| plugins.find(&call.tool).is_none_or(|spec| spec.risk != Risk::ReadOnly));
    }
    units.retain(|unit| !unit.calls.is_empty());
    units
}

fn list(units: &[Unit], as_json: bool) -> Result<ExitCode> {
    if as_json {
        for unit in units {
            let calls: Vec<_> = unit.calls.iter().map(|call| &call.tool).collect();
            let row =
                json!({"turn": unit.turn, "prompt": unit.prompt, "calls": calls, "undone": unit.undone});
            line(&row)?;
        }
        return Ok(0);
    }
    let rows = units.iter().rev().map(|unit| {
        let calls: Vec<_> = unit.calls.iter().map(|call| call.tool.as_str()).collect();
        let state = if unit.undone { "taken back" } else { "" };
        vec![unit.turn.0.to_string(), shortened(&unit.prompt), calls.join(", "), state.to_owned()]
    });
    table(
        &["TURN", "PROMPT", "CALLS", "STATE"],
        rows.collect(),
        "no prompt of this session changed anything",
    )?;
    Ok(0)
}

async fn take_back(
    setup: &Setup,
    arguments: &UndoArgs,
    plugins: &PluginSet,
    journal: &impl Journal,
    session: &SessionId,
    units: &[Unit],
) -> Result<ExitCode> {
    let Some(unit) = units.iter().rev().find(|unit| !unit.undone) else {
        remark(&format!("no prompt of session {session} is left to take back"));
        return Ok(1);
    };
    let mut all = Undone::default();
    let timeout = setup.agent_profile(plugins)?.limits.call_timeout;
    for Started { call, tool, arguments: given } in unit.calls.iter().rev() {
        let Some(spec) = plugins.find(tool) else {
            all.left.push(format!("`{tool}`: no plugin brings it any more"));
            continue;
        };
        let request = ToolRequest {
            spec,
            call: call.clone(),
            session: session.clone(),
            agent: setup.agent.clone(),
            caller: setup.caller(),
            arguments: given.clone(),
            timeout,
        };
        match plugins.undo(&request, arguments.dry_run).await.map(Option::unwrap_or_default) {
            Ok(Undone { restored, left, notes }) => {
                all.restored.extend(restored);
                all.left.extend(left);
                all.notes.extend(notes);
                all.notes.dedup();
            }
            Err(error) => all.left.push(error.to_string()),
        }
    }
    report(arguments, unit, &all)?;
    if !arguments.dry_run {
        let words = for_the_model(unit, &all);
        journal.append(Entry::Undone { turn: unit.turn, text: words });
        journal.committed().await?;
    }
    Ok(u8::from(!all.left.is_empty()))
}

fn report(arguments: &UndoArgs, unit: &Unit, all: &Undone) -> Result<()> {
    if arguments.json {
        line(&json!({
            "turn": unit.turn, "prompt": unit.prompt, "dry_run": arguments.dry_run,
            "restored": all.restored, "left": all.left, "notes": all.notes,
        }))?;
        return Ok(());
    }
    let doing = if arguments.dry_run { "would take back" } else { "took back" };
    text(&format!("{doing} \"{}\":", shortened(&unit.prompt)))?;
    for restored in &all.restored {
        text(&format!("  {restored}"))?;
    }
    for left in &all.left {
        text(&format!("  not: {left}"))?;
    }
    for note in &all.notes {
        text(&format!("  note: {note}"))?;
    }
    if all.restored.is_empty() && all.left.is_empty() {
        text("  nothing: its calls left nothing behind")?;
    }
    Ok(())
}

/// What the model reads before the next prompt.
fn for_the_model(unit: &Unit, all: &Undone) -> String {
    let mut words = format!("[The user took back what was done for \"{}\".", shortened(&unit.prompt));
    for (what, lines) in
        [("As before again", &all.restored), ("Left as it is", &all.left), ("Notes", &all.notes)]
    {
        let (shown, rest) = lines.split_at(lines.len().min(LINES_FOR_THE_MODEL));
        if !shown.is_empty() {
            words.push_str(&format!("\n{what}:\n- {}", shown.join("\n- ")));
        }
        if !rest.is_empty() {
            words.push_str(&format!("\n- and {} more", rest.len()));
        }
    }
    words.push_str("\nRead a file again before you rely on it.]");
    words
}

fn shortened(prompt: &str) -> String {
    let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match first.char_indices().nth(PROMPT_CHARACTERS) {
        Some((end, _)) => format!("{}...", first.get(..end).unwrap_or_default().trim_end()),
        None => first.to_owned(),
    }
}
