//! What was done, counted, so that a test can assert that nothing was.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often each costly thing has happened in one [`PluginSet`](crate::PluginSet).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub workers_spawned: u64,
    pub hashes_computed: u64,
    pub crashes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    workers_spawned: AtomicU64,
    hashes_computed: AtomicU64,
    crashes: AtomicU64,
}

impl Counters {
    pub(crate) fn spawned(&self) {
        self.workers_spawned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn hashed(&self) {
        self.hashes_computed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn crashed(&self) {
        self.crashes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            workers_spawned: self.workers_spawned.load(Ordering::Relaxed),
            hashes_computed: self.hashes_computed.load(Ordering::Relaxed),
            crashes: self.crashes.load(Ordering::Relaxed),
        }
    }
}
