//! Manifests of plugins that were started once, so that a start of the host starts none and hashes none.
//!
//! It saves work and is not trusted with more: before a library is mapped its bytes are hashed and compared anyway. What
//! cannot be read is as if it were empty, and is written anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foehn_plugin_sdk::wire::Manifest;
use serde::{Deserialize, Serialize};

use crate::private_file;
use crate::scan::FileKey;

const FILE: &str = "manifests.json";

/// Who wrote it. Another host may understand a manifest differently.
const WRITER: &str = concat!("foehn ", env!("CARGO_PKG_VERSION"), " cache 4");

#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    entries: BTreeMap<PathBuf, Entry>,
    changed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub key: FileKey,
    pub hash: String,
    pub manifest: Manifest,
}

impl Cache {
    pub(crate) fn open(state_dir: &Path) -> Self {
        let path = state_dir.join(FILE);
        let entries = read(&path).unwrap_or_default();
        Self { path, entries, changed: false }
    }

    pub(crate) fn get(&self, plugin: &Path, key: &FileKey) -> Option<&Entry> {
        self.entries.get(plugin).filter(|entry| entry.key == *key)
    }

    pub(crate) fn put(&mut self, plugin: &Path, entry: Entry) {
        if self.entries.get(plugin) != Some(&entry) {
            self.entries.insert(plugin.to_path_buf(), entry);
            self.changed = true;
        }
    }

    /// Writes what has changed. Entries of files that are gone are dropped; other folders' entries stay.
    pub(crate) fn save(&mut self) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        self.entries.retain(|path, _| path.exists());
        let file = File { writer: WRITER.to_owned(), entries: std::mem::take(&mut self.entries) };
        let text = serde_json::to_vec(&file)?;
        self.entries = file.entries;
        private_file::write(&self.path, &text)?;
        self.changed = false;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct File {
    writer: String,
    entries: BTreeMap<PathBuf, Entry>,
}

fn read(path: &Path) -> Option<BTreeMap<PathBuf, Entry>> {
    let text = private_file::read(path).ok()??;
    let file: File = serde_json::from_slice(&text).ok()?;
    (file.writer == WRITER).then_some(file.entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_needs_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let plugin = folder.path().join("a.so");
        std::fs::write(&plugin, "one").unwrap();
        let key = FileKey::of(&plugin).unwrap();
        let manifest = Manifest { plugin: "a".to_owned(), ..Manifest::default() };
        let entry = Entry { key: key.clone(), hash: "aa".to_owned(), manifest };

        let mut cache = Cache::open(folder.path());
        assert_eq!(cache.get(&plugin, &key), None);
        cache.put(&plugin, entry.clone());
        cache.save().unwrap();
        assert_eq!(Cache::open(folder.path()).get(&plugin, &key), Some(&entry));

        std::fs::write(&plugin, "other").unwrap();
        let key = FileKey::of(&plugin).unwrap();
        assert_eq!(Cache::open(folder.path()).get(&plugin, &key), None);
    }

    #[test]
    fn unreadable_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["", "{", "{\"writer\":\"someone else\",\"entries\":{}}"] {
            private_file::write(&folder.path().join(FILE), content.as_bytes()).unwrap();
            assert!(Cache::open(folder.path()).entries.is_empty(), "{content}");
        }
    }
}
