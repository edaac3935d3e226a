//! A panic ends the call it happens in and nothing else: it never crosses the ABI, where it would abort the process.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

thread_local! {
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// A panic that was caught.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked {
    /// Its text; never the place, which means nothing to the reader of a result.
    pub(crate) message: String,
    /// Source file and line, for the log; known only while the hook of [`silence`] is in place.
    pub(crate) place: Option<String>,
}

/// Runs `work` and stops a panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    // Unwind safety is the tool's own affair, as it is for a thread that panics while others go on.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message_of(payload.as_ref());
        // Dropping it could panic again, now outside of any catch.
        std::mem::forget(payload);
        Panicked { message, place: PLACE.take() }
    })
}

/// Keeps this library's panics off the host's terminal. A plugin library has its own copy of the standard library, so that
/// this touches no other; only the exported root module calls it, never a test that links the plugin.
pub(crate) fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|info| PLACE.set(info.location().map(ToString::to_string))));
    });
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) => format!("panicked: {text}"),
        None => "panicked without a message".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a payload that panics when dropped");
        }
    }

    #[track_caller]
    fn check(work: impl FnOnce(), expected: &str) {
        assert_eq!(caught(work).unwrap_err().message, expected);
    }

    #[test]
    fn every_kind_of_payload_is_told_or_forgotten() {
        check(|| panic!("plain"), "panicked: plain");
        check(|| panic!("with {}", 1), "panicked: with 1");
        check(|| std::panic::panic_any(Bomb), "panicked without a message");
        check(|| drop(Vec::<u64>::with_capacity(usize::MAX)), "panicked: capacity overflow");
    }
}
