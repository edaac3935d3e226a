//! One call from its request to its end, in a worker: send it, serve what it asks, and stop it when it must stop.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use foehn_plugin_sdk::wire::{CallHead, Reply, ReplyKind};
use foehn_ports::ProgressSink;
use tokio_util::sync::CancellationToken;

use crate::frame::{CallFrameHead, Frame, Kind, NoHead, ResultHead, UpcallHead, UpcallResultHead};
use crate::inprocess;
use crate::plugin::Plugin;
use crate::process::{Broken, StartError, Worker};
use crate::profile::Grant;
use crate::settings::Isolation;
use crate::upcall::{Budget, Services};

pub(crate) struct Call<'a> {
    pub op: &'static str,
    pub head: &'a CallHead,
    pub body: &'a [u8],
    pub grant: Grant,
    pub timeout: Duration,
    pub cancel: CancellationToken,
    pub progress: Option<ProgressSink<'a>>,
    /// Whether it may have effects.
    pub may_change: bool,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The plugin answered, perhaps because it was told to stop.
    Replied { reply: Reply, stop: Option<Stop> },
    /// It was stopped before the plugin had it.
    NotBegun(Stop),
    /// It did not stop when it was told to.
    Forced { stop: Stop, left_running: bool },
    /// The worker died; the text says how.
    Crashed(String),
    /// It never reached the plugin; the text says why.
    Unavailable(String),
}

/// Why a call had to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    TimedOut,
    /// The host shuts down.
    Closing,
}

pub(crate) async fn run(plugin: &Plugin, call: Call<'_>) -> Ended {
    if let Some(reason) = plugin.disabled() {
        return Ended::Unavailable(reason);
    }
    let mut services = Services {
        plugin: &plugin.name,
        log: plugin.log,
        state: plugin.shared.state.as_ref(),
        may_change: call.may_change,
        head: call.head,
        progress: call.progress,
        budget: Budget::default(),
    };
    match plugin.settings.isolation {
        Isolation::Worker => in_worker(plugin, &call, &mut services).await,
        Isolation::InProcess => inprocess::run(plugin, &call, &mut services).await,
    }
}

async fn in_worker(plugin: &Plugin, call: &Call<'_>, services: &mut Services<'_>) -> Ended {
    let pool = plugin.pool(call.grant);
    let started = tokio::select! {
        biased;
        () = plugin.shared.closing.cancelled() => return Ended::NotBegun(Stop::Closing),
        () = call.cancel.cancelled() => return Ended::NotBegun(Stop::Cancelled),
        started = pool.acquire(|| plugin.start(call.grant, pool.scratch())) => started,
    };
    let mut lease = match started {
        Ok(lease) => lease,
        Err(error) => return not_started(plugin, &error),
    };
    match converse(&mut lease.worker, plugin, call, services).await {
        Ok((mut reply, stop)) => {
            reply.notes.extend(unenforced(&lease.worker, call));
            lease.done();
            Ended::Replied { reply, stop }
        }
        Err(Interrupted::Forced(stop)) => {
            lease.worker.kill();
            Ended::Forced { stop, left_running: false }
        }
        Err(Interrupted::Broken(Broken::Closed)) => {
            let how = lease.worker.how_it_ended(&format!("running `{}`", call.head.tool)).await;
            plugin.crashed(&how);
            Ended::Crashed(how)
        }
        Err(Interrupted::Broken(Broken::Frame(error))) => {
            lease.worker.kill();
            let how = format!("broke the protocol while running `{}`: {error}", call.head.tool);
            plugin.crashed(&how);
            Ended::Crashed(how)
        }
        Err(Interrupted::NotSent(text)) => {
            lease.done();
            Ended::Unavailable(text)
        }
    }
}

/// What its reader should know about a call that ran programs where the kernel does not hold them fully.
fn unenforced(worker: &Worker, call: &Call<'_>) -> Option<String> {
    let Grant { programs, unconfined, .. } = call.grant;
    let lacking = &worker.confinement.as_ref()?.lacking;
    let is_news = call.may_change && programs && !unconfined && !lacking.is_empty();
    is_news.then(|| format!("not fully confined on this system: {}", lacking.join("; ")))
}

pub(crate) fn not_started(plugin: &Plugin, error: &StartError) -> Ended {
    let text = error.to_string();
    if error.is_crash() {
        plugin.crashed(&text);
    }
    Ended::Unavailable(format!("it {text}"))
}

enum Interrupted {
    Forced(Stop),
    Broken(Broken),
    NotSent(String),
}

impl<E: Into<Broken>> From<E> for Interrupted {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

enum Happened {
    Frame(Result<Frame, Broken>),
    Stop(Stop),
    Force(Stop),
}

async fn converse(
    worker: &mut Worker,
    plugin: &Plugin,
    call: &Call<'_>,
    services: &mut Services<'_>,
) -> Result<(Reply, Option<Stop>), Interrupted> {
    static NEXT_ID: AtomicU32 = AtomicU32::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let head = CallFrameHead { op: call.op, head: call.head };
    worker.begin(id, &head, call.body).map_err(|error| Interrupted::NotSent(error.to_string()))?;

    let grace = plugin.settings.grace;
    let mut stop = None;
    let timer = tokio::time::sleep(call.timeout);
    let cancelled = call.cancel.cancelled();
    let closing = plugin.shared.closing.cancelled();
    tokio::pin!(timer, cancelled, closing);
    loop {
        let happened = tokio::select! {
            // What must stop comes first, or a flood of frames would hold it off.
            biased;
            () = &mut closing => Happened::Force(Stop::Closing),
            () = &mut cancelled, if stop.is_none() => Happened::Stop(Stop::Cancelled),
            () = &mut timer => stop.map_or(Happened::Stop(Stop::TimedOut), Happened::Force),
            frame = exchange(worker) => Happened::Frame(frame),
        };
        match happened {
            Happened::Force(why) => return Err(Interrupted::Forced(why)),
            Happened::Stop(why) => {
                stop = Some(why);
                timer.as_mut().reset(tokio::time::Instant::now() + grace);
                worker.queue(Kind::Cancel, id, &NoHead {}, &[])?;
            }
            Happened::Frame(frame) => {
                let frame = frame?;
                if let Some(reply) = serve(worker, &frame, id, services)? {
                    worker.consume(&frame);
                    return Ok((reply, stop));
                }
                worker.consume(&frame);
            }
        }
    }
}

/// Sends what is queued and waits for the next frame. Nothing is lost when something else comes first.
async fn exchange(worker: &mut Worker) -> Result<Frame, Broken> {
    worker.flush().await?;
    worker.frame().await
}

/// Does what a frame asks; the reply when it is that of this call.
fn serve(
    worker: &mut Worker,
    frame: &Frame,
    call: u32,
    services: &mut Services<'_>,
) -> Result<Option<Reply>, Interrupted> {
    let body = frame.body(worker.input());
    match frame.kind {
        Kind::Progress if frame.id == call => services.progress(body),
        Kind::Log if frame.id == call => services.log(body),
        // From a thread that outlived its call.
        Kind::Progress | Kind::Log => {}
        Kind::Upcall => {
            let UpcallHead { op } = frame.head(worker.input())?;
            let answer = services.answer(&op, body);
            let (ok, bytes) = match answer {
                Ok(bytes) => (true, bytes),
                Err(text) => (false, text.into_bytes()),
            };
            worker.queue(Kind::UpcallResult, frame.id, &UpcallResultHead { ok }, &bytes)?;
        }
        Kind::Result if frame.id == call => {
            let ResultHead { ok } = frame.head(worker.input())?;
            return Ok(Some(if ok { parse_reply(body) } else { unreadable(String::from_utf8_lossy(body)) }));
        }
        kind => {
            let text = "it is not expected during a call".to_owned();
            return Err(crate::frame::FrameError::Head(kind, text).into());
        }
    }
    Ok(None)
}

pub(crate) fn parse_reply(body: &[u8]) -> Reply {
    serde_json::from_slice(body)
        .unwrap_or_else(|error| unreadable(format!("its answer cannot be read: {error}")))
}

/// The call is over and had its effects; only its result is missing.
fn unreadable(text: impl Into<String>) -> Reply {
    Reply::error(ReplyKind::Failed, text)
}
