//! A program that goes on while calls come and go: what it prints is kept for whoever asks next, what it should read is handed
//! on, and its end is noticed.
//!
//! A thread of its own serves each program. It lives in the plugin's process and ends with it, so only a tool that declares
//! itself [lasting](crate::Tool::LASTING) finds it again.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionbio;

use super::run::Running;
use super::text::{Collector, Overflow};
use super::{Command, Exit, GRACE, LeftRunning, ProcessError, Whole};
use crate::error::Result;
use crate::{Cx, Error};

/// Most characters of output that are kept: the latest.
const KEPT_CHARACTERS: usize = 200_000;

/// How often a waiting call looks whether it was cancelled.
const TICK: Duration = Duration::from_millis(20);

/// A program that was started to outlive the call.
#[derive(Debug)]
pub struct Lasting {
    pid: i32,
    started: Instant,
    shared: Arc<Shared>,
    input: Mutex<Option<PipeWriter>>,
    /// Written to when the thread should end the program.
    wake: PipeWriter,
}

/// A part of what a program printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// As plain text, like [`Output::head`](super::Output::head).
    pub text: String,
    /// How many characters came before it.
    pub start: u64,
    /// Where the next piece begins.
    pub end: u64,
}

impl Command {
    /// Starts it and leaves it running. Its input stays open, and its time is not limited.
    ///
    /// # Errors
    /// When it could not be started at all; nothing has run then.
    pub fn start_lasting<C>(&self, cx: &Cx<'_, C>) -> Result<Lasting> {
        self.begin(cx).map_err(|error| Error::from(error).executed(false))
    }

    fn begin<C>(&self, cx: &Cx<'_, C>) -> std::result::Result<Lasting, ProcessError> {
        let program = self.program.to_string_lossy().into_owned();
        let problem = |source| ProcessError::Start { program: program.clone(), source };
        let (stdin, input) = pipe().map_err(problem)?;
        // A program that does not read must not hold up who writes.
        ioctl_fionbio(&input, true).map_err(|errno| problem(errno.into()))?;
        let (asleep, wake) = pipe().map_err(problem)?;
        let shared = Arc::new(Shared::default());
        let running = self.start_with(cx, stdin.into(), |_| {
            let log = Box::new(Log(Arc::clone(&shared)));
            Collector::overflowing(0, Some(log))
        })?;
        let pid = running.pid();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(format!("program-{pid}"));
        thread.spawn(move || serve(running, &asleep, &serving)).map_err(problem)?;
        Ok(Lasting { pid, started: Instant::now(), shared, input: Mutex::new(Some(input)), wake })
    }
}

impl Lasting {
    /// The id of its process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// How long ago it was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// How it ended; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        self.shared.lock().exit
    }

    /// What it left running when it ended.
    pub fn left_running(&self) -> Vec<LeftRunning> {
        self.shared.lock().left_running.clone()
    }

    /// At most `limit` characters of what it printed after the first `since` ones, or the earliest that are still kept.
    pub fn output(&self, since: u64, limit: usize) -> Piece {
        let state = self.shared.lock();
        let first = state.dropped;
        let end = first + state.log.len() as u64;
        let start = since.clamp(first, end);
        let skip = usize::try_from(start - first).unwrap_or(usize::MAX);
        let text: String = state.log.iter().skip(skip).take(limit).collect();
        let end = start + text.chars().count() as u64;
        Piece { text, start, end }
    }

    /// Where the output ends by now.
    pub fn printed(&self) -> u64 {
        let state = self.shared.lock();
        state.dropped + state.log.len() as u64
    }

    /// Waits until more than `since` characters were printed, the program has ended, the time is over or the call is
    /// cancelled.
    pub fn wait<C>(&self, since: Option<u64>, time: Duration, cx: &Cx<'_, C>) {
        let until = Instant::now() + time;
        let mut state = self.shared.lock();
        loop {
            let printed = state.dropped + state.log.len() as u64;
            let left = until.saturating_duration_since(Instant::now());
            if state.exit.is_some()
                || since.is_some_and(|since| printed > since)
                || left.is_zero()
                || cx.cancelled()
            {
                return;
            }
            let waited = self.shared.changed.wait_timeout(state, left.min(TICK));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Hands text to its input.
    ///
    /// # Errors
    /// When it has ended, its input was closed, or it reads nothing and the pipe is full; the message says how much it got.
    pub fn write(&self, text: &str) -> Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = input.as_mut().filter(|_| self.exit().is_none()) else {
            return Err(Error::failed("its input is closed").executed(false));
        };
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match pipe.write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let got = text.len() - rest.len();
                    let why = if error.kind() == io::ErrorKind::WouldBlock {
                        "it does not read its input".to_owned()
                    } else {
                        error.to_string()
                    };
                    return Err(Error::failed(format!("{why}; it got {got} of {} bytes", text.len())));
                }
            }
        }
        Ok(())
    }

    /// Closes its input: it reads the end.
    pub fn close_input(&self) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Asks it and everything descended from it to end; what has not after [`GRACE`] will be killed. Does not wait.
    pub fn ask_to_stop(&self) {
        self.shared.lock().stopping = true;
        // A thread that is no longer there has seen the end already.
        let _ = (&self.wake).write(b"!");
    }

    /// The same, and waits until nothing of it runs.
    pub fn stop(&self) {
        self.ask_to_stop();
        let mut state = self.shared.lock();
        while state.exit.is_none() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.ask_to_stop();
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    log: VecDeque<char>,
    dropped: u64,
    stopping: bool,
    exit: Option<Exit>,
    left_running: Vec<LeftRunning>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Log(Arc<Shared>);

impl Overflow for Log {
    fn push(&mut self, character: char) {
        let mut state = self.0.lock();
        state.log.push_back(character);
        if state.log.len() > KEPT_CHARACTERS {
            state.log.pop_front();
            state.dropped += 1;
        }
    }

    fn end(self: Box<Self>) -> Whole {
        Whole::NotKept("it is read piece by piece".to_owned())
    }
}

fn serve(mut running: Running, asleep: &PipeReader, shared: &Shared) {
    loop {
        if running.has_exited() {
            running.drain();
            break;
        }
        if shared.lock().stopping {
            running.stop(GRACE);
            break;
        }
        running.wait(Some(asleep.as_fd()), running.longest_sleep());
        running.take_output();
        shared.changed.notify_all();
    }
    let (exit, left_running) = running.end();
    let mut state = shared.lock();
    state.left_running = left_running;
    state.exit = Some(exit);
    drop(state);
    shared.changed.notify_all();
}
