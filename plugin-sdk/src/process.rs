//! Starting a program so that it cannot hang, flood, prompt, or stay behind unseen.
//!
//! Each program runs in a session of its own, without a terminal, with empty input and a short, clean environment. What it
//! prints is taken through one pipe, in the order of arrival, and kept up to a limit however much comes. When the time is up
//! or the call is cancelled, everything descended from it is asked to end, and killed after [`GRACE`] at most, also what moved to a
//! session of its own.
//!
//! What it refuses to do: wait for the end of the *output*. A helper left in the background may hold the pipe for hours; the
//! end of the program that was started ends the run, and what still runs is told in [`Output::left_running`].
//!
//! The descent is found by `/proc` and needs Linux; elsewhere the process group alone is stopped. From the first run on the
//! process that hosts the plugin is a "child subreaper": orphans of its programs become its children, so that none is lost.

mod crowd;
mod environment;
mod kept;
mod lasting;
mod run;
mod settings;
mod spawn;
mod text;
mod tree;
pub mod wrapper;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::{Cx, Error, ResultExt as _};

pub use lasting::{Lasting, Piece};
pub use settings::{Boundary, ProgramSettings, Switch};
pub use wrapper::Wrapper;

/// How long a program may take to end after it was asked to, because its own time was up.
pub const GRACE: Duration = Duration::from_secs(2);

/// The same when the whole call is cancelled or late: shorter than a host waits before it kills the plugin's process, so that
/// nothing is left that could escape.
pub const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// How many characters of output are kept unless told otherwise: half from the beginning, half from the end.
pub const DEFAULT_OUTPUT_LIMIT: usize = 30_000;

/// How many processes a run may be at once unless told otherwise.
pub const DEFAULT_MOST_PROCESSES: usize = 1_000;

/// The folder that an argument `working_directory` names; the workspace itself when it is empty.
///
/// # Errors
/// When it leads out of the workspace, is not there, or is no folder. Nothing has run then.
pub fn working_directory(
    workspace: &crate::workspace::Workspace,
    given: &str,
) -> Result<crate::workspace::RelPath> {
    let given = if given.is_empty() { "." } else { given };
    let opened = workspace.resolve(given).and_then(|path| workspace.open_directory(&path).map(|_| path));
    opened.context("working_directory").map_err(|error| error.executed(false))
}

/// A program to start.
///
/// ```no_run
/// use std::time::Duration;
/// use foehn_plugin_sdk::prelude::*;
/// use foehn_plugin_sdk::process::Command;
/// # fn run(cx: &Cx<'_>) -> Result<String> {
/// let output = Command::new("git").args(["status", "--short"]).timeout(Duration::from_secs(30)).run(cx)?;
/// if !output.success() {
///     bail!("git ended with {}: {}", output.exit, output.text());
/// }
/// Ok(output.text())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a command does nothing until `run`"]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Directory,
    /// What it is started through; empty = nothing.
    launcher: Vec<OsString>,
    /// Names of the host's environment that it gets beside the usual ones.
    passed: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    timeout: Option<Duration>,
    output_limit: usize,
    /// Name of the file that all of a long output goes to.
    whole: Option<String>,
    separate: bool,
    background: Background,
    most_processes: usize,
}

/// What becomes of programs that a finished one left in the background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// They go on, and are told in [`Output::left_running`]. Nobody reads what they print any more, so that one that still
    /// prints into the pipe ends.
    #[default]
    Leave,
    /// They are killed at once, and told all the same.
    Kill,
}

/// Where a program starts.
#[derive(Clone, Debug)]
enum Directory {
    /// The call's workspace, or the process's own folder when there is none.
    Workspace,
    Path(PathBuf),
    /// An opened folder and how to call it: stays the same folder, whatever happens to its name.
    Opened(Arc<OwnedFd>, PathBuf),
}

impl Command {
    /// A program by name, looked up in `PATH`, or by path.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            directory: Directory::Workspace,
            launcher: Vec::new(),
            passed: Vec::new(),
            environment: Vec::new(),
            timeout: None,
            output_limit: DEFAULT_OUTPUT_LIMIT,
            whole: None,
            separate: false,
            background: Background::default(),
            most_processes: DEFAULT_MOST_PROCESSES,
        }
    }

    /// Adds an argument. It reaches the program as it is: no shell looks at it.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Starts in this folder; without it, in the call's workspace. Prefer [`in_workspace`](Command::in_workspace) for a
    /// folder that somebody named.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Directory::Path(directory.as_ref().to_owned());
        self
    }

    /// Starts in a folder of the workspace. It is opened now, so that exchanging it for a link has no effect any more.
    ///
    /// # Errors
    /// When it is no folder, or leads out of the workspace.
    pub fn in_workspace(
        mut self,
        workspace: &crate::workspace::Workspace,
        directory: &crate::workspace::RelPath,
    ) -> Result<Self> {
        let opened = workspace.open_directory(directory)?;
        self.directory = Directory::Opened(Arc::new(opened), workspace.absolute(directory));
        Ok(self)
    }

    /// Sets an environment variable, also over one of the clean environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Ends it after this time; without it, when the call's time is up. The earlier of the two counts.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Keeps this many characters of output; [`DEFAULT_OUTPUT_LIMIT`] without it.
    pub fn output_limit(mut self, characters: usize) -> Self {
        self.output_limit = characters;
        self
    }

    /// Writes all of an output that is longer than the limit to a file of the call's workspace whose name begins with `name`:
    /// in `.foehn/output`, which git ignores, and which forgets after a day. [`Output::text`] says where it is.
    pub fn keep_whole(mut self, name: &str) -> Self {
        self.whole = Some(name.to_owned());
        self
    }

    /// Keeps the two streams apart: what is printed as error goes to [`Output::stderr`]. Each has half of the limit. The order
    /// of their arrival is lost.
    pub fn separate_streams(mut self, separate: bool) -> Self {
        self.separate = separate;
        self
    }

    /// What becomes of programs that it leaves in the background.
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Ends it when it has become more processes than this; [`DEFAULT_MOST_PROCESSES`] without it. Also holds for what it
    /// leaves in the background.
    pub fn most_processes(mut self, count: usize) -> Self {
        self.most_processes = count;
        self
    }

    /// Starts it and waits for its end. That it failed, took too long or was cancelled is in the output, together with what
    /// it printed until then.
    ///
    /// # Errors
    /// When it could not be started at all; nothing has run then.
    pub fn run<C>(&self, cx: &Cx<'_, C>) -> Result<Output> {
        self.run_until(cx).map_err(|error| Error::from(error).executed(false))
    }
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what each one is")]
pub enum ProcessError {
    #[error("program `{program}` was not found")]
    NotFound { program: String },
    #[error("program `{program}` may not be run here: permission denied")]
    NotPermitted { program: String },
    #[error("the folder to run in, `{}`, does not exist or is no folder", directory.display())]
    NoDirectory { directory: PathBuf },
    #[error("program `{program}` could not be started: {source}")]
    Start { program: String, source: std::io::Error },
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How the program ended.
    pub exit: Exit,
    /// The output of both streams in the order of arrival, as plain text: colours and other control sequences taken out,
    /// overwritten progress lines reduced to the last one, what is not UTF-8 replaced. Its beginning, or all of it.
    pub head: String,
    /// The end of the output, when all of it was too long for the limit; else empty or what follows [`head`](Output::head).
    pub tail: String,
    /// How many bytes of text were left out between head and tail.
    pub dropped_bytes: u64,
    /// Where all of it is, when it was too long and [`Command::keep_whole`] asked for it.
    pub whole: Option<Whole>,
    /// The errors alone, after [`Command::separate_streams`].
    pub stderr: Option<Printed>,
    /// How long it ran.
    pub duration: Duration,
    /// It was ended because its time was up.
    pub timed_out: bool,
    /// It was ended because the call was cancelled.
    pub cancelled: bool,
    /// It was ended because it had become too many processes.
    pub crowded: bool,
    /// What it left in the background.
    pub left_running: Vec<LeftRunning>,
}

impl Output {
    /// Whether it ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && !self.timed_out && !self.cancelled && !self.crowded
    }

    /// The output as one text, with a line that tells what was left out.
    pub fn text(&self) -> String {
        joined(&self.head, &self.tail, self.dropped_bytes, self.whole.as_ref())
    }
}

/// What came by one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as in `Output`")]
pub struct Printed {
    pub head: String,
    pub tail: String,
    pub dropped_bytes: u64,
    pub whole: Option<Whole>,
}

impl Printed {
    /// It as one text, with a line that tells what was left out.
    pub fn text(&self) -> String {
        joined(&self.head, &self.tail, self.dropped_bytes, self.whole.as_ref())
    }
}

/// Where all of a long output is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whole {
    /// In this file of the workspace.
    Kept(String),
    /// Its beginning is in this file: 64 MiB, or what the limit of the process for files allows.
    Beginning(String),
    /// Nowhere, and why.
    NotKept(String),
}

impl fmt::Display for Whole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(path) => write!(formatter, "all of it: `{path}`"),
            Self::Beginning(path) => write!(formatter, "more of its beginning: `{path}`"),
            Self::NotKept(reason) => write!(formatter, "all of it could not be kept: {reason}"),
        }
    }
}

fn joined(head: &str, tail: &str, dropped_bytes: u64, whole: Option<&Whole>) -> String {
    if dropped_bytes == 0 {
        return format!("{head}{tail}");
    }
    let whole = whole.map(|whole| format!("; {whole}")).unwrap_or_default();
    format!("{head}\n[... {dropped_bytes} bytes left out{whole} ...]\n{tail}")
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(number) => write!(formatter, "signal {number}"),
        }
    }
}

/// A process that a finished program left behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeftRunning {
    /// Its id.
    pub pid: i32,
    /// Its short name; empty when it is not known.
    pub name: String,
}
