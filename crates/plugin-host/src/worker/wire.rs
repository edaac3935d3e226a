//! Blocking frames over the worker's socket: one thread reads, any thread writes.

use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::buffer::spare_capacity;
use rustix::io::{read, retry_on_intr};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::Serialize;

use super::Ended;
use crate::frame::{self, Frame, FrameError, Kind};

/// What a read takes at most when no large frame is due.
const CHUNK: usize = 16 << 10;

/// The library's descriptor is not for programs that the plugin starts.
#[cfg(target_os = "linux")]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

pub(super) struct Incoming {
    socket: UnixStream,
    buffer: Vec<u8>,
}

impl Incoming {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, buffer: Vec::with_capacity(CHUNK) }
    }

    pub(super) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// The first frame and the descriptor that comes with its first byte.
    pub(super) fn first(&mut self) -> Result<(Frame, Option<OwnedFd>), Ended> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut chunk = vec![0; CHUNK];
        let received =
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut chunk)], &mut control, RECEIVE_FLAGS)?;
        let descriptor = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        self.buffer.extend_from_slice(chunk.get(..received.bytes).unwrap_or_default());
        Ok((self.next()?, descriptor))
    }

    /// The frame at the start of the buffer. [`consume`](Self::consume) it before the next.
    pub(super) fn next(&mut self) -> Result<Frame, Ended> {
        loop {
            if let Some(frame) = frame::decode(&self.buffer)? {
                return Ok(frame);
            }
            let missing = frame::needed(&self.buffer)?.saturating_sub(self.buffer.len());
            self.fill(missing.max(CHUNK))?;
        }
    }

    pub(super) fn consume(&mut self, frame: &Frame) {
        self.buffer.drain(..frame.size());
    }

    /// The frame's bytes as a buffer of their own; what follows it goes on in `next`, which may be one used before.
    pub(super) fn take(&mut self, frame: &Frame, mut next: Vec<u8>) -> Vec<u8> {
        next.clear();
        next.extend_from_slice(self.buffer.get(frame.size()..).unwrap_or_default());
        std::mem::replace(&mut self.buffer, next)
    }

    fn fill(&mut self, space: usize) -> Result<(), Ended> {
        self.buffer.reserve(space);
        match retry_on_intr(|| read(&self.socket, spare_capacity(&mut self.buffer)))? {
            0 => Err(Ended),
            _ => Ok(()),
        }
    }
}

/// The writing side.
#[derive(Clone)]
pub(super) struct Wire(Arc<Mutex<Outgoing>>);

struct Outgoing {
    socket: UnixStream,
    buffer: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Socket(#[from] io::Error),
}

impl Wire {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self(Arc::new(Mutex::new(Outgoing { socket, buffer: Vec::new() })))
    }

    pub(super) fn send(
        &self,
        kind: Kind,
        id: u32,
        head: &impl Serialize,
        body: &[u8],
    ) -> Result<(), SendError> {
        let mut outgoing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Outgoing { socket, buffer } = &mut *outgoing;
        buffer.clear();
        frame::encode(buffer, kind, id, head, body)?;
        socket.write_all(buffer)?;
        buffer.shrink_to(CHUNK.max(256 << 10));
        Ok(())
    }
}
