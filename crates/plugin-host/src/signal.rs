//! "This call shall end", in the three forms that a plugin can wait for: a flag, a timed wait, a descriptor.

use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Set once and never taken back; each call has its own.
#[derive(Debug, Default)]
pub(crate) struct CancelSignal {
    cancelled: AtomicBool,
    waiting: Mutex<()>,
    changed: Condvar,
    /// Only made for a call that asks for it.
    pipe: OnceLock<Option<(PipeReader, PipeWriter)>>,
}

impl CancelSignal {
    pub(crate) fn cancel(&self) {
        let guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.cancelled.store(true, Ordering::SeqCst);
        drop(guard);
        self.changed.notify_all();
        if let Some(pipe) = self.pipe.get() {
            announce(pipe.as_ref());
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// `true` as soon as it is set, `false` when the time is up.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let _guard = self.changed.wait_timeout_while(guard, timeout, |()| !self.is_cancelled());
        self.is_cancelled()
    }

    /// Becomes readable once it is set; -1 when the process has no descriptor left.
    pub(crate) fn descriptor(&self) -> i32 {
        let pipe = self.pipe.get_or_init(|| std::io::pipe().ok());
        if self.is_cancelled() {
            // `cancel` may have looked before the pipe was there; twice does no harm.
            announce(pipe.as_ref());
        }
        pipe.as_ref().map_or(-1, |(reader, _)| reader.as_raw_fd())
    }
}

fn announce(pipe: Option<&(PipeReader, PipeWriter)>) {
    if let Some((_, writer)) = pipe {
        // One byte into an empty pipe; nobody reads it, so there is no reader that could be gone.
        let _ = (&*writer).write(&[1]);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::BorrowedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[allow(unsafe_code)]
    fn readable(signal: &CancelSignal) -> bool {
        // SAFETY: the signal keeps its descriptor open as long as it lives.
        let descriptor = unsafe { BorrowedFd::borrow_raw(signal.descriptor()) };
        let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
        poll(&mut waiting, Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn all_three_forms_agree() {
        let asked_before = CancelSignal::default();
        assert!(
            !readable(&asked_before) && !asked_before.wait(Duration::ZERO) && !asked_before.is_cancelled()
        );
        asked_before.cancel();
        assert!(readable(&asked_before) && asked_before.wait(Duration::MAX) && asked_before.is_cancelled());
        let asked_after = CancelSignal::default();
        asked_after.cancel();
        assert!(readable(&asked_after));
    }

    #[test]
    fn a_waiting_thread_is_woken() {
        let signal = CancelSignal::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| signal.wait(Duration::from_secs(600)));
            signal.cancel();
            assert!(waiting.join().unwrap());
        });
    }
}
