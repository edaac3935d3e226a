//! What comes in while the engine is busy: prompts wait, answers go to their question, an interrupt ends the turn.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;

use foehn_ports::CancellationToken;
use foehn_protocol::{ApprovalId, Decision, Op, TurnId};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::host::Outbox;

pub(crate) struct Control {
    ops: UnboundedReceiver<Op>,
    outbox: Outbox,
    turn: TurnId,
    /// Prompts given while a turn ran, oldest first.
    waiting: VecDeque<String>,
    /// Fires when the running turn has to end.
    cancel: CancellationToken,
    /// A shutdown was asked for: no further prompt is taken, but the running turn still hears answers and interrupts.
    ending: bool,
    /// The front end is gone.
    closed: bool,
}

impl Control {
    pub(crate) fn new(ops: UnboundedReceiver<Op>, outbox: Outbox) -> Self {
        Self {
            ops,
            outbox,
            turn: TurnId(0),
            waiting: VecDeque::new(),
            cancel: CancellationToken::new(),
            ending: false,
            closed: false,
        }
    }

    /// The next prompt; `None` when the session ends. Prompts given before a shutdown are still served.
    pub(crate) async fn next_prompt(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.waiting.pop_front() {
                return Some(text);
            }
            if self.ending {
                return None;
            }
            match self.ops.recv().await {
                Some(Op::Interrupt) => {}
                op => self.take(op),
            }
        }
    }

    pub(crate) fn begin(&mut self, turn: TurnId) {
        self.turn = turn;
        self.cancel = CancellationToken::new();
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Runs a future to its end and takes in what comes meanwhile. The future itself watches the token.
    pub(crate) async fn during<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                op = self.ops.recv(), if !self.closed => self.take(op),
                output = &mut future => return output,
            }
        }
    }

    /// Waits for the answer to one question; `None` when the turn is cancelled first.
    pub(crate) async fn answer(&mut self, approval: &ApprovalId) -> Option<Decision> {
        loop {
            if self.cancelled() || self.closed {
                return None;
            }
            match self.ops.recv().await {
                Some(Op::Answer { approval: answered, decision }) if &answered == approval => {
                    return Some(decision);
                }
                op => self.take(op),
            }
        }
    }

    fn take(&mut self, op: Option<Op>) {
        match op {
            Some(Op::Prompt { .. }) if self.ending => {
                self.outbox.warn(self.turn, "the session is ending; the prompt was not taken".to_owned());
            }
            Some(Op::Prompt { text }) => self.waiting.push_back(text),
            Some(Op::Interrupt) => self.cancel.cancel(),
            Some(Op::Answer { approval, .. }) => {
                self.outbox
                    .warn(self.turn, format!("question `{approval}` is not open; the answer was not used"));
            }
            Some(Op::Shutdown) => self.ending = true,
            None => {
                // The front end is gone: what runs is stopped, and what waits has nobody who asked for it.
                (self.ending, self.closed) = (true, true);
                self.waiting.clear();
                self.cancel.cancel();
            }
        }
    }
}
