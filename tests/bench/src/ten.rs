//! A plugin folder of an ordinary user: the built-in plugins and some more.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// How many plugins the start has to know.
const PLUGINS: usize = 10;

/// What the folder is filled up with.
pub(crate) const FILLING: &str = "len";

/// A copy of the folder, with ten plugins in it. All but one of those that fill it up bring the same tool, which the host
/// refuses; looking at them costs the same.
#[derive(Debug)]
pub(crate) struct TenPlugins {
    folder: TempDir,
    /// By their names in the host.
    pub(crate) names: Vec<String>,
}

impl TenPlugins {
    pub(crate) fn copy(plugins: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut libraries: Vec<PathBuf> = fs::read_dir(plugins)
            .with_context(|| format!("no plugins at {}", plugins.display()))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| {
                path.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
            })
            .collect();
        libraries.sort();
        let filling = plugins.join(library(FILLING));
        let mut names = Vec::new();
        for path in &libraries {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            names.push(name.trim_start_matches(std::env::consts::DLL_PREFIX).to_owned());
        }
        libraries.resize(PLUGINS.max(names.len()), filling);
        names.extend((names.len()..PLUGINS).map(|index| format!("{FILLING}_{index}")));
        for (from, name) in libraries.iter().zip(&names) {
            fs::copy(from, folder.path().join(library(name)))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        Ok(Self { folder, names: names.iter().map(|name| name.replace('_', "-")).collect() })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn library(name: &str) -> String {
    format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}
