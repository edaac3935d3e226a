//! One run, from start to end: a single loop that sleeps in `poll` until there is output, the program ends, the call is
//! cancelled or the time is up.

use std::env;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, waitpid};

use super::crowd::{self, Crowd, LOOK_EVERY};
use super::environment::clean;
use super::spawn;
use super::text::{Collected, Collector, Overflow};
use super::tree::{self, Mark, Tree};
use super::{
    Background, CANCEL_GRACE, Command, Directory, Exit, GRACE, LeftRunning, Output, Printed, ProcessError,
};
use crate::Cx;

/// How often to look where the system cannot wake us: at orphans, and at everything on a system without process descriptors.
const TICK: Duration = Duration::from_millis(20);

/// How much a pipe holds when the system does not tell.
const PIPE_BYTES: usize = 64 * 1024;

/// How often killing is repeated: a program that starts others while it is being killed needs more than one round.
const KILL_ROUNDS: usize = 100;

/// Why a run goes on no longer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Exited,
    TimedOut,
    Cancelled,
    Crowded,
}

impl Command {
    pub(super) fn run_until<C>(&self, cx: &Cx<'_, C>) -> Result<Output, ProcessError> {
        let started = Instant::now();
        let own_deadline = self.timeout.and_then(|timeout| started.checked_add(timeout));
        let deadline = [own_deadline, cx.deadline()].into_iter().flatten().min();
        let mut running = self.start(cx)?;

        let end = running.watch(deadline, self.most_processes, cx);
        match end {
            End::Exited => {}
            End::TimedOut if own_deadline == deadline => running.stop(GRACE),
            // The host has lost its patience as well.
            End::TimedOut | End::Cancelled => running.stop(CANCEL_GRACE),
            End::Crowded => running.kill(),
        }
        running.drain();
        let left_running = running.tree.alive();
        if self.background == Background::Kill && !left_running.is_empty() {
            running.kill();
        } else {
            running.tree.leave(&left_running);
            if !left_running.is_empty() {
                crowd::watch(running.tree.clone(), self.most_processes);
            }
        }

        let mut streams = running.streams.into_iter().map(|stream| stream.output.finish());
        let collected = streams.next().unwrap_or_else(|| Collector::new(0).finish());
        Ok(Output {
            exit: running.exit.unwrap_or(Exit::Signal(Signal::KILL.as_raw())),
            head: collected.head,
            tail: collected.tail,
            dropped_bytes: collected.dropped_bytes,
            whole: collected.whole,
            stderr: streams.next().map(|Collected { head, tail, dropped_bytes, whole }| Printed {
                head,
                tail,
                dropped_bytes,
                whole,
            }),
            duration: started.elapsed(),
            timed_out: end == End::TimedOut,
            cancelled: end == End::Cancelled,
            crowded: end == End::Crowded,
            left_running,
        })
    }

    fn start<C>(&self, cx: &Cx<'_, C>) -> Result<Running, ProcessError> {
        let limit = if self.separate { self.output_limit / 2 } else { self.output_limit };
        let nothing = File::open("/dev/null")
            .map_err(|source| ProcessError::Start { program: "/dev/null".to_owned(), source })?;
        self.start_with(cx, nothing.into(), |stream| Collector::overflowing(limit, self.overflow(stream, cx)))
    }

    /// Starts it with this input; `collector` is made for each stream, by what its name ends with.
    pub(super) fn start_with<C>(
        &self,
        cx: &Cx<'_, C>,
        stdin: OwnedFd,
        collector: impl Fn(&str) -> Collector,
    ) -> Result<Running, ProcessError> {
        let mut words = self.launcher.iter().chain([&self.program]).chain(&self.arguments);
        let first = words.next().unwrap_or(&self.program);
        let program = first.to_string_lossy().into_owned();
        let problem = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ProcessError::NotFound { program: program.clone() },
            io::ErrorKind::PermissionDenied => ProcessError::NotPermitted { program: program.clone() },
            _ => ProcessError::Start { program: program.clone(), source },
        };
        let mark = Mark::new();
        let (reader, writer) = self.stream().map_err(problem)?;
        let mut streams = vec![Stream { pipe: Some(reader), output: collector("") }];
        let errors = if self.separate {
            let (reader, writer) = self.stream().map_err(problem)?;
            streams.push(Stream { pipe: Some(reader), output: collector("-errors") });
            writer
        } else {
            writer.try_clone().map_err(problem)?
        };

        let mut command = std::process::Command::new(first);
        command
            .args(words)
            .env_clear()
            .envs(clean(env::vars_os(), &self.passed))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs([mark.variable()]);
        let directory = self.directory(cx)?;
        let starting = tree::starting();
        let quick = spawn::is_possible(first, directory.as_deref())
            .then(|| spawn::spawn(&command, [stdin.as_fd(), writer.as_fd(), errors.as_fd()]));
        let pid = match quick {
            Some(Ok(pid)) => pid,
            // Nothing has begun; the other way knows more, and how to tell what is wrong.
            Some(Err(_)) | None => {
                command.stdin(stdin).stdout(writer).stderr(errors);
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                let child = CommandWrap::from(command).wrap(ProcessSession).spawn().map_err(problem)?;
                let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                pid.ok_or_else(|| problem(io::ErrorKind::InvalidData.into()))?
            }
        };
        let tree = Tree::new(pid, mark);
        drop(starting);
        // Our own copies of the pipe's writing end go with this function; the output could never end otherwise.
        Ok(Running { pid, tree, ended: end_of(pid), streams, exit: None })
    }

    fn stream(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (reader, writer) = pipe()?;
        ioctl_fionbio(&reader, true)?;
        Ok((reader, writer))
    }

    fn overflow<C>(&self, stream: &str, cx: &Cx<'_, C>) -> Option<Box<dyn Overflow>> {
        let name = self.whole.as_ref()?;
        // Without a workspace there is no place for it.
        let workspace = cx.workspace().ok()?;
        Some(Box::new(super::kept::Keeper::new(workspace, &format!("{name}{stream}"))))
    }

    fn directory<C>(&self, cx: &Cx<'_, C>) -> Result<Option<PathBuf>, ProcessError> {
        let directory = match &self.directory {
            Directory::Opened(opened, path) => {
                let by_handle = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
                // Where there is no such path, the name has to do.
                return Ok(Some(if by_handle.is_dir() { by_handle } else { path.clone() }));
            }
            Directory::Path(path) => path.as_path(),
            Directory::Workspace if cx.workspace_root().as_os_str().is_empty() => return Ok(None),
            Directory::Workspace => cx.workspace_root(),
        };
        // Told apart here: the system's answer to a missing folder and a missing program is the same.
        if !directory.is_dir() {
            return Err(ProcessError::NoDirectory { directory: directory.to_owned() });
        }
        Ok(Some(directory.to_owned()))
    }
}

pub(super) struct Running {
    pid: Pid,
    tree: Tree,
    /// Readable once the program has ended; `None` where the system has no such thing.
    ended: Option<OwnedFd>,
    streams: Vec<Stream>,
    exit: Option<Exit>,
}

struct Stream {
    /// `None` once it has come to its end.
    pipe: Option<PipeReader>,
    output: Collector,
}

impl Running {
    /// Takes output until the program ends by itself or has to be ended.
    fn watch<C>(&mut self, deadline: Option<Instant>, most: usize, cx: &Cx<'_, C>) -> End {
        let mut crowd = Crowd::new(most);
        let cancel = cx.cancel_fd();
        let can_sleep = self.ended.is_some() && cancel.is_some();
        loop {
            if self.has_exited() {
                return End::Exited;
            }
            if cx.cancelled() {
                return End::Cancelled;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return End::TimedOut;
            }
            if crowd.is_too_large(&self.tree) {
                return End::Crowded;
            }
            let most = if can_sleep { LOOK_EVERY } else { TICK };
            self.wait(cancel, Some(left.map_or(most, |left| left.min(most))));
            self.take_output();
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// How long to sleep when nothing else is waited for; `None` = until woken.
    pub(super) fn longest_sleep(&self) -> Option<Duration> {
        if self.ended.is_some() { None } else { Some(TICK) }
    }

    /// After its end: kills what it left behind, and tells it.
    pub(super) fn end(&mut self) -> (Exit, Vec<LeftRunning>) {
        let left = self.tree.alive();
        if !left.is_empty() {
            self.kill();
        }
        (self.exit.unwrap_or(Exit::Signal(Signal::KILL.as_raw())), left)
    }

    /// Asks everything to end, then kills what has not.
    pub(super) fn stop(&mut self, grace: Duration) {
        self.tree.signal(Signal::TERM);
        // One that was stopped cannot hear it otherwise.
        self.tree.signal(Signal::CONT);
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline {
            if self.has_exited() && self.tree.alive().is_empty() {
                return;
            }
            self.wait(None, Some(TICK));
            self.take_output();
        }
        self.kill();
    }

    fn kill(&mut self) {
        for _ in 0..KILL_ROUNDS {
            self.tree.kill();
            if self.has_exited() && self.tree.alive().is_empty() {
                return;
            }
            self.wait(None, Some(TICK));
        }
    }

    /// Sleeps until there is output, the program ends, `cancel` is readable, or the time is over. An early return is fine.
    pub(super) fn wait(&self, cancel: Option<BorrowedFd<'_>>, time: Option<Duration>) {
        let ended = if self.exit.is_none() { self.ended.as_ref().map(AsFd::as_fd) } else { None };
        let output = self.streams.iter().filter_map(|stream| stream.pipe.as_ref().map(AsFd::as_fd));
        let mut watched: Vec<PollFd<'_>> = ended
            .into_iter()
            .chain(output)
            .chain(cancel)
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        // The only errors are an interruption, after which the caller looks again, and a lack of memory.
        let _ = poll(&mut watched, time.as_ref());
    }

    pub(super) fn has_exited(&mut self) -> bool {
        if self.exit.is_none() {
            self.exit = match waitpid(Some(self.pid), WaitOptions::NOHANG) {
                Ok(None) | Err(Errno::INTR) => None,
                Ok(Some((_, status))) => Some(exit_of(status)),
                // Somebody else in this process has waited for it: how it ended cannot be known.
                Err(_) => Some(Exit::Signal(Signal::KILL.as_raw())),
            };
            if self.exit.is_some() {
                self.tree.leader_ended();
            }
        }
        self.exit.is_some()
    }

    /// One piece of output of each stream, if there is any.
    pub(super) fn take_output(&mut self) {
        for stream in &mut self.streams {
            stream.take();
        }
    }

    /// What was printed before the end is in the pipe: at most as much as it holds. Somebody left in the background may print
    /// more for ever, and is not waited for.
    pub(super) fn drain(&mut self) {
        for stream in &mut self.streams {
            let mut left = stream.pipe.as_ref().map_or(0, capacity);
            while left > 0 {
                match stream.take() {
                    0 => break,
                    length => left = left.saturating_sub(length),
                }
            }
        }
    }
}

impl Stream {
    /// One piece, if there is any; tells how long it was.
    fn take(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        let mut buffer = [0; 16 * 1024];
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                self.output.push(&buffer[..length]);
                return length;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.pipe = None,
        }
        0
    }
}

/// A descriptor that is readable once the process has ended.
#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_pid: Pid) -> Option<OwnedFd> {
    None
}

#[cfg(target_os = "linux")]
fn capacity(pipe: &PipeReader) -> usize {
    rustix::pipe::fcntl_getpipe_size(pipe).unwrap_or(PIPE_BYTES)
}

#[cfg(not(target_os = "linux"))]
fn capacity(_pipe: &PipeReader) -> usize {
    PIPE_BYTES
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Signal(Signal::KILL.as_raw()),
    }
}
