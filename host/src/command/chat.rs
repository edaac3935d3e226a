//! `foehn chat`: a conversation, line by line.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use foehn_terminal::{Chat, ChatEnd, ExitCode, Lines};

use crate::cli::{ChatArgs, SessionArgs};
use crate::command::tools::tool_lines;
use crate::conversation::{self, Conversation, House};
use crate::gate::SessionGate;
use crate::interrupt::Interrupts;
use crate::setup::Setup;

pub(crate) async fn run(setup: &Setup, arguments: ChatArgs) -> Result<ExitCode> {
    let interrupts = Interrupts::listen().context("cannot listen for signals")?;
    // Also a pipe can answer: a chat reads its stdin anyway, and its end declines what is still open.
    let house = House::open(setup, Arc::new(SessionGate::new(true, false))).await?;
    house.remark_on_plugins();
    let toolbox = house.toolbox(setup)?;
    let mut lines = Lines::of_stdin();
    let mut session = arguments.session;
    let end = loop {
        let Conversation { ops, events, engine } = house.converse(setup, &session).await?;
        let tools = || tool_lines(&toolbox);
        let chat = Chat { ops, events, lines: &mut lines, tools: &tools };
        let end = chat.run(|| interrupts.clone().next()).await.context("cannot write to the terminal")?;
        if end == ChatEnd::Interrupted {
            engine.abort();
        }
        if let Err(error) = conversation::end(engine).await {
            house.close().await?;
            return Err(error);
        }
        if end != ChatEnd::Clear {
            break end;
        }
        session = SessionArgs::default();
    };
    house.close().await?;
    Ok(match end {
        ChatEnd::Exit | ChatEnd::Clear => 0,
        ChatEnd::Interrupted => 130,
        ChatEnd::EngineGone => 1,
    })
}
