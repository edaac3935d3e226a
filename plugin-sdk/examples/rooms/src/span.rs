//! A span of time within one day. The host has checked how times are written before the plugin sees them; what a schema
//! cannot say, such as that nothing may end after midnight, is said here.

use std::fmt;

use foehn_plugin_sdk::prelude::*;

const MINUTES_OF_A_DAY: u16 = 24 * 60;

/// Minutes since midnight; `to` is the first one that is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    from: u16,
    to: u16,
}

impl Span {
    /// From a start such as `09:30` and a length.
    ///
    /// # Errors
    /// When the start is no time of a day, or the end is not on the same day.
    pub(crate) fn new(start: &str, minutes: u16) -> Result<Self> {
        let Some(from) = minute_of_day(start) else {
            return Err(Error::invalid_arguments(format!("`{start}` is no time of a day, such as 09:30")));
        };
        let to = from.saturating_add(minutes);
        if to > MINUTES_OF_A_DAY {
            let most = MINUTES_OF_A_DAY - from;
            let message = format!("a booking ends on its day: from {start} at most {most} minutes are left");
            return Err(Error::failed(message).executed(false));
        }
        Ok(Self { from, to })
    }

    /// The start as it was booked: `09:30`.
    pub(crate) fn start(self) -> String {
        clock(self.from)
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", clock(self.from), clock(self.to))
    }
}

/// Seconds may be written, but no room is booked by them; an offset from UTC means nothing to a house.
fn minute_of_day(time: &str) -> Option<u16> {
    let (hour, rest) = time.split_once(':')?;
    let (minute, seconds) = rest.split_once(':').unwrap_or((rest, "00"));
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let _: u16 = seconds.parse().ok()?;
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn clock(minutes: u16) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_end_on_their_day() {
        let check = |start: &str, minutes: u16, expected: &str| {
            let actual =
                Span::new(start, minutes).map_or_else(|error| error.to_string(), |span| span.to_string());
            assert_eq!(actual, expected);
        };
        check("09:30", 45, "09:30-10:15");
        check("23:00", 60, "23:00-24:00");
        check("23:00", 90, "a booking ends on its day: from 23:00 at most 60 minutes are left");
        check("09:30:00", 15, "09:30-09:45");
        check("09:30Z", 15, "`09:30Z` is no time of a day, such as 09:30");
        check("25:00", 15, "`25:00` is no time of a day, such as 09:30");
        check("half past nine", 15, "`half past nine` is no time of a day, such as 09:30");
    }

    #[test]
    fn the_end_of_one_is_free_for_the_next() {
        let check = |one: (&str, u16), other: (&str, u16), expected: bool| {
            let spans = [one, other].map(|(start, minutes)| Span::new(start, minutes).unwrap());
            assert_eq!(spans[0].overlaps(spans[1]), expected, "{spans:?}");
        };
        check(("09:00", 60), ("10:00", 60), false);
        check(("09:00", 61), ("10:00", 60), true);
        check(("09:00", 120), ("09:30", 15), true);
    }
}
