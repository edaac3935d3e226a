//! Reads some lines of a text of any size, in one pass and in bounded memory, and tells what the whole file is like.
//!
//! A line longer than the limit is cut, a page that is full ends at a whole line; both are said. Reading never fails
//! because of an encoding: what is no UTF-8 is shown with replacement characters and counted.

use std::io::{self, Read};

use memchr::memchr;
use thiserror::Error;

use crate::text::{BOM, Encoding, LineEnds, Utf8Checker, counted};

const PIECE_BYTES: usize = 64 * 1024;
/// UTF-16 is turned into UTF-8 as a whole; larger files are not.
const LARGEST_UTF16_BYTES: u64 = 16 * 1024 * 1024;
const BYTES_PER_CHARACTER: usize = 4;

/// Which lines are wanted, and how much of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// First line, from 1.
    pub(crate) first: u64,
    /// Last line; `None` = to the end.
    pub(crate) last: Option<u64>,
    pub(crate) page_characters: usize,
    pub(crate) line_characters: usize,
}

/// Some lines of a file, and facts about all of it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) lines: Vec<String>,
    /// Number of the first of them.
    pub(crate) first: u64,
    pub(crate) total_lines: u64,
    pub(crate) encoding: Encoding,
    pub(crate) ends: LineEnds,
    /// Bytes that are no UTF-8.
    pub(crate) wrong_bytes: u64,
    pub(crate) ends_with_newline: bool,
    /// Of all bytes, for telling later whether the file is still the same.
    pub(crate) hash: blake3::Hash,
}

#[derive(Debug, Error)]
pub(crate) enum PageError {
    #[error("it is a binary file; only text can be read")]
    Binary,
    #[error("it is UTF-16 and larger than {} MiB, which is too large to be converted", LARGEST_UTF16_BYTES >> 20)]
    LargeUtf16,
    #[error("it has {}, so there is no line {first}", counted(*total, "line"))]
    PastTheEnd { first: u64, total: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Page {
    /// `before_piece` runs before each piece is read and can end the reading.
    pub(crate) fn read<E: From<PageError>>(
        file: &mut impl Read,
        wanted: Wanted,
        mut before_piece: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut hasher = blake3::Hasher::new();
        let mut length = fill(file, &mut piece)?;
        let encoding = Encoding::sniff(&piece[..length]);
        let mut lines = Lines::new(wanted);
        let mut checker = Utf8Checker::default();
        match encoding {
            Encoding::Binary => return Err(PageError::Binary.into()),
            Encoding::Utf16LittleEndian | Encoding::Utf16BigEndian => {
                let mut bytes = piece[..length].to_vec();
                file.take(LARGEST_UTF16_BYTES).read_to_end(&mut bytes).map_err(PageError::from)?;
                if bytes.len() as u64 > LARGEST_UTF16_BYTES {
                    return Err(PageError::LargeUtf16.into());
                }
                hasher.update(&bytes);
                lines.push(from_utf16(&bytes, encoding).as_bytes());
            }
            Encoding::Utf8 { bom } => {
                let mut skipped = if bom { BOM.len() } else { 0 };
                while length > 0 {
                    before_piece()?;
                    hasher.update(&piece[..length]);
                    let text = &piece[std::mem::take(&mut skipped)..length];
                    checker.push(text);
                    lines.push(text);
                    length = fill(file, &mut piece)?;
                }
            }
        }
        let page = lines.finish(encoding, checker.finish(), hasher.finalize());
        if page.lines.is_empty() && wanted.first > page.total_lines.max(1) {
            return Err(PageError::PastTheEnd { first: wanted.first, total: page.total_lines }.into());
        }
        Ok(page)
    }

    /// Number of the first line after the page, if there is one.
    pub(crate) fn next(&self) -> Option<u64> {
        let next = self.first + self.lines.len() as u64;
        (next <= self.total_lines).then_some(next)
    }
}

/// Collects the wanted lines from pieces that end anywhere.
struct Lines {
    wanted: Wanted,
    kept: Vec<String>,
    kept_characters: usize,
    full: bool,
    /// Number of the line being read, its beginning, its length and its last byte.
    number: u64,
    line: Vec<u8>,
    line_bytes: u64,
    line_characters: usize,
    last_byte: Option<u8>,
    ends: LineEnds,
}

impl Lines {
    fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            kept: Vec::new(),
            kept_characters: 0,
            full: false,
            number: 1,
            line: Vec::new(),
            line_bytes: 0,
            line_characters: 0,
            last_byte: None,
            ends: LineEnds::default(),
        }
    }

    fn push(&mut self, mut text: &[u8]) {
        while let Some(end) = memchr(b'\n', text) {
            self.extend(&text[..end]);
            self.ends.add(self.last_byte == Some(b'\r'));
            self.end_line(true);
            text = &text[end + 1..];
        }
        self.extend(text);
    }

    fn finish(mut self, encoding: Encoding, wrong_bytes: u64, hash: blake3::Hash) -> Page {
        let ends_with_newline = self.line_bytes == 0;
        if !ends_with_newline {
            self.end_line(false);
        }
        Page {
            lines: self.kept,
            first: self.wanted.first,
            total_lines: self.number - 1,
            encoding,
            ends: self.ends,
            wrong_bytes,
            ends_with_newline,
            hash,
        }
    }

    fn is_wanted(&self) -> bool {
        !self.full
            && self.number >= self.wanted.first
            && self.wanted.last.is_none_or(|last| self.number <= last)
    }

    fn extend(&mut self, text: &[u8]) {
        let Some(&last) = text.last() else { return };
        self.line_bytes += text.len() as u64;
        self.last_byte = Some(last);
        if self.is_wanted() {
            // Only what can be shown is kept, however long the line is; the rest is counted.
            let room = (self.wanted.line_characters + 1) * BYTES_PER_CHARACTER;
            let kept = text.len().min(room.saturating_sub(self.line.len()));
            self.line.extend_from_slice(&text[..kept]);
            self.line_characters += text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        }
    }

    fn end_line(&mut self, with_newline: bool) {
        if self.is_wanted() {
            let shown = self.shown_line(with_newline);
            let characters = shown.chars().count() + 1;
            if self.kept.is_empty() || self.kept_characters + characters <= self.wanted.page_characters {
                self.kept_characters += characters;
                self.kept.push(shown);
            } else {
                self.full = true;
            }
        }
        self.number += 1;
        self.line.clear();
        self.line_bytes = 0;
        self.line_characters = 0;
        self.last_byte = None;
    }

    fn shown_line(&self, with_newline: bool) -> String {
        let mut characters = self.line_characters;
        let mut bytes = self.line.as_slice();
        if with_newline && self.last_byte == Some(b'\r') {
            characters -= 1;
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        match text.char_indices().nth(self.wanted.line_characters) {
            Some((cut, _)) => {
                let shown = self.wanted.line_characters;
                format!("{}… [cut: the line has {characters} characters, {shown} are shown]", &text[..cut])
            }
            None => text.into_owned(),
        }
    }
}

fn fill(file: &mut impl Read, piece: &mut [u8]) -> Result<usize, PageError> {
    loop {
        match file.read(piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return Ok(result?),
        }
    }
}

fn from_utf16(bytes: &[u8], encoding: Encoding) -> String {
    let unit = match encoding {
        Encoding::Utf16BigEndian => u16::from_be_bytes,
        _ => u16::from_le_bytes,
    };
    let (units, odd) = bytes.get(encoding.bom_bytes()..).unwrap_or_default().as_chunks::<2>();
    let mut text: String = char::decode_utf16(units.iter().map(|pair| unit(*pair)))
        .map(|unit| unit.unwrap_or('\u{FFFD}'))
        .collect();
    if !odd.is_empty() {
        text.push('\u{FFFD}');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Wanted = Wanted { first: 1, last: None, page_characters: 1000, line_characters: 20 };

    /// Hands out a few bytes at a time, so that everything is split everywhere.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(3);
            self.0.read(&mut buffer[..length])
        }
    }

    fn read(bytes: &[u8], wanted: Wanted) -> Result<Page, PageError> {
        Page::read(&mut &*bytes, wanted, || Ok(()))
    }

    #[track_caller]
    fn check(bytes: &[u8], wanted: Wanted, lines: &[&str], total: u64, next: Option<u64>) {
        let page = read(bytes, wanted).unwrap();
        assert_eq!(
            (page.lines.as_slice(), page.total_lines, page.next()),
            (lines.map_to_owned().as_slice(), total, next)
        );
        assert_eq!(page.hash, blake3::hash(bytes));
        if bytes.len() > 8 && !bytes.starts_with(b"\xFF\xFE") {
            let trickled: Result<Page, PageError> = Page::read(&mut Trickle(bytes), wanted, || Ok(()));
            assert_eq!(format!("{:?}", trickled.unwrap()), format!("{page:?}"));
        }
    }

    trait MapToOwned {
        fn map_to_owned(&self) -> Vec<String>;
    }

    impl MapToOwned for [&str] {
        fn map_to_owned(&self) -> Vec<String> {
            self.iter().map(|&line| line.to_owned()).collect()
        }
    }

    #[test]
    fn lines_of_all_ends() {
        check(b"", ALL, &[], 0, None);
        check(b"one", ALL, &["one"], 1, None);
        check(b"one\n\nthree\n", ALL, &["one", "", "three"], 3, None);
        check(b"one\r\ntwo\r\nlast\r", ALL, &["one", "two", "last\r"], 3, None);
        check("\u{FEFF}größe\n\tx\n".as_bytes(), ALL, &["größe", "\tx"], 2, None);
        check(b"Stra\xDFe and more", ALL, &["Stra\u{FFFD}e and more"], 1, None);
        check(b"\xFF\xFEa\0\n\0\xE4\0", ALL, &["a", "ä"], 2, None);
    }

    #[test]
    fn a_page_ends_at_a_whole_line() {
        let text = b"aaaa\nbbbb\ncccc\ndddd\n";
        check(text, Wanted { first: 2, last: Some(3), ..ALL }, &["bbbb", "cccc"], 4, Some(4));
        check(text, Wanted { page_characters: 12, ..ALL }, &["aaaa", "bbbb"], 4, Some(3));
        check(text, Wanted { page_characters: 1, first: 4, ..ALL }, &["dddd"], 4, None);
        let error = read(text, Wanted { first: 5, ..ALL }).unwrap_err();
        assert_eq!(error.to_string(), "it has 4 lines, so there is no line 5");
    }

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        let text = format!("{}\r\nb\n", "é".repeat(25));
        let cut = format!("{}… [cut: the line has 25 characters, 20 are shown]", "é".repeat(20));
        check(text.as_bytes(), ALL, &[&cut, "b"], 2, None);
        check("é".repeat(20).as_bytes(), ALL, &[&"é".repeat(20)], 1, None);
    }

    #[test]
    fn facts_of_the_whole_file() {
        let page = read(b"a\r\nb\n\xC3", ALL).unwrap();
        assert_eq!(
            (page.ends, page.wrong_bytes, page.ends_with_newline),
            (LineEnds { crlf: 1, lf: 1 }, 1, false)
        );
        assert_eq!(read(b"a\0b", ALL).unwrap_err().to_string(), "it is a binary file; only text can be read");
    }
}
