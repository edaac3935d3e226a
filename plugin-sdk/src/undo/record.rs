//! The list of changes of one call, as it lies on the disk: one JSON object a line, so that a call that was cut off in the
//! middle has a record up to there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::State;
use crate::workspace::RelPath;

/// One path that a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: RelPath,
    pub(super) before: State,
    /// `None`: the call did not come to its end.
    pub(super) after: Option<State>,
    /// The other name that the entry got.
    pub(super) moved_to: Option<RelPath>,
}

/// The record of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Name of its file.
    pub(super) name: String,
    pub(super) key: String,
    /// In the order in which they were made.
    pub(super) changes: Vec<Change>,
    pub(super) undone: bool,
    /// Set where the changes were found by looking before and after.
    pub(super) survey: Option<Surveyed>,
}

/// What there is to say about looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Surveyed {
    /// Folders that were not looked into.
    pub(super) left_out: Vec<RelPath>,
    /// Whether there was a second look.
    pub(super) is_over: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Call {
        key: String,
    },
    Before {
        path: PathText,
        state: State,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moved_to: Option<PathText>,
    },
    After {
        path: PathText,
        state: State,
    },
    /// Changes will be found by looking; these folders are not looked into.
    Surveyed {
        left_out: Vec<PathText>,
    },
    /// All that was found stands above.
    Found,
    Undone,
}

impl Record {
    /// Reads what there is; a last line that is cut off says nothing.
    pub(super) fn read(name: &str, text: &str) -> Option<Self> {
        let mut lines = text.lines().map_while(|line| serde_json::from_str::<Line>(line).ok());
        let Line::Call { key } = lines.next()? else { return None };
        let mut record =
            Self { name: name.to_owned(), key, changes: Vec::new(), undone: false, survey: None };
        // The changes of each path whose end is not told yet, the last one first.
        let mut open: BTreeMap<RelPath, Vec<usize>> = BTreeMap::new();
        for line in lines {
            match line {
                Line::Call { .. } => return None,
                Line::Before { path, state, moved_to } => {
                    open.entry(path.0.clone()).or_default().insert(0, record.changes.len());
                    record.changes.push(Change {
                        path: path.0,
                        before: state,
                        after: None,
                        moved_to: moved_to.map(|path| path.0),
                    });
                }
                Line::After { path, state } => {
                    let first = open.get_mut(&path.0).and_then(Vec::pop);
                    if let Some(change) = first.and_then(|first| record.changes.get_mut(first)) {
                        change.after = Some(state);
                    }
                }
                Line::Surveyed { left_out } => {
                    let left_out = left_out.into_iter().map(|path| path.0).collect();
                    record.survey = Some(Surveyed { left_out, is_over: false });
                }
                Line::Found => record.survey.iter_mut().for_each(|survey| survey.is_over = true),
                Line::Undone => record.undone = true,
            }
        }
        Some(record)
    }

    /// The hashes of the contents that it may need.
    pub(super) fn contents(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().filter_map(|change| match &change.before {
            State::File { hash, .. } if change.moved_to.is_none() => Some(hash.as_str()),
            _ => None,
        })
    }
}

/// A path as JSON: text, or its bytes where it is none.
#[derive(Debug)]
pub(super) struct PathText(pub(super) RelPath);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl Serialize for PathText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = self.0.as_path().as_os_str();
        let written = match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(path.as_bytes().to_vec()),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PathText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = match Written::deserialize(deserializer)? {
            Written::Text(text) => OsString::from(text),
            Written::Bytes(bytes) => OsString::from_vec(bytes),
        };
        // A record lies where others can write: what it names is checked like any other path.
        let path = RelPath::from_system(&path)
            .ok_or_else(|| serde::de::Error::custom("a path of the record is not one of the workspace"))?;
        Ok(Self(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = Record::read("n", text).map_or_else(
            || "none".to_owned(),
            |record| {
                let changes: Vec<String> = record
                    .changes
                    .iter()
                    .map(|change| format!("{} {:?} {:?}", change.path, change.before, change.after))
                    .collect();
                format!("{} {} {}", record.key, changes.join("; "), record.undone)
            },
        );
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn a_record_is_read_as_far_as_it_goes() {
        check("", "none");
        check(r#"{"call":{"key":"k"}}"#, "k  false");
        check(
            "{\"call\":{\"key\":\"k\"}}\n{\"before\":{\"path\":\"a\",\"state\":{\"kind\":\"absent\"}}}\n{\"aft",
            "k a Absent None false",
        );
        check(
            "{\"call\":{\"key\":\"k\"}}\n{\"before\":{\"path\":[255,97],\"state\":{\"kind\":\"absent\"}}}\n\
             {\"after\":{\"path\":[255,97],\"state\":{\"kind\":\"directory\",\"mode\":493}}}\n\"undone\"\n",
            "k \u{fffd}a Absent Some(Directory { mode: 493 }) true",
        );
        check(
            "{\"call\":{\"key\":\"k\"}}\n{\"before\":{\"path\":\"../a\",\"state\":{\"kind\":\"absent\"}}}\n",
            "k  false",
        );
    }
}
