//! `find_rooms`: which rooms are free and fit.

use foehn_plugin_sdk::prelude::*;

use crate::bookings;
use crate::house::{Equipment, MOST_SEATS, ROOMS, Room};
use crate::span::Span;

pub(crate) struct FindRooms;

#[args]
pub(crate) struct FindRoomsArgs {
    /// Day, as YYYY-MM-DD.
    #[schemars(extend("format" = "date"), example = &"2026-03-02")]
    date: String,
    /// Start in 24 hours, as HH:MM.
    #[schemars(extend("format" = "time"), example = &"09:30")]
    start_time: String,
    /// Length in minutes, 15 to 480. Default: 60.
    #[serde(default = "an_hour")]
    #[schemars(range(min = 15, max = 480))]
    duration_minutes: u16,
    /// Least number of seats, 1 to 20. Default: 1.
    #[serde(default = "one", alias = "capacity")]
    #[schemars(range(min = 1, max = MOST_SEATS))]
    seats: u8,
    /// What has to be in the room. Default: nothing.
    #[serde(default)]
    #[schemars(length(max = 3))]
    equipment: Vec<Equipment>,
}

fn an_hour() -> u16 {
    60
}

fn one() -> u8 {
    1
}

impl Tool for FindRooms {
    const NAME: &'static str = "find_rooms";
    const DESCRIPTION: &'static str =
        "Find meeting rooms that are free at a time and fit. Gives the ids that `book_room` takes.";
    const RISK: Risk = Risk::ReadOnly;
    type Args = FindRoomsArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: FindRoomsArgs, cx: &Cx<'_>) -> Result<String> {
        let span = Span::new(&args.start_time, args.duration_minutes)?;
        let mut fitting = Vec::new();
        for room in ROOMS.iter().filter(|room| room.fits(args.seats, &args.equipment)) {
            cx.check()?;
            if is_free(cx, room, &args.date, span)? {
                fitting.push(room.to_string());
            }
        }
        if fitting.is_empty() {
            return Ok(format!("No room is free on {} at {span} and fits.", args.date));
        }
        Ok(fitting.join("\n"))
    }
}

/// Whether nobody has the room in that time.
pub(crate) fn is_free(cx: &Cx<'_>, room: &Room, date: &str, span: Span) -> Result<bool> {
    for booking in bookings::of(cx, room.id, date)? {
        if booking.span()?.overlaps(span) {
            return Ok(false);
        }
    }
    Ok(true)
}
