//! The other end: what a child process does from its first instruction to its last.
//!
//! Order matters. It leaves the terminal, takes the socket out of the way of everything else, gives up its rights, and
//! only then maps the library, whose constructors run confined. Nothing of the host exists here: no runtime, no settings,
//! no keys. When the host's end of the socket closes, for whatever reason, the worker ends and takes everything with it
//! that the plugin started.

mod link;
mod serve;
mod wire;

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::fcntl_dupfd_cloexec;

use crate::frame::{self, FailHead, Frame, HelloHead, Kind, LoadHead, NoHead, PROTOCOL, Stage};
use crate::image::descriptor_path;
use crate::load::{Loaded, load};
use crate::tree;
use foehn_plugin_sdk::abi::PluginBox;
use foehn_sandbox::Confinement;
use wire::{Incoming, Wire};

/// The argument that makes the host's binary a worker. Not for people.
pub const WORKER_COMMAND: &str = "plugin-worker";

/// Becomes a plugin worker, and never returns, when this process was started as one. Call it first in `main`: before any
/// thread, runtime or setting exists.
pub fn become_worker_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(WORKER_COMMAND)) {
        let ended = worker();
        end(ended.is_err())
    }
}

/// The host is gone or wants no more: the plugin's processes go with the worker.
pub(crate) fn end(failed: bool) -> ! {
    tree::kill_own_descendants();
    exit(i32::from(failed))
}

/// Without the library's exit handlers, which may hang or crash.
#[allow(unsafe_code, reason = "ending without foreign exit handlers")]
fn exit(status: i32) -> ! {
    unsafe extern "C" {
        fn _exit(status: i32) -> !;
    }
    // SAFETY: `_exit` takes any status and touches no memory of ours.
    unsafe { _exit(status) }
}

/// Why a worker ends early. The host reads the `Fail` frame, or sees the process end.
struct Ended;

impl<E: std::error::Error> From<E> for Ended {
    fn from(_: E) -> Self {
        Self
    }
}

fn worker() -> Result<(), Ended> {
    // Out of the terminal's reach: no ctrl-C, no /dev/tty, a group of its own that the host can kill.
    let _ = rustix::process::setsid();
    tree::become_subreaper();
    #[cfg(target_os = "linux")]
    rustix::thread::set_name(c"foehn-worker")?;

    let socket = take_socket()?;
    let mut incoming = Incoming::new(socket.try_clone()?);
    let wire = Wire::new(socket);
    let (load_frame, library) = incoming.first()?;

    let started = start(&load_frame, &incoming, library);
    let (loaded, confinement) = match started {
        Ok(started) => started,
        Err(failure) => return failed(&wire, failure),
    };
    wire.send(Kind::Hello, 0, &HelloHead { confinement }, &loaded.manifest_text)?;
    incoming.consume(&load_frame);

    // A host that only wants the manifest closes the socket now.
    let open = incoming.next()?;
    let plugin = match open_plugin(&loaded, &open, &incoming) {
        Ok(plugin) => plugin,
        Err(failure) => return failed(&wire, failure),
    };
    incoming.consume(&open);
    wire.send(Kind::Ready, 0, &NoHead {}, &[])?;
    serve::serve(incoming, wire, plugin)
}

/// The socket arrives as standard input, where the plugin would find it. It gets the null device instead.
fn take_socket() -> Result<UnixStream, Ended> {
    let stdin = std::io::stdin();
    let socket = fcntl_dupfd_cloexec(stdin.as_fd(), 3)?;
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(UnixStream::from(socket))
}

struct Failure {
    stage: Stage,
    text: String,
}

impl Failure {
    fn at(stage: Stage, error: impl ToString) -> Self {
        Self { stage, text: error.to_string() }
    }
}

fn start(
    frame: &Frame,
    incoming: &Incoming,
    library: Option<OwnedFd>,
) -> Result<(Loaded, Confinement), Failure> {
    let protocol = |error: frame::FrameError| Failure::at(Stage::Protocol, error);
    let head: LoadHead = frame.head(incoming.buffer()).map_err(protocol)?;
    let Some(library) = library.filter(|_| frame.kind == Kind::Load && head.protocol == PROTOCOL) else {
        return Err(Failure::at(Stage::Protocol, "the host and its worker program do not fit together"));
    };
    let confinement =
        foehn_sandbox::confine(&head.profile).map_err(|error| Failure::at(Stage::Sandbox, error))?;
    if head.require_sandbox && !confinement.is_complete() {
        return Err(Failure::at(Stage::Sandbox, confinement.lacking.join("; ")));
    }
    let loaded = load(&descriptor_path(library.as_fd())).map_err(|error| Failure::at(Stage::Load, error))?;
    Ok((loaded, confinement))
}

fn open_plugin(loaded: &Loaded, frame: &Frame, incoming: &Incoming) -> Result<PluginBox, Failure> {
    if frame.kind != Kind::Open {
        return Err(Failure::at(Stage::Protocol, "a configuration was expected"));
    }
    loaded.open(frame.body(incoming.buffer())).map_err(|error| Failure::at(Stage::Open, error))
}

fn failed(wire: &Wire, failure: Failure) -> Result<(), Ended> {
    wire.send(Kind::Fail, 0, &FailHead { stage: failure.stage }, failure.text.as_bytes())?;
    Ok(())
}
