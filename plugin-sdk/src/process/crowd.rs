//! Programs that start programs without end: a run that has become too many is ended, also when the program that began it is
//! long over. What keeps such a run from taking the machine is the bound of the kernel that a worker has; where there is
//! none, somebody who only looks may come too late.
//!
//! A look is one short read of how many tasks the machine has. Only when that has grown is the run itself counted, so that a
//! command that sleeps for an hour costs nothing worth a word.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::tree::Tree;

/// How often to look. The first look comes after this time: most runs are over by then.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How many looks go by before it is asked whether those left behind are still there.
const LOOKS_PER_ROLL_CALL: usize = 20;

/// Most runs whose rest is watched at once.
const MOST_WATCHES: usize = 16;

static WATCHES: AtomicUsize = AtomicUsize::new(0);

pub(super) struct Crowd {
    most: usize,
    /// The machine's tasks when the run itself was last counted.
    before: Option<usize>,
    next_look: Instant,
}

impl Crowd {
    pub(super) fn new(most: usize) -> Self {
        Self { most, before: None, next_look: Instant::now() + LOOK_EVERY }
    }

    /// Whether a run has more processes than it may, as far as that has been looked at.
    pub(super) fn is_too_large(&mut self, tree: &Tree) -> bool {
        let now = Instant::now();
        if now < self.next_look {
            return false;
        }
        self.next_look = now + LOOK_EVERY;
        let Some(tasks) = tasks_of_the_machine() else { return false };
        // It may have grown up before the first look.
        let Some(before) = self.before.replace(tasks) else { return tree.alive().len() > self.most };
        if tasks <= before + self.most / 2 {
            self.before = Some(before);
            return false;
        }
        // Among thousands that want to run nobody gets to count: they wait meanwhile.
        tree.signal_group(Signal::STOP);
        if tree.alive().len() > self.most {
            return true;
        }
        tree.signal_group(Signal::CONT);
        false
    }
}

/// Keeps an eye on what a run left behind, until that has ended or become too many.
pub(super) fn watch(tree: Tree, most: usize) {
    if WATCHES.fetch_add(1, Ordering::Relaxed) >= MOST_WATCHES {
        WATCHES.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let watching = thread::Builder::new().name("left-running".to_owned()).spawn(move || {
        let mut crowd = Crowd::new(most);
        for look in 1_usize.. {
            thread::park_timeout(LOOK_EVERY);
            if crowd.is_too_large(&tree) {
                tree.end();
                break;
            }
            if look.is_multiple_of(LOOKS_PER_ROLL_CALL) && tree.alive().is_empty() {
                break;
            }
        }
        WATCHES.fetch_sub(1, Ordering::Relaxed);
    });
    if watching.is_err() {
        WATCHES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `0.52 0.58 0.59 2/1204 31007`: the number after the slash. `None` where the system does not tell.
fn tasks_of_the_machine() -> Option<usize> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}
