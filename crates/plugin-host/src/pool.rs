//! The workers of one plugin under one profile: at most so many calls at once, each in a worker of its own, so that killing
//! one call never hurts another. Nothing is started before it is needed, and what is not needed for a while is ended.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::process::{StartError, Worker};

#[derive(Debug)]
pub(crate) struct Pool {
    slots: Semaphore,
    most: usize,
    idle_limit: Duration,
    idle: Mutex<Idle>,
    /// Temporary files of programs, away from everybody else's; gone with the pool.
    scratch: Option<OnceLock<Option<TempDir>>>,
}

#[derive(Debug, Default)]
struct Idle {
    /// The one used last is last.
    workers: Vec<(Worker, Instant)>,
    reaping: bool,
}

/// A worker for one call. It goes back only by [`Lease::done`]; dropped, it is ended.
pub(crate) struct Lease<'a> {
    pub worker: Worker,
    pool: &'a Arc<Pool>,
    _slot: SemaphorePermit<'a>,
}

impl Pool {
    pub(crate) fn new(max_parallel: usize, idle_limit: Duration, with_scratch: bool) -> Arc<Self> {
        let most = max_parallel.max(1);
        Arc::new(Self {
            slots: Semaphore::new(most),
            most,
            idle_limit,
            idle: Mutex::default(),
            scratch: with_scratch.then(OnceLock::new),
        })
    }

    /// Waits for a free place and then takes an idle worker or starts one.
    pub(crate) async fn acquire<'a, F>(
        self: &'a Arc<Self>,
        start: impl FnOnce() -> F,
    ) -> Result<Lease<'a>, StartError>
    where
        F: Future<Output = Result<Worker, StartError>>,
    {
        // It is never closed, so there is always a permit at last; without one the number is exceeded and nothing else.
        let slot = match self.slots.acquire().await {
            Ok(slot) => slot,
            Err(_) => return Err(StartError::Protocol("its pool is closed".to_owned())),
        };
        let worker = match self.take_idle() {
            Some(worker) => worker,
            None => start().await?,
        };
        Ok(Lease { worker, pool: self, _slot: slot })
    }

    pub(crate) fn scratch(&self) -> Option<&Path> {
        let folder =
            self.scratch.as_ref()?.get_or_init(|| tempfile::Builder::new().prefix("foehn-").tempdir().ok());
        folder.as_ref().map(TempDir::path)
    }

    /// Whether it has a worker, at work or not.
    pub(crate) fn is_used(&self) -> bool {
        self.slots.available_permits() < self.most || !self.lock().workers.is_empty()
    }

    /// Ends all idle workers. Those at work are ended when their call is.
    pub(crate) async fn clear(&self) {
        let workers = std::mem::take(&mut self.lock().workers);
        for (worker, _) in workers {
            worker.retire().await;
        }
    }

    fn take_idle(&self) -> Option<Worker> {
        loop {
            let (worker, _) = self.lock().workers.pop()?;
            if worker.is_alive() {
                return Some(worker);
            }
        }
    }

    fn put_idle(self: &Arc<Self>, worker: Worker) {
        let mut idle = self.lock();
        idle.workers.push((worker, Instant::now()));
        if !std::mem::replace(&mut idle.reaping, true) {
            tokio::spawn(reap(Arc::downgrade(self), self.idle_limit));
        }
    }

    /// Takes out what has been idle too long, and says when to look again; `None` when nothing is idle.
    fn expired(&self) -> (Vec<Worker>, Option<Instant>) {
        let mut idle = self.lock();
        let now = Instant::now();
        let fresh = idle.workers.iter().position(|(_, since)| *since + self.idle_limit > now);
        let old = fresh.unwrap_or(idle.workers.len());
        let expired = idle.workers.drain(..old).map(|(worker, _)| worker).collect();
        let next = idle.workers.first().map(|(_, since)| *since + self.idle_limit);
        idle.reaping = next.is_some();
        (expired, next)
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease<'_> {
    /// Keeps the worker for the next call.
    pub(crate) fn done(self) {
        self.pool.put_idle(self.worker);
    }
}

/// Runs while something is idle. Holds the pool only while it looks, so that it can be dropped.
async fn reap(pool: Weak<Pool>, first: Duration) {
    let mut next = Instant::now() + first;
    loop {
        tokio::time::sleep_until(next).await;
        let Some((expired, due)) = pool.upgrade().map(|pool| pool.expired()) else { return };
        for worker in expired {
            worker.retire().await;
        }
        match due {
            Some(due) => next = due,
            None => return,
        }
    }
}
