//! The rows of the policy. What a model reads of a coercion stands here and nowhere else.

use super::{Answer, Reading, Row, text};
use crate::kinds::Kinds;
use crate::problems::{code, hint};

/// Said when `null` stands for an argument that may be left out but not be null.
pub(crate) const NULL_IS_ABSENT: &str = "null was taken as left out";

pub(super) const OTHER_CASE: &str = "the listed value in its own case was used";
pub(super) const TIME_DIGITS: &str = "the time was read with two digits for the hour";
pub(super) const DATE_DIGITS: &str = "the date was read with two digits for month and day";

const AS_INTEGER: &str = "text was read as an integer";
const AS_NUMBER: &str = "text was read as a number";
const AS_BOOLEAN: &str = "text was read as true or false";
const AS_ARRAY: &str = "JSON text was read as an array";
const AS_OBJECT: &str = "JSON text was read as an object";
const WHOLE: &str = "a number without fraction was read as an integer";
const AS_TEXT: &str = "a number was read as text, digit by digit";
const AS_LIST: &str = "one value was read as a list of one";

pub(super) static ROWS: [Row; 30] = [
    accepted("integer-from-text", "an integer", INTEGER, r#""6""#, "6", AS_INTEGER).by(
        Kinds::STRING,
        Kinds::INTEGER,
        text::integer,
    ),
    accepted("number-from-text", "a number", NUMBER, r#""6.5""#, "6.5", AS_NUMBER).by(
        Kinds::STRING,
        Kinds::NUMBER,
        text::number,
    ),
    accepted("boolean-from-text", "true or false", BOOLEAN, r#""true""#, "true", AS_BOOLEAN).by(
        Kinds::STRING,
        Kinds::BOOLEAN,
        text::boolean,
    ),
    accepted("blanks-around", "an integer", INTEGER, r#"" 6 ""#, "6", AS_INTEGER),
    accepted("integer-without-fraction", "an integer", INTEGER, "10.0", "10", WHOLE).by(
        Kinds::NUMBER,
        Kinds::INTEGER,
        text::whole,
    ),
    accepted("integer-with-exponent", "an integer", INTEGER, "1e3", "1000", WHOLE),
    accepted(
        "array-from-text",
        "a list",
        TEXTS,
        r#""[\"a.txt\",\"b.txt\"]""#,
        r#"["a.txt","b.txt"]"#,
        AS_ARRAY,
    )
    .by(Kinds::STRING, Kinds::ARRAY, text::array),
    accepted(
        "object-from-text",
        "an object",
        r#"{"type":"object"}"#,
        r#""{\"k\":1}""#,
        r#"{"k":1}"#,
        AS_OBJECT,
    )
    .by(Kinds::STRING, Kinds::OBJECT, text::object),
    accepted("list-of-one", "a list", TEXTS, r#""a.txt""#, r#"["a.txt"]"#, AS_LIST).by(
        NOT_NULL_NOR_ARRAY,
        Kinds::ARRAY,
        text::list,
    ),
    accepted("text-from-number", "text", TEXT, "42", r#""42""#, AS_TEXT).by(
        Kinds::INTEGER.or(Kinds::NUMBER),
        Kinds::STRING,
        text::from_number,
    ),
    accepted("text-from-every-digit", "text", TEXT, "1.50", r#""1.50""#, AS_TEXT),
    accepted("case-of-listed-text", "one of a list", LISTED, r#""HIGH""#, r#""high""#, OTHER_CASE),
    accepted("hour-in-one-digit", "a time", TIME, r#""9:30""#, r#""09:30""#, TIME_DIGITS),
    accepted("hour-by-pattern", "a time", TIME_PATTERN, r#""9:30""#, r#""09:30""#, TIME_DIGITS),
    accepted("date-in-single-digits", "a date", DATE, r#""2026-1-5""#, r#""2026-01-05""#, DATE_DIGITS),
    Row {
        answer: Answer::Accepted { runs: None, note: NULL_IS_ABSENT },
        ..accepted("null-for-optional", "an integer, or nothing", INTEGER, "null", "", NULL_IS_ABSENT)
    },
    refused(
        "null-for-required",
        "an integer",
        INTEGER,
        "null",
        code::WRONG_TYPE,
        "integer",
        Some(hint::NULL),
    )
    .required(),
    refused("time-of-twelve-hours", "a time", TIME, r#""9:30am""#, code::BAD_FORMAT, TIME_EXPECTED, None),
    refused("date-in-another-order", "a date", DATE, r#""1/5/2026""#, code::BAD_FORMAT, DATE_EXPECTED, None),
    refused(
        "number-in-words",
        "an integer",
        INTEGER,
        r#""six""#,
        code::WRONG_TYPE,
        "integer",
        Some(hint::DIGITS),
    ),
    refused(
        "leading-zeros",
        "an integer",
        INTEGER,
        r#""007""#,
        code::WRONG_TYPE,
        "integer",
        Some(hint::DIGITS),
    ),
    refused(
        "fraction-for-integer",
        "an integer",
        INTEGER,
        "10.5",
        code::WRONG_TYPE,
        "integer",
        Some(hint::WHOLE),
    ),
    refused(
        "more-than-64-bits",
        "an integer",
        INTEGER,
        "18446744073709551616",
        code::OUT_OF_RANGE,
        "an integer from -9223372036854775808 to 18446744073709551615",
        None,
    ),
    refused(
        "yes-for-true",
        "true or false",
        BOOLEAN,
        r#""yes""#,
        code::WRONG_TYPE,
        "boolean",
        Some(hint::BOOLEAN),
    ),
    refused(
        "number-for-listed-text",
        "one of a list",
        LISTED,
        "1",
        code::NOT_IN_ENUM,
        r#"one of "low", "high""#,
        Some(hint::LISTED_TEXT),
    ),
    refused("object-for-text", "text", TEXT, r#"{"a":1}"#, code::WRONG_TYPE, "string", Some(hint::AS_TEXT)),
    refused("boolean-for-text", "text", TEXT, "true", code::WRONG_TYPE, "string", Some(hint::AS_TEXT)),
    refused(
        "separated-text-for-list",
        "a list",
        TEXTS,
        r#""a.txt, b.txt""#,
        code::WRONG_TYPE,
        "array",
        Some(hint::STRUCTURE),
    ),
    refused(
        "two-readings",
        "an integer or a list",
        r#"{"type":["integer","array"],"items":{"type":"string"}}"#,
        r#""6""#,
        code::AMBIGUOUS,
        "integer or array",
        Some(r#"it can mean 6 or ["6"]: write the one that is meant"#),
    ),
    refused(
        "twice-in-text",
        "an object",
        r#"{"type":"object"}"#,
        r#""{\"a\":1,\"a\":2}""#,
        code::WRONG_TYPE,
        "object",
        Some(hint::STRUCTURE),
    ),
];

const INTEGER: &str = r#"{"type":"integer"}"#;
const NUMBER: &str = r#"{"type":"number"}"#;
const BOOLEAN: &str = r#"{"type":"boolean"}"#;
const TEXT: &str = r#"{"type":"string"}"#;
const TEXTS: &str = r#"{"type":"array","items":{"type":"string"}}"#;
const LISTED: &str = r#"{"type":"string","enum":["low","high"]}"#;
const TIME: &str = r#"{"type":"string","format":"time"}"#;
const TIME_PATTERN: &str = r#"{"type":"string","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$"}"#;
const DATE: &str = r#"{"type":"string","format":"date"}"#;

const TIME_EXPECTED: &str = r#"a time of 24 hours as HH:MM or HH:MM:SS, such as "09:30""#;
const DATE_EXPECTED: &str = r#"a date as YYYY-MM-DD, such as "2026-03-31""#;

const NOT_NULL_NOR_ARRAY: Kinds =
    Kinds::BOOLEAN.or(Kinds::INTEGER).or(Kinds::NUMBER).or(Kinds::STRING).or(Kinds::OBJECT);

const fn accepted(
    id: &'static str,
    wanted: &'static str,
    schema: &'static str,
    given: &'static str,
    runs: &'static str,
    note: &'static str,
) -> Row {
    let answer = Answer::Accepted { runs: Some(runs), note };
    Row { id, wanted, schema, required: false, given, answer, reading: None }
}

const fn refused(
    id: &'static str,
    wanted: &'static str,
    schema: &'static str,
    given: &'static str,
    code: &'static str,
    expected: &'static str,
    suggestion: Option<&'static str>,
) -> Row {
    let answer = Answer::Refused { code, expected, suggestion };
    Row { id, wanted, schema, required: false, given, answer, reading: None }
}

impl Row {
    /// The row that does it; the others are further examples of the same.
    const fn by(
        mut self,
        given: Kinds,
        wanted: Kinds,
        read: fn(&super::Given<'_>) -> Option<serde_json::Value>,
    ) -> Self {
        self.reading = Some(Reading { given, wanted, read });
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
