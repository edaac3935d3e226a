//! Names that could have been meant by one that is not there.

use foehn_plugin_sdk::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// How alike a name must be to be worth naming, from 0 to 1, and how many such names are.
const ALIKE: f64 = 0.75;
const MOST_NAMES: usize = 3;

/// Entries of the same folder whose names are like the missing one; letter case does not count.
pub(crate) fn alike(workspace: &Workspace, missing: &RelPath) -> Vec<RelPath> {
    let (Some(name), Some(parent)) = (missing.file_name(), missing.parent()) else { return Vec::new() };
    let name = name.to_string_lossy().to_lowercase();
    let mut found: Vec<(f64, RelPath)> = workspace
        .read_dir(&parent)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry| {
            let other = entry.path.file_name()?.to_str()?.to_lowercase();
            let likeness = strsim::normalized_damerau_levenshtein(&name, &other);
            (likeness >= ALIKE).then_some((likeness, entry.path))
        })
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().take(MOST_NAMES).map(|(_, path)| path).collect()
}

/// Entries of the same folder whose names a reader cannot tell from the missing one.
pub(crate) fn same_to_the_eye(workspace: &Workspace, missing: &RelPath) -> Vec<RelPath> {
    let (Some(name), Some(parent)) = (missing.file_name().and_then(|name| name.to_str()), missing.parent())
    else {
        return Vec::new();
    };
    let name = seen(name);
    let entries = workspace.read_dir(&parent).unwrap_or_default().into_iter().map(|entry| entry.path);
    entries
        .filter(|path| {
            path.file_name().and_then(|other| other.to_str()).is_some_and(|other| seen(other) == name)
        })
        .collect()
}

/// A name in one Unicode form, with plain quotes and spaces.
fn seen(name: &str) -> String {
    name.nfkc()
        .map(|character| match character {
            '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2032}' => '\'',
            '\u{201C}' | '\u{201D}' | '\u{2033}' => '"',
            '\u{2010}'..='\u{2015}' => '-',
            other if other.is_whitespace() => ' ',
            other => other,
        })
        .collect()
}
