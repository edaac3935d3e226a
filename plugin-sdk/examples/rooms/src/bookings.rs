//! What is booked. It lies in the host's state, one value for each room and day, so that two calls at once cannot both
//! take a room: whoever stores second sees what the first has stored, and looks again.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::serde::{self, Deserialize, Serialize};

use crate::house::Room;
use crate::span::Span;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(crate = "self::serde")]
pub(crate) struct Booking {
    pub(crate) id: String,
    pub(crate) room: String,
    pub(crate) date: String,
    pub(crate) start_time: String,
    pub(crate) duration_minutes: u16,
    pub(crate) title: String,
    /// Who may take it back.
    pub(crate) caller: String,
}

impl Booking {
    pub(crate) fn span(&self) -> Result<Span> {
        Span::new(&self.start_time, self.duration_minutes)
    }
}

/// The one who calls. The tools require a caller, so the host does not even start a call without one.
pub(crate) fn caller<'a>(cx: &Cx<'a>) -> Result<&'a str> {
    let caller = cx.caller().ok_or_else(|| Error::unauthorized("the host does not say who calls"))?;
    Ok(&caller.id)
}

/// No two bookings of a room begin at the same time of a day, so that is what names one.
pub(crate) fn id(room: &Room, date: &str, span: Span) -> String {
    format!("{}-{date}-{}", room.id, span.start().replace(':', ""))
}

/// Room and day of a booking's id.
pub(crate) fn place(id: &str) -> Option<(&str, &str)> {
    let (room_and_date, _) = id.rsplit_once('-')?;
    room_and_date.split_once('-')
}

pub(crate) fn of(cx: &Cx<'_>, room: &str, date: &str) -> Result<Vec<Booking>> {
    Ok(cx.state().get(&key(room, date))?.unwrap_or_default())
}

/// All bookings from a day on, by day and room.
pub(crate) fn since(cx: &Cx<'_>, date: &str) -> Result<Vec<Booking>> {
    let mut found = Vec::new();
    for key in cx.state().list("")?.iter().filter(|key| key.as_str() >= date) {
        cx.check()?;
        found.extend(cx.state().get::<Vec<Booking>>(key)?.unwrap_or_default());
    }
    Ok(found)
}

/// Changes the bookings of one room and day; `change` is asked again when another call came in between.
pub(crate) fn change<T>(
    cx: &Cx<'_>,
    room: &str,
    date: &str,
    mut change: impl FnMut(&mut Vec<Booking>) -> Result<T>,
) -> Result<T> {
    let key = key(room, date);
    loop {
        let before: Option<Vec<Booking>> = cx.state().get(&key)?;
        let mut after = before.clone().unwrap_or_default();
        let answer = change(&mut after)?;
        let after = (!after.is_empty()).then_some(after);
        if cx.state().cas(&key, before.as_ref(), after.as_ref())? {
            return Ok(answer);
        }
        cx.check()?;
    }
}

/// The day comes first, so that keys sort by time.
fn key(room: &str, date: &str) -> String {
    format!("{date}/{room}")
}
