//! The formats of text that are asserted, in plain words, each with an example.
//!
//! `date-time`, `date`, `duration`, `email`, `uri` and `uuid` are the validator's own, which follow their RFCs. Times
//! are ours. RFC 3339 lets no `time` go without seconds and an offset from UTC, and a time of day has none: types of
//! Rust read `09:30`, people write it, and an offset that a model makes up to please a schema would be wrong. So
//! `time` takes hours and minutes, with seconds and an offset where there are any; `partial-time`, which schemas of a
//! civil time say, takes the same without an offset.

use jsonschema::{Draft, ValidationOptions};

/// A format, what it asks for, and a text that has it.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) example: &'static str,
}

/// What a problem says of each; one that is not here is called by its name.
pub(crate) const FORMATS: [Format; 9] = [
    Format { name: "date", expected: "a date as YYYY-MM-DD", example: "2026-03-31" },
    Format { name: "time", expected: "a time of 24 hours as HH:MM or HH:MM:SS", example: "09:30" },
    Format { name: "partial-time", expected: "a time of 24 hours as HH:MM or HH:MM:SS", example: "09:30" },
    Format {
        name: "date-time",
        expected: "a date and time with its offset from UTC, as YYYY-MM-DDTHH:MM:SSZ",
        example: "2026-03-31T09:30:00Z",
    },
    Format {
        name: "partial-date-time",
        expected: "a date and time without offset, as YYYY-MM-DDTHH:MM:SS",
        example: "2026-03-31T09:30:00",
    },
    Format { name: "duration", expected: "a duration in the form of ISO 8601", example: "PT1H30M" },
    Format { name: "email", expected: "one e-mail address", example: "ada@example.com" },
    Format { name: "uri", expected: "an address with its scheme", example: "https://example.com/page" },
    Format {
        name: "uuid",
        expected: "a UUID with its hyphens",
        example: "3f2b8c1e-5d4a-4f60-9b7e-2a1c0d9e8f76",
    },
];

/// What a format asks for, with an example.
pub(crate) fn expected(format: &str) -> String {
    match FORMATS.iter().find(|known| known.name == format) {
        Some(known) => format!("{}, such as \"{}\"", known.expected, known.example),
        None => format!("text in the format {format}"),
    }
}

pub(crate) fn is_known(format: &str) -> bool {
    FORMATS.iter().any(|known| known.name == format)
}

/// Adds the formats that are ours to those of the validator.
pub(crate) fn asserted(options: ValidationOptions<'_>) -> ValidationOptions<'_> {
    options
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(true)
        .with_format("time", is_time)
        .with_format("partial-time", is_partial_time)
        .with_format("partial-date-time", is_partial_date_time)
}

pub(crate) fn is_time(text: &str) -> bool {
    let (time, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    is_partial_time(time)
        && match offset.as_bytes() {
            [] | [b'Z' | b'z'] => true,
            [b'+' | b'-', rest @ ..] => {
                matches!(rest, [h, i, b':', m, n] if below(&[*h, *i], 24) && below(&[*m, *n], 60))
            }
            _ => false,
        }
}

pub(crate) fn is_partial_time(text: &str) -> bool {
    let Some((hours, rest)) = text.split_once(':') else { return false };
    let (minutes, seconds) = match rest.split_once(':') {
        Some((minutes, seconds)) => (minutes, Some(seconds)),
        None => (rest, None),
    };
    below(hours.as_bytes(), 24)
        && below(minutes.as_bytes(), 60)
        && seconds.is_none_or(|seconds| {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            // 60 is a leap second.
            below(whole.as_bytes(), 61)
                && !fraction.is_empty()
                && fraction.bytes().all(|digit| digit.is_ascii_digit())
        })
}

fn is_partial_date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_partial_time(time))
}

pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    if year.len() != 4 || !year.bytes().all(|digit| digit.is_ascii_digit()) {
        return false;
    }
    let (Ok(year), true, true) =
        (year.parse::<u32>(), below(month.as_bytes(), 13), below(day.as_bytes(), 32))
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        "00" => return false,
        "02" if leap => "29",
        "02" => "28",
        "04" | "06" | "09" | "11" => "30",
        _ => "31",
    };
    day != "00" && day <= days
}

/// Two digits that make a number below `end`.
fn below(digits: &[u8], end: u8) -> bool {
    matches!(digits, [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] if (tens - b'0') * 10 + (ones - b'0') < end)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn takes(format: &str, text: &str) -> bool {
        let schema = json!({"format": format});
        asserted(jsonschema::options()).build(&schema).unwrap().is_valid(&json!(text))
    }

    #[test]
    fn each_example_has_its_format() {
        for format in FORMATS {
            assert!(takes(format.name, format.example), "{}", format.name);
            assert!(!takes(format.name, "any other text"), "{}", format.name);
        }
    }

    #[test]
    fn times_and_dates() {
        let check = |format: &str, good: &[&str], bad: &[&str]| {
            good.iter().for_each(|text| assert!(takes(format, text), "{format} {text}"));
            bad.iter().for_each(|text| assert!(!takes(format, text), "{format} {text}"));
        };
        check(
            "time",
            &["09:30", "23:59:60", "09:30:00.125", "09:30Z", "09:30:00+02:00", "00:00:00-23:59"],
            &[
                "9:30",
                "24:00",
                "09:60",
                "09:30am",
                "0930",
                "09:30:",
                "09:30:00.",
                "09:30+2",
                "09:30:00+24:00",
                "",
                "ä",
            ],
        );
        check("partial-time", &["09:30"], &["09:30Z", "9:30"]);
        check(
            "partial-date-time",
            &["2026-03-31T09:30"],
            &["2026-03-31", "2026-03-31 09:30", "2026-03-31T09:30Z"],
        );
        check("date", &["2024-02-29", "2026-12-31"], &["2026-02-29", "2026-1-5", "1/5/2026", "2026-04-31"]);
        let dates = [
            "2024-02-29",
            "2000-02-29",
            "1900-02-29",
            "2026-00-10",
            "2026-10-00",
            "2026-13-01",
            "26-01-01",
            "2026-04-31",
        ];
        for date in dates {
            assert_eq!(is_date(date), takes("date", date), "{date}");
        }
    }
}
