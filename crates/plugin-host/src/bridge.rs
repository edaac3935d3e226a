//! The host as a plugin sees it during a call: the frozen [`AbiHost`], over whatever leads to the real one.

use std::sync::Arc;
use std::time::Duration;

use abi_stable::std_types::{RResult, RSlice, RStr, RString, RVec};
use foehn_plugin_sdk::abi::{AbiHost, AbiHost_TO, HostRef, PluginBox, RRef, TD_Opaque};
use foehn_plugin_sdk::wire::upcall;

use crate::signal::CancelSignal;

/// The way from a running call to the host.
pub(crate) trait Link: Send + Sync {
    fn progress(&self, body: &[u8]);
    fn log(&self, body: &[u8]);
    /// Waits for the answer.
    fn ask(&self, op: &str, body: &[u8]) -> Result<Vec<u8>, String>;
}

/// Runs one op of a plugin on this thread, to its end.
pub(crate) fn call<L: Link>(
    plugin: &PluginBox,
    op: &str,
    head: &[u8],
    body: &[u8],
    link: L,
    cancel: Arc<CancelSignal>,
) -> Vec<u8> {
    let host = Bridge { link, cancel };
    let host: HostRef<'_> = AbiHost_TO::from_ptr(RRef::new(&host), TD_Opaque);
    plugin.call(RStr::from_str(op), RSlice::from_slice(head), RSlice::from_slice(body), host).into_vec()
}

struct Bridge<L> {
    link: L,
    cancel: Arc<CancelSignal>,
}

impl<L: Link> AbiHost for Bridge<L> {
    fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn wait_cancelled(&self, timeout_ms: u64) -> bool {
        self.cancel.wait(Duration::from_millis(timeout_ms))
    }

    fn cancel_fd(&self) -> i32 {
        self.cancel.descriptor()
    }

    fn upcall(&self, op: RStr<'_>, body: RSlice<'_, u8>) -> RResult<RVec<u8>, RString> {
        let answer = match op.as_str() {
            upcall::PROGRESS => {
                self.link.progress(body.as_slice());
                Ok(Vec::new())
            }
            upcall::LOG => {
                self.link.log(body.as_slice());
                Ok(Vec::new())
            }
            op => self.link.ask(op, body.as_slice()),
        };
        answer.map(RVec::from).map_err(RString::from).into()
    }
}
