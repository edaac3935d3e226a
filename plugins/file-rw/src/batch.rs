//! Several edits of one file, all or none: each sees what those before it made, and the error says which one failed.

use thiserror::Error;

use crate::edit::{Edit, EditProblem, Edited};

/// Most edits of one call.
pub(crate) const MOST_EDITS: usize = 50;

/// Why nothing was replaced. The file is as it was.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum BatchProblem {
    #[error(transparent)]
    Only(EditProblem),
    #[error("edit {number} of {count}, and with it none was made: {problem}")]
    OneOf { number: usize, count: usize, problem: EditProblem },
}

/// The bytes of the whole file after all edits.
pub(crate) fn apply_all(edits: &[Edit<'_>], file: &[u8]) -> Result<Edited, BatchProblem> {
    let mut sum = Edited { bytes: Vec::new(), changed: Vec::new(), grown: Vec::new() };
    for (number, edit) in edits.iter().enumerate() {
        let before = if number == 0 { file } else { &sum.bytes };
        let edited = edit.apply(before).map_err(|problem| match edits.len() {
            1 => BatchProblem::Only(problem),
            count => BatchProblem::OneOf { number: number + 1, count, problem },
        })?;
        for lines in &mut sum.changed {
            *lines = moved(*lines, &edited);
        }
        sum.changed.extend_from_slice(&edited.changed);
        sum.bytes = edited.bytes;
    }
    sum.changed.sort_unstable();
    Ok(sum)
}

/// Where lines are after a later edit.
fn moved((first, last): (u64, u64), later: &Edited) -> (u64, u64) {
    // Each place of the later edit, from the top: what lies below it moves by as much as the place has grown.
    later.changed.iter().zip(&later.grown).fold((first, last), |(first, last), (&(start, _), &grown)| {
        let shift =
            |line: u64| if line > start { line.saturating_add_signed(grown).max(start) } else { line };
        (shift(first), shift(last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps<'a>(edits: &[(&'a str, &'a str)]) -> Vec<Edit<'a>> {
        edits.iter().map(|&(old, new)| Edit { old, new, all: false }).collect()
    }

    #[track_caller]
    fn check(file: &str, edits: &[(&str, &str)], expected: &str, changed: &[(u64, u64)]) {
        let edited = apply_all(&steps(edits), file.as_bytes()).unwrap();
        assert_eq!(
            (String::from_utf8_lossy(&edited.bytes).as_ref(), edited.changed.as_slice()),
            (expected, changed)
        );
    }

    #[test]
    fn later_edits_see_earlier_ones() {
        check("a\nb\nc\n", &[("a", "x\ny"), ("y\nb", "z")], "x\nz\nc\n", &[(1, 2), (2, 2)]);
    }

    #[test]
    fn lines_are_those_of_the_end() {
        check("a\nb\nc\nd\n", &[("d", "D"), ("a", "1\n2\n3")], "1\n2\n3\nb\nc\nD\n", &[(1, 3), (6, 6)]);
        check("a\nb\nc\nd\n", &[("d", "D"), ("a\nb\n", "")], "c\nD\n", &[(1, 1), (2, 2)]);
    }

    #[test]
    fn the_one_that_fails_is_named() {
        let error = apply_all(&steps(&[("a", "b"), ("nothing", "x"), ("b", "c")]), b"a\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "edit 2 of 3, and with it none was made: old_text is not in it. No line is like it; read the file again."
        );
    }
}
