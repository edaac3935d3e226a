//! Formats, and texts that have them not.

use serde_json::json;

use crate::check;

#[test]
fn each_format_is_asserted_and_told_by_example() {
    let row = |format: &str, good: &str, bad: &str, expected: &str| {
        let schema = json!({"type": "object", "properties": {"it": {"type": "string", "format": format}}});
        let good = format!(r#"{{"it":"{good}"}}"#);
        let wrong = format!(r#"{{"it":"{bad}"}}"#);
        let problem = format!("! /it bad_format | expected: {expected} | got: \"{bad}\"");
        check(&schema, &[(&good, &format!("= {good}")), (&wrong, &problem)]);
    };
    row("date", "2028-02-29", "2027-02-29", r#"a date as YYYY-MM-DD, such as "2026-03-31""#);
    row("time", "09:30", "9.30", r#"a time of 24 hours as HH:MM or HH:MM:SS, such as "09:30""#);
    row("partial-time", "09:30:15", "noon", r#"a time of 24 hours as HH:MM or HH:MM:SS, such as "09:30""#);
    row(
        "date-time",
        "2026-03-31T09:30:00+02:00",
        "2026-03-31 09:30",
        r#"a date and time with its offset from UTC, as YYYY-MM-DDTHH:MM:SSZ, such as "2026-03-31T09:30:00Z""#,
    );
    row(
        "partial-date-time",
        "2026-03-31T09:30",
        "2026-03-31T09:30Z",
        r#"a date and time without offset, as YYYY-MM-DDTHH:MM:SS, such as "2026-03-31T09:30:00""#,
    );
    row("duration", "PT90M", "90 minutes", r#"a duration in the form of ISO 8601, such as "PT1H30M""#);
    row("email", "ada@example.org", "ada", r#"one e-mail address, such as "ada@example.com""#);
    row(
        "uri",
        "mailto:ada@example.org",
        "example.com/page",
        r#"an address with its scheme, such as "https://example.com/page""#,
    );
    row(
        "uuid",
        "0197F0C4-8D5C-7C3A-9B1E-2F6A4D8C0E11",
        "0197f0c4",
        r#"a UUID with its hyphens, such as "3f2b8c1e-5d4a-4f60-9b7e-2a1c0d9e8f76""#,
    );
    row("ipv4", "127.0.0.1", "localhost", "text in the format ipv4");
}

#[test]
fn patterns_and_missing_arguments_are_told_by_example() {
    let schema = json!({
        "type": "object",
        "properties": {
            "room": {"type": "string", "pattern": "^R[0-9]{3}$", "examples": ["R101"]},
            "start": {"type": "string", "format": "time"},
        },
        "required": ["start"],
    });
    check(
        &schema,
        &[(
            r#"{"room":"101"}"#,
            "! /room bad_format | expected: text that matches ^R[0-9]{3}$, such as \"R101\" | got: \"101\"\n\
             ! /start missing_argument | expected: a time of 24 hours as HH:MM or HH:MM:SS, such as \"09:30\"",
        )],
    );
}
