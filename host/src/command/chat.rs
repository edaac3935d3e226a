//! `foehn chat`: a conversation, line by line.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_plugin_host::Reloaded;
use foehn_terminal::{Chat, ChatEnd, ExitCode, Lines};

use crate::cli::{ChatArgs, SessionArgs};
use crate::command::tools::tool_lines;
use crate::conversation::{self, Conversation, House};
use crate::gate::SessionGate;
use crate::interrupt::Interrupts;
use crate::output::remark;
use crate::setup::Setup;
use crate::trust_prompt;

pub(crate) async fn run(setup: &Setup, arguments: ChatArgs) -> Result<ExitCode> {
    let interrupts = Interrupts::listen().context("cannot listen for signals")?;
    // Also a pipe can answer: a chat reads its stdin anyway, and its end declines what is still open.
    let house = House::open(setup, Arc::new(SessionGate::new(true, false))).await?;
    let mut lines = Lines::of_stdin();
    trust_prompt::ask(setup, &house.plugins, &mut lines).await?;
    house.remark_on_plugins();
    let toolbox = house.toolbox(setup)?;
    // A plugin that is put into the folder, replaced or removed takes part from the next step on.
    let watching = house.plugins.watch(|reloaded| remark(&reloaded_words(&reloaded)));
    if let Err(error) = &watching {
        tracing::warn!(%error, "plugins are not reloaded while this runs");
    }
    let mut session = arguments.session;
    let end = loop {
        let Conversation { ops, events, engine, session: id } = house.converse(setup, &session).await?;
        let tools = || tool_lines(&toolbox);
        let chat = Chat { ops, events, lines: &mut lines, tools: &tools };
        let end = chat.run(|| interrupts.clone().next()).await.context("cannot write to the terminal")?;
        if end == ChatEnd::Interrupted {
            engine.abort();
        }
        let ended = conversation::end(engine).await;
        conversation::end_session(setup, &house.plugins, &id, end != ChatEnd::Clear || ended.is_err()).await;
        if let Err(error) = ended {
            house.close().await?;
            return Err(error);
        }
        if end != ChatEnd::Clear {
            break end;
        }
        session = SessionArgs::default();
    };
    drop(watching);
    house.close().await?;
    Ok(match end {
        ChatEnd::Exit | ChatEnd::Clear => 0,
        ChatEnd::Interrupted => 130,
        ChatEnd::EngineGone => 1,
    })
}

fn reloaded_words(reloaded: &Reloaded) -> String {
    let parts = [("new", &reloaded.added), ("changed", &reloaded.changed), ("removed", &reloaded.removed)];
    let words: Vec<String> = parts
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word}: {}", names.join(", ")))
        .collect();
    format!("plugins {}", words.join("; "))
}
