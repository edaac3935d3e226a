//! `cancel_booking`: takes a booking of the caller back.

use foehn_plugin_sdk::prelude::*;

use crate::bookings;

pub(crate) struct CancelBooking;

#[args]
pub(crate) struct CancelBookingArgs {
    /// Id of the booking, from `book_room` or `my_bookings`.
    #[schemars(
        regex(pattern = "^[a-z]{2,20}-[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}$"),
        example = &"birch-2026-03-02-0930"
    )]
    booking_id: String,
}

impl Tool for CancelBooking {
    const NAME: &'static str = "cancel_booking";
    const DESCRIPTION: &'static str =
        "Cancel a booking of the user who asks. Nobody else's can be cancelled.";
    const RISK: Risk = Risk::Destructive;
    const REQUIRES_CALLER: bool = true;
    type Args = CancelBookingArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: CancelBookingArgs, cx: &Cx<'_>) -> Result<String> {
        let caller = bookings::caller(cx)?;
        let id = &args.booking_id;
        let unknown = || Error::failed(format!("there is no booking `{id}`")).executed(false);
        let (room, date) = bookings::place(id).ok_or_else(unknown)?;
        bookings::change(cx, room, date, |booked| {
            let position = booked.iter().position(|booking| booking.id == *id).ok_or_else(unknown)?;
            if booked[position].caller != caller {
                return Err(Error::unauthorized(format!("`{id}` is somebody else's booking")));
            }
            booked.remove(position);
            Ok(())
        })?;
        Ok(format!("Cancelled {id}."))
    }
}
