//! Looks into one file after another. Most are small: they are read with one call into room that is used again.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::walk::open_sized;
use foehn_plugin_sdk::workspace::UpToNow;
use foehn_plugin_sdk::workspace::cap_std::fs::Dir;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::{Hits, Keep, Line, Wanted};

/// A file up to this size is read at once; the searcher looks for a zero byte as far in the others.
const READ_AT_ONCE: usize = 64 * 1024;
/// Largest part of a file that is held in memory: a longer line cannot be searched.
const LARGEST_LINE: usize = 8 * 1024 * 1024;
/// What is kept of a line, and of all lines of a file: more is hardly ever shown.
const KEPT_BYTES: usize = 8 * 1024;
const KEPT_BYTES_IN_ALL: usize = 256 * 1024;

/// One file to search.
pub(super) struct Task {
    pub(super) number: u64,
    pub(super) path: RelPath,
    pub(super) dir: Arc<Dir>,
}

/// What became of a file.
pub(super) enum Outcome {
    /// With the hits, if there are any.
    Searched(Option<Hits>),
    Binary,
    LongLine(RelPath),
    Unreadable(RelPath),
}

/// What one thread searches with, file after file.
pub(super) struct Looker<'w> {
    wanted: &'w Wanted,
    searcher: Searcher,
    content: Vec<u8>,
}

impl<'w> Looker<'w> {
    pub(super) fn new(wanted: &'w Wanted) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(wanted.context_lines)
            .after_context(wanted.context_lines)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LARGEST_LINE))
            .build();
        Self { wanted, searcher, content: vec![0; READ_AT_ONCE] }
    }

    pub(super) fn look(&mut self, task: Task) -> Outcome {
        let Some(name) = task.path.file_name() else { return Outcome::Unreadable(task.path) };
        match open_sized(&task.dir, name) {
            Ok((mut file, size)) => match self.read_whole(&mut file, size) {
                Ok(Some(length)) => self.search(task.path, |searcher, content, collector| {
                    let content = content.get(..length).unwrap_or_default();
                    searcher.search_slice(&collector.wanted.matcher, content, collector)
                }),
                Ok(None) => self.look_into(task.path, &file),
                Err(_) => Outcome::Unreadable(task.path),
            },
            Err(_) => Outcome::Unreadable(task.path),
        }
    }

    /// Reads a file that is small; how much it was. `None` for one that is not, of which nothing has been read; one without a
    /// size may still have content.
    fn read_whole(&mut self, file: &mut File, size: u64) -> io::Result<Option<usize>> {
        let Some(room) = usize::try_from(size).ok().and_then(|size| self.content.get_mut(..size)) else {
            return Ok(None);
        };
        if room.is_empty() {
            return Ok(None);
        }
        let mut length = 0;
        while let Some(rest) = room.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(length))
    }

    /// Looks into a file that is open already.
    pub(super) fn look_into(&mut self, path: RelPath, file: &File) -> Outcome {
        self.search(path, |searcher, _, collector| {
            searcher.search_reader(&collector.wanted.matcher, UpToNow::new(file), collector)
        })
    }

    fn search(
        &mut self,
        path: RelPath,
        with: impl FnOnce(&mut Searcher, &[u8], &mut Collector<'w>) -> io::Result<()>,
    ) -> Outcome {
        let mut collector = Collector::new(self.wanted);
        match with(&mut self.searcher, &self.content, &mut collector) {
            Ok(()) if collector.is_binary => Outcome::Binary,
            Ok(()) if collector.count == 0 => Outcome::Searched(None),
            Ok(()) => {
                let Collector { count, lines, is_cut, .. } = collector;
                Outcome::Searched(Some(Hits { path, count, lines, is_cut }))
            }
            Err(error) if error.to_string().contains("allocation limit") => Outcome::LongLine(path),
            Err(_) => Outcome::Unreadable(path),
        }
    }
}

struct Collector<'w> {
    wanted: &'w Wanted,
    count: u64,
    lines: Vec<Line>,
    kept: usize,
    is_cut: bool,
    is_binary: bool,
}

impl<'w> Collector<'w> {
    fn new(wanted: &'w Wanted) -> Self {
        Self { wanted, count: 0, lines: Vec::new(), kept: 0, is_cut: false, is_binary: false }
    }

    fn keep(&mut self, number: Option<u64>, is_match: bool, bytes: &[u8]) {
        let kept = &bytes[..bytes.len().min(KEPT_BYTES)];
        self.kept += kept.len();
        self.is_cut = self.kept > KEPT_BYTES_IN_ALL;
        self.lines.push(Line { number: number.unwrap_or_default(), is_match, bytes: kept.to_owned() });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        match self.wanted.keep {
            Keep::Lines(most) if self.count > most as u64 => Ok(false),
            Keep::Lines(_) => {
                self.keep(found.line_number(), true, found.bytes());
                Ok(!self.is_cut)
            }
            Keep::Count => Ok(true),
            Keep::Nothing => Ok(false),
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(context.line_number(), false, context.bytes());
        Ok(!self.is_cut)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}
