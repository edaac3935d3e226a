//! Calls, one after another: this thread reads, another runs them, so that a cancellation and the end of the host are seen
//! while a call hangs.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

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

struct Job {
    id: u32,
    op: String,
    /// The whole frame.
    bytes: Vec<u8>,
    head: Range<usize>,
    body: Range<usize>,
    cancel: Arc<CancelSignal>,
}

/// Returns when the host closes the socket or says something that cannot be understood.
pub(super) fn serve(mut incoming: Incoming, wire: Wire, plugin: PluginBox) -> Result<(), Ended> {
    let waiting = Arc::new(Waiting::default());
    let (jobs, queue) = channel();
    let spare = Spare::default();
    let runner = Runner { wire, plugin, waiting: Arc::clone(&waiting), spare: spare.clone() };
    std::thread::Builder::new()
        .name("calls".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || runner.run(&queue))?;

    let mut current: Option<(u32, Arc<CancelSignal>)> = None;
    loop {
        let frame = incoming.next()?;
        match frame.kind {
            Kind::Call => {
                let cancel = Arc::new(CancelSignal::default());
                current = Some((frame.id, Arc::clone(&cancel)));
                let bytes = incoming.take(&frame, spare.take());
                begin(&jobs, &frame, bytes, cancel)?;
                continue;
            }
            Kind::Cancel => {
                if let Some((_, cancel)) = current.as_ref().filter(|(id, _)| *id == frame.id) {
                    cancel.cancel();
                }
            }
            Kind::UpcallResult => {
                let UpcallResultHead { ok } = frame.head(incoming.buffer())?;
                let body = frame.body(incoming.buffer()).to_vec();
                let answer = if ok { Ok(body) } else { Err(String::from_utf8_lossy(&body).into_owned()) };
                waiting.answered(frame.id, answer);
            }
            _ => return Err(Ended),
        }
        incoming.consume(&frame);
    }
}

fn begin(jobs: &Sender<Job>, frame: &Frame, bytes: Vec<u8>, cancel: Arc<CancelSignal>) -> Result<(), Ended> {
    let CallOp { op } = frame.head(&bytes)?;
    let (head, body) = (frame.head_range(), frame.body_range());
    jobs.send(Job { id: frame.id, op, bytes, head, body, cancel })?;
    Ok(())
}

struct Runner {
    wire: Wire,
    plugin: PluginBox,
    waiting: Arc<Waiting>,
    spare: Spare,
}

/// The buffer of the last call, for the next: its pages are there already.
#[derive(Clone, Default)]
struct Spare(Arc<Mutex<Vec<u8>>>);

impl Spare {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn give(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= SPARE_BYTES {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = buffer;
        }
    }
}

impl Runner {
    fn run(&self, queue: &Receiver<Job>) {
        for job in queue {
            if self.answer(job).is_err() {
                end(true);
            }
        }
    }

    fn answer(&self, job: Job) -> Result<(), SendError> {
        let Job { id, op, bytes, head, body, cancel } = job;
        let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
        let link = SocketLink { wire: self.wire.clone(), call: id, waiting: Arc::clone(&self.waiting) };
        let reply = bridge::call(&self.plugin, &op, part(head), part(body), link, cancel);
        self.spare.give(bytes);
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
