//! From a running call to the host and back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::wire::Wire;
use crate::bridge::Link;
use crate::frame::{Kind, NoHead, UpcallHead};

type Answer = Result<Vec<u8>, String>;

/// Upcalls that wait for their answer, by id. Answers arrive on the reading thread.
#[derive(Default)]
pub(super) struct Waiting {
    next: AtomicU32,
    answers: Mutex<BTreeMap<u32, SyncSender<Answer>>>,
}

impl Waiting {
    pub(super) fn answered(&self, id: u32, answer: Answer) {
        let waiting = self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(waiting) = waiting {
            // It has room for one and the one who asked waits; if not, nobody misses the answer.
            let _ = waiting.send(answer);
        }
    }
}

pub(super) struct SocketLink {
    pub wire: Wire,
    pub call: u32,
    pub waiting: Arc<Waiting>,
}

impl Link for SocketLink {
    fn progress(&self, body: &[u8]) {
        // A host that is gone ends this process through the reading thread; a line too long for a frame is not worth more.
        let _ = self.wire.send(Kind::Progress, self.call, &NoHead {}, body);
    }

    fn log(&self, body: &[u8]) {
        let _ = self.wire.send(Kind::Log, self.call, &NoHead {}, body);
    }

    fn ask(&self, op: &str, body: &[u8]) -> Answer {
        let id = self.waiting.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = sync_channel(1);
        self.waiting.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let sent = self.wire.send(Kind::Upcall, id, &UpcallHead { op: op.to_owned() }, body);
        if let Err(error) = sent {
            self.waiting.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            return Err(error.to_string());
        }
        receiver.recv().unwrap_or_else(|_| Err("the host did not answer".to_owned()))
    }
}
