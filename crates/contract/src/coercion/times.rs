//! Times and dates with a digit left out: `9:30` and `2026-1-5`. Nothing else about them has one meaning only: not the
//! order of `1/5/2026`, and not the half of the day that `9:30am` names where 24 hours are asked for.

use serde_json::{Value, json};

use super::table::{DATE_DIGITS, TIME_DIGITS};
use crate::formats;
use crate::schema::Shape;

/// Longer texts are no time.
const LONGEST: usize = 40;

/// The full spelling, where the place asks for it by a format or by a pattern that takes it and not the given text.
pub(super) fn respelt(text: &str, shape: &Shape<'_>) -> Option<(String, &'static str)> {
    let digits = text.starts_with(|first: char| first.is_ascii_digit());
    if !digits || text.len() > LONGEST || !text.contains([':', '-']) {
        return None;
    }
    let nodes = shape.text()?;
    let format = nodes.iter().find_map(|node| node.get("format")?.as_str());
    let (full, note) = match format {
        Some("time") => (full_time(text)?, TIME_DIGITS),
        Some("partial-time") => (full_time(text).filter(|time| formats::is_partial_time(time))?, TIME_DIGITS),
        Some("date") => (full_date(text)?, DATE_DIGITS),
        Some(_) => return None,
        None => full_time(text)
            .map(|time| (time, TIME_DIGITS))
            .or_else(|| full_date(text).map(|date| (date, DATE_DIGITS)))?,
    };
    let mut patterns = nodes.iter().filter_map(|node| node.get("pattern")).peekable();
    if format.is_none() && patterns.peek().is_none() {
        return None;
    }
    let takes_full = patterns.all(|pattern| {
        let schema = json!({"pattern": pattern});
        // Built again for each such text, which is rare, so that the usual check costs nothing.
        let check = |text: &str| {
            jsonschema::options()
                .offline()
                .build(&schema)
                .is_ok_and(|check| check.is_valid(&Value::from(text)))
        };
        check(&full) && !(format.is_none() && check(text))
    });
    takes_full.then_some((full, note))
}

/// The time with its hours in two digits, if one was missing.
fn full_time(text: &str) -> Option<String> {
    let full = format!("0{text}");
    formats::is_time(&full).then_some(full)
}

/// The date with month and day in two digits, if one was missing.
fn full_date(text: &str) -> Option<String> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let full = format!("{year}-{month:0>2}-{day:0>2}");
    (full != text && !month.is_empty() && !day.is_empty() && formats::is_date(&full)).then_some(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_more_or_nothing() {
        let check = |schema: Value, text: &str, expected: Option<&str>| {
            let shape = Shape::of(&schema, &[&schema]);
            let actual = respelt(text, &shape).map(|(full, _)| full);
            assert_eq!(actual.as_deref(), expected, "{text} for {schema}");
        };
        let time = || json!({"type": "string", "format": "time"});
        check(time(), "9:30", Some("09:30"));
        check(time(), "9:30:15+02:00", Some("09:30:15+02:00"));
        check(time(), "09:30", None);
        check(time(), "9:3", None);
        check(time(), "9:30am", None);
        check(json!({"type": "string", "format": "partial-time"}), "9:30", Some("09:30"));
        check(json!({"type": "string", "format": "partial-time"}), "9:30Z", None);
        let date = || json!({"type": "string", "format": "date"});
        check(date(), "2026-1-5", Some("2026-01-05"));
        check(date(), "2026-01-05", None);
        check(date(), "26-1-5", None);
        check(date(), "2026-2-30", None);
        check(date(), "2026--5", None);
        check(json!({"type": "string", "pattern": r"^\d{2}:\d{2}$"}), "9:30", Some("09:30"));
        check(json!({"type": "string", "pattern": r"^\d{1,2}:\d{2}$"}), "9:30", None);
        check(json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}), "2026-1-5", Some("2026-01-05"));
        check(json!({"type": "string"}), "9:30", None);
        check(json!({"anyOf": [{"type": "string", "format": "time"}, {"type": "string"}]}), "9:30", None);
    }
}
