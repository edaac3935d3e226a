//! What a planned change is called, and how it is shown to whoever is asked.

use std::path::PathBuf;

use foehn_plugin_sdk::prelude::*;
use similar::TextDiff;

use crate::files::Place;
use crate::text::{Encoding, LineEnds, counted};

/// Files beyond this are not compared line by line for a preview.
const LARGEST_COMPARED_BYTES: usize = 512 * 1024;
const DIFF_CONTEXT_LINES: usize = 3;

/// The classification of a planned change, or of a call whose plan does not work out.
pub(crate) fn classification(operation: &str, given: &str, plan: &Result<impl Planned>) -> Classification {
    let mut classification = Classification::operation(operation);
    let target = match plan {
        Ok(plan) => {
            let places = plan.places();
            classification.facts.paths = places.iter().flat_map(|place| place.paths()).collect();
            classification.preview = Some(plan.preview());
            places.first().map_or_else(|| given.to_owned(), ToString::to_string)
        }
        Err(error) => {
            classification.facts.paths = vec![PathBuf::from(given)];
            classification.refusal = Some(error.message().to_owned());
            given.to_owned()
        }
    };
    if let Some(operation) = classification.operations.first_mut() {
        operation.target = Some(target);
    }
    classification
}

/// A change that has been worked out and not yet made.
pub(crate) trait Planned {
    /// What the change touches; what it is mainly about comes first.
    fn places(&self) -> Vec<&Place>;
    fn preview(&self) -> Preview;
}

/// The change of a file as a unified diff; in words when it is no text or too large to be compared.
pub(crate) fn diff(place: &Place, before: &[u8], after: &[u8]) -> Preview {
    let is_text = |bytes| matches!(Encoding::sniff(bytes), Encoding::Utf8 { .. });
    if before.len().max(after.len()) > LARGEST_COMPARED_BYTES || !is_text(before) || !is_text(after) {
        let text = format!("`{place}` has {} bytes and gets {} others", before.len(), after.len());
        return Preview::Text { text };
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .context_radius(DIFF_CONTEXT_LINES)
        .header(&format!("a/{place}"), &format!("b/{place}"))
        .to_string();
    Preview::Diff { path: place.root.shown(&place.path).into_owned(), diff }
}

/// `3 lines, 12 bytes`.
pub(crate) fn extent(bytes: &[u8]) -> String {
    let ends = LineEnds::of(bytes);
    let unended = u64::from(bytes.last().is_some_and(|&last| last != b'\n'));
    format!("{}, {}", counted(ends.crlf + ends.lf + unended, "line"), counted(bytes.len() as u64, "byte"))
}
