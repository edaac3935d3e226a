//! `foehn run`: one prompt to its final answer.

use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_terminal::{ExitCode, Lines, Once, Style, exit_code};

use crate::cli::RunArgs;
use crate::conversation::{Conversation, House, end, end_session};
use crate::gate::SessionGate;
use crate::interrupt::Interrupts;
use crate::setup::{Setup, UsageError};
use crate::trust_prompt;

pub(crate) async fn run(setup: &Setup, arguments: RunArgs) -> Result<ExitCode> {
    let prompt_from_stdin = arguments.prompt == "-";
    let prompt = if prompt_from_stdin { read_stdin()? } else { arguments.prompt };
    if prompt.trim().is_empty() {
        return Err(UsageError("the prompt is empty; say what to do".to_owned()).into());
    }
    // With a prompt argument stdin is touched only to answer a question, and only when it is a person's terminal.
    let attended = !arguments.json
        && !prompt_from_stdin
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal();
    let style =
        if arguments.json { Style::Json } else { Style::Text { streaming: std::io::stdout().is_terminal() } };
    let interrupts = Interrupts::listen().context("cannot listen for signals")?;
    let gate = Arc::new(SessionGate::new(attended, arguments.yes));
    let house = House::open(setup, gate).await?;
    let mut lines = attended.then(Lines::of_stdin);
    if let Some(lines) = &mut lines {
        trust_prompt::ask(setup, &house.plugins, lines).await?;
    }
    house.remark_on_plugins();
    let Conversation { ops, events, engine, session } = house.converse(setup, &arguments.session).await?;
    let once = Once { ops, events, style, lines };
    let status = once.run(prompt, || interrupts.clone().next()).await.context("cannot write the output")?;
    // A second ctrl-C has the user not wait for a turn that does not end; its workers are killed below.
    if status == foehn_protocol::TurnStatus::Cancelled {
        engine.abort();
    }
    let ended = end(engine).await;
    end_session(setup, &house.plugins, &session, true).await;
    house.close().await?;
    ended?;
    Ok(exit_code(status))
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the prompt from stdin as UTF-8 text")?;
    Ok(text)
}
