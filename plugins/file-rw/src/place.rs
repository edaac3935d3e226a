//! From the path that somebody wrote to a place in the workspace, and what to say when nothing is there.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::WorkspaceError;

/// How alike a name must be to be worth naming, from 0 to 1, and how many such names are.
const ALIKE: f64 = 0.75;
const MOST_NAMES: usize = 3;

/// A path as it was asked for, and where it leads once links are followed.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: RelPath,
    pub(crate) real: RelPath,
}

impl Place {
    /// Where a file is read or written: through links that stay inside.
    pub(crate) fn of_target(workspace: &Workspace, given: &str) -> Result<Self> {
        let path = file_path(workspace, given)?;
        let real = workspace.real(&path).map_err(|error| nothing_done(error.into()))?;
        Ok(Self { path, real })
    }

    /// Where an entry stands, which may itself be a link.
    pub(crate) fn of_entry(workspace: &Workspace, given: &str) -> Result<Self> {
        let path = file_path(workspace, given)?;
        let parent = path.parent().unwrap_or_else(RelPath::root);
        let real_parent = workspace.real(&parent).map_err(|error| nothing_done(error.into()))?;
        let real = match (real_parent.as_path().to_str(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) => workspace.resolve(&format!("{parent}/{name}"))?,
            _ => path.clone(),
        };
        Ok(Self { path, real })
    }
}

/// The error of a read, with the names that could have been meant when the file is not there.
pub(crate) fn explained(workspace: &Workspace, error: WorkspaceError) -> Error {
    let alike = match &error {
        WorkspaceError::NotFound { path } => alike(workspace, path),
        _ => Vec::new(),
    };
    let error = nothing_done(error.into());
    if alike.is_empty() {
        return error;
    }
    let names: Vec<String> = alike.iter().map(|path| format!("`{path}`")).collect();
    Error::new(error.kind(), format!("{}; there is {}", error.message(), names.join(", "))).executed(false)
}

/// The same error, saying that the call had no effect.
pub(crate) fn nothing_done(error: Error) -> Error {
    error.executed(false)
}

fn file_path(workspace: &Workspace, given: &str) -> Result<RelPath> {
    let path = workspace.resolve(given).map_err(|error| nothing_done(error.into()))?;
    if given.ends_with('/') && !path.is_root() {
        return Err(nothing_done(Error::failed(format!("`{given}` names a folder, not a file"))));
    }
    Ok(path)
}

/// Entries of the same folder whose names are like the missing one; letter case does not count.
fn alike(workspace: &Workspace, missing: &RelPath) -> Vec<RelPath> {
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
