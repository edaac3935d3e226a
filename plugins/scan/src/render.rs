//! The text of a result: one header, what was left out and why, then one entry a line.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::WorkspaceError;

use crate::walk::{DEEPEST, Found, Kind, MOST_ENTRIES, Names};

/// `pattern` and `folder` as they were asked for.
pub(crate) fn render(found: &Found, folder: &str, pattern: Option<&str>, workspace: &Workspace) -> String {
    let mut text = header(found, folder, pattern);
    for line in left_out(found) {
        text.push('\n');
        text.push_str(&line);
    }
    for (path, kind) in &found.entries {
        text.push('\n');
        text.push_str(&row(path, kind, workspace));
    }
    text
}

fn header(found: &Found, folder: &str, pattern: Option<&str>) -> String {
    let Found { matching, before, considered, .. } = *found;
    let matching_pattern = pattern.map(|pattern| format!(" matching `{pattern}`")).unwrap_or_default();
    let mut text = match (matching, pattern) {
        (0, Some(pattern)) => {
            format!("nothing in `{folder}` matches `{pattern}` ({} looked at)", entries(considered))
        }
        (0, None) if nothing_left_out(found) => format!("`{folder}` is empty"),
        _ => format!("{}{matching_pattern} in `{folder}`", entries(matching)),
    };
    let shown = found.entries.len() as u64;
    if shown < matching {
        let (first, last) = (before + 1, before + shown);
        match found.entries.last() {
            Some((path, _)) if last < matching => {
                let after = escaped(path.as_os_str());
                let _ = write!(text, "; these are {first} to {last}, for more set after to \"{after}\"");
            }
            Some(_) => {
                let _ = write!(text, "; these are {first} to {last}, the last ones");
            }
            None => text.push_str("; none comes after the path given as after"),
        }
    }
    if found.stopped {
        let _ = write!(text, "; stopped after {MOST_ENTRIES} entries, scan a folder further down");
    }
    text
}

fn nothing_left_out(found: &Found) -> bool {
    found.hidden + found.ignored + found.not_entered.count + found.unreadable.count == 0
}

fn left_out(found: &Found) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = [(found.hidden, "hidden"), (found.ignored, "ignored by .gitignore")];
    let counted: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !counted.is_empty() {
        lines.push(format!("left out: {} (include_hidden lists them)", counted.join(", ")));
    }
    let mut listed = |names: &Names, what: &str, advice: &str| {
        if names.count > 0 {
            let first: Vec<String> = names.first.iter().map(|path| escaped(path.as_os_str())).collect();
            let rest = names.count - first.len() as u64;
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            lines.push(format!("{what}: {}{more}{advice}", first.join(", ")));
        }
    };
    listed(&found.not_entered, "not entered", " (name one as path to list it)");
    listed(
        &found.too_deep,
        &format!("deeper than {DEEPEST} folders, not entered"),
        " (name one as path to list it)",
    );
    listed(&found.unreadable, "not readable", "");
    lines
}

fn row(path: &Path, kind: &Kind, workspace: &Workspace) -> String {
    let shown = escaped(path.as_os_str());
    match kind {
        Kind::File(Some(size)) => format!("{size}\t{shown}"),
        Kind::File(None) => format!("?\t{shown}"),
        Kind::Directory => format!("dir\t{shown}/"),
        Kind::Other(what) => format!("{what}\t{shown}"),
        Kind::Link(target) => {
            let target = target.as_ref().map_or("?".to_owned(), |target| escaped(target.as_os_str()));
            format!("link\t{shown} -> {target}{}", link_state(path, workspace))
        }
    }
}

fn link_state(path: &Path, workspace: &Workspace) -> &'static str {
    let Some(Ok(path)) = path.to_str().map(|path| workspace.resolve(path)) else { return "" };
    match workspace.metadata(&path) {
        Err(WorkspaceError::NotFound { .. } | WorkspaceError::DanglingLink { .. }) => " (leads to nothing)",
        Err(WorkspaceError::LinkOutside { .. }) => " (leads out of the workspace)",
        Err(WorkspaceError::TooManyLinks { .. }) => " (leads in a circle)",
        Ok(_) | Err(_) => "",
    }
}

fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// A name on one line: control characters and bytes that are no UTF-8 are written as escapes.
fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}
