//! The tree that is searched: many folders with small files, a part of which its own ignore files exclude.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

pub(crate) const FOLDERS: usize = 5_000;
const FILES_IN_EACH: usize = 20;
/// One folder in so many has an ignore file of its own.
const FOLDERS_TO_A_RULE: usize = 10;
/// One in twenty of each folder's files, by its ending.
const IGNORED_IN_EACH: usize = 1;
pub(crate) const FILES_WITH_NEEDLE: usize = 50;

/// A hundred thousand files.
#[derive(Debug)]
pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    pub(crate) fn make() -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let line = "let value = compute(input, 17); // an ordinary line of some code\n";
        let text = line.repeat(16);
        for number in 0..FOLDERS {
            // Fifty wide, ten and ten deep.
            let (top, middle, bottom) = (number / 100, number / 10 % 10, number % 10);
            let path = match (middle, bottom) {
                (0, 0) => format!("package{top}"),
                (_, 0) => format!("package{top}/module{middle}"),
                (0, _) => format!("package{top}/part{bottom}"),
                _ => format!("package{top}/module{middle}/part{bottom}"),
            };
            let path = folder.path().join(path);
            fs::create_dir_all(&path)?;
            for file in 0..FILES_IN_EACH - IGNORED_IN_EACH {
                let ending = if file == 7 { "txt" } else { "rs" };
                let has_needle = file == 3 && number % (FOLDERS / FILES_WITH_NEEDLE) == 0;
                let needle = if has_needle { "needle42x\n" } else { "" };
                fs::write(path.join(format!("file{file}.{ending}")), format!("{text}{needle}"))?;
            }
            fs::write(path.join("output.log"), &text)?;
            if number % FOLDERS_TO_A_RULE == 0 {
                fs::write(path.join(".gitignore"), "*.log\n/generated/\n!important.txt\n")?;
            }
        }
        fs::write(folder.path().join(".gitignore"), "*.log\nnode_modules/\n*.o\n")?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The files that no rule excludes.
    pub(crate) fn shown(&self) -> usize {
        FOLDERS * (FILES_IN_EACH - IGNORED_IN_EACH)
    }

    /// Of those, the ones that `*7.txt` names.
    pub(crate) fn ending_in_7(&self) -> usize {
        FOLDERS
    }
}
