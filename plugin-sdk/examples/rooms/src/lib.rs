//! Meeting rooms: find a free one, book it, look at what is booked, take a booking back.
//!
//! Shown here: arguments that are bounded wherever they can be, values that outlive the process in [`Cx::state`], and a
//! caller that comes from the host. No tool takes a user as an argument, so nobody books or cancels in another's name.

mod bookings;
mod cancel;
mod find;
mod house;
mod mine;
mod reserve;
mod span;

use foehn_plugin_sdk::prelude::*;

use crate::cancel::CancelBooking;
use crate::find::FindRooms;
use crate::mine::MyBookings;
use crate::reserve::BookRoom;

export_plugin! {
    tools: [FindRooms, BookRoom, CancelBooking, MyBookings],
    instructions: "A room is booked by the id that `find_rooms` gives. Times are local to the house, in 24 hours.",
}
