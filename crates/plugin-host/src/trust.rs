//! Which plugins the operator has accepted, by name and hash of the very bytes.
//!
//! A plugins folder can arrive with a cloned repository, so nothing in it runs before its hash stands here. The file is
//! never overwritten when it cannot be understood: that would silently forget what was accepted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::image::Checked;
use crate::preflight::Unfit;
use crate::private_file;
use crate::scan::plugin_name;
use crate::stats::Counters;

const FILE: &str = "trust.json";
const LOCK: &str = "trust.lock";

/// Rebuilding a plugin accepts a new hash each time; the oldest of a name are forgotten.
const HASHES_KEPT: usize = 16;

/// The accepted plugins of one user.
#[derive(Debug)]
pub struct Trust {
    path: PathBuf,
    accepted: BTreeMap<String, Vec<String>>,
    problem: Option<String>,
}

/// What [`Trust::accept`] recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub name: String,
    pub hash: String,
    /// Whether it was not there before.
    pub new: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("`{}` is not named like a plugin of this system (`*{suffix}`)", path.display(), suffix = std::env::consts::DLL_SUFFIX)]
    Name { path: PathBuf },
    #[error("`{}` {source}", path.display())]
    Unfit { path: PathBuf, source: Unfit },
    #[error("the accepted plugins in `{}` cannot be read: {message}; correct or remove that file", path.display())]
    Unreadable { path: PathBuf, message: String },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Trust {
    /// Reads what was accepted. When that fails nothing counts as accepted, and [`problem`](Self::problem) says why.
    pub fn open(state_dir: &Path) -> Self {
        let path = state_dir.join(FILE);
        let (accepted, problem) = match read(&path) {
            Ok(accepted) => (accepted, None),
            Err(error) => (BTreeMap::new(), Some(error.to_string())),
        };
        Self { path, accepted, problem }
    }

    /// Why the file could not be used, in one line.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub fn is_accepted(&self, name: &str, hash: &str) -> bool {
        self.accepted.get(name).is_some_and(|hashes| hashes.iter().any(|accepted| accepted == hash))
    }

    /// Records that this very file may run. Reads and checks it, and executes nothing. Blocks.
    ///
    /// # Errors
    /// The file is no plugin of this host, or the record cannot be read or written.
    pub fn accept(&mut self, plugin: &Path) -> Result<Accepted, TrustError> {
        let name = plugin_name(plugin).ok_or_else(|| TrustError::Name { path: plugin.to_path_buf() })?;
        let checked = Checked::read(plugin, &Counters::default())
            .map_err(|source| TrustError::Unfit { path: plugin.to_path_buf(), source })?;
        let new = self.accept_hash(&name, &checked.hash)?;
        Ok(Accepted { name, hash: checked.hash, new })
    }

    /// Records a hash that was shown to the operator; `false` when it was there already.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn accept_hash(&mut self, name: &str, hash: &str) -> Result<bool, TrustError> {
        let _lock = self.lock()?;
        // Another host may have added something since.
        self.accepted = read(&self.path)?;
        self.problem = None;
        let hashes = self.accepted.entry(name.to_owned()).or_default();
        if hashes.iter().any(|accepted| accepted == hash) {
            return Ok(false);
        }
        hashes.push(hash.to_owned());
        hashes.drain(..hashes.len().saturating_sub(HASHES_KEPT));
        self.save()?;
        Ok(true)
    }

    fn save(&self) -> Result<(), TrustError> {
        let failed = |source: io::Error| TrustError::Write { path: self.path.clone(), source };
        let record = Record { accepted: self.accepted.clone() };
        let mut text = serde_json::to_vec_pretty(&record).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        private_file::write(&self.path, &text).map_err(failed)
    }

    fn lock(&self) -> Result<File, TrustError> {
        let path = self.path.with_file_name(LOCK);
        let failed = |source: io::Error| TrustError::Write { path: path.clone(), source };
        private_file::create_folder(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        let lock =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(lock)
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// Plugin name -> hashes (BLAKE3, hexadecimal), the newest last.
    accepted: BTreeMap<String, Vec<String>>,
}

fn read(path: &Path) -> Result<BTreeMap<String, Vec<String>>, TrustError> {
    let unreadable = |message: String| TrustError::Unreadable { path: path.to_path_buf(), message };
    match private_file::read(path).map_err(|error| unreadable(error.to_string()))? {
        None => Ok(BTreeMap::new()),
        Some(text) => {
            let record: Record =
                serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
            Ok(record.accepted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_is_exactly_name_and_hash() {
        let folder = tempfile::tempdir().unwrap();
        let mut trust = Trust::open(folder.path());
        assert_eq!(trust.problem(), None);
        assert!(trust.accept_hash("shell", "aa").unwrap());
        assert!(!trust.accept_hash("shell", "aa").unwrap());
        let again = Trust::open(folder.path());
        let found = [("shell", "aa"), ("shell", "bb"), ("scan", "aa")]
            .map(|(name, hash)| again.is_accepted(name, hash));
        assert_eq!(found, [true, false, false]);
    }

    #[test]
    fn the_oldest_builds_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut trust = Trust::open(folder.path());
        for build in 0..20 {
            trust.accept_hash("shell", &build.to_string()).unwrap();
        }
        let kept: Vec<_> = (0..20).filter(|build| trust.is_accepted("shell", &build.to_string())).collect();
        assert_eq!(kept, (4..20).collect::<Vec<_>>());
    }

    #[test]
    fn two_hosts_do_not_forget_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (Trust::open(folder.path()), Trust::open(folder.path()));
        one.accept_hash("a", "1").unwrap();
        two.accept_hash("b", "2").unwrap();
        let all = Trust::open(folder.path());
        assert!(all.is_accepted("a", "1") && all.is_accepted("b", "2"));
    }

    #[test]
    fn what_cannot_be_understood_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        private_file::write(&path, b"{ broken").unwrap();
        let mut trust = Trust::open(folder.path());
        let problem = trust.problem().unwrap().to_owned();
        assert!(problem.starts_with("the accepted plugins in `"), "{problem}");
        assert_eq!(trust.accept_hash("a", "1").unwrap_err().to_string(), problem);
        assert_eq!(fs::read(&path).unwrap(), b"{ broken");
    }

    #[test]
    fn only_plugins_are_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("text{}", std::env::consts::DLL_SUFFIX));
        fs::write(&path, "text").unwrap();
        let mut trust = Trust::open(folder.path());
        assert!(matches!(trust.accept(&path), Err(TrustError::Unfit { source: Unfit::NotElf, .. })));
        assert!(matches!(trust.accept(Path::new("plugin.txt")), Err(TrustError::Name { .. })));
    }
}
