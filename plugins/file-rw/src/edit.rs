//! Replaces one exact text by another in the bytes of a file.
//!
//! Texts are compared without regard to line ends, because what a reader was shown has none; everything else must be equal
//! byte for byte. What is put in takes the line ends of the place where it goes, and is never a pattern. Bytes outside the
//! replaced places are copied, not decoded, so a file in another encoding keeps every one of them. It never guesses: not
//! found and found several times are errors that say what the file has instead.

use std::borrow::Cow;

use memchr::memmem;
use thiserror::Error;

use crate::closest::{self, Miss};
use crate::text::{BOM_CHARACTER, Encoding, wrong_bytes};

/// Most line numbers that an error lists.
const LISTED_LINES: usize = 10;

/// What is to be replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Every place, not just the only one.
    pub(crate) all: bool,
}

/// A file's new bytes and where they are new.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) bytes: Vec<u8>,
    /// First and last line (from 1) of each replaced place, in the new bytes.
    pub(crate) changed: Vec<(u64, u64)>,
    /// By how many lines each place became longer or shorter.
    pub(crate) grown: Vec<i64>,
}

/// Why nothing was replaced. The file is as it was.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum EditProblem {
    #[error("old_text is empty; give the text to replace, or use write_file to replace the whole file")]
    EmptyOldText,
    #[error("old_text and new_text are equal (line ends do not count: a file keeps its own)")]
    NoChange,
    #[error("it is {0}, which edit_file does not change")]
    NotText(Encoding),
    #[error("the file is empty; use write_file")]
    EmptyFile,
    #[error("old_text is not in it.{0}")]
    NotFound(Box<Miss>),
    #[error(
        "old_text is there {count} times, on lines {}; give more of the text around it, or set replace_all", 
        listed(.lines, *.count)
    )]
    Ambiguous { count: usize, lines: Vec<u64> },
    #[error(
        "it is not UTF-8, and new_text has characters beyond ASCII that would be stored in another encoding than the rest"
    )]
    MixedEncoding,
    #[error("it is not UTF-8, and on line {line} old_text begins inside a character of another encoding")]
    InsideCharacter { line: u64 },
}

impl Edit<'_> {
    /// The bytes of the whole file with the replacement made.
    pub(crate) fn apply(&self, file: &[u8]) -> Result<Edited, EditProblem> {
        let old = plain(self.old);
        let new = plain(self.new);
        if old.is_empty() {
            return Err(EditProblem::EmptyOldText);
        }
        if old == new {
            return Err(EditProblem::NoChange);
        }
        let encoding = Encoding::sniff(file);
        if !matches!(encoding, Encoding::Utf8 { .. }) {
            return Err(EditProblem::NotText(encoding));
        }
        let (bom, body) = file.split_at(encoding.bom_bytes());
        if body.is_empty() {
            return Err(EditProblem::EmptyFile);
        }
        let flat = Flat::new(body);
        let places = self.places(&flat, &old, &new)?;
        guard_encoding(file, &flat, &places, &old, &new)?;
        Ok(replace(bom, body, &flat, &places, old.len(), &new))
    }

    fn places(&self, flat: &Flat<'_>, old: &str, new: &str) -> Result<Vec<usize>, EditProblem> {
        let finder = memmem::Finder::new(old.as_bytes());
        let mut places: Vec<usize> = finder.find_iter(&flat.bytes).collect();
        let Some(&first) = places.first() else {
            return Err(EditProblem::NotFound(Box::new(closest::miss(&flat.bytes, old, new))));
        };
        if self.all {
            return Ok(places);
        }
        // `find_iter` skips places that overlap the one before; they make the edit ambiguous all the same.
        if places.len() == 1
            && let Some(overlapping) = finder.find(&flat.bytes[first + 1..])
        {
            places.push(first + 1 + overlapping);
        }
        if places.len() > 1 {
            let lines = line_numbers(&flat.bytes, &places[..places.len().min(LISTED_LINES)]);
            return Err(EditProblem::Ambiguous { count: places.len(), lines });
        }
        Ok(places)
    }
}

/// The text as it is compared: without carriage returns before line ends, without a byte order mark.
fn plain(text: &str) -> String {
    text.strip_prefix(BOM_CHARACTER).unwrap_or(text).replace("\r\n", "\n")
}

/// A file's text without the carriage returns of its line ends, and the way back from there.
struct Flat<'a> {
    bytes: Cow<'a, [u8]>,
    /// Positions in `bytes` of the line feeds that had a carriage return before them.
    returns: Vec<usize>,
}

impl<'a> Flat<'a> {
    fn new(body: &'a [u8]) -> Self {
        let mut pairs = memmem::find_iter(body, b"\r\n").peekable();
        if pairs.peek().is_none() {
            return Self { bytes: Cow::Borrowed(body), returns: Vec::new() };
        }
        let mut bytes = Vec::with_capacity(body.len());
        let mut returns = Vec::new();
        let mut copied = 0;
        for pair in pairs {
            bytes.extend_from_slice(&body[copied..pair]);
            returns.push(bytes.len());
            copied = pair + 1;
        }
        bytes.extend_from_slice(&body[copied..]);
        Self { bytes: Cow::Owned(bytes), returns }
    }

    /// The same place in the file. A line end begins with its carriage return, so this serves as start and as end.
    fn in_file(&self, place: usize) -> usize {
        place + self.returns.partition_point(|&line_feed| line_feed < place)
    }

    /// Whether new lines put in at `start` end in `\r\n`: as the first line end from there on does, else the last before.
    fn wants_crlf(&self, start: usize) -> bool {
        let after = memchr::memchr(b'\n', &self.bytes[start..]).map(|at| start + at);
        let line_feed = after.or_else(|| memchr::memrchr(b'\n', &self.bytes[..start]));
        line_feed.is_some_and(|line_feed| self.returns.binary_search(&line_feed).is_ok())
    }
}

fn replace(bom: &[u8], body: &[u8], flat: &Flat<'_>, places: &[usize], old_len: usize, new: &str) -> Edited {
    let with_crlf = new.replace('\n', "\r\n");
    let mut bytes = bom.to_vec();
    let mut changed = Vec::with_capacity(places.len());
    let mut grown = Vec::with_capacity(places.len());
    let mut copied = 0;
    let mut line = 1;
    for &place in places {
        let kept = &body[copied..flat.in_file(place)];
        let inserted = if flat.wants_crlf(place) { with_crlf.as_str() } else { new };
        line += count_lines(kept);
        let first = line;
        line += count_lines(inserted.as_bytes());
        // A text that ends in a line end does not touch the line after it.
        let last = if inserted.ends_with('\n') { line - 1 } else { line };
        changed.push((first, last));
        bytes.extend_from_slice(kept);
        bytes.extend_from_slice(inserted.as_bytes());
        copied = flat.in_file(place + old_len);
        let removed = count_lines(&flat.bytes[place..place + old_len]);
        grown.push(count_lines(inserted.as_bytes()).cast_signed() - removed.cast_signed());
    }
    bytes.extend_from_slice(&body[copied..]);
    Edited { bytes, changed, grown }
}

/// In a file of an unknown encoding only what is certainly the same there may be replaced: ASCII text that is not the
/// second half of a two-byte character, as it can be in GBK or Shift-JIS.
fn guard_encoding(
    file: &[u8],
    flat: &Flat<'_>,
    places: &[usize],
    old: &str,
    new: &str,
) -> Result<(), EditProblem> {
    if (old.is_ascii() && new.is_ascii() && file.is_ascii()) || wrong_bytes(file) == 0 {
        return Ok(());
    }
    if new.chars().any(|character| !character.is_ascii() && !old.contains(character)) {
        return Err(EditProblem::MixedEncoding);
    }
    let may_be_second_half = |byte: u8| byte >= 0x40;
    let inside = places.iter().find(|&&place| {
        place > 0
            && !flat.bytes[place - 1].is_ascii()
            && flat.bytes.get(place).copied().is_some_and(may_be_second_half)
    });
    match inside {
        Some(&place) => Err(EditProblem::InsideCharacter { line: 1 + count_lines(&flat.bytes[..place]) }),
        None => Ok(()),
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn line_numbers(bytes: &[u8], places: &[usize]) -> Vec<u64> {
    let mut line = 1;
    let mut counted = 0;
    let mut numbers = Vec::with_capacity(places.len());
    for &place in places {
        line += count_lines(&bytes[counted..place]);
        counted = place;
        numbers.push(line);
    }
    numbers
}

fn listed(lines: &[u64], count: usize) -> String {
    let numbers: Vec<String> = lines.iter().map(u64::to_string).collect();
    let more = if count > lines.len() { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit<'a>(old: &'a str, new: &'a str) -> Edit<'a> {
        Edit { old, new, all: false }
    }

    #[track_caller]
    fn check(file: impl AsRef<[u8]>, edit: &Edit<'_>, expected: impl AsRef<[u8]>, changed: &[(u64, u64)]) {
        let edited = edit.apply(file.as_ref()).unwrap();
        assert_eq!(String::from_utf8_lossy(&edited.bytes), String::from_utf8_lossy(expected.as_ref()));
        assert_eq!((edited.bytes.as_slice(), edited.changed.as_slice()), (expected.as_ref(), changed));
    }

    #[track_caller]
    fn check_problem(file: impl AsRef<[u8]>, edit: &Edit<'_>, expected: &str) {
        assert_eq!(edit.apply(file.as_ref()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn line_ends_are_those_of_the_place() {
        check("one\r\ntwo\r\nthree\r\n", &edit("one\ntwo", "1\n2"), "1\r\n2\r\nthree\r\n", &[(1, 2)]);
        check("one\ntwo\nthree\n", &edit("one\r\ntwo", "1\r\n2\r\n3"), "1\n2\n3\nthree\n", &[(1, 3)]);
        check("a\nb\r\nc\n", &edit("b", "x\ny"), "a\nx\r\ny\r\nc\n", &[(2, 3)]);
        check("a\nb\r\nc\n", &edit("\nb\n", "\n"), "a\nc\n", &[(1, 1)]);
        check("a\r\nb", &edit("b", "x\ny"), "a\r\nx\r\ny", &[(2, 3)]);
        check("lone\rreturn\n", &edit("return", "x"), "lone\rx\n", &[(1, 1)]);
        check("no end", &edit("end", "end at all"), "no end at all", &[(1, 1)]);
    }

    #[test]
    fn a_byte_order_mark_stays_once() {
        check("\u{FEFF}alpha\nbeta\n", &edit("alpha", "gamma"), "\u{FEFF}gamma\nbeta\n", &[(1, 1)]);
        check("\u{FEFF}alpha\nbeta\n", &edit("\u{FEFF}alpha\nb", "\u{FEFF}B"), "\u{FEFF}Beta\n", &[(1, 1)]);
        check_problem(
            b"\xFF\xFEa\0",
            &edit("a", "b"),
            "it is UTF-16 (little endian), which edit_file does not change",
        );
        check_problem(b"\x7FELF\0", &edit("E", "b"), "it is binary, which edit_file does not change");
    }

    #[test]
    fn other_encodings_keep_every_byte() {
        check(b"rate: 5\n# Stra\xDFe\n", &edit("rate: 5", "rate: 6"), b"rate: 6\n# Stra\xDFe\n", &[(1, 1)]);
        check(
            b"n = 1\n# \xC4\xE3\xBA\xC3\n",
            &edit("n = 1", "n = 2"),
            b"n = 2\n# \xC4\xE3\xBA\xC3\n",
            &[(1, 1)],
        );
        check(
            b"x \xC3\xA9 cut \xF0\x9F",
            &edit("x \u{E9}", "y \u{E9}"),
            b"y \xC3\xA9 cut \xF0\x9F",
            &[(1, 1)],
        );
        check("a \u{FFFD} b", &edit("a \u{FFFD}", "c \u{E9}"), "c \u{E9} b", &[(1, 1)]);
        check_problem(
            b"Stra\xDFe x",
            &edit("x", "\u{E9}"),
            "it is not UTF-8, and new_text has characters beyond ASCII that would be stored in another encoding than the rest",
        );
        check_problem(
            b"\n\x81\x5C.\n",
            &edit("\\.", "/."),
            "it is not UTF-8, and on line 2 old_text begins inside a character of another encoding",
        );
    }

    #[test]
    fn the_new_text_is_no_pattern() {
        let new = r"$$7 $& $1 $0 ${name} $' \1";
        check("a COST b", &edit("COST", new), format!("a {new} b"), &[(1, 1)]);
        let all = Edit { old: "COST", new, all: true };
        check("COST\nCOST", &all, format!("{new}\n{new}"), &[(1, 1), (2, 2)]);
    }

    #[test]
    fn several_places_are_an_error_unless_all_are_meant() {
        let twins = "if a {\n  x\n}\n\nif a {\n  x\n}\n";
        check_problem(
            twins,
            &edit("if a {\n  x\n}", "y"),
            "old_text is there 2 times, on lines 1, 5; give more of the text around it, or set replace_all",
        );
        check(twins, &Edit { old: "if a {\n  x\n}\n", new: "y\n", all: true }, "y\n\ny\n", &[(1, 1), (3, 3)]);
        check_problem(
            "aaa",
            &edit("aa", "b"),
            "old_text is there 2 times, on lines 1, 1; give more of the text around it, or set replace_all",
        );
        check_problem(
            "x\n".repeat(12),
            &edit("x", "y"),
            "old_text is there 12 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; \
             give more of the text around it, or set replace_all",
        );
    }

    #[test]
    fn texts_that_cannot_be_meant() {
        check_problem(
            "a",
            &edit("", "b"),
            "old_text is empty; give the text to replace, or use write_file to replace the whole file",
        );
        check_problem(
            "a\r\n",
            &edit("a\r\n", "a\n"),
            "old_text and new_text are equal (line ends do not count: a file keeps its own)",
        );
        check_problem("", &edit("a", "b"), "the file is empty; use write_file");
    }
}
