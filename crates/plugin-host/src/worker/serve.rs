//! Calls, one after another, with somebody always reading: a cancellation and the end of the host are seen while a call
//! hangs.
//!
//! Two threads take turns. The one that reads a call runs it at once, on its own, and lets the other read meanwhile: the
//! way of a call has no hand-over to another thread in it, which would cost as much as all the rest.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foehn_plugin_sdk::abi::PluginBox;

use super::link::{SocketLink, Waiting};
use super::wire::{Incoming, SendError, Wire};
use super::{Ended, end};
use crate::bridge;
use crate::frame::{CallOp, Frame, Kind, ResultHead, UpcallResultHead};
use crate::signal::CancelSignal;

/// As large as the main thread's usual one, which is what authors expect.
const STACK_BYTES: usize = 8 << 20;

/// Larger buffers go back to the system.
const SPARE_BYTES: usize = 1 << 20;

/// Serves until the host closes the socket or says something that cannot be understood, and ends the process then.
pub(super) fn serve(incoming: Incoming, wire: Wire, plugin: PluginBox) -> Result<(), Ended> {
    let server = Arc::new(Server {
        incoming: Mutex::new(incoming),
        wire,
        plugin,
        waiting: Arc::default(),
        current: Mutex::default(),
        spare: Mutex::default(),
    });
    let start = |name: &str| {
        let server = Arc::clone(&server);
        std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(move || {
            let Err(Ended) = server.take_turns();
            end(false)
        })
    };
    let (one, _other) = (start("calls-1")?, start("calls-2")?);
    // Neither returns: each ends the whole process.
    let _ = one.join();
    Err(Ended)
}

struct Server {
    incoming: Mutex<Incoming>,
    wire: Wire,
    plugin: PluginBox,
    waiting: Arc<Waiting>,
    /// The call that runs.
    current: Mutex<Option<(u32, Arc<CancelSignal>)>>,
    /// The buffer of the last call, for the next: its pages are there already.
    spare: Mutex<Vec<u8>>,
}

struct Job {
    id: u32,
    op: String,
    /// The whole frame.
    bytes: Vec<u8>,
    head: Range<usize>,
    body: Range<usize>,
    cancel: Arc<CancelSignal>,
}

impl Server {
    fn take_turns(&self) -> Result<std::convert::Infallible, Ended> {
        loop {
            let job = self.read(&mut locked(&self.incoming))?;
            self.answer(job)?;
        }
    }

    /// Reads up to the next call.
    fn read(&self, incoming: &mut Incoming) -> Result<Job, Ended> {
        loop {
            let frame = incoming.next()?;
            match frame.kind {
                Kind::Call => return self.begin(&frame, incoming),
                Kind::Cancel => {
                    if let Some((_, cancel)) =
                        locked(&self.current).as_ref().filter(|(id, _)| *id == frame.id)
                    {
                        cancel.cancel();
                    }
                }
                Kind::UpcallResult => {
                    let UpcallResultHead { ok } = frame.head(incoming.buffer())?;
                    let body = frame.body(incoming.buffer()).to_vec();
                    let answer = if ok { Ok(body) } else { Err(String::from_utf8_lossy(&body).into_owned()) };
                    self.waiting.answered(frame.id, answer);
                }
                _ => return Err(Ended),
            }
            incoming.consume(&frame);
        }
    }

    fn begin(&self, frame: &Frame, incoming: &mut Incoming) -> Result<Job, Ended> {
        let spare = std::mem::take(&mut *locked(&self.spare));
        let bytes = incoming.take(frame, spare);
        let CallOp { op } = frame.head(&bytes)?;
        let cancel = Arc::new(CancelSignal::default());
        let before = locked(&self.current).replace((frame.id, Arc::clone(&cancel)));
        if before.is_some() {
            // Both threads would be busy, and nobody would read.
            return Err(Ended);
        }
        Ok(Job { id: frame.id, op, bytes, head: frame.head_range(), body: frame.body_range(), cancel })
    }

    fn answer(&self, job: Job) -> Result<(), SendError> {
        let Job { id, op, bytes, head, body, cancel } = job;
        let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
        let link = SocketLink { wire: self.wire.clone(), call: id, waiting: Arc::clone(&self.waiting) };
        let reply = bridge::call(&self.plugin, &op, part(head), part(body), link, cancel);
        if bytes.capacity() <= SPARE_BYTES {
            *locked(&self.spare) = bytes;
        }
        // Before the answer: the next call may follow it at once.
        *locked(&self.current) = None;
        match self.wire.send(Kind::Result, id, &ResultHead { ok: true }, &reply) {
            // Too large for a frame: the call has had its effects, so it must not look as if the worker had died.
            Err(SendError::Frame(error)) => {
                let text = format!("its result cannot be handed over: {error}");
                self.wire.send(Kind::Result, id, &ResultHead { ok: false }, text.as_bytes())
            }
            sent => sent,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
