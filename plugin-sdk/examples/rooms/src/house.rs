//! The house: which rooms there are and what stands in them. A real plugin would ask a calendar; this one knows by heart.

use std::fmt;

use foehn_plugin_sdk::prelude::*;

/// What a room can have.
#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Equipment {
    Projector,
    Whiteboard,
    VideoCall,
}

impl fmt::Display for Equipment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) id: &'static str,
    pub(crate) seats: u8,
    pub(crate) equipment: &'static [Equipment],
}

/// Smallest first: the first room that fits is the one to take.
pub(crate) const ROOMS: [Room; 4] = [
    Room { id: "alder", seats: 4, equipment: &[Equipment::Whiteboard] },
    Room { id: "birch", seats: 8, equipment: &[Equipment::Projector, Equipment::Whiteboard] },
    Room { id: "cedar", seats: 8, equipment: &[Equipment::VideoCall, Equipment::Whiteboard] },
    Room {
        id: "maple",
        seats: 20,
        equipment: &[Equipment::Projector, Equipment::Whiteboard, Equipment::VideoCall],
    },
];

/// No room has more seats than this.
pub(crate) const MOST_SEATS: u8 = 20;

impl Room {
    /// The room of an id.
    ///
    /// # Errors
    /// When there is none; the ids that there are stand in the text.
    pub(crate) fn of(id: &str) -> Result<&'static Self> {
        ROOMS.iter().find(|room| room.id == id).ok_or_else(|| {
            let known: Vec<&str> = ROOMS.iter().map(|room| room.id).collect();
            Error::failed(format!("there is no room `{id}`; the rooms are: {}", known.join(", ")))
                .executed(false)
        })
    }

    pub(crate) fn fits(&self, seats: u8, equipment: &[Equipment]) -> bool {
        self.seats >= seats && equipment.iter().all(|wanted| self.equipment.contains(wanted))
    }
}

impl fmt::Display for Room {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equipment: Vec<String> = self.equipment.iter().map(Equipment::to_string).collect();
        write!(formatter, "{}: {} seats, {}", self.id, self.seats, equipment.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_the_schema_is_that_of_the_house() {
        assert_eq!(ROOMS.iter().map(|room| room.seats).max(), Some(MOST_SEATS));
    }
}
