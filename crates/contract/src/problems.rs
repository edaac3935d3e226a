//! The problems of a call, as a model can act on them: where, what was expected, what was given, and what it most
//! likely meant. However large the arguments, the list and each text in it stay short, and no secret is repeated.

use foehn_protocol::Problem;
use serde_json::Value;

use crate::cut;
use crate::kinds::Range;
use crate::secret;

/// How much of a wrong value is shown.
const GOT_CHARACTERS: usize = 80;

/// How much of a list of options is shown.
pub(crate) const EXPECTED_CHARACTERS: usize = 400;

/// Keys come from the caller and may be of any length.
const PATH_CHARACTERS: usize = 200;

/// How many problems one answer lists.
const LISTED: usize = 20;

/// How many are looked at to choose those; what follows is only counted.
const KEPT: usize = 200;

/// The codes of problems, each written once.
pub(crate) mod code {
    pub(crate) const AMBIGUOUS: &str = "ambiguous";
    pub(crate) const BAD_FORMAT: &str = "bad_format";
    pub(crate) const BAD_LENGTH: &str = "bad_length";
    pub(crate) const BAD_SCHEMA: &str = "bad_schema";
    pub(crate) const CUT_OFF: &str = "cut_off";
    pub(crate) const DUPLICATE: &str = "duplicate_argument";
    pub(crate) const MISSING: &str = "missing_argument";
    pub(crate) const MORE: &str = "more_problems";
    pub(crate) const NOT_ALLOWED: &str = "not_allowed";
    pub(crate) const NOT_IN_ENUM: &str = "not_in_enum";
    pub(crate) const NOT_JSON: &str = "not_json";
    pub(crate) const OUT_OF_RANGE: &str = "out_of_range";
    pub(crate) const UNKNOWN: &str = "unknown_argument";
    pub(crate) const WRONG_TYPE: &str = "wrong_type";
}

/// What to do about a value of the wrong type.
pub(crate) mod hint {
    pub(crate) const AS_TEXT: &str = "send it as text, in quotes";
    pub(crate) const BOOLEAN: &str = "write true or false, without quotes";
    pub(crate) const DIGITS: &str = "write it in digits without quotes, such as 6";
    pub(crate) const LISTED_TEXT: &str = "write one of them, in quotes";
    pub(crate) const NULL: &str = "it needs a value";
    pub(crate) const STRUCTURE: &str = "write the JSON value itself, not text in quotes";
    pub(crate) const WHOLE: &str = "write a whole number, such as 6";
}

/// The problems found so far. The first ones are kept, the rest is counted.
#[derive(Default)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    more: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: impl FnOnce() -> Problem) {
        if self.kept.len() < KEPT {
            self.kept.push(problem());
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Problems that nobody counted.
    pub(crate) fn and_more(&mut self) {
        self.more += 1;
    }

    /// Says of the wrong type at a place that the value could be read in several ways.
    pub(crate) fn make_ambiguous(&mut self, pointer: &str, readings: &[Value]) {
        let readings: Vec<String> = readings.iter().map(|reading| got(pointer, reading)).collect();
        for problem in self.kept.iter_mut().filter(|problem| problem.path == pointer) {
            if problem.code == code::WRONG_TYPE {
                code::AMBIGUOUS.clone_into(&mut problem.code);
                problem.suggestion =
                    Some(format!("it can mean {}: write the one that is meant", readings.join(" or ")));
            }
        }
    }

    /// Sorted by place, each once, and bounded.
    pub(crate) fn in_order(self) -> Vec<Problem> {
        let Self { kept: mut problems, mut more } = self;
        problems.sort_by(|left, right| left.path.cmp(&right.path).then_with(|| left.code.cmp(&right.code)));
        // Of the range of an integer's type and the bounds of its schema, the first found says both ends.
        problems.dedup_by(|other, first| {
            other == first
                || (other.path == first.path && other.code == first.code && other.code == code::OUT_OF_RANGE)
        });
        // Of a value that is not among the listed ones, its type says nothing more.
        let listed: Vec<String> =
            problems.iter().filter(|one| one.code == code::NOT_IN_ENUM).map(|one| one.path.clone()).collect();
        problems.retain(|one| one.code != code::WRONG_TYPE || !listed.contains(&one.path));
        if problems.len() > LISTED {
            more += problems.len() - LISTED;
            problems.truncate(LISTED);
        }
        if more > 0 {
            let words = match more {
                1 => "at least 1 more problem is not listed".to_owned(),
                more => format!("at least {more} more problems are not listed"),
            };
            problems.push(Problem { expected: Some(words), ..problem(String::new(), code::MORE) });
        }
        problems
    }
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Problem {
    if error.is_eof() {
        return Problem {
            expected: Some("a complete JSON object".to_owned()),
            got: Some(error.to_string()),
            suggestion: Some("send the content in smaller pieces".to_owned()),
            ..problem(String::new(), code::CUT_OFF)
        };
    }
    Problem {
        expected: Some("one JSON object".to_owned()),
        got: Some(error.to_string()),
        ..problem(String::new(), code::NOT_JSON)
    }
}

pub(crate) fn duplicate(pointer: String) -> Problem {
    Problem {
        expected: Some("each argument once".to_owned()),
        suggestion: Some("keep the one that is meant".to_owned()),
        ..problem(pointer, code::DUPLICATE)
    }
}

/// An argument given under its present name and under one it had before.
pub(crate) fn both_names(pointer: String, name: &str, old: &str) -> Problem {
    Problem {
        expected: Some(format!("`{name}` alone: `{old}` is its old name")),
        suggestion: Some(format!("keep `{name}` with the value that is meant")),
        ..problem(pointer, code::DUPLICATE)
    }
}

pub(crate) fn bad_schema(message: &str) -> Problem {
    Problem {
        expected: Some("a tool whose schema is valid".to_owned()),
        got: Some(cut::end(message, EXPECTED_CHARACTERS)),
        suggestion: Some("use another tool; this one is broken".to_owned()),
        ..problem(String::new(), code::BAD_SCHEMA)
    }
}

/// An integer that does not fit; `written` is how the caller wrote it, where its digits got lost in `value`.
pub(crate) fn outside(pointer: String, value: &Value, written: Option<&str>, range: &Range) -> Problem {
    let shown = got(&pointer, value);
    let plain = value.to_string();
    let is_masked = shown != plain;
    let got = written.filter(|_| !is_masked).map_or(shown, |written| cut::end(written, GOT_CHARACTERS));
    Problem {
        expected: Some(format!("an integer from {} to {}", range.from, range.to)),
        got: Some(got),
        ..problem(pointer, code::OUT_OF_RANGE)
    }
}

/// An integer with a fraction of zero or an exponent.
pub(crate) fn not_whole(pointer: String, value: &Value) -> Problem {
    let got = got(&pointer, value);
    Problem {
        expected: Some("integer".to_owned()),
        got: Some(got),
        suggestion: Some(hint::WHOLE.to_owned()),
        ..problem(pointer, code::WRONG_TYPE)
    }
}

/// How much of a value at a place is shown.
pub(crate) fn got(pointer: &str, value: &Value) -> String {
    cut::end(&secret::shown(value, pointer, GOT_CHARACTERS), GOT_CHARACTERS)
}

/// How much of a name that the caller chose is shown.
pub(crate) fn got_name(name: &str) -> String {
    cut::end(&format!("`{}`", secret::shown_name(name)), GOT_CHARACTERS)
}

/// A pointer of bearable length.
pub(crate) fn bounded(pointer: String) -> String {
    if cut::exceeds(&pointer, PATH_CHARACTERS) { cut::end(&pointer, PATH_CHARACTERS) } else { pointer }
}

pub(crate) fn problem(path: String, code: &str) -> Problem {
    Problem { path: bounded(path), code: code.to_owned(), expected: None, got: None, suggestion: None }
}
