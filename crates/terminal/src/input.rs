//! Lines that a person types, read beside everything else.
//!
//! A thread of its own, because a blocking read of a terminal cannot be cancelled: it is never joined and ends with
//! the process. It is only started where a person is expected; a run with a prompt argument never touches stdin.

use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines of stdin; `None` from [`Lines::next`] is the end of input.
#[derive(Debug)]
pub struct Lines {
    receiver: mpsc::UnboundedReceiver<String>,
}

impl Lines {
    pub fn of_stdin() -> Self {
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
        Self { receiver }
    }

    /// Lines from elsewhere, for tests and embedding.
    pub fn of_channel(receiver: mpsc::UnboundedReceiver<String>) -> Self {
        Self { receiver }
    }

    pub async fn next(&mut self) -> Option<String> {
        self.receiver.recv().await
    }
}
