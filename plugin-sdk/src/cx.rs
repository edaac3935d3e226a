//! What a call knows and may ask: who calls, where, until when, with which configuration.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::host::Host;
use crate::state::State;
use crate::wire::upcall::{self, Answer, Completed, Completion, Progress, Question};
use crate::wire::{CallHead, Caller, Risk};

/// The surroundings of one call. `C` is the tool's [`Config`](crate::Tool::Config).
///
/// It may be shared with threads that the call starts and waits for.
pub struct Cx<'a, C = ()> {
    head: &'a CallHead,
    host: &'a dyn Host,
    config: &'a C,
    deadline: Option<Instant>,
}

impl<'a, C> Cx<'a, C> {
    pub(crate) fn new(head: &'a CallHead, host: &'a dyn Host, config: &'a C) -> Self {
        let deadline =
            head.deadline_ms.and_then(|left| Instant::now().checked_add(Duration::from_millis(left)));
        Self { head, host, config, deadline }
    }

    /// Whether the call has been cancelled. Cheap enough for inner loops.
    pub fn cancelled(&self) -> bool {
        self.host.cancelled()
    }

    /// Ends the call when it has been cancelled or its time is up: put `cx.check()?` between steps.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled) or [`TimedOut`](crate::ErrorKind::TimedOut).
    pub fn check(&self) -> Result<()> {
        if self.cancelled() {
            return Err(Error::cancelled());
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(out_of_time()),
            _ => Ok(()),
        }
    }

    /// Sleeps, and wakes up early when the call is cancelled or its time is up.
    ///
    /// # Errors
    /// As [`check`](Cx::check).
    pub fn sleep(&self, duration: Duration) -> Result<()> {
        self.check()?;
        let left = self.time_left();
        let cut_short = left.is_some_and(|left| left < duration);
        if self.host.wait_cancelled(left.map_or(duration, |left| left.min(duration))) {
            return Err(Error::cancelled());
        }
        if cut_short { Err(out_of_time()) } else { Ok(()) }
    }

    /// Tells a watching person in one short line how far the call is. Never fails: whoever does not listen misses it.
    pub fn progress(&self, text: impl Into<String>) {
        let _ = self.upcall_raw(upcall::PROGRESS, &Progress { text: text.into() });
    }

    /// The files that the call may touch.
    ///
    /// # Errors
    /// When the call has no workspace, or it cannot be opened.
    #[cfg(feature = "workspace")]
    pub fn workspace(&self) -> Result<crate::workspace::Workspace> {
        if self.head.workspace.as_os_str().is_empty() {
            return Err(Error::failed("this call has no workspace").executed(false));
        }
        Ok(crate::workspace::Workspace::open(&self.head.workspace)?)
    }

    /// The root folder of [`workspace`](Cx::workspace) as the host named it; empty when the call has none.
    pub fn workspace_root(&self) -> &'a Path {
        &self.head.workspace
    }

    /// When the call's time is up; `None` = no limit.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// How much time the call has left; `None` = no limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Who started the run; `None` when the host does not know. It comes from the host, never from an argument.
    pub fn caller(&self) -> Option<&'a Caller> {
        self.head.caller.as_ref()
    }

    /// Name of the agent that calls.
    pub fn agent(&self) -> &'a str {
        &self.head.agent
    }

    /// Id of the session that the call belongs to.
    pub fn session(&self) -> &'a str {
        &self.head.session
    }

    /// Id of this call.
    pub fn call_id(&self) -> &'a str {
        &self.head.call_id
    }

    /// Stays the same when the very same call is asked again, so that an effect elsewhere can be had only once.
    pub fn key(&self) -> &'a str {
        &self.head.key
    }

    /// The risk whose sandbox profile confines this call; `None` when it is not confined.
    pub fn risk_profile(&self) -> Option<Risk> {
        self.head.risk_profile
    }

    /// Whether the host wants to be able to take back what the programs of this call change in the workspace: see
    /// `undo::surveyed`.
    pub fn takes_back_programs(&self) -> bool {
        self.head.take_back_programs
    }

    /// The tool's own config section.
    pub fn config(&self) -> &'a C {
        self.config
    }

    /// Values that the host keeps for this plugin and agent, over calls and restarts.
    pub fn state(&self) -> State<'_> {
        State::new(self.host)
    }

    /// Asks the user, and waits for the answer. Needs [`Capabilities::ask_user`](crate::wire::Capabilities::ask_user).
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) when nobody can be asked; else what the host says.
    pub fn ask_user(&self, question: &Question) -> Result<Answer> {
        ask(self.host, upcall::ASK_USER, question)
    }

    /// Asks a model. Needs [`Capabilities::complete`](crate::wire::Capabilities::complete).
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) when there is none to ask; else what the host says.
    pub fn complete(&self, request: &Completion) -> Result<Completed> {
        ask(self.host, upcall::COMPLETE, request)
    }

    /// A descriptor that becomes readable once the call is cancelled, to poll beside others; `None` when the host has
    /// none. Never read from it.
    pub fn cancel_fd(&self) -> Option<BorrowedFd<'_>> {
        self.host.cancel_fd()
    }

    fn upcall_raw(&self, op: &str, body: &impl Serialize) -> Result<Vec<u8>> {
        self.host.upcall(op, &serde_json::to_vec(body)?)
    }
}

impl<C> fmt::Debug for Cx<'_, C> {
    /// Without the configuration, which may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cx")
            .field("head", self.head)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// One question to the host whose answer is JSON.
pub(crate) fn ask<A: DeserializeOwned>(host: &dyn Host, op: &str, body: &impl Serialize) -> Result<A> {
    let answer = host.upcall(op, &serde_json::to_vec(body)?)?;
    serde_json::from_slice(&answer)
        .map_err(|error| Error::failed(format!("the host's answer to `{op}` makes no sense: {error}")))
}

fn out_of_time() -> Error {
    Error::timed_out("the time of the call is up")
}
