//! Searches files while the walk that finds them goes on, in two threads and in bounded memory.
//!
//! The result does not depend on which thread was faster: hits are put in the order of the walk, and what lies behind the
//! limit is cut off there. Once enough is found from the beginning on, the walk and both threads end.

mod look;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::walk::{Item, Names, Rules, Skipped, Start, walk};
use grep_regex::RegexMatcher;

use look::{Looker, Outcome, Task};

const THREADS: usize = 2;
/// Files that are handed to a thread at once, since waking it costs more than a search of a small one; and how many such
/// batches wait. Each file keeps the handle of its folder open.
const BATCH: usize = 32;
const WAITING: usize = 4;

/// What is looked for in each file, and how much of it.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) matcher: RegexMatcher,
    pub(crate) context_lines: usize,
    pub(crate) keep: Keep,
    /// Most files with a match that are kept.
    pub(crate) files: usize,
}

/// What is kept of a file with a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Matching lines; at most so many of all files.
    Lines(usize),
    /// Their number.
    Count,
    /// That there is one.
    Nothing,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In the order of the walk.
    pub(crate) files: Vec<Hits>,
    pub(crate) searched: u64,
    pub(crate) binary: u64,
    pub(crate) long_lines: Names,
    pub(crate) unreadable: Names,
    /// There is more than was wanted.
    pub(crate) more: bool,
}

/// The hits in one file.
#[derive(Debug)]
pub(crate) struct Hits {
    pub(crate) path: RelPath,
    /// Matching lines; those that were looked at.
    pub(crate) count: u64,
    pub(crate) lines: Vec<Line>,
    /// Not all lines could be kept.
    is_cut: bool,
}

/// A line to show.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) is_match: bool,
    pub(crate) bytes: Vec<u8>,
}

/// Searches one file that is open already.
pub(crate) fn search_one(path: &RelPath, file: &File, wanted: &Wanted) -> Found {
    let pool = Pool::new(wanted);
    let outcome = Looker::new(wanted).look_into(path.clone(), file);
    pool.add(&mut vec![(0, outcome)]);
    pool.finish()
}

/// Searches the files below a folder that `takes` lets through.
pub(crate) fn search(
    workspace: &Workspace,
    start: &Start,
    rules: &Rules<'_>,
    wanted: &Wanted,
    check: &(dyn Fn() -> Result<()> + Sync),
    takes: &mut dyn FnMut(&Item<'_>) -> bool,
) -> Result<(Found, Skipped)> {
    let pool = Pool::new(wanted);
    let (sender, receiver) = sync_channel::<Vec<Task>>(WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    let skipped = std::thread::scope(|scope| {
        let workers = (0..THREADS)
            .filter(|_| {
                let (pool, tasks) = (&pool, Arc::clone(&receiver));
                std::thread::Builder::new().spawn_scoped(scope, move || pool.work(&tasks)).is_ok()
            })
            .count();
        // From here on the threads alone hold it: should both fail, nobody waits for them.
        drop(receiver);
        let mut own = Looker::new(wanted);
        let mut number = 0;
        let mut batch = Vec::with_capacity(BATCH);
        let skipped = walk(workspace, start, rules, &|| check(), &mut |item| {
            if !item.file_type.is_file() || !takes(&item) {
                return Ok(ControlFlow::Continue(()));
            }
            let task = Task { number, path: item.path.clone(), dir: Arc::clone(item.dir) };
            number += 1;
            if workers == 0 {
                // A system that gives no threads is searched all the same.
                pool.add(&mut vec![(task.number, own.look(task))]);
            } else {
                batch.push(task);
                if batch.len() == BATCH && sender.send(std::mem::take(&mut batch)).is_err() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(if pool.enough.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        });
        if skipped.is_err() {
            pool.enough.store(true, Ordering::Relaxed);
        }
        // What is left; where nobody takes it any more, nothing is lost. Then the threads end: nothing can come.
        let _ = sender.send(batch);
        drop(sender);
        skipped
    })?;
    check()?;
    Ok((pool.finish(), skipped))
}

/// What two threads share.
struct Pool<'w> {
    wanted: &'w Wanted,
    enough: AtomicBool,
    sum: Mutex<Sum>,
}

#[derive(Default)]
struct Sum {
    found: Found,
    hits: BTreeMap<u64, Hits>,
    /// Matching lines of files that are done, from `next` on.
    ahead: BTreeMap<u64, (usize, usize)>,
    next: u64,
    /// Matching lines and files before `next`.
    lines: usize,
    files: usize,
}

impl<'w> Pool<'w> {
    fn new(wanted: &'w Wanted) -> Self {
        Self { wanted, enough: AtomicBool::new(false), sum: Mutex::default() }
    }

    fn work(&self, tasks: &Mutex<Receiver<Vec<Task>>>) {
        let mut looker = Looker::new(self.wanted);
        let mut outcomes = Vec::with_capacity(BATCH);
        loop {
            let batch = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(batch) = batch else { return };
            // What waits is still taken out, so that the sender is never stuck.
            for task in batch {
                if self.enough.load(Ordering::Relaxed) {
                    continue;
                }
                let number = task.number;
                let outcome = looker.look(task);
                let is_hit = matches!(&outcome, Outcome::Searched(Some(_)));
                outcomes.push((number, outcome));
                // What may be enough is told at once, the rest when it suits.
                if is_hit {
                    self.add(&mut outcomes);
                }
            }
            self.add(&mut outcomes);
        }
    }

    fn add(&self, outcomes: &mut Vec<(u64, Outcome)>) {
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, outcome) in outcomes.drain(..) {
            let mut done = (0, 0);
            match outcome {
                Outcome::Searched(hits) => {
                    sum.found.searched += 1;
                    if let Some(hits) = hits {
                        done = (usize::try_from(hits.count).unwrap_or(usize::MAX), 1);
                        sum.hits.insert(number, hits);
                    }
                }
                Outcome::Binary => sum.found.binary += 1,
                Outcome::LongLine(path) => sum.found.long_lines.add(path.as_path()),
                Outcome::Unreadable(path) => sum.found.unreadable.add(path.as_path()),
            }
            sum.ahead.insert(number, done);
        }
        loop {
            let next = sum.next;
            let Some((lines, files)) = sum.ahead.remove(&next) else { break };
            sum.next += 1;
            sum.lines = sum.lines.saturating_add(lines);
            sum.files += files;
        }
        let enough_lines = matches!(self.wanted.keep, Keep::Lines(most) if sum.lines > most);
        if enough_lines || sum.files > self.wanted.files {
            self.enough.store(true, Ordering::Relaxed);
        }
    }

    /// What is wanted of all, in order.
    fn finish(self) -> Found {
        let Sum { mut found, hits, .. } = self.sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut left = match self.wanted.keep {
            Keep::Lines(most) => Some(most),
            Keep::Count | Keep::Nothing => None,
        };
        for mut hits in hits.into_values() {
            if found.files.len() == self.wanted.files || left == Some(0) {
                found.more = true;
                break;
            }
            if let Some(left) = &mut left {
                found.more |= hits.is_cut || hits.count > *left as u64;
                hits.lines = cut(hits.lines, *left, self.wanted.context_lines);
                *left = left.saturating_sub(usize::try_from(hits.count).unwrap_or(usize::MAX));
            }
            found.files.push(hits);
        }
        found
    }
}

/// The first so many matching lines, with the lines around them.
fn cut(lines: Vec<Line>, matching: usize, context_lines: usize) -> Vec<Line> {
    let mut left = matching;
    let mut last = u64::MAX;
    lines
        .into_iter()
        .take_while(|line| {
            if !line.is_match {
                return left > 0 || line.number <= last.saturating_add(context_lines as u64);
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            last = line.number;
            true
        })
        .collect()
}
