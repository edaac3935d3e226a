//! A folder of files that is gone after the test.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use foehn_plugin_sdk::workspace::OWN_FOLDER;
use tempfile::TempDir;

/// A workspace for one test.
#[derive(Debug)]
pub struct TempWorkspace {
    folder: TempDir,
}

impl TempWorkspace {
    /// With these files; a name that ends with `/` is an empty folder.
    ///
    /// # Panics
    /// When one cannot be written, as all methods that touch files.
    #[track_caller]
    pub fn new<N: AsRef<str>, C: AsRef<[u8]>>(files: impl IntoIterator<Item = (N, C)>) -> Self {
        let workspace = Self { folder: TempDir::new().expect("a temporary folder") };
        for (name, content) in files {
            workspace.write(name.as_ref(), content);
        }
        workspace
    }

    /// An empty one.
    #[track_caller]
    pub fn empty() -> Self {
        Self::new::<&str, &str>([])
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it, on the whole machine.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, with the folders above it; a name that ends with `/` is an empty folder.
    #[track_caller]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.join(name);
        let folder = if name.ends_with('/') { Some(path.as_path()) } else { path.parent() };
        if let Some(folder) = folder {
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
        if !name.ends_with('/') {
            fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Everything in it, sorted: a folder with `/` after it, a link as `NAME -> TARGET`. For comparing the whole; the folder
    /// `.foehn`, where tools keep what is no part of the work, is left out.
    #[track_caller]
    pub fn list(&self) -> Vec<String> {
        let is_own = |name: &String| name.split('/').any(|part| part == OWN_FOLDER);
        self.list_all().into_iter().filter(|name| !is_own(name)).collect()
    }

    /// The same with all that lies in `.foehn`.
    #[track_caller]
    pub fn list_all(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(self.path(), "", &mut names);
        names.sort();
        names
    }

    /// Each of those listed with its permissions and its bytes, or the link's target: what has to be the same when nothing has changed.
    #[track_caller]
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let state = |name: String| {
            let path = self.join(name.split(" -> ").next().unwrap_or_default());
            let metadata = path.symlink_metadata().unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut state = format!("{:o} ", metadata.permissions().mode()).into_bytes();
            if metadata.is_file() {
                state.extend(fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}")));
            }
            (name, state)
        };
        self.list().into_iter().map(state).collect()
    }
}

impl AsRef<Path> for TempWorkspace {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

#[track_caller]
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the test") {
        let entry = entry.expect("an entry of the test's folder");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if let Ok(target) = fs::read_link(&path) {
            names.push(format!("{name} -> {}", target.display()));
        } else if path.is_dir() {
            let inner = format!("{name}/");
            collect(&path, &inner, names);
            names.push(inner);
        } else {
            names.push(name);
        }
    }
}
