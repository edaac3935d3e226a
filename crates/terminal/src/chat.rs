//! A plain conversation, line by line: `foehn chat`.

use std::io;

use foehn_protocol::{Approval, Decision, Event, EventBody, Op};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::approval::{Reply, approval_card, parse_reply, reply_prompt};
use crate::draw::Drawer;
use crate::input::Lines;

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatEnd {
    /// `/exit` or the end of input.
    Exit,
    /// `/clear`: the caller starts a new session.
    Clear,
    /// Ctrl-C twice.
    Interrupted,
    /// The engine ended by itself.
    EngineGone,
}

/// One session of a conversation.
pub struct Chat<'a> {
    pub ops: UnboundedSender<Op>,
    pub events: UnboundedReceiver<Event>,
    pub lines: &'a mut Lines,
    /// Text of `/tools`.
    pub tools: &'a dyn Fn() -> String,
}

impl std::fmt::Debug for Chat<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Chat").finish_non_exhaustive()
    }
}

const HELP: &str =
    "/tools lists the tools, /clear starts afresh, /exit leaves; ctrl-C cancels a turn, twice leaves";
const PROMPT: &str = "\n> ";

impl Chat<'_> {
    /// Runs until the user leaves or clears. `interrupt` resolves on each ctrl-C.
    pub async fn run<Interrupt, Waiting>(mut self, mut interrupt: Interrupt) -> io::Result<ChatEnd>
    where
        Interrupt: FnMut() -> Waiting,
        Waiting: Future<Output = ()>,
    {
        let mut drawer = Drawer::new(io::stdout(), io::stderr(), true);
        let mut open: Option<Approval> = None;
        // Prompts sent whose turn has not ended.
        let mut turns = 0_usize;
        let mut interrupted = false;
        let mut input_open = true;
        let mut ready = false;
        loop {
            let mut stop = std::pin::pin!(interrupt());
            tokio::select! {
                event = self.events.recv() => {
                    let Some(event) = event else { return Ok(ChatEnd::EngineGone) };
                    drawer.draw(&event)?;
                    match event.body {
                        EventBody::SessionStarted { .. } if !ready => {
                            ready = true;
                            drawer.say(HELP)?;
                            drawer.ask(PROMPT)?;
                        }
                        EventBody::ApprovalRequested(approval) => {
                            drawer.ask(&approval_card(&approval))?;
                            drawer.ask(reply_prompt(approval.always.is_some()))?;
                            open = Some(approval);
                        }
                        EventBody::ApprovalResolved { .. } => open = None,
                        EventBody::TurnDone { .. } => {
                            turns = turns.saturating_sub(1);
                            interrupted = false;
                            if turns == 0 {
                                if !input_open {
                                    return self.leave(ChatEnd::Exit);
                                }
                                drawer.ask(PROMPT)?;
                            }
                        }
                        _ => {}
                    }
                }
                line = self.lines.next(), if input_open => {
                    let Some(line) = line else {
                        input_open = false;
                        if let Some(approval) = open.take() {
                            let _ = self.ops.send(Op::Answer { approval: approval.id, decision: Decision::No });
                        }
                        if turns == 0 {
                            return self.leave(ChatEnd::Exit);
                        }
                        continue;
                    };
                    if let Some(approval) = &open {
                        match parse_reply(&line, approval.always.is_some()) {
                            Reply::Decided(decision) => {
                                let _ = self.ops.send(Op::Answer { approval: approval.id.clone(), decision });
                                open = None;
                            }
                            Reply::Unclear => drawer.ask(reply_prompt(approval.always.is_some()))?,
                        }
                        continue;
                    }
                    match line.trim() {
                        "" => drawer.ask(PROMPT)?,
                        "/exit" | "/quit" => return self.leave(ChatEnd::Exit),
                        "/clear" => return self.leave(ChatEnd::Clear),
                        "/tools" => {
                            drawer.say(&(self.tools)())?;
                            drawer.ask(PROMPT)?;
                        }
                        "/help" => {
                            drawer.say(HELP)?;
                            drawer.ask(PROMPT)?;
                        }
                        command if command.starts_with('/') && !command.contains(' ') && !command[1..].contains('/') => {
                            drawer.say(&format!("no command `{command}`; {HELP}"))?;
                            drawer.ask(PROMPT)?;
                        }
                        _ => {
                            turns += 1;
                            interrupted = false;
                            let _ = self.ops.send(Op::Prompt { text: line });
                        }
                    }
                }
                () = &mut stop => {
                    if interrupted {
                        return self.leave(ChatEnd::Interrupted);
                    }
                    interrupted = true;
                    if turns > 0 {
                        let _ = self.ops.send(Op::Interrupt);
                        drawer.say("cancelling; once more leaves")?;
                    } else {
                        drawer.say("once more leaves")?;
                        drawer.ask(PROMPT)?;
                    }
                }
            }
        }
    }

    fn leave(&self, end: ChatEnd) -> io::Result<ChatEnd> {
        let _ = self.ops.send(Op::Shutdown);
        Ok(end)
    }
}
