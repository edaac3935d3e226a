//! From the text that is searched for to a matcher, or to a message that says where the text breaks and what to do instead.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use thiserror::Error;

/// Largest compiled pattern: what is larger comes from repetitions that nobody means, and costs time and memory.
const LARGEST_BYTES: usize = 2 * 1024 * 1024;
const LITERAL_HINT: &str = "to search for this very text set literal";

/// Why a pattern is not one.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum QueryError {
    #[error("the pattern is empty")]
    Empty,
    #[error("a search goes line by line, so no pattern can hold a line break; search for one of the lines")]
    LineBreak,
    #[error("bad regular expression `{pattern}` at character {position}: {reason}; {LITERAL_HINT}")]
    Syntax { pattern: String, position: usize, reason: String },
    #[error("the regular expression `{pattern}` is too large: use smaller numbers of repetitions")]
    TooLarge { pattern: String },
    #[error("bad regular expression `{pattern}`: {reason}; {LITERAL_HINT}")]
    Unusable { pattern: String, reason: String },
}

/// Compiles what is searched for.
pub(crate) fn matcher(pattern: &str, literal: bool, ignore_case: bool) -> Result<RegexMatcher, QueryError> {
    if pattern.is_empty() {
        return Err(QueryError::Empty);
    }
    if pattern.contains(['\n', '\r']) {
        return Err(QueryError::LineBreak);
    }
    if !literal {
        check(pattern)?;
    }
    RegexMatcherBuilder::new()
        .fixed_strings(literal)
        .case_insensitive(ignore_case)
        .multi_line(true)
        // `$` stands before `\r\n` too; lines are still told apart by `\n`, which is what makes a search fast.
        .crlf(true)
        .line_terminator(Some(b'\n'))
        .size_limit(LARGEST_BYTES)
        .build(pattern)
        .map_err(|error| {
            let reason = error.to_string();
            let pattern = pattern.to_owned();
            if reason.contains("size limit") {
                QueryError::TooLarge { pattern }
            } else if reason.contains("is not allowed in a regex") {
                QueryError::LineBreak
            } else {
                QueryError::Unusable { pattern, reason: last_line(&reason) }
            }
        })
}

/// Whether the pattern looks for a backslash before a letter, which is seldom meant.
pub(crate) fn has_doubled_escape(pattern: &str) -> bool {
    pattern.split("\\\\").skip(1).any(|rest| rest.starts_with(['b', 'B', 'd', 'D', 's', 'S', 'w', 'W']))
}

fn check(pattern: &str) -> Result<(), QueryError> {
    let (position, reason) = match regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern) {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.span().start.offset, error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => (error.span().start.offset, error.kind().to_string()),
        Err(error) => {
            return Err(QueryError::Unusable {
                pattern: pattern.to_owned(),
                reason: last_line(&error.to_string()),
            });
        }
    };
    let position = 1 + pattern.get(..position).map_or(0, |before| before.chars().count());
    Err(QueryError::Syntax { pattern: pattern.to_owned(), position, reason })
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(pattern: &str, expected: &str) {
        assert_eq!(matcher(pattern, false, false).unwrap_err().to_string(), expected);
        assert!(matcher(pattern, true, false).is_ok(), "{pattern} is a text");
    }

    #[test]
    fn what_breaks_is_named_with_its_place() {
        check_error(
            "foo(?!bar)",
            "bad regular expression `foo(?!bar)` at character 4: look-around, including look-ahead and look-behind, is not \
             supported; to search for this very text set literal",
        );
        check_error(
            "fn main(",
            "bad regular expression `fn main(` at character 8: unclosed group; to search for this very text set literal",
        );
        check_error(
            "*.rs",
            "bad regular expression `*.rs` at character 1: repetition operator missing expression; to search for this very \
             text set literal",
        );
        check_error(
            r"(a)\1",
            r"bad regular expression `(a)\1` at character 4: backreferences are not supported; to search for this very text set literal",
        );
    }

    #[test]
    fn what_would_blow_up_is_refused() {
        for pattern in ["a{99999}", r"(\w{100}){100}", "((a{100}){100}){100}"] {
            let error = matcher(pattern, false, false).unwrap_err();
            assert_eq!(error, QueryError::TooLarge { pattern: pattern.to_owned() });
        }
        assert!(matcher(r"\w{20}", false, false).is_ok());
    }

    #[test]
    fn lines_do_not_hold_line_breaks() {
        for pattern in ["a\nb", r"a\nb"] {
            assert_eq!(matcher(pattern, false, false).unwrap_err(), QueryError::LineBreak, "{pattern}");
        }
    }

    #[test]
    fn doubled_escapes_are_told() {
        let told = [r"\\bword", r"a\\d", r"\bword", r"C:\\Users", r"\\"].map(has_doubled_escape);
        assert_eq!(told, [true, true, false, false, false]);
    }
}
