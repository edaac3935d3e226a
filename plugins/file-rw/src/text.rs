//! What kind of text a file holds, told from its bytes. Nothing here changes a byte.

use std::fmt;

use memchr::{memchr, memchr_iter};

/// The byte order mark of UTF-8.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";
/// The same as a character, as it stands in an argument.
pub(crate) const BOM_CHARACTER: char = '\u{FEFF}';
/// As far as git looks for a zero byte before it calls a file binary.
const SNIFFED_BYTES: usize = 8000;

/// How a file's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, or bytes that are close enough to be shown as such.
    Utf8 {
        bom: bool,
    },
    Utf16LittleEndian,
    Utf16BigEndian,
    /// No text at all.
    Binary,
}

impl Encoding {
    /// Tells the encoding from the beginning of a file.
    pub(crate) fn sniff(beginning: &[u8]) -> Self {
        match beginning {
            [0xEF, 0xBB, 0xBF, ..] => Self::Utf8 { bom: true },
            [0xFF, 0xFE, ..] => Self::Utf16LittleEndian,
            [0xFE, 0xFF, ..] => Self::Utf16BigEndian,
            _ if memchr(0, beginning.get(..SNIFFED_BYTES).unwrap_or(beginning)).is_some() => Self::Binary,
            _ => Self::Utf8 { bom: false },
        }
    }

    /// Number of bytes before the text.
    pub(crate) fn bom_bytes(self) -> usize {
        match self {
            Self::Utf8 { bom: true } => BOM.len(),
            Self::Utf16LittleEndian | Self::Utf16BigEndian => 2,
            Self::Utf8 { bom: false } | Self::Binary => 0,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Utf8 { bom: false } => "UTF-8",
            Self::Utf8 { bom: true } => "UTF-8 with a byte order mark",
            Self::Utf16LittleEndian => "UTF-16 (little endian)",
            Self::Utf16BigEndian => "UTF-16 (big endian)",
            Self::Binary => "binary",
        })
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineEnds {
    /// Ends of `\r\n`.
    pub(crate) crlf: u64,
    /// Ends of `\n` alone.
    pub(crate) lf: u64,
}

impl LineEnds {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut ends = Self::default();
        for at in memchr_iter(b'\n', bytes) {
            ends.add(at > 0 && bytes[at - 1] == b'\r');
        }
        ends
    }

    pub(crate) fn add(&mut self, is_crlf: bool) {
        if is_crlf { self.crlf += 1 } else { self.lf += 1 }
    }

    /// Whether every line ends in `\r\n`.
    pub(crate) fn all_crlf(self) -> bool {
        self.crlf > 0 && self.lf == 0
    }
}

/// Counts, piece by piece, the bytes of a stream that are not UTF-8. A character may be split over pieces.
#[derive(Debug, Default)]
pub(crate) struct Utf8Checker {
    carried: Vec<u8>,
    wrong: u64,
}

impl Utf8Checker {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if self.carried.is_empty() {
            self.check(piece);
        } else {
            let mut joined = std::mem::take(&mut self.carried);
            joined.extend_from_slice(piece);
            self.check(&joined);
        }
    }

    /// The number of wrong bytes in all; a character cut off at the end counts.
    pub(crate) fn finish(self) -> u64 {
        self.wrong + self.carried.len() as u64
    }

    fn check(&mut self, mut bytes: &[u8]) {
        while let Err(error) = std::str::from_utf8(bytes) {
            let rest = &bytes[error.valid_up_to()..];
            let Some(wrong) = error.error_len() else {
                self.carried = rest.to_vec();
                return;
            };
            self.wrong += wrong as u64;
            bytes = &rest[wrong..];
        }
    }
}

/// Number of bytes that are not UTF-8.
pub(crate) fn wrong_bytes(bytes: &[u8]) -> u64 {
    let mut checker = Utf8Checker::default();
    checker.push(bytes);
    checker.finish()
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], encoding: Encoding, ends: LineEnds, wrong: u64) {
        assert_eq!(
            (Encoding::sniff(bytes), LineEnds::of(bytes), wrong_bytes(bytes)),
            (encoding, ends, wrong)
        );
        let mut by_bytes = Utf8Checker::default();
        bytes.chunks(1).for_each(|byte| by_bytes.push(byte));
        assert_eq!(by_bytes.finish(), wrong, "byte by byte");
    }

    #[test]
    fn kinds_of_text() {
        let utf8 = Encoding::Utf8 { bom: false };
        check(b"", utf8, LineEnds::default(), 0);
        check(b"a\r\nb\n", utf8, LineEnds { crlf: 1, lf: 1 }, 0);
        check(b"\xEF\xBB\xBFa\n", Encoding::Utf8 { bom: true }, LineEnds { crlf: 0, lf: 1 }, 0);
        check("größe 😀 \u{FFFD}".as_bytes(), utf8, LineEnds::default(), 0);
        check(b"Stra\xDFe", utf8, LineEnds::default(), 1);
        check(b"cut \xF0\x9F\x98", utf8, LineEnds::default(), 3);
        check(b"\xFF\xFEa\0", Encoding::Utf16LittleEndian, LineEnds::default(), 2);
        check(b"\x7FELF\0", Encoding::Binary, LineEnds::default(), 0);
    }
}
