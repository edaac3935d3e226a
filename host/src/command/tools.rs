//! `foehn tools`: the tools of the agent, and one call by hand.

use std::io::IsTerminal as _;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_engine::Engine;
use foehn_ports::Toolbox as _;
use foehn_protocol::{EventBody, Op, SessionId, TurnStatus};
use foehn_terminal::{ExitCode, Lines, Reply, approval_card, parse_reply};

use crate::agent_tools::AgentTools;
use crate::conversation::{Conversation, end, end_session};
use crate::gate::SessionGate;
use crate::interrupt::Interrupts;
use crate::memory_journal::MemoryJournal;
use crate::one_call::OneCall;
use crate::output::{columns, line, remark, text};
use crate::setup::Setup;

pub(crate) async fn list(setup: &Setup, as_json: bool) -> Result<ExitCode> {
    let plugins = Arc::new(setup.load_plugins(None).await?);
    let toolbox = setup.toolbox(&plugins)?;
    if as_json {
        for tool in toolbox.tools() {
            line(&serde_json::to_value(&*tool)?)?;
        }
    } else {
        text(&tool_lines(&toolbox))?;
        let on_demand = toolbox.on_demand();
        if !on_demand.is_empty() {
            remark(&format!(
                "on demand, for agents that name them in `enabled_tools`: {}",
                on_demand.join(", ")
            ));
        }
        for warning in plugins.warnings() {
            remark(&format!("warning: {warning}"));
        }
    }
    plugins.shutdown().await;
    Ok(0)
}

/// One line a tool, for `tools list` and `/tools`.
pub(crate) fn tool_lines(toolbox: &AgentTools) -> String {
    let rows: Vec<Vec<String>> = toolbox
        .tools()
        .iter()
        .map(|tool| {
            let first_sentence = tool.description.lines().next().unwrap_or_default();
            let first_sentence = first_sentence.split_inclusive(". ").next().unwrap_or(first_sentence);
            vec![
                tool.name.clone(),
                tool.risk.word().to_owned(),
                tool.plugin.clone(),
                first_sentence.trim_end().to_owned(),
            ]
        })
        .collect();
    columns(
        &["TOOL", "RISK", "PLUGIN", ""],
        rows,
        "no tool; `foehn plugins list` tells which plugins there are and why one is not used",
    )
}

/// Runs one call on the very way of a model's call and prints the envelope.
pub(crate) async fn call(setup: &Setup, name: String, arguments: String, yes: bool) -> Result<ExitCode> {
    let interrupts = Interrupts::listen().context("cannot listen for signals")?;
    let store = setup.open_store()?;
    let plugins = Arc::new(setup.load_plugins(Some(&store)).await?);
    let attended = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let toolbox = setup.toolbox(&plugins)?.naming(&name);
    let mut conversation = Conversation::start(Engine {
        model: Arc::new(OneCall::new(name, arguments)),
        toolbox: Arc::new(toolbox),
        journal: Arc::new(MemoryJournal::new(SessionId::from("tools-call"))),
        gate: Arc::new(SessionGate::new(attended, yes)),
        profile: setup.agent_profile(&plugins)?,
        caller: setup.caller(),
        resume: false,
    });
    let mut lines = attended.then(Lines::of_stdin);
    let _ = conversation.ops.send(Op::Prompt { text: "call one tool".to_owned() });
    let mut code = 1;
    let mut interrupted = false;
    loop {
        let mut stop = std::pin::pin!(interrupts.clone().next());
        tokio::select! {
            event = conversation.events.recv() => match event.map(|event| event.body) {
                Some(EventBody::ApprovalRequested(approval)) => {
                    let always = approval.always.is_some();
                    remark(&approval_card(&approval));
                    let decision = ask(&mut lines, always).await;
                    let _ = conversation.ops.send(Op::Answer { approval: approval.id, decision });
                }
                Some(EventBody::CallProgress { text, .. }) => remark(&text),
                Some(EventBody::CallFinished(result)) => {
                    text(&result.envelope)?;
                    code = u8::from(!result.ok);
                }
                Some(EventBody::TurnDone { status, reason, .. }) => {
                    if status == TurnStatus::Cancelled {
                        code = 130;
                    } else if let (TurnStatus::Failed, Some(reason)) = (status, reason) {
                        remark(&format!("error: {reason}"));
                    } else if status == TurnStatus::Declined {
                        code = 4;
                    }
                    break;
                }
                Some(_) => {}
                None => break,
            },
            () = &mut stop => {
                if interrupted {
                    code = 130;
                    break;
                }
                interrupted = true;
                let _ = conversation.ops.send(Op::Interrupt);
            }
        }
    }
    let _ = conversation.ops.send(Op::Shutdown);
    conversation.engine.abort();
    let ended = end(conversation.engine).await;
    end_session(setup, &plugins, &conversation.session, true).await;
    plugins.shutdown().await;
    store.flush_and_close().await?;
    ended?;
    Ok(code)
}

async fn ask(lines: &mut Option<Lines>, always: bool) -> foehn_protocol::Decision {
    let Some(lines) = lines else { return foehn_protocol::Decision::No };
    loop {
        remark("  yes or no?");
        match lines.next().await.as_deref().map(|line| parse_reply(line, always)) {
            None => return foehn_protocol::Decision::No,
            Some(Reply::Decided(decision)) => return decision,
            Some(Reply::Unclear) => {}
        }
    }
}
