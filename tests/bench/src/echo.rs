//! The floor of a worker's call: as many bytes through a socket to another process, a few back, and nothing else. No
//! runtime, no frames, no JSON: what the kernel takes to wake one process and then the other.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The hidden command under which this program echoes; the size of a message follows.
pub(crate) const COMMAND: &str = "echo-server";

/// As long as the answer of the smallest plugin.
const ANSWER: &[u8; 10] = b"some bytes";

/// Answers messages of this size until the other end closes.
pub(crate) fn serve(size: usize) -> Result<()> {
    use std::os::fd::AsFd;
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut message = vec![0; size];
    while socket.read_exact(&mut message).is_ok() {
        socket.write_all(ANSWER)?;
    }
    Ok(())
}

/// The other process and our end of its socket.
#[derive(Debug)]
pub(crate) struct Echo {
    process: Child,
    socket: UnixStream,
    message: Vec<u8>,
}

impl Echo {
    pub(crate) fn start(size: usize) -> Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = Command::new(std::env::current_exe().context("cannot tell our own program")?)
            .args([COMMAND, &size.to_string()])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .context("cannot start the echo")?;
        Ok(Self { process, socket, message: vec![b'x'; size] })
    }

    pub(crate) fn call(&mut self) -> Result<Duration> {
        let mut answer = [0; ANSWER.len()];
        let started = Instant::now();
        self.socket.write_all(&self.message)?;
        self.socket.read_exact(&mut answer)?;
        Ok(started.elapsed())
    }

    pub(crate) fn stop(self) -> Result<()> {
        let Self { mut process, socket, .. } = self;
        drop(socket);
        process.wait()?;
        Ok(())
    }
}
