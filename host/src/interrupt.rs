//! Ctrl-C and the signals that mean "end": each wakes the front end, which cancels the turn first and leaves second.
//!
//! After a polite signal nothing may be left behind, so TERM and HUP take the same way as ctrl-C.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

/// Hands out a future for each wait; every signal since the last wait resolves it.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts(Arc<Notify>);

impl Interrupts {
    /// Listens from now on. Must be called inside the runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let notify = Arc::new(Notify::new());
        for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
            let mut signals = signal(kind)?;
            let notify = Arc::clone(&notify);
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    notify.notify_one();
                }
            });
        }
        Ok(Self(notify))
    }

    pub(crate) async fn next(self) {
        self.0.notified().await;
    }
}
