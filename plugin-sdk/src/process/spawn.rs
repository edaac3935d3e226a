//! Starts a program without copying this process first, where nothing of ours has to run in the copy: what it would do, the
//! system does by itself (`posix_spawn`). For a short command that copy is a good part of its time.
//!
//! The program leads a session of its own and has signals as a shell would have them, as on the other way. It can be no other
//! folder that it runs in than ours, and its path has to be known.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use rustix::process::Pid;

/// `POSIX_SPAWN_SETSID` of glibc, musl and POSIX 2024, which the library does not know.
const SETSID: i32 = 0x80;

/// Whether a program can be started so: it is named by its whole path, and runs in the folder that this process is in.
pub(super) fn is_possible(program: &OsStr, folder: Option<&Path>) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    let is_here = |folder| identity(folder).is_some_and(|there| Some(there) == identity(Path::new(".")));
    cfg!(target_os = "linux") && Path::new(program).is_absolute() && folder.is_none_or(is_here)
}

/// Starts the program of a command, with the environment that was set on it and no other.
pub(super) fn spawn(command: &Command, streams: [BorrowedFd<'_>; 3]) -> io::Result<Pid> {
    let program = CString::new(command.get_program().as_bytes())?;
    let mut arguments = vec![program.clone()];
    for argument in command.get_args() {
        arguments.push(CString::new(argument.as_bytes())?);
    }
    let mut environment = Vec::new();
    for (name, value) in command.get_envs() {
        let Some(value) = value else { continue };
        environment.push(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?);
    }
    let mut actions = PosixSpawnFileActions::init()?;
    for (number, stream) in (0..).zip(streams) {
        actions.add_dup2(stream.as_raw_fd(), number)?;
    }
    let mut attributes = PosixSpawnAttr::init()?;
    let session = PosixSpawnFlags::from_bits_retain(SETSID);
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(session | signals)?;
    // A program made with Rust's library ignores it, which its own programs should not.
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    attributes.set_sigmask(&SigSet::empty())?;
    let pid = posix_spawn(program.as_c_str(), &actions, &attributes, &arguments, &environment)?;
    Pid::from_raw(pid.as_raw()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
