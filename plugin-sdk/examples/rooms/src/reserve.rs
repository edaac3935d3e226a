//! `book_room`: takes a room for the caller.

use foehn_plugin_sdk::prelude::*;

use crate::bookings::{self, Booking};
use crate::find::is_free;
use crate::house::{Equipment, MOST_SEATS, ROOMS, Room};
use crate::span::Span;

pub(crate) struct BookRoom;

#[args]
pub(crate) struct BookRoomArgs {
    /// Id of the room, from `find_rooms`.
    #[schemars(regex(pattern = "^[a-z]{2,20}$"), example = &"birch")]
    room_id: String,
    /// Day, as YYYY-MM-DD.
    #[schemars(extend("format" = "date"), example = &"2026-03-02")]
    date: String,
    /// Start in 24 hours, as HH:MM.
    #[schemars(extend("format" = "time"), example = &"09:30")]
    start_time: String,
    /// Length in minutes, 15 to 480.
    #[schemars(range(min = 15, max = 480))]
    duration_minutes: u16,
    /// What the meeting is about, up to 80 characters.
    #[schemars(length(min = 1, max = 80))]
    title: String,
    /// How many will come, 1 to 20. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = MOST_SEATS))]
    attendees: u8,
    /// What has to be in the room. Default: nothing.
    #[serde(default)]
    #[schemars(length(max = 3))]
    equipment: Vec<Equipment>,
}

fn one() -> u8 {
    1
}

impl Tool for BookRoom {
    const NAME: &'static str = "book_room";
    const DESCRIPTION: &'static str = "Book a meeting room for the user who asks. Fails when it is taken.";
    const RISK: Risk = Risk::Write;
    const REQUIRES_CALLER: bool = true;
    type Args = BookRoomArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: BookRoomArgs, cx: &Cx<'_>) -> Result<String> {
        let caller = bookings::caller(cx)?;
        let room = Room::of(&args.room_id)?;
        let span = Span::new(&args.start_time, args.duration_minutes)?;
        if !room.fits(args.attendees, &args.equipment) {
            let message = format!("{room}: that does not fit {} with {:?}", args.attendees, args.equipment);
            return Err(Error::failed(message).executed(false));
        }
        let booking = Booking {
            id: bookings::id(room, &args.date, span),
            room: room.id.to_owned(),
            date: args.date.clone(),
            start_time: span.start(),
            duration_minutes: args.duration_minutes,
            title: args.title.clone(),
            caller: caller.to_owned(),
        };
        bookings::change(cx, room.id, &args.date, |booked| {
            for other in booked.iter() {
                if other.span()?.overlaps(span) {
                    return Err(taken(cx, room, &args, other, span)?);
                }
            }
            booked.push(booking.clone());
            Ok(())
        })?;
        Ok(format!("Booked {} on {} at {span}. The booking is {}.", room.id, args.date, booking.id))
    }
}

/// Why not, and what to take instead.
fn taken(cx: &Cx<'_>, room: &Room, args: &BookRoomArgs, other: &Booking, span: Span) -> Result<Error> {
    let whose = if bookings::caller(cx)? == other.caller {
        format!("by your own booking {}", other.id)
    } else {
        "by somebody else".to_owned()
    };
    let mut free = Vec::new();
    for room in ROOMS.iter().filter(|room| room.fits(args.attendees, &args.equipment)) {
        if is_free(cx, room, &args.date, span)? {
            free.push(room.id);
        }
    }
    let free = if free.is_empty() { "no other room that fits".to_owned() } else { free.join(", ") };
    let message =
        format!("{} is taken on {} at {} {whose}; free at {span}: {free}", room.id, args.date, other.span()?);
    Ok(Error::failed(message).executed(false))
}
