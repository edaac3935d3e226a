//! What changed between two snapshots, and whether somebody who relied on the older one is let down.
//!
//! Stored sessions, permissions and scripts rely on a contract. A change is safe when every call that was accepted still
//! is, and means the same; everything else is breaking, also what cannot be compared: this module never assumes.

mod places;
mod schemas;

use std::fmt;

use foehn_protocol::{Capabilities, FileAccess, NetworkAccess};
use serde::Serialize;

use crate::snapshot::SnapshotTool;

/// Whether a change lets somebody down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Breaking,
    Safe,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub class: Class,
    /// By the older name.
    pub tool: String,
    /// Pointer into the arguments, `*` for any item of a list; empty: the whole tool.
    pub at: String,
    /// What is different, and why that is safe or breaking.
    pub message: String,
}

impl Class {
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Safe => "safe",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.tool)?;
        if !self.at.is_empty() {
            write!(formatter, " at `{}`", self.at)?;
        }
        write!(formatter, ": {}", self.message)
    }
}

/// All differences, those of one tool together, breaking ones first.
pub fn changes(before: &[SnapshotTool], after: &[SnapshotTool]) -> Vec<Change> {
    let mut all = Vec::new();
    let mut successors: Vec<&str> = Vec::new();
    for old in before {
        let mut changes = Changes { tool: &old.name, all: Vec::new() };
        if let Some(new) = successor(old, after) {
            successors.push(&new.name);
            changes.tools(old, new);
        } else {
            changes.breaking("", "the tool is gone; who calls it is told that it does not exist");
        }
        changes.all.sort_by_key(|change| change.class);
        all.append(&mut changes.all);
    }
    for new in after.iter().filter(|new| !successors.contains(&new.name.as_str())) {
        let mut changes = Changes { tool: &new.name, all: Vec::new() };
        changes.safe("", "the tool is new; nobody relied on it");
        all.append(&mut changes.all);
    }
    all
}

/// The tool of the same name, else the one that keeps the name as an alias.
fn successor<'t>(old: &SnapshotTool, after: &'t [SnapshotTool]) -> Option<&'t SnapshotTool> {
    let by_name = after.iter().find(|new| new.name == old.name);
    by_name.or_else(|| after.iter().find(|new| new.aliases.contains(&old.name)))
}

/// What is found out about one tool.
struct Changes<'t> {
    tool: &'t str,
    all: Vec<Change>,
}

impl Changes<'_> {
    fn breaking(&mut self, at: &str, message: impl Into<String>) {
        self.add(Class::Breaking, at, message.into());
    }

    fn safe(&mut self, at: &str, message: impl Into<String>) {
        self.add(Class::Safe, at, message.into());
    }

    /// A place that several forms of an object share is told once.
    fn add(&mut self, class: Class, at: &str, message: String) {
        let change = Change { class, tool: self.tool.to_owned(), at: at.to_owned(), message };
        if !self.all.contains(&change) {
            self.all.push(change);
        }
    }

    fn tools(&mut self, old: &SnapshotTool, new: &SnapshotTool) {
        if new.name != old.name {
            self.safe("", format!("renamed to `{}`; the old name is an alias and still works", new.name));
        }
        for alias in &old.aliases {
            if *alias != new.name && !new.aliases.contains(alias) {
                self.breaking(
                    "",
                    format!("the alias `{alias}` is gone; sessions from before it was renamed still use it"),
                );
            }
        }
        if new.plugin != old.plugin {
            self.safe(
                "",
                format!(
                    "it moved from plugin `{}` to `{}`; nobody calls it by its plugin",
                    old.plugin, new.plugin
                ),
            );
        }
        if new.description != old.description {
            self.safe("", "its description changed; the same calls are accepted");
        }
        if new.risk.effective() > old.risk.effective() {
            let (old, new) = (old.risk.word(), new.risk.word());
            self.breaking(
                "",
                format!(
                    "its risk rose from {old} to {new}; what ran unasked may now be asked about or denied"
                ),
            );
        } else if new.risk.effective() < old.risk.effective() {
            let (old, new) = (old.risk.word(), new.risk.word());
            self.breaking(
                "",
                format!("its risk fell from {old} to {new}; what was asked about may now run unasked"),
            );
        }
        self.capabilities(old.capabilities, new.capabilities);
        match (old.requires_caller, new.requires_caller) {
            (false, true) => self.breaking("", "it now needs to know who calls; runs without a caller fail"),
            (true, false) => self.safe("", "it no longer needs to know who calls"),
            _ => {}
        }
        // The operation that is the tool itself goes with its name: permissions that name a former one still hold.
        let present = |name: &str| if name == old.name { new.name.clone() } else { name.to_owned() };
        for operation in &old.operations {
            match new.operations.iter().find(|other| other.name == present(&operation.name)) {
                None => {
                    let name = &operation.name;
                    self.breaking(
                        "",
                        format!("the operation `{name}` is gone; permissions that name it match nothing"),
                    );
                }
                Some(other) if other.risk != operation.risk => {
                    let name = &operation.name;
                    self.breaking(
                        "",
                        format!("the risk of the operation `{name}` changed; other calls are asked about"),
                    );
                }
                Some(_) => {}
            }
        }
        for operation in &new.operations {
            if !old.operations.iter().any(|other| present(&other.name) == operation.name) {
                let name = &operation.name;
                self.safe(
                    "",
                    format!("the operation `{name}` is new; it is asked about where operations are listed"),
                );
            }
        }
        self.schemas(&old.schema, &new.schema);
    }

    fn capabilities(&mut self, old: Capabilities, new: Capabilities) {
        let rank = |network: NetworkAccess| network as u8;
        let files = |files: FileAccess| files as u8;
        let rows = [
            ("files", files(old.files), files(new.files)),
            ("network", rank(old.network), rank(new.network)),
            ("programs", old.programs.into(), new.programs.into()),
            ("secrets", old.secrets.into(), new.secrets.into()),
            ("ask_user", old.ask_user.into(), new.ask_user.into()),
            ("complete", old.complete.into(), new.complete.into()),
        ];
        for (name, old, new) in rows {
            if new > old {
                self.breaking(
                    "",
                    format!("it may now touch more (`{name}`); whoever trusted it did not agree to that"),
                );
            } else if new < old {
                self.safe("", format!("it may now touch less (`{name}`)"));
            }
        }
    }
}
