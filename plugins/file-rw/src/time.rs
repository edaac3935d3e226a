//! Points in time as a model should read them: UTC, to the second.

/// Of seconds since 1970; `None` for one that no calendar has.
pub(crate) fn shown(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
