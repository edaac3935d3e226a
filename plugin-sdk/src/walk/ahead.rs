//! Looks into folders that a walk has not come to yet, in a second thread, so that the walk finds them listed.
//!
//! The walk itself stays in one thread and in its order, so that what it shows and counts does not depend on which thread was
//! faster. Both threads take the next folder, in that order, that nobody has taken; so the second one is never far ahead, and
//! what it has ready is bounded. The walk never depends on it either: where it fails, or no thread is given, the walk looks
//! into every folder itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

use super::Rules;
use super::listing::{Listing, Scratch};
use crate::panics::caught;

/// A walk of fewer folders is over before a thread has begun.
const ALONE_FOLDERS: usize = 16;
/// Most folders, each of which is held open, and about as many entries that are ready at once.
const MOST_READY: usize = 64;
const MOST_READY_ENTRIES: usize = 16 * 1024;

/// Which folder of which folder: numbers among the [`folders`](Listing::folders) on the way to one. Their order is the walk's.
pub(super) type Place = Vec<usize>;

/// What the two threads share.
#[derive(Debug)]
pub(super) struct Ahead<'r> {
    rules: &'r Rules<'r>,
    over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next folder that nobody has taken of each listing that still has one, with the listing.
    open: BTreeMap<Place, Arc<Listing>>,
    /// What was looked into ahead of the walk.
    ready: BTreeMap<Place, Ready>,
    ready_entries: usize,
    /// Folders that the walk looked into itself.
    own: usize,
    asleep: usize,
}

#[derive(Debug)]
enum Ready {
    Listed(Arc<Listing>),
    Unreadable,
    /// It panicked. The walk looks for itself, if it comes so far, and meets the same.
    Failed,
}

impl<'r> Ahead<'r> {
    pub(super) fn new(rules: &'r Rules<'r>) -> Self {
        Self { rules, over: AtomicBool::new(false), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Says that the walk has a listing, so that what is in it can be looked into.
    pub(super) fn add(&self, place: &[usize], listing: &Arc<Listing>) {
        if !listing.folders.is_empty() {
            let mut state = self.state();
            state.offer(place, 0, listing);
            self.wake(&state);
        }
    }

    /// The folder at a place, which is one of `listing`; `None` when it cannot be read. The walk asks for each, in its order.
    pub(super) fn folder<'s>(
        &'s self,
        place: &[usize],
        listing: &Arc<Listing>,
        scratch: &mut Scratch,
        scope: &'s Scope<'s, '_>,
    ) -> Option<Arc<Listing>> {
        let number = *place.last()?;
        let mut state = self.state();
        if !state.take(place) {
            let ready = loop {
                match state.ready.remove(place) {
                    Some(ready) => break ready,
                    None => state = self.work_or_wait(state, scratch),
                }
            };
            if let Ready::Listed(listing) = &ready {
                state.ready_entries -= listing.entries.len();
            }
            if state.ready.len() <= MOST_READY / 2 {
                self.wake(&state);
            }
            match ready {
                Ready::Listed(listing) => return Some(listing),
                Ready::Unreadable => return None,
                Ready::Failed => {}
            }
        }
        state.own += 1;
        let is_time = state.own == ALONE_FOLDERS;
        drop(state);
        if is_time {
            // Where none is given the walk takes longer, that is all.
            let _ = Builder::new().spawn_scoped(scope, || self.work());
        }
        let listing = Arc::new(listing.below(number, self.rules, scratch).ok()?);
        self.add(place, &listing);
        Some(listing)
    }

    /// Ends the second thread, after the folder that it is looking into.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        // Under the lock, so that it comes either before the other looks or after it sleeps.
        drop(self.state());
        self.changed.notify_all();
    }

    fn work(&self) {
        let mut scratch = Scratch::new();
        let mut state = self.state();
        while !self.over.load(Ordering::Relaxed) {
            state = self.work_or_wait(state, &mut scratch);
        }
    }

    /// Looks into the next folder that nobody has taken, or waits for something to change.
    fn work_or_wait<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        scratch: &mut Scratch,
    ) -> MutexGuard<'s, State> {
        let has_room = state.ready.len() < MOST_READY && state.ready_entries < MOST_READY_ENTRIES;
        let next = if has_room { state.open.pop_first() } else { None };
        let Some((place, listing)) = next else {
            state.asleep += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
            return state;
        };
        let number = place.last().copied().unwrap_or_default();
        state.offer(&place[..place.len() - 1], number + 1, &listing);
        drop(state);
        let ready = match caught(|| listing.below(number, self.rules, scratch)) {
            Ok(Ok(listing)) => Ready::Listed(Arc::new(listing)),
            Ok(Err(_)) => Ready::Unreadable,
            Err(_) => Ready::Failed,
        };
        let mut state = self.state();
        if let Ready::Listed(listing) = &ready {
            state.ready_entries += listing.entries.len();
            state.offer(&place, 0, listing);
        }
        state.ready.insert(place, ready);
        self.wake(&state);
        state
    }

    fn wake(&self, state: &State) {
        // Each call goes to the system, also when nobody waits.
        if state.asleep > 0 {
            self.changed.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Says that from a number on nobody has taken the folders of a listing.
    fn offer(&mut self, place: &[usize], number: usize, listing: &Arc<Listing>) {
        if number < listing.folders.len() {
            self.open.insert([place, &[number]].concat(), Arc::clone(listing));
        }
    }

    /// Takes a folder if nobody has: the other thread takes those of a listing in order too, so that it is the next one then.
    fn take(&mut self, place: &[usize]) -> bool {
        let (Some(listing), Some((number, above))) = (self.open.remove(place), place.split_last()) else {
            return false;
        };
        self.offer(above, number + 1, &listing);
        true
    }
}
