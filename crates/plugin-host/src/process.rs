//! The host's end of one worker: start it, talk to it, end it, and say how it ended.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foehn_plugin_sdk::wire::LogLevel;
use foehn_sandbox::{Confinement, Profile, clean_environment};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::exit;
use crate::frame::{self, FailHead, Frame, FrameError, HelloHead, Kind, LoadHead, NoHead, PROTOCOL, Stage};
use crate::image::Image;
use crate::log::{Line, PluginLog};
use crate::preflight::Unfit;
use crate::tree;
use crate::worker::WORKER_COMMAND;

/// After its socket has closed a worker is about to end; killing it at once would hide the true reason.
const END_WAIT: Duration = Duration::from_millis(200);

/// What a read makes room for when no large frame is due.
const CHUNK: usize = 16 << 10;
/// Buffers that a large call has left behind are given back.
const KEPT_BUFFER: usize = 256 << 10;

/// Everything about the start of one worker.
pub(crate) struct Plan<'a> {
    pub file: &'a Path,
    pub log: &'static PluginLog,
    pub image: &'a Image,
    pub program: Option<&'a Path>,
    pub profile: &'a Profile,
    pub require_sandbox: bool,
    pub folder: &'a Path,
    pub scratch: Option<&'a Path>,
    /// Variables of the host's environment that it gets beside the harmless ones.
    pub passed: &'a [OsString],
    /// The plugin's configuration; `None` to ask for its manifest only.
    pub config: Option<&'a [u8]>,
    pub limit: Duration,
}

/// Why a worker did not come to serve. Each text completes "plugin `x` ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    #[error("has no worker: `{}` cannot be started: {message}", program.display())]
    Spawn { program: PathBuf, message: String },
    #[error("did not finish loading within {} s and was killed", limit.as_secs_f64())]
    Hung { limit: Duration },
    #[error("{how}")]
    Died { how: String },
    #[error("cannot be confined as `[sandbox] require = true` demands: {0}")]
    NotConfined(String),
    #[error("cannot be confined: {0}")]
    Sandbox(String),
    #[error("{0}")]
    Load(String),
    #[error("does not accept its configuration: {0}")]
    Config(String),
    #[error(
        "says something else about itself than when it was first loaded; if it does so again after the host's file `manifests.json` is removed, its manifest is not constant"
    )]
    ManifestChanged,
    #[error("has changed on disk since it was checked")]
    FileChanged,
    #[error("{0}")]
    Unfit(Unfit),
    #[error("has a worker that does not fit this host: {0}")]
    Protocol(String),
}

impl StartError {
    /// Whether the plugin's code is to blame, and it may be so again.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(self, Self::Hung { .. } | Self::Died { .. })
    }
}

/// A worker and the manifest it said hello with.
pub(crate) struct Hello {
    pub worker: Worker,
    pub manifest_text: Vec<u8>,
}

/// One running child process. Dropping it kills it and all that it started.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// How much of the output is on its way.
    sent: usize,
    tail: Arc<Mutex<Tail>>,
    drain: JoinHandle<()>,
    may_have_children: bool,
    reaped: bool,
    pub confinement: Option<Confinement>,
}

/// The other end has closed or speaks nonsense.
#[derive(Debug)]
pub(crate) enum Broken {
    Closed,
    Frame(FrameError),
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

impl From<FrameError> for Broken {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

impl Worker {
    /// Starts a worker and waits until its plugin is loaded and, with a configuration, open.
    pub(crate) async fn start(plan: &Plan<'_>) -> Result<Hello, StartError> {
        let mut worker = Self::spawn(plan)?;
        match timeout(plan.limit, worker.greet(plan)).await {
            Err(_) => Err(StartError::Hung { limit: plan.limit }),
            Ok(Ok(Ok(manifest_text))) => Ok(Hello { worker, manifest_text }),
            Ok(Ok(Err(failure))) => Err(failure),
            Ok(Err(Broken::Closed)) => {
                Err(StartError::Died { how: worker.how_it_ended("it was loaded").await })
            }
            Ok(Err(Broken::Frame(error))) => Err(StartError::Protocol(error.to_string())),
        }
    }

    fn spawn(plan: &Plan<'_>) -> Result<Self, StartError> {
        let program = match plan.program {
            Some(program) => program.to_path_buf(),
            None => this_program(),
        };
        let failed =
            |error: io::Error| StartError::Spawn { program: program.clone(), message: error.to_string() };
        let (ours, theirs) = BlockingStream::pair().map_err(failed)?;
        let (printed, print) = io::pipe().map_err(failed)?;
        let print_too = print.try_clone().map_err(failed)?;

        let mut command = Command::new(&program);
        command
            .arg(WORKER_COMMAND)
            .arg(plan.file)
            .current_dir(plan.folder)
            .env_clear()
            .envs(clean_environment())
            .envs(plan.passed.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            // A backtrace of an allocation that failed needs the memory that is missing.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(print)))
            .stderr(Stdio::from(OwnedFd::from(print_too)));
        if let Some(scratch) = plan.scratch {
            command.env("TMPDIR", scratch);
        }
        tree::become_subreaper();
        let mut child = {
            let mut workers = tree::workers();
            let child = command.spawn().map_err(failed)?;
            workers.insert(child.id());
            child
        };
        // Closes the child's ends, which the command still holds.
        drop(command);

        let tail = Arc::new(Mutex::new(Tail::default()));
        let connected = send_load(&ours, plan)
            .and_then(|()| ours.set_nonblocking(true))
            .and_then(|()| UnixStream::from_std(ours))
            .and_then(|stream| Ok((stream, pipe::Receiver::from_owned_fd(printed.into())?)));
        let (stream, printed) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                tree::workers().remove(&child.id());
                return Err(failed(error));
            }
        };
        Ok(Self {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            drain: tokio::spawn(drain(printed, Arc::clone(&tail), plan.log)),
            tail,
            may_have_children: plan.profile.execute_programs || !foehn_sandbox::support().seccomp,
            reaped: false,
            confinement: None,
            child,
        })
    }

    async fn greet(&mut self, plan: &Plan<'_>) -> Result<Result<Vec<u8>, StartError>, Broken> {
        if let Some(config) = plan.config {
            self.queue(Kind::Open, 0, &NoHead {}, config)?;
            // One that has gone already may have said why, which is read below.
            let _ = self.flush().await;
        }
        let hello = self.frame().await?;
        if hello.kind != Kind::Hello {
            return Ok(Err(self.start_failure(&hello, plan.require_sandbox)));
        }
        let HelloHead { confinement } = hello.head(&self.input)?;
        self.confinement = Some(confinement);
        let manifest_text = hello.body(&self.input).to_vec();
        self.consume(&hello);
        if plan.config.is_some() {
            let ready = self.frame().await?;
            if ready.kind != Kind::Ready {
                return Ok(Err(self.start_failure(&ready, plan.require_sandbox)));
            }
            self.consume(&ready);
        }
        Ok(Ok(manifest_text))
    }

    fn start_failure(&self, frame: &Frame, require_sandbox: bool) -> StartError {
        let text = String::from_utf8_lossy(frame.body(&self.input)).into_owned();
        match frame.head(&self.input).map(|FailHead { stage }| stage) {
            Ok(Stage::Load) => StartError::Load(text),
            Ok(Stage::Open) => StartError::Config(text),
            Ok(Stage::Sandbox) if require_sandbox => StartError::NotConfined(text),
            Ok(Stage::Sandbox) => StartError::Sandbox(text),
            Ok(Stage::Protocol) => StartError::Protocol(text),
            Err(_) => StartError::Protocol(format!("it said {:?} instead of hello", frame.kind)),
        }
    }

    /// The next frame, at the start of [`input`](Self::input). Nothing is lost when the future is dropped.
    pub(crate) async fn frame(&mut self) -> Result<Frame, Broken> {
        loop {
            if let Some(frame) = frame::decode(&self.input)? {
                return Ok(frame);
            }
            let missing = frame::needed(&self.input)?.saturating_sub(self.input.len());
            self.input.reserve(missing.max(CHUNK));
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Err(Broken::Closed);
            }
        }
    }

    pub(crate) fn input(&self) -> &[u8] {
        &self.input
    }

    pub(crate) fn consume(&mut self, frame: &Frame) {
        self.input.drain(..frame.size());
        if self.input.is_empty() {
            self.input.shrink_to(KEPT_BUFFER);
        }
    }

    /// Puts a frame behind those that wait for [`flush`](Self::flush).
    pub(crate) fn queue(
        &mut self,
        kind: Kind,
        id: u32,
        head: &impl Serialize,
        body: &[u8],
    ) -> Result<(), FrameError> {
        frame::encode(&mut self.output, kind, id, head, body)
    }

    /// Like [`queue`](Self::queue), for the frame that begins a call: what fits is sent at once, from where the body lies.
    pub(crate) fn begin(&mut self, id: u32, head: &impl Serialize, body: &[u8]) -> Result<(), FrameError> {
        // The last words of a crash are those of the call that crashed.
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
        if !self.output.is_empty() {
            return self.queue(Kind::Call, id, head, body);
        }
        frame::encode_front(&mut self.output, Kind::Call, id, head, body.len())?;
        // Whatever keeps it from being sent now shows when the rest is.
        self.sent =
            self.stream.try_write_vectored(&[IoSlice::new(&self.output), IoSlice::new(body)]).unwrap_or(0);
        let sent_of_body = self.sent.saturating_sub(self.output.len());
        self.sent -= sent_of_body;
        self.output.extend_from_slice(body.get(sent_of_body..).unwrap_or_default());
        Ok(())
    }

    /// Sends what is queued. When the future is dropped the next flush goes on where this one stopped.
    pub(crate) async fn flush(&mut self) -> Result<(), Broken> {
        while let Some(rest) = self.output.get(self.sent..).filter(|rest| !rest.is_empty()) {
            self.sent += self.stream.write(rest).await?;
        }
        self.sent = 0;
        self.output.clear();
        self.output.shrink_to(KEPT_BUFFER);
        Ok(())
    }

    /// Whether it still waits for work. Asked before a call, so that one that died meanwhile costs no call. Asks the
    /// kernel and not the runtime, which has perhaps not looked since.
    pub(crate) fn is_alive(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match rustix::net::recv(&self.stream, &mut [0_u8; 1], flags) {
            Ok((read, _)) => read > 0,
            Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
        }
    }

    /// For a worker whose socket has closed: how it ended while it did something, with its last words.
    pub(crate) async fn how_it_ended(&mut self, doing: &str) -> String {
        let status = self.ended_within(END_WAIT).await;
        self.kill();
        // The last words may still be in the pipe; a child that holds it open must not hold us up.
        let _ = timeout(END_WAIT, &mut self.drain).await;
        let how = status.map_or_else(|| "closed its connection".to_owned(), describe);
        let words = self.tail.lock().unwrap_or_else(PoisonError::into_inner).words();
        if words.is_empty() {
            format!("{how} while {doing}")
        } else {
            format!("{how} while {doing}: {words}")
        }
    }

    /// Lets it end by itself, as when it has been idle for long.
    pub(crate) async fn retire(mut self) {
        let _ = self.stream.shutdown().await;
        let _ = self.ended_within(END_WAIT).await;
    }

    async fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            let status = self.reap();
            let left = until.saturating_duration_since(Instant::now());
            if status.is_some() || left.is_zero() {
                return status;
            }
            exit::ended(self.child.id(), left).await;
        }
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten()?;
        self.gone();
        Some(status)
    }

    /// Kills it and all that it started, and waits for it, which takes as long as the kernel needs.
    pub(crate) fn kill(&mut self) {
        if !self.reaped {
            tree::kill_all(self.child.id(), self.may_have_children);
            let _ = self.child.wait();
            self.gone();
        }
    }

    fn gone(&mut self) {
        if !std::mem::replace(&mut self.reaped, true) {
            tree::workers().remove(&self.child.id());
            if self.may_have_children {
                tree::sweep_orphans();
            }
            if let Some(confinement) = &self.confinement {
                confinement.processes.release();
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        self.drain.abort();
    }
}

/// This very program, even when its file was replaced meanwhile.
fn this_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe().unwrap_or_else(|_| PathBuf::from("foehn"))
    }
}

/// The first frame goes out at once, with the library beside its first byte; a fresh socket has room for it.
fn send_load(socket: &BlockingStream, plan: &Plan<'_>) -> io::Result<()> {
    let head = LoadHead {
        protocol: PROTOCOL,
        file: plan.file.display().to_string(),
        profile: plan.profile.clone(),
        require_sandbox: plan.require_sandbox,
    };
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, Kind::Load, 0, &head, &[]).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let library = [plan.image.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&library));
    let sent = sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::empty())?;
    io::Write::write_all(&mut &*socket, bytes.get(sent..).unwrap_or_default())
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("crashed (signal {signal}{})", signal_name(signal)),
        (None, Some(code)) => format!("ended itself with exit status {code}"),
        (None, None) => format!("ended itself ({status})"),
    }
}

fn signal_name(signal: i32) -> &'static str {
    use rustix::process::Signal;
    const NAMES: [(Signal, &str); 10] = [
        (Signal::ILL, ", SIGILL"),
        (Signal::TRAP, ", SIGTRAP"),
        (Signal::ABORT, ", SIGABRT"),
        (Signal::BUS, ", SIGBUS"),
        (Signal::FPE, ", SIGFPE"),
        (Signal::SEGV, ", SIGSEGV"),
        (Signal::SYS, ", SIGSYS"),
        (Signal::TERM, ", SIGTERM"),
        (Signal::XCPU, ", SIGXCPU"),
        (Signal::KILL, ", SIGKILL: killed from outside, perhaps for lack of memory"),
    ];
    NAMES.iter().find(|(known, _)| known.as_raw() == signal).map_or("", |(_, name)| name)
}

/// The last printed lines, for the reason of a crash.
#[derive(Debug, Default)]
struct Tail(VecDeque<String>);

impl Tail {
    const LINES: usize = 3;
    const CHARACTERS: usize = 200;

    fn push(&mut self, line: &str) {
        // The runtime says the same again, without the number of the thread.
        let is_noise = line.starts_with("note: ") || line.ends_with("has overflowed its stack");
        if line.trim().is_empty() || is_noise {
            return;
        }
        self.0.push_back(line.trim().chars().take(Self::CHARACTERS).collect());
        while self.0.len() > Self::LINES {
            self.0.pop_front();
        }
    }

    fn words(&self) -> String {
        Vec::from_iter(self.0.iter().map(String::as_str)).join("; ")
    }
}

/// Reads what the plugin prints until nobody can print any more. A flood is read and thrown away.
async fn drain(mut printed: pipe::Receiver, tail: Arc<Mutex<Tail>>, log: &'static PluginLog) {
    const MAX_LINES: u32 = 1_000;
    const MAX_LINE: usize = 8 << 10;
    let mut buffer = Vec::new();
    let mut lines = 0;
    loop {
        buffer.reserve(4 << 10);
        let ended = !matches!(printed.read_buf(&mut buffer).await, Ok(1..));
        while let Some(end) = line_end(&buffer, MAX_LINE, ended) {
            let text = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).into_owned();
            let text = text.trim_end();
            tail.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            lines += 1;
            if lines < MAX_LINES {
                log.write(LogLevel::Info, Line { message: text, source: "printed", ..Line::default() });
            } else if lines == MAX_LINES {
                let message = "the plugin prints too much; further lines are dropped";
                log.write(LogLevel::Warn, Line { message, source: "printed", ..Line::default() });
            }
            buffer.drain(..end);
        }
        if ended {
            return;
        }
    }
}

/// Where the first line of the buffer ends: after its line break, after the longest piece, or with all there is.
fn line_end(buffer: &[u8], longest: usize, ended: bool) -> Option<usize> {
    let end = buffer.iter().take(longest).position(|byte| *byte == b'\n').map(|at| at + 1);
    end.or((buffer.len() >= longest).then_some(longest))
        .or((ended && !buffer.is_empty()).then_some(buffer.len()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn ends_in_words() {
        let cases = [
            (6, "crashed (signal 6, SIGABRT)"),
            (11, "crashed (signal 11, SIGSEGV)"),
            (50, "crashed (signal 50)"),
            (7 << 8, "ended itself with exit status 7"),
            (0, "ended itself with exit status 0"),
        ];
        for (status, expected) in cases {
            assert_eq!(describe(ExitStatus::from_raw(status)), expected);
        }
    }

    #[test]
    fn the_tail_is_short() {
        let mut tail = Tail::default();
        for line in [
            "one",
            "",
            "two",
            "note: run with `RUST_BACKTRACE=1`",
            "  three ",
            "thread 'calls' (7) has overflowed its stack",
            "four",
        ] {
            tail.push(line);
        }
        assert_eq!(tail.words(), "two; three; four");
    }

    #[test]
    fn lines_are_cut() {
        let found = [
            line_end(b"a\nb", 8, false),
            line_end(b"ab", 8, false),
            line_end(b"ab", 8, true),
            line_end(b"abcdefghij", 8, false),
            line_end(b"", 8, true),
        ];
        assert_eq!(found, [Some(2), None, Some(2), Some(8), None]);
    }
}
