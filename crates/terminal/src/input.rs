//! Lines that a person types, read beside everything else.
//!
//! A thread of its own, because a blocking read of a terminal cannot be cancelled: it is never joined and ends with
//! the process. It starts with the first line that is waited for: a run that asks nothing takes nothing from whatever
//! its stdin is.

use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines of stdin; `None` from [`Lines::next`] is the end of input.
#[derive(Debug, Default)]
pub struct Lines {
    receiver: Option<mpsc::UnboundedReceiver<String>>,
}

impl Lines {
    pub fn of_stdin() -> Self {
        Self::default()
    }

    /// Lines from elsewhere, for tests and embedding.
    pub fn of_channel(receiver: mpsc::UnboundedReceiver<String>) -> Self {
        Self { receiver: Some(receiver) }
    }

    pub async fn next(&mut self) -> Option<String> {
        self.receiver.get_or_insert_with(read_stdin).recv().await
    }
}

fn read_stdin() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // When no thread can be had, the sender is dropped and the reader sees the end of input.
    let _ = std::thread::Builder::new().name("stdin".into()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
