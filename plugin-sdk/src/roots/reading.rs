//! What a call that only looks is called, so that rules about paths see it as they see a change.

use std::path::PathBuf;

use super::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::wire::Classification;

/// The classification of a call that looks at places, each with the path that was written for it.
///
/// Only what may not be looked at is refused beforehand. What is not there, or cannot be read, is for the call itself to tell:
/// nothing is lost by running it. Of several places, those that may be looked at are.
pub fn reading(operation: &str, places: &[(&str, Result<Place>)]) -> Classification {
    let mut classification = Classification::operation(operation);
    let paths = &mut classification.facts.paths;
    for (given, place) in places {
        match place {
            Ok(place) => paths.extend(place.paths()),
            Err(_) => paths.push(PathBuf::from(given)),
        }
    }
    paths.sort();
    paths.dedup();
    let refusals: Vec<&Error> = places.iter().filter_map(|(_, place)| refusal(place)).collect();
    if refusals.len() == places.len() {
        classification.refusal = refusals.first().map(|error| error.message().to_owned());
    }
    if let (Some(operation), Some((given, place))) = (classification.operations.first_mut(), places.first()) {
        let first = place.as_ref().map_or_else(|_| (*given).to_owned(), ToString::to_string);
        let more = places.iter().filter(|(other, _)| other != given).count();
        operation.target = Some(if more > 0 { format!("{first} and {more} more") } else { first });
    }
    classification
}

fn refusal(place: &Result<Place>) -> Option<&Error> {
    place.as_ref().err().filter(|error| error.kind() == ErrorKind::Refused)
}
