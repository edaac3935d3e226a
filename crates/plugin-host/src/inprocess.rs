//! One call in this process: faster than a worker, and nothing protects the host from it. A call that does not stop cannot
//! be stopped, its thread is left behind.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::bridge::{self, Link};
use crate::call::{Call, Ended, Stop, not_started, parse_reply};
use crate::plugin::Plugin;
use crate::signal::CancelSignal;
use crate::upcall::Services;

/// Messages that may wait; a plugin that sends more waits itself.
const QUEUE: usize = 64;

enum Message {
    Progress(Vec<u8>),
    Log(Vec<u8>),
    Ask { op: String, body: Vec<u8>, answer: SyncSender<Result<Vec<u8>, String>> },
}

struct ChannelLink(mpsc::Sender<Message>);

impl Link for ChannelLink {
    fn progress(&self, body: &[u8]) {
        // Nobody listens any more once the host has given the call up.
        let _ = self.0.blocking_send(Message::Progress(body.to_vec()));
    }

    fn log(&self, body: &[u8]) {
        let _ = self.0.blocking_send(Message::Log(body.to_vec()));
    }

    fn ask(&self, op: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let gone = || "the host does not wait for this call any more".to_owned();
        let (answer, receiver) = sync_channel(1);
        let ask = Message::Ask { op: op.to_owned(), body: body.to_vec(), answer };
        self.0.blocking_send(ask).map_err(|_| gone())?;
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }
}

pub(crate) async fn run(plugin: &Plugin, call: &Call<'_>, services: &mut Services<'_>) -> Ended {
    let opened = match plugin.in_process().await {
        Ok(opened) => opened,
        Err(error) => return not_started(plugin, &error),
    };
    let head = match serde_json::to_vec(call.head) {
        Ok(head) => head,
        Err(error) => return Ended::Unavailable(format!("the call cannot be handed over: {error}")),
    };
    let signal = Arc::new(CancelSignal::default());
    let (sender, mut messages) = mpsc::channel(QUEUE);
    let (op, body, cancel) = (call.op, call.body.to_vec(), Arc::clone(&signal));
    let mut running =
        spawn_blocking(move || bridge::call(&opened, op, &head, &body, ChannelLink(sender), cancel));

    let grace = plugin.settings.grace;
    let mut stop: Option<Stop> = None;
    let timer = tokio::time::sleep(call.timeout);
    let cancelled = call.cancel.cancelled();
    let closing = plugin.shared.closing.cancelled();
    tokio::pin!(timer, cancelled, closing);
    loop {
        let why = tokio::select! {
            biased;
            () = &mut closing, if stop != Some(Stop::Closing) => Stop::Closing,
            () = &mut cancelled, if stop.is_none() => Stop::Cancelled,
            () = &mut timer => match stop {
                Some(stop) => return Ended::Forced { stop, left_running: true },
                None => Stop::TimedOut,
            },
            Some(message) = messages.recv() => {
                serve(message, services);
                continue;
            }
            ended = &mut running => {
                // What was sent before the end is still of this call.
                while let Ok(message) = messages.try_recv() {
                    serve(message, services);
                }
                return match ended {
                    Ok(reply) => Ended::Replied { reply: parse_reply(&reply), stop },
                    Err(panicked) => Ended::Crashed(format!("{panicked} while running `{}`", call.head.tool)),
                };
            }
        };
        stop = Some(why);
        signal.cancel();
        timer.as_mut().reset(tokio::time::Instant::now() + grace);
    }
}

fn serve(message: Message, services: &mut Services<'_>) {
    match message {
        Message::Progress(body) => services.progress(&body),
        Message::Log(body) => services.log(&body),
        Message::Ask { op, body, answer } => {
            // It has room for one answer.
            let _ = answer.send(services.answer(&op, &body));
        }
    }
}
