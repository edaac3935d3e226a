//! Searches files while the walk that finds them goes on, in two threads and in bounded memory.
//!
//! The result does not depend on which thread was faster: hits are put in the order of the walk, and what lies behind the
//! limit is cut off there. Once enough is found from the beginning on, the walk and both threads end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::walk::{Item, Names, Rules, Skipped, Start, open_file, walk};
use foehn_plugin_sdk::workspace::UpToNow;
use foehn_plugin_sdk::workspace::cap_std::fs::Dir;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

const THREADS: usize = 2;
/// Files that are handed to a thread at once, since waking it costs more than a search of a small one; and how many such
/// batches wait. Each file keeps the handle of its folder open.
const BATCH: usize = 32;
const WAITING: usize = 4;
/// Largest part of a file that is held in memory: a longer line cannot be searched.
const LARGEST_LINE: usize = 8 * 1024 * 1024;
/// What is kept of a line, and of all lines of a file: more is hardly ever shown.
const KEPT_BYTES: usize = 8 * 1024;
const KEPT_BYTES_IN_ALL: usize = 256 * 1024;

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

impl Hits {
    fn of(path: &RelPath) -> Self {
        Self { path: path.clone(), count: 0, lines: Vec::new(), is_cut: false }
    }
}

/// A line to show.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) is_match: bool,
    pub(crate) bytes: Vec<u8>,
}

/// One file to search.
struct Task {
    number: u64,
    path: RelPath,
    dir: Arc<Dir>,
    name: OsString,
}

/// Searches one file that is open already.
pub(crate) fn search_one(path: &RelPath, file: &File, wanted: &Wanted) -> Found {
    let pool = Pool::new(wanted);
    pool.add(0, path, look(&mut searcher(wanted), path, Ok(file), wanted));
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
        let mut own = searcher(wanted);
        let mut number = 0;
        let mut batch = Vec::with_capacity(BATCH);
        let skipped = walk(workspace, start, rules, &|| check(), &mut |item| {
            if !item.file_type.is_file() || !takes(&item) {
                return Ok(ControlFlow::Continue(()));
            }
            let task = Task {
                number,
                path: item.path.clone(),
                dir: Arc::clone(item.dir),
                name: item.name.to_owned(),
            };
            number += 1;
            if workers == 0 {
                // A system that gives no threads is searched all the same.
                pool.do_task(&task, &mut own);
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
        let mut searcher = searcher(self.wanted);
        loop {
            let batch = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(batch) = batch else { return };
            // What waits is still taken out, so that the sender is never stuck.
            for task in batch {
                if !self.enough.load(Ordering::Relaxed) {
                    self.do_task(&task, &mut searcher);
                }
            }
        }
    }

    fn do_task(&self, task: &Task, searcher: &mut Searcher) {
        let file = open_file(&task.dir, &task.name);
        let outcome = look(searcher, &task.path, file.as_ref(), self.wanted);
        self.add(task.number, &task.path, outcome);
    }

    fn add(&self, number: u64, path: &RelPath, outcome: Outcome) {
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = (0, 0);
        match outcome {
            Outcome::Searched(hits) => {
                sum.found.searched += 1;
                if hits.count > 0 {
                    done = (usize::try_from(hits.count).unwrap_or(usize::MAX), 1);
                    sum.hits.insert(number, hits);
                }
            }
            Outcome::Binary => sum.found.binary += 1,
            Outcome::LongLine => sum.found.long_lines.add(path.as_path()),
            Outcome::Unreadable => sum.found.unreadable.add(path.as_path()),
        }
        sum.ahead.insert(number, done);
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

enum Outcome {
    Searched(Hits),
    Binary,
    LongLine,
    Unreadable,
}

fn searcher(wanted: &Wanted) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(wanted.context_lines)
        .after_context(wanted.context_lines)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LARGEST_LINE))
        .build()
}

fn look(
    searcher: &mut Searcher,
    path: &RelPath,
    file: std::result::Result<&File, &io::Error>,
    wanted: &Wanted,
) -> Outcome {
    let Ok(file) = file else { return Outcome::Unreadable };
    let mut collector = Collector { wanted, hits: Hits::of(path), kept: 0, is_binary: false };
    let result = searcher.search_reader(&wanted.matcher, UpToNow::new(file), &mut collector);
    match result {
        Ok(()) if collector.is_binary => Outcome::Binary,
        Ok(()) => Outcome::Searched(collector.hits),
        Err(error) if error.to_string().contains("allocation limit") => Outcome::LongLine,
        Err(_) => Outcome::Unreadable,
    }
}

struct Collector<'w> {
    wanted: &'w Wanted,
    hits: Hits,
    kept: usize,
    is_binary: bool,
}

impl Collector<'_> {
    fn keep(&mut self, number: Option<u64>, is_match: bool, bytes: &[u8]) {
        let kept = &bytes[..bytes.len().min(KEPT_BYTES)];
        self.kept += kept.len();
        self.hits.is_cut = self.kept > KEPT_BYTES_IN_ALL;
        self.hits.lines.push(Line { number: number.unwrap_or_default(), is_match, bytes: kept.to_owned() });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.hits.count += 1;
        match self.wanted.keep {
            Keep::Lines(most) if self.hits.count > most as u64 => Ok(false),
            Keep::Lines(_) => {
                self.keep(found.line_number(), true, found.bytes());
                Ok(!self.hits.is_cut)
            }
            Keep::Count => Ok(true),
            Keep::Nothing => Ok(false),
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(context.line_number(), false, context.bytes());
        Ok(!self.hits.is_cut)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}
