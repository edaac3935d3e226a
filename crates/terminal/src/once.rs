//! One prompt to its final answer: `foehn run`.

use std::io::{self, Write};

use foehn_protocol::{Decision, Event, EventBody, Op, TurnStatus};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::approval::{Reply, approval_card, parse_reply, reply_prompt};
use crate::draw::Drawer;
use crate::input::Lines;
use crate::json::write_event;

/// How events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For a person; `streaming` shows text as it arrives.
    Text { streaming: bool },
    /// One JSON event a line on stdout, nothing else there.
    Json,
}

/// One run.
#[derive(Debug)]
pub struct Once {
    pub ops: UnboundedSender<Op>,
    pub events: UnboundedReceiver<Event>,
    pub style: Style,
    /// Where answers to approvals come from; `None` when nobody is there, and then no question reaches this front end.
    pub lines: Option<Lines>,
}

impl Once {
    /// Sends the prompt and shows everything until its turn is done. `interrupt` resolves each time the user wants to
    /// stop: the first cancels the turn, the second gives up waiting for it.
    pub async fn run<Interrupt, Waiting>(
        mut self,
        prompt: String,
        mut interrupt: Interrupt,
    ) -> io::Result<TurnStatus>
    where
        Interrupt: FnMut() -> Waiting,
        Waiting: Future<Output = ()>,
    {
        let mut drawer =
            Drawer::new(io::stdout(), io::stderr(), matches!(self.style, Style::Text { streaming: true }));
        let _ = self.ops.send(Op::Prompt { text: prompt });
        let mut interrupted = false;
        let mut open: Option<foehn_protocol::Approval> = None;
        loop {
            let mut stop = std::pin::pin!(interrupt());
            tokio::select! {
                event = self.events.recv() => {
                    // The engine is gone without an end: something broke, and saying "answered" would be a lie.
                    let Some(event) = event else { return Ok(TurnStatus::Failed) };
                    match self.style {
                        Style::Json => write_event(&mut io::stdout().lock(), &event)?,
                        Style::Text { .. } => drawer.draw(&event)?,
                    }
                    match event.body {
                        EventBody::ApprovalRequested(approval) if self.lines.is_some() => {
                            drawer.ask(&approval_card(&approval))?;
                            drawer.ask(reply_prompt(approval.always.is_some()))?;
                            open = Some(approval);
                        }
                        EventBody::ApprovalResolved { .. } => open = None,
                        EventBody::TurnDone { status, .. } => {
                            let _ = self.ops.send(Op::Shutdown);
                            return Ok(status);
                        }
                        _ => {}
                    }
                }
                line = next_line(&mut self.lines), if open.is_some() => {
                    let Some(approval) = &open else { continue };
                    let decision = match line.as_deref().map(|line| parse_reply(line, approval.always.is_some())) {
                        // The end of input is not a yes.
                        None => Decision::No,
                        Some(Reply::Decided(decision)) => decision,
                        Some(Reply::Unclear) => {
                            drawer.ask(reply_prompt(approval.always.is_some()))?;
                            continue;
                        }
                    };
                    let _ = self.ops.send(Op::Answer { approval: approval.id.clone(), decision });
                    open = None;
                }
                () = &mut stop => {
                    if interrupted {
                        return Ok(TurnStatus::Cancelled);
                    }
                    interrupted = true;
                    let _ = self.ops.send(Op::Interrupt);
                    if self.style != Style::Json {
                        io::stderr().write_all(b"\n")?;
                        drawer.say("cancelling; once more ends at once")?;
                    }
                }
            }
        }
    }
}

async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
