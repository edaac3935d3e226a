//! `cargo xtask tidy`: the rules of the house that no compiler knows. They are also an ordinary test, so that nothing
//! lives only in CI.
//!
//! A rule is a table and a function over what is on disk; it refuses to fix anything.

mod arrows;
mod documents;
mod sources;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Plugins as nobody should write one: most rules are not for them.
const FIXTURES: &str = "tests/fixtures/";

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    /// File, `file:line`, or package.
    place: String,
    /// What is wrong and what to do.
    message: String,
}

/// A text file of the repository.
#[derive(Debug)]
struct TextFile {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

/// Checks everything and tells every problem, not the first one.
pub(crate) fn tidy(workspace: &Workspace) -> Result<()> {
    let problems = problems(workspace)?;
    if problems.is_empty() {
        return Ok(());
    }
    let list: Vec<_> = problems.iter().map(Problem::to_string).collect();
    bail!("the repository is not tidy:\n{}", list.join("\n"));
}

fn problems(workspace: &Workspace) -> Result<Vec<Problem>> {
    let mut files = Vec::new();
    read_folder(&workspace.root, &workspace.root, &mut files)?;
    let mut problems = arrows::problems(workspace, &files);
    problems.extend(sources::problems(workspace, &files));
    problems.extend(documents::problems(&workspace.root, &files));
    problems.sort();
    Ok(problems)
}

/// All Rust, TOML and Markdown below `folder`, except what is hidden or built.
fn read_folder(root: &Path, folder: &Path, files: &mut Vec<TextFile>) -> Result<()> {
    let context = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        if entry.file_type().with_context(context)?.is_dir() {
            read_folder(root, &path, files)?;
        } else if [".rs", ".toml", ".md"].iter().any(|ending| name.ends_with(ending)) {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.push(TextFile { path: relative(root, &path), text });
        }
    }
    Ok(())
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

impl Problem {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        if let Err(error) = tidy(&Workspace::find().unwrap()) {
            panic!("{error}");
        }
    }
}
