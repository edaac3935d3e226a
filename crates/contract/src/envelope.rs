//! The JSON that a model reads as the result of a call, and the rules of what it may claim.
//!
//! `{"ok":true,"result":..,"notes":[..]}` or `{"ok":false,"error":{"code","message","executed","retryable",
//! "problems"},"result":..,"notes":[..]}`; a failed call has a `result` only when there is partial output, and
//! `problems` and `notes` are left out when empty.

use std::borrow::Cow;

use foehn_protocol::{ErrorCode, Executed, Part, Problem};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cut;

/// How much of an error message is kept.
const MESSAGE_CHARACTERS: usize = 4_000;

/// How many notes of one call are kept, and how much of each.
const NOTES: usize = 20;
const NOTE_CHARACTERS: usize = 1_000;

/// A call that did not succeed.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    pub code: ErrorCode,
    pub message: &'a str,
    pub executed: Executed,
    pub retryable: bool,
    pub problems: &'a [Problem],
    /// What a call that was stopped or failed had given so far.
    pub output: &'a [Part],
    pub notes: &'a [String],
}

/// Whether a call that ended with this code had effects, by rule and never by guess: `started` is whether it was
/// handed to its plugin. What ran to its own end is `true`, what began and was stopped is unknown.
pub fn executed(code: ErrorCode, started: bool) -> Executed {
    if !started {
        return Executed::No;
    }
    match code {
        ErrorCode::InvalidArguments
        | ErrorCode::UnknownTool
        | ErrorCode::Unauthorized
        | ErrorCode::Forbidden
        | ErrorCode::Declined
        | ErrorCode::Refused
        | ErrorCode::BudgetExhausted => Executed::No,
        ErrorCode::Failed | ErrorCode::TooLarge => Executed::Yes,
        ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::Crashed
        | ErrorCode::Interrupted
        | ErrorCode::Internal => Executed::Unknown,
    }
}

/// Whether the model may try again, corrected where there are problems. Never after an unknown outcome: that has to
/// be looked at first.
pub fn retryable(code: ErrorCode, executed: Executed) -> bool {
    if executed == Executed::Unknown {
        return false;
    }
    match code {
        ErrorCode::InvalidArguments
        | ErrorCode::UnknownTool
        | ErrorCode::Failed
        | ErrorCode::TooLarge
        | ErrorCode::Interrupted
        | ErrorCode::Internal => true,
        ErrorCode::Unauthorized
        | ErrorCode::Forbidden
        | ErrorCode::Declined
        | ErrorCode::Refused
        | ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::Crashed
        | ErrorCode::BudgetExhausted => false,
    }
}

/// The envelope of a call that succeeded; its result has at most `limit` characters.
pub fn ok(parts: &[Part], notes: &[String], limit: usize) -> String {
    let (result, cut_notes) = bounded(parts, limit);
    let shown = Shown { ok: true, error: None, result: Some(result), notes: all_notes(notes, cut_notes) };
    written(&shown)
}

/// The envelope of a call that did not succeed; partial output has at most `limit` characters.
pub fn error(failure: &Failure<'_>, limit: usize) -> String {
    let (result, cut_notes) = bounded(failure.output, limit);
    let message =
        cut::middle(failure.message, MESSAGE_CHARACTERS).map_or(Cow::Borrowed(failure.message), Cow::Owned);
    let error = ShownError {
        code: failure.code,
        message,
        executed: failure.executed,
        retryable: failure.retryable,
        problems: failure.problems,
    };
    let result = (!failure.output.is_empty()).then_some(result);
    written(&Shown { ok: false, error: Some(error), result, notes: all_notes(failure.notes, cut_notes) })
}

/// The envelope within `limit` characters, its result cut and a note that says so and why (`reason`). One that is short
/// enough, or has no result to cut, comes back as it was; what stands around the result is never cut.
pub fn shorten(envelope: &str, limit: usize, reason: &str) -> String {
    if !cut::exceeds(envelope, limit) {
        return envelope.to_owned();
    }
    shorter(envelope, limit, reason).unwrap_or_else(|| envelope.to_owned())
}

fn shorter(envelope: &str, limit: usize, reason: &str) -> Option<String> {
    let stored = serde_json::from_str::<Stored<'_>>(envelope).ok()?;
    let raw = stored.result?.get();
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    let total = cut::characters(&text);
    let mut keep = total.min(limit);
    loop {
        let short = cut::middle(&text, keep)?;
        let result = serde_json::value::to_raw_value(&short).ok()?;
        let mut notes = stored.notes.clone();
        notes.push(format!("the result was shortened from {total} to {keep} characters: {reason}"));
        let written = serde_json::to_string(&Stored { result: Some(&result), notes, ..stored }).ok()?;
        let size = cut::characters(&written);
        if size <= limit || keep == 0 {
            return Some(written);
        }
        // What is too much counts escapes, of which each kept character may have several: scale, and always shrink.
        let escaped = cut::characters(result.get()).max(1);
        keep -= ((size - limit) * keep).div_ceil(escaped).clamp(1, keep);
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ShownError<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Shape<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct ShownError<'a> {
    code: ErrorCode,
    message: Cow<'a, str>,
    executed: Executed,
    retryable: bool,
    #[serde(skip_serializing_if = "<[Problem]>::is_empty")]
    problems: &'a [Problem],
}

/// A result: text as a string, JSON as its value, several parts as an array of them.
#[derive(Serialize)]
#[serde(untagged)]
enum Shape<'a> {
    Nothing,
    Text(Cow<'a, str>),
    Json(&'a Value),
    Parts(Vec<ShownPart<'a>>),
    Part(ShownPart<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ShownPart<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Json {
        value: &'a Value,
    },
    /// The picture itself stays in the host: a text message cannot carry it.
    Image {
        media_type: &'a str,
        bytes: usize,
    },
    File {
        path: &'a str,
    },
}

/// An envelope read back without touching a digit of what it holds.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    ok: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// The parts within `limit` characters together, in order, and notes of what was left out.
fn bounded(parts: &[Part], limit: usize) -> (Shape<'_>, Vec<String>) {
    let mut left = limit;
    let mut notes = Vec::new();
    let mut shown = Vec::with_capacity(parts.len());
    for part in parts {
        shown.push(match part {
            Part::Text { text } => ShownPart::Text { text: take(text, &mut left, &mut notes) },
            Part::Json { value } => {
                let text = value.to_string();
                if cut::exceeds(&text, left) {
                    ShownPart::Text { text: Cow::Owned(take(&text, &mut left, &mut notes).into_owned()) }
                } else {
                    left -= cut::characters(&text);
                    ShownPart::Json { value }
                }
            }
            Part::Image { media_type, data } => {
                let bytes = data.len() / 4 * 3;
                notes.push(format!(
                    "an image ({media_type}, about {bytes} bytes) is not shown: results are text"
                ));
                ShownPart::Image { media_type, bytes }
            }
            Part::File { path } => ShownPart::File { path },
        });
    }
    let result = match shown.len() {
        0 => Shape::Nothing,
        1 => match shown.pop() {
            Some(ShownPart::Text { text }) => Shape::Text(text),
            Some(ShownPart::Json { value }) => Shape::Json(value),
            Some(part) => Shape::Part(part),
            None => Shape::Nothing,
        },
        _ => Shape::Parts(shown),
    };
    (result, notes)
}

fn take<'a>(text: &'a str, left: &mut usize, notes: &mut Vec<String>) -> Cow<'a, str> {
    let limit = *left;
    match cut::middle(text, limit) {
        Some(short) => {
            let total = cut::characters(text);
            notes.push(format!(
                "the result was cut from {total} to {limit} characters; ask for a smaller part to see the rest"
            ));
            *left = 0;
            Cow::Owned(short)
        }
        None => {
            *left -= cut::characters(text);
            Cow::Borrowed(text)
        }
    }
}

fn all_notes(notes: &[String], more: Vec<String>) -> Vec<Cow<'_, str>> {
    let own = notes.iter().take(NOTES).map(|note| match cut::exceeds(note, NOTE_CHARACTERS) {
        true => Cow::Owned(cut::end(note, NOTE_CHARACTERS)),
        false => Cow::Borrowed(note.as_str()),
    });
    own.chain(more.into_iter().map(Cow::Owned)).collect()
}

fn written(shown: &Shown<'_>) -> String {
    // Only a map with keys that are not text can fail here, and there is none.
    serde_json::to_string(shown).unwrap_or_else(|_| r#"{"ok":false}"#.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> Part {
        Part::Text { text: text.to_owned() }
    }

    #[test]
    fn results_by_their_parts() {
        let check = |parts: &[Part], notes: &[&str], limit: usize, expected: &str| {
            let notes: Vec<String> = notes.iter().map(|note| (*note).to_owned()).collect();
            assert_eq!(ok(parts, &notes, limit), expected);
        };
        check(&[], &[], 10, r#"{"ok":true,"result":null}"#);
        check(&[text("hi")], &["a note"], 10, r#"{"ok":true,"result":"hi","notes":["a note"]}"#);
        let value = json!({"id": 8_123_456_789_012_345_671_u64});
        check(&[Part::Json { value }], &[], 90, r#"{"ok":true,"result":{"id":8123456789012345671}}"#);
        check(
            &[text("a"), Part::File { path: "b.txt".to_owned() }],
            &[],
            10,
            r#"{"ok":true,"result":[{"type":"text","text":"a"},{"type":"file","path":"b.txt"}]}"#,
        );
        check(
            &[Part::Image { media_type: "image/png".to_owned(), data: "AAAAAAAA".to_owned() }],
            &[],
            10,
            r#"{"ok":true,"result":{"type":"image","media_type":"image/png","bytes":6},"notes":["an image (image/png, about 6 bytes) is not shown: results are text"]}"#,
        );
        check(
            &[text("ääääääää"), text("bcdefgh")],
            &[],
            10,
            r#"{"ok":true,"result":[{"type":"text","text":"ääääääää"},{"type":"text","text":"bc\n[... 5 characters left out here ...]\n"}],"notes":["the result was cut from 7 to 2 characters; ask for a smaller part to see the rest"]}"#,
        );
    }

    #[test]
    fn failures_keep_partial_output() {
        let failure = Failure {
            code: ErrorCode::Timeout,
            message: "stopped after 2 s",
            executed: executed(ErrorCode::Timeout, true),
            retryable: retryable(ErrorCode::Timeout, Executed::Unknown),
            problems: &[],
            output: &[text("line 1")],
            notes: &[],
        };
        assert_eq!(
            error(&failure, 100),
            r#"{"ok":false,"error":{"code":"timeout","message":"stopped after 2 s","executed":"unknown","retryable":false},"result":"line 1"}"#
        );
        let failure = Failure { output: &[], ..failure };
        assert_eq!(
            error(&failure, 100),
            r#"{"ok":false,"error":{"code":"timeout","message":"stopped after 2 s","executed":"unknown","retryable":false}}"#
        );
    }

    #[test]
    fn shortening_touches_only_a_long_result() {
        let check = |envelope: &str, limit: usize, expected: &str| {
            assert_eq!(shorten(envelope, limit, "too much together"), expected);
        };
        let short = r#"{"ok":true,"result":"abcd","notes":["n"]}"#;
        check(short, 40, short);
        let long = format!(r#"{{"ok":true,"result":"{}\n\nend","notes":["n"]}}"#, "x".repeat(300));
        check(
            &long,
            200,
            r#"{"ok":true,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n[... 258 characters left out here ...]\nxxxxxx\n\nend","notes":["n","the result was shortened from 305 to 47 characters: too much together"]}"#,
        );
        check(
            r#"{"ok":true,"result":{"id":12345678901234567890123}}"#,
            8,
            r#"{"ok":true,"result":"\n[... 30 characters left out here ...]\n","notes":["the result was shortened from 30 to 0 characters: too much together"]}"#,
        );
        check("not an envelope", 3, "not an envelope");
    }
}
