//! What to tell when a text is not found: where the file comes closest to it, and the first difference.
//!
//! It only explains. Nothing is replaced on the strength of a likeness.

use std::fmt;

use memchr::memmem;

/// Longest piece of a line that is shown.
const SHOWN_CHARACTERS: usize = 120;
/// Shortest text that is taken for "already changed" when it is found: shorter ones are everywhere.
const TELLING_BYTES: usize = 4;
/// Part of a line that must agree for it to count as close, in percent.
const CLOSE_PERCENT: usize = 50;
/// Most lines of the file that are looked at, and most lines of the text that are compared with each: it is only a hint.
const FILE_LINES: usize = 100_000;
const TEXT_LINES: usize = 40;

/// What the file has instead of a text that was not found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Miss {
    /// Line where the new text already stands.
    already: Option<u64>,
    closest: Option<Difference>,
}

/// The first line that differs, where the texts agree longest.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    /// Line of the file, from 1.
    file_line: u64,
    /// Line of the text, from 1.
    text_line: usize,
    /// Character of the text's line, from 1.
    column: usize,
    file: String,
    text: String,
    blanks_only: bool,
}

/// Compares a text that is not there with what is. Both without carriage returns before line ends.
pub(crate) fn miss(file: &[u8], old: &str, new: &str) -> Miss {
    let already = (new.trim().len() >= TELLING_BYTES)
        .then(|| memmem::find(file, new.as_bytes()))
        .flatten()
        .map(|at| 1 + memchr::memchr_iter(b'\n', &file[..at]).count() as u64);
    Miss { already, closest: difference(&String::from_utf8_lossy(file), old) }
}

fn difference(file: &str, old: &str) -> Option<Difference> {
    let file: Vec<&str> = file.split('\n').collect();
    let text: Vec<&str> = old.split('\n').collect();
    // Blank lines at the start of a text agree with anything; what is looked for is its first line with something on it.
    let lead = text.iter().position(|line| !line.trim().is_empty())?;
    let mut best: Option<((usize, usize), usize)> = None;
    for start in 0..file.len().min(FILE_LINES) {
        let pairs = text[lead..].iter().zip(&file[start..]).take(TEXT_LINES);
        let agreeing = pairs.take_while(|(text, file)| squeezed_equal(text, file)).count();
        let next = text.get(lead + agreeing).zip(file.get(start + agreeing));
        let score = (agreeing, next.map_or(0, |(text, file)| likeness(text.trim(), file.trim())));
        if best.is_none_or(|(best, _)| score > best) {
            best = Some((score, start));
        }
    }
    let ((agreeing, likeness), start) = best?;
    if agreeing == 0 && likeness < CLOSE_PERCENT {
        return None;
    }
    // Lines that agree but for blanks come first: they are a difference too.
    let offset = (0..).find(|&offset| {
        text.get(lead + offset).zip(file.get(start + offset)).is_none_or(|(line, of_file)| {
            let partial_allowed = lead + offset == 0 || lead + offset + 1 == text.len();
            !(line == of_file || partial_allowed && of_file.contains(line) && !line.is_empty())
        })
    })?;
    let shown_text = text.get(lead + offset).copied()?;
    let shown_file = file.get(start + offset).copied().unwrap_or_default();
    Some(Difference {
        file_line: (start + offset + 1) as u64,
        text_line: lead + offset + 1,
        column: 1 + shown_text.chars().zip(shown_file.chars()).take_while(|(a, b)| a == b).count(),
        blanks_only: squeezed_equal(shown_text, shown_file),
        file: shown_file.to_owned(),
        text: shown_text.to_owned(),
    })
}

/// Equal when every run of blanks counts as one and those at the ends as none.
fn squeezed_equal(one: &str, other: &str) -> bool {
    one == other || one.split_whitespace().eq(other.split_whitespace())
}

/// How much of two lines agrees at their beginnings and ends, in percent of the longer one.
fn likeness(one: &str, other: &str) -> usize {
    let longer = one.len().max(other.len());
    if longer == 0 {
        return 0;
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let back = one[front..].iter().rev().zip(other[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    (front + back) * 100 / longer
}

impl fmt::Display for Miss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.already {
            write!(
                formatter,
                " new_text is already there, on line {line}: perhaps this change has been made."
            )?;
        }
        match &self.closest {
            Some(difference) => difference.fmt(formatter),
            None if self.already.is_none() => {
                formatter.write_str(" No line is like it; read the file again.")
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file_line, text_line, column, .. } = self;
        let kind = if self.blanks_only { "only blanks differ" } else { "the first difference is" };
        write!(
            formatter,
            " Closest is line {file_line}: {kind} at character {column} of line {text_line} of old_text \
             (→ is a tab, · a space).\nfile:     {}\nold_text: {}",
            visible(&self.file, *column),
            visible(&self.text, *column)
        )
    }
}

/// The part of a line around a character, with its tabs, and its spaces at the ends and in rows, made visible.
fn visible(line: &str, column: usize) -> String {
    let characters: Vec<char> = line.chars().collect();
    let is_blank = |at: Option<&char>| at.is_none_or(|character| matches!(character, ' ' | '\t'));
    let shown: Vec<char> = (0..characters.len())
        .map(|at| match characters[at] {
            '\t' => '→',
            ' ' if at == 0 || is_blank(characters.get(at - 1)) || is_blank(characters.get(at + 1)) => '·',
            other => other,
        })
        .collect();
    let from = column.saturating_sub(SHOWN_CHARACTERS / 2).min(shown.len());
    let to = (from + SHOWN_CHARACTERS).min(shown.len());
    let text: String = shown[from..to].iter().collect();
    format!("{}{text}{}", if from > 0 { "…" } else { "" }, if to < shown.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(miss(file.as_bytes(), old, new).to_string(), expected);
    }

    #[test]
    fn blanks_in_place_of_tabs() {
        check(
            "\tif x {\n\t\ty()\n\t}\n",
            "    if x {\n        y()\n    }",
            "",
            " Closest is line 1: only blanks differ at character 1 of line 1 of old_text (→ is a tab, · a space).\n\
             file:     →if x {\n\
             old_text: ····if x {",
        );
    }

    #[test]
    fn the_longest_agreement_wins() {
        check(
            "fn a() {\n    one();\n}\nfn a() {\n    one();\n    two();\n}\n",
            "fn a() {\n    one();\n    too();\n}",
            "",
            " Closest is line 6: the first difference is at character 6 of line 3 of old_text (→ is a tab, · a space).\n\
             file:     ····two();\n\
             old_text: ····too();",
        );
    }

    #[test]
    fn a_change_that_has_been_made() {
        check(
            "let rate = 6;\n",
            "let rate = 5;",
            "let rate = 6;",
            " new_text is already there, on line 1: perhaps this change has been made. Closest is line 1: the first \
             difference is at character 12 of line 1 of old_text (→ is a tab, · a space).\n\
             file:     let rate = 6;\n\
             old_text: let rate = 5;",
        );
    }

    #[test]
    fn nothing_like_it() {
        check("alpha\nbeta\n", "quite another thing", "", " No line is like it; read the file again.");
        check("alpha\n", "\n\n", "", " No line is like it; read the file again.");
    }

    #[test]
    fn long_lines_are_shown_in_part() {
        let shown = visible(&"x".repeat(500), 300);
        assert_eq!(shown, format!("…{}…", "x".repeat(SHOWN_CHARACTERS)));
    }
}
