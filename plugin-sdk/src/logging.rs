//! Log lines of a call go to the host through `tracing`, which a plugin author already knows.
//!
//! A plugin library has its own copy of `tracing`, so the subscriber here is global to that plugin and unknown to the host's.
//! Only events on the thread of a running call are forwarded; there is nobody to send the others to, and they are dropped.
//! Spans are accepted and ignored. Nothing is ever printed.
#![allow(
    unsafe_code,
    reason = "the host of the running call, borrowed for the length of a call, lies in a thread-local"
)]

use std::cell::Cell;
use std::fmt;
use std::mem::transmute;
use std::sync::Once;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber, set_global_default};
use tracing::{Event, Level, Metadata};

use crate::host::Host;
use crate::wire::LogLevel;
use crate::wire::upcall::{self, Log};

thread_local! {
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

/// Sends the events of this library to the host. An earlier subscriber of the same process (a test's own) is left alone.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = set_global_default(Forward);
    });
}

/// Runs `work` as a call of `host`: its events go there.
pub(crate) fn scope<R>(host: &dyn Host, level: LogLevel, work: impl FnOnce() -> R) -> R {
    // SAFETY: only the lifetime changes. The pointer is reachable through `CURRENT` alone and `Restore` takes it out there
    // before this function returns or unwinds, while `host` is still borrowed.
    let host = unsafe { transmute::<*const (dyn Host + '_), *const (dyn Host + 'static)>(host) };
    let _restore = Restore(CURRENT.replace(Some(Current { host, level })));
    work()
}

#[derive(Clone, Copy)]
struct Current {
    host: *const (dyn Host + 'static),
    level: LogLevel,
}

struct Restore(Option<Current>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

struct Forward;

impl Subscriber for Forward {
    /// Never cached: whether an event is wanted depends on the call that runs.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && CURRENT.get().is_some_and(|current| level_of(metadata.level()) <= current.level)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        // Taken out meanwhile, so that an event on the way to the host cannot come back here.
        let Some(current) = CURRENT.take() else { return };
        let _restore = Restore(Some(current));
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        let line = Log {
            level: level_of(metadata.level()),
            target: metadata.target().to_owned(),
            message: fields.message,
            fields: fields.others,
        };
        let Ok(body) = serde_json::to_vec(&line) else { return };
        // SAFETY: `scope` put the pointer there and has not returned, see there.
        let host = unsafe { &*current.host };
        // A host that takes no log lines is no reason to fail a call.
        let _ = host.upcall(upcall::LOG, &body);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.others.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.put(field, value.into());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

fn level_of(level: &Level) -> LogLevel {
    match *level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG => LogLevel::Debug,
        Level::TRACE => LogLevel::Trace,
    }
}
