//! Running a future inside a blocking tool.
//!
//! Futures cannot cross the ABI: a plugin library has its own copy of tokio, which knows nothing of the host's runtime. So a
//! plugin has one small runtime of its own, made when it is first needed; it drives only what is awaited here.
#![allow(
    unsafe_code,
    reason = "tokio cannot check by itself that a descriptor stays open while it is watched"
)]

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Runtime};

use crate::cx::Cx;
use crate::error::{Error, Result};

/// How often to look for a cancellation when the host gives no descriptor for it.
const TICK: Duration = Duration::from_millis(20);

/// Runs a future to its end, or until the call is cancelled or out of time; it is dropped then.
///
/// ```no_run
/// use foehn_plugin_sdk::prelude::*;
/// use foehn_plugin_sdk::rt;
/// # async fn fetch() -> std::io::Result<String> { Ok(String::new()) }
/// # fn run(cx: &Cx<'_>) -> Result<String> {
/// let body = rt::block_on(cx, fetch())??;
/// # Ok(body) }
/// ```
///
/// # Errors
/// [`Cancelled`](crate::ErrorKind::Cancelled) or [`TimedOut`](crate::ErrorKind::TimedOut), or when no runtime can be made.
pub fn block_on<C, F: Future>(cx: &Cx<'_, C>, future: F) -> Result<F::Output> {
    cx.check()?;
    runtime()?.block_on(async {
        tokio::select! {
            biased;
            output = future => Ok(output),
            () = cancelled(cx) => Err(Error::cancelled()),
            () = out_of_time(cx) => Err(Error::timed_out("the time of the call is up")),
        }
    })
}

fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build()).as_ref().map_err(|error| {
        Error::failed(format!("no runtime for futures can be made: {error}")).executed(false)
    })
}

async fn cancelled<C>(cx: &Cx<'_, C>) {
    let descriptor = cx.cancel_fd().and_then(|descriptor| descriptor.try_clone_to_owned().ok());
    if let Some(Ok(descriptor)) = descriptor.map(watch) {
        // An error means that the descriptor cannot be watched any more; the loop below can do without.
        let _ = descriptor.readable().await;
    }
    while !cx.cancelled() {
        tokio::time::sleep(TICK).await;
    }
}

fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by the very value that watches it, which ends the watch before it closes it.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

async fn out_of_time<C>(cx: &Cx<'_, C>) {
    match cx.deadline() {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
