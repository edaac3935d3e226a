//! Waits for the end of a child without a signal handler, which would be the embedder's business.
#![allow(unsafe_code, reason = "a process descriptor is registered with the runtime by hand")]

use std::time::Duration;

/// Returns when the child has ended, the time is up, or a moment has passed: the caller asks for the status and waits on.
/// The child is not reaped.
pub(crate) async fn ended(child: u32, limit: Duration) {
    if !descriptor_ended(child, limit).await {
        tokio::time::sleep(limit.min(STEP)).await;
    }
}

/// Between two looks where there is nothing to wait on.
const STEP: Duration = Duration::from_millis(2);

/// `false` where the system has no process descriptors.
#[cfg(target_os = "linux")]
async fn descriptor_ended(child: u32, limit: Duration) -> bool {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return false };
    // The child is not reaped before this returns, so its number still means it.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::NONBLOCK) else { return false };
    // SAFETY: the descriptor is owned by the registration and stays open and the same until that is dropped.
    let Ok(handle) = (unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) }) else {
        return false;
    };
    matches!(tokio::time::timeout(limit, handle.readable()).await, Ok(Ok(_)) | Err(_))
}

#[cfg(not(target_os = "linux"))]
async fn descriptor_ended(_: u32, _: Duration) -> bool {
    false
}
