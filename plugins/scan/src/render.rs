//! The text of a result: one header, what was left out and why, then one entry a line.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::Place;
use foehn_plugin_sdk::walk::{MOST_ENTRIES, escaped};
use foehn_plugin_sdk::workspace::WorkspaceError;

use crate::found::{Found, Kind};

/// `pattern` and `folder` as they were asked for.
pub(crate) fn render(found: &Found, folder: &Place, pattern: Option<&str>) -> String {
    let mut text = header(found, folder, pattern);
    for line in found.skipped.lines("include_hidden", "list") {
        text.push('\n');
        text.push_str(&line);
    }
    for (path, kind) in &found.entries {
        text.push('\n');
        text.push_str(&row(path, kind, folder));
    }
    text
}

fn header(found: &Found, folder: &Place, pattern: Option<&str>) -> String {
    let Found { matching, before, considered, .. } = *found;
    let matching_pattern = pattern.map(|pattern| format!(" matching `{pattern}`")).unwrap_or_default();
    let mut text = match (matching, pattern) {
        (0, Some(pattern)) => {
            format!("nothing in `{folder}` matches `{pattern}` ({} looked at)", entries(considered))
        }
        (0, None) if found.skipped.is_empty() => format!("`{folder}` is empty"),
        _ => format!("{}{matching_pattern} in `{folder}`", entries(matching)),
    };
    let shown = found.entries.len() as u64;
    if shown < matching {
        let (first, last) = (before + 1, before + shown);
        match found.entries.last() {
            Some((path, _)) if last < matching => {
                let after = escaped(folder.root.shown(path).as_os_str());
                let _ = write!(text, "; these are {first} to {last}, for more set after to \"{after}\"");
            }
            Some(_) => {
                let _ = write!(text, "; these are {first} to {last}, the last ones");
            }
            None => text.push_str("; none comes after the path given as after"),
        }
    }
    if found.skipped.stopped {
        let _ = write!(text, "; stopped after {MOST_ENTRIES} entries, scan a folder further down");
    }
    text
}

fn row(path: &RelPath, kind: &Kind, folder: &Place) -> String {
    let shown = escaped(folder.root.shown(path).as_os_str());
    match kind {
        Kind::File(Some(size)) => format!("{size}\t{shown}"),
        Kind::File(None) => format!("?\t{shown}"),
        Kind::Directory => format!("dir\t{shown}/"),
        Kind::Other(what) => format!("{what}\t{shown}"),
        Kind::Link(target) => {
            let target = target.as_ref().map_or("?".to_owned(), |target| escaped(target.as_os_str()));
            format!("link\t{shown} -> {target}{}", link_state(path, &folder.root.workspace))
        }
    }
}

fn link_state(path: &RelPath, workspace: &Workspace) -> &'static str {
    match workspace.metadata(path) {
        Err(WorkspaceError::NotFound { .. } | WorkspaceError::DanglingLink { .. }) => " (leads to nothing)",
        Err(WorkspaceError::LinkOutside { .. }) => " (leads out of the workspace)",
        Err(WorkspaceError::TooManyLinks { .. }) => " (leads in a circle)",
        Ok(_) | Err(_) => "",
    }
}

fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}
