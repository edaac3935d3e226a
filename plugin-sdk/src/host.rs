//! The host as the SDK's own code sees it: a plain trait, so that no other module meets abi_stable's types.
#![allow(
    unsafe_code,
    reason = "a descriptor number that crossed the ABI has to become a borrowed descriptor"
)]

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::abi::HostRef;
use crate::error::{Error, Result};
use crate::wire::upcall;

pub(crate) trait Host: Sync {
    fn cancelled(&self) -> bool;
    fn wait_cancelled(&self, timeout: Duration) -> bool;
    fn cancel_fd(&self) -> Option<BorrowedFd<'_>>;
    fn upcall(&self, op: &str, body: &[u8]) -> Result<Vec<u8>>;
}

impl Host for HostRef<'_> {
    fn cancelled(&self) -> bool {
        crate::abi::AbiHost_TO::cancelled(self)
    }

    fn wait_cancelled(&self, timeout: Duration) -> bool {
        let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        crate::abi::AbiHost_TO::wait_cancelled(self, milliseconds)
    }

    fn cancel_fd(&self) -> Option<BorrowedFd<'_>> {
        let number = crate::abi::AbiHost_TO::cancel_fd(self);
        // SAFETY: the ABI obliges the host to keep the descriptor open until the call returns, and `self` does not outlive
        // the call; -1, the one value that may not be borrowed, is excluded together with all other negative ones.
        (number >= 0).then(|| unsafe { BorrowedFd::borrow_raw(number) })
    }

    fn upcall(&self, op: &str, body: &[u8]) -> Result<Vec<u8>> {
        crate::abi::AbiHost_TO::upcall(self, op.into(), body.into())
            .into_result()
            .map(|answer| answer.into_vec())
            .map_err(|text| upcall_error(op, text.as_str()))
    }
}

fn upcall_error(op: &str, text: &str) -> Error {
    match text.strip_prefix(upcall::UNSUPPORTED) {
        Some(rest) => {
            let reason = rest.trim_start_matches(':').trim();
            let reason = if reason.is_empty() { "it does not know this request" } else { reason };
            Error::unsupported(format!("the host cannot do `{op}`: {reason}"))
        }
        None => Error::failed(format!("the host could not do `{op}`: {text}")),
    }
}
