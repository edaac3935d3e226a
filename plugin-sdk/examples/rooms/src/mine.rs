//! `my_bookings`: what the caller has booked, and nobody else's.

use foehn_plugin_sdk::prelude::*;

use crate::bookings;

pub(crate) struct MyBookings;

#[args]
pub(crate) struct MyBookingsArgs {
    /// First day, as YYYY-MM-DD. Default: all days.
    #[schemars(extend("format" = "date"), example = &"2026-03-02")]
    from_date: Option<String>,
    /// Most bookings to list, 1 to 100. Default: 20.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    limit: u8,
}

fn twenty() -> u8 {
    20
}

impl Tool for MyBookings {
    const NAME: &'static str = "my_bookings";
    const DESCRIPTION: &'static str = "List the room bookings of the user who asks, by day.";
    const RISK: Risk = Risk::ReadOnly;
    const REQUIRES_CALLER: bool = true;
    type Args = MyBookingsArgs;
    type Out = Output;
    type Config = ();

    fn run(&self, args: MyBookingsArgs, cx: &Cx<'_>) -> Result<Output> {
        let caller = bookings::caller(cx)?;
        let mut mine = bookings::since(cx, args.from_date.as_deref().unwrap_or_default())?;
        mine.retain(|booking| booking.caller == caller);
        if mine.is_empty() {
            return Ok(Output::text("Nothing is booked."));
        }
        let shown = mine.iter().take(args.limit.into()).map(|booking| {
            Ok(format!("{}: {} on {} at {}", booking.id, booking.title, booking.date, booking.span()?))
        });
        let output = Output::text(shown.collect::<Result<Vec<_>>>()?.join("\n"));
        let left = mine.len().saturating_sub(args.limit.into());
        Ok(if left == 0 { output } else { output.note(format!("{left} more are booked later")) })
    }
}
