//! Which files of the plugins folder are meant as plugins. Opens none of them.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file name that ends like a library of this system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub path: PathBuf,
    pub name: String,
}

/// Identity of a file's content, as cheap as one `stat`: a changed file has a changed key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileKey {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileKey {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&std::fs::Metadata> for FileKey {
    fn from(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The plugins of a folder by name, not of its sub-folders. Hidden files are skipped: a copy that is being made has such a
/// name. A folder that does not exist is empty.
pub(crate) fn scan(folder: &Path) -> io::Result<Vec<Found>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(name) = plugin_name(&path) {
            found.push(Found { path, name });
        }
    }
    found.sort_by(|left, right| (&left.name, &left.path).cmp(&(&right.name, &right.path)));
    Ok(found)
}

/// Name and path of every file of a folder that is named like a plugin, in order of name. None of them is opened.
///
/// # Errors
/// The folder cannot be read. One that does not exist is empty.
pub fn plugin_files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    Ok(scan(folder)?.into_iter().map(|found| (found.name, found.path)).collect())
}

/// The name of the plugin in this file: `libfoehn_plugin_file_rw.so` and `file-rw.so` are both `file-rw`. `None` for a
/// file that is not named like a library of this system, or is hidden.
pub fn plugin_name(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let stem = file.strip_suffix(std::env::consts::DLL_SUFFIX)?;
    if stem.is_empty() || stem.starts_with('.') {
        return None;
    }
    let name = stem.strip_prefix("lib").filter(|rest| !rest.is_empty()).unwrap_or(stem).replace('_', "-");
    let short = name.strip_prefix("foehn-plugin-").filter(|rest| !rest.is_empty());
    Some(short.unwrap_or(&name).to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let cases = [
            ("libfoehn_plugin_file_rw.so", Some("file-rw")),
            ("file-rw.so", Some("file-rw")),
            ("shell.so", Some("shell")),
            ("lib.so", Some("lib")),
            (".shell.so", None),
            (".so", None),
            ("shell.so.1", None),
            ("shell.dll", None),
            ("README.md", None),
        ];
        for (file, expected) in cases {
            assert_eq!(plugin_name(Path::new(file)).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn only_this_folder_in_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("sub.so")).unwrap();
        for file in ["zeta.so", "alpha.so", ".hidden.so", "notes.txt", "sub.so/deep.so"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let names: Vec<_> = scan(folder.path()).unwrap().into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["alpha", "sub", "zeta"]);
    }

    #[test]
    fn a_missing_folder_is_empty() {
        assert_eq!(scan(Path::new("/nowhere/at/all")).unwrap(), []);
    }

    #[test]
    fn a_rewritten_file_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.so");
        std::fs::write(&path, "one").unwrap();
        let first = FileKey::of(&path).unwrap();
        assert_eq!(FileKey::of(&path).unwrap(), first);
        std::fs::write(&path, "other").unwrap();
        assert_ne!(FileKey::of(&path).unwrap(), first);
    }
}
