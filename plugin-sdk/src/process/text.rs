//! From the bytes a program prints to bounded plain text.
//!
//! Memory is bounded by the limit, whatever comes: the beginning is kept, then a ring of the latest characters. `vte` (the
//! parser of a terminal) takes control sequences out and joins characters that arrive in pieces.

use std::collections::VecDeque;
use std::mem::take;

use vte::{Parser, Perform};

use super::Whole;

/// Takes all of an output that is too long to be kept in memory.
pub(super) trait Overflow: Send {
    fn push(&mut self, character: char);
    /// Where all of it is.
    fn end(self: Box<Self>) -> Whole;
}

/// Collects output as text.
pub(super) struct Collector {
    parser: Parser,
    lines: Lines,
}

/// What was collected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Collected {
    pub(super) head: String,
    pub(super) tail: String,
    pub(super) dropped_bytes: u64,
    /// `None` when nothing was left out, or nobody asked for it.
    pub(super) whole: Option<Whole>,
}

impl Collector {
    /// Keeps `limit` characters: the first half of them from the beginning, the others from the end.
    pub(super) fn new(limit: usize) -> Self {
        Self::overflowing(limit, None)
    }

    /// The same; what is not kept goes on to `overflow`, with all that was kept before.
    pub(super) fn overflowing(limit: usize, overflow: Option<Box<dyn Overflow>>) -> Self {
        let head_limit = limit / 2;
        let kept = Kept {
            head: String::new(),
            head_left: head_limit,
            tail: VecDeque::new(),
            tail_limit: limit - head_limit,
            dropped_bytes: 0,
            overflow,
        };
        Self {
            parser: Parser::new(),
            lines: Lines { line: String::new(), at_start: false, started: false, limit, kept },
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.lines, bytes);
    }

    pub(super) fn finish(mut self) -> Collected {
        // Any byte of plain ASCII makes the parser give up on a half character; this one is not printed.
        self.push(b"\0");
        self.lines.flush();
        let kept = self.lines.kept;
        let overflow = kept.overflow.filter(|_| kept.dropped_bytes > 0);
        Collected {
            whole: overflow.map(Overflow::end),
            head: kept.head,
            tail: kept.tail.into_iter().collect(),
            dropped_bytes: kept.dropped_bytes,
        }
    }
}

/// Whole lines leave, so that a line that is drawn again and again over itself leaves once.
struct Lines {
    line: String,
    /// A carriage return has come: what follows overwrites the line, unless it is the line's end.
    at_start: bool,
    /// Something of the line was printed.
    started: bool,
    limit: usize,
    kept: Kept,
}

impl Lines {
    fn flush(&mut self) {
        self.at_start = false;
        for character in take(&mut self.line).chars() {
            self.kept.push(character);
        }
    }

    fn put(&mut self, character: char) {
        if take(&mut self.at_start) {
            if self.limit == 0 && self.started {
                // It has left already: what would be drawn over it is a line of its own.
                self.kept.push('\n');
            }
            self.line.clear();
        }
        self.started = true;
        self.line.push(character);
        // A line without end may not grow for ever; it can no longer be drawn over as a whole then.
        if self.line.len() > self.limit {
            self.flush();
        }
    }
}

impl Perform for Lines {
    fn print(&mut self, character: char) {
        self.put(character);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.line.push('\n');
                self.flush();
                self.started = false;
            }
            b'\r' => self.at_start = true,
            b'\t' => self.put('\t'),
            // Backspace.
            0x08 => drop(self.line.pop()),
            _ => {}
        }
    }
}

struct Kept {
    head: String,
    head_left: usize,
    tail: VecDeque<char>,
    tail_limit: usize,
    dropped_bytes: u64,
    overflow: Option<Box<dyn Overflow>>,
}

impl Kept {
    fn push(&mut self, character: char) {
        if self.head_left > 0 {
            self.head_left -= 1;
            self.head.push(character);
            return;
        }
        if self.tail.len() < self.tail_limit {
            self.tail.push_back(character);
            return;
        }
        if let Some(overflow) = &mut self.overflow {
            if self.dropped_bytes == 0 {
                self.head.chars().chain(self.tail.iter().copied()).for_each(|kept| overflow.push(kept));
            }
            overflow.push(character);
        }
        self.tail.push_back(character);
        if let Some(dropped) = self.tail.pop_front() {
            self.dropped_bytes += dropped.len_utf8() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: usize, pieces: &[&[u8]], expected: (&str, &str, u64)) {
        let mut collector = Collector::new(limit);
        for piece in pieces {
            collector.push(piece);
        }
        let collected = collector.finish();
        assert_eq!((collected.head.as_str(), collected.tail.as_str(), collected.dropped_bytes), expected);
    }

    #[test]
    fn short_output_is_kept_whole() {
        check(100, &[b"one\r\ntwo\n"], ("one\ntwo\n", "", 0));
        check(100, &[], ("", "", 0));
        check(8, &[b"abcdefgh"], ("abcd", "efgh", 0));
    }

    #[test]
    fn the_middle_of_long_output_is_left_out_between_characters() {
        check(8, &[b"abcdefghijkl"], ("abcd", "ijkl", 4));
        check(4, &["aéééé€€😀😀".as_bytes()], ("aé", "😀😀", 12));
        check(0, &[b"abc"], ("", "", 3));
    }

    #[test]
    fn what_is_drawn_over_itself_is_kept_once() {
        check(100, &[b"10%\r50%\r100%\ndone\n"], ("100%\ndone\n", "", 0));
        check(100, &[b"last\r"], ("last", "", 0));
        check(100, &[b"ab\x08c"], ("ac", "", 0));
    }

    #[test]
    fn control_sequences_are_taken_out() {
        check(100, &[b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x07"], ("red plain", "", 0));
        check(100, &[b"\x1b[3", b"1mred"], ("red", "", 0));
    }

    #[test]
    fn characters_in_pieces_are_joined_and_no_characters_replaced() {
        check(100, &[b"\xc3", b"\xa9"], ("é", "", 0));
        check(100, &[b"a\xc4\xe3b"], ("a\u{fffd}\u{fffd}b", "", 0));
        check(100, &[b"a\xc3"], ("a\u{fffd}", "", 0));
    }
}
