//! Where the whole of a long output is kept: `.foehn/output` in the workspace, where the tools that read files reach it.
//!
//! The folder tells git that it is nobody else's, and forgets: what is older than a day goes, and all but the newest
//! twenty.

use std::io::Write;
use std::mem::take;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::{File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use rustix::process::{Resource, getrlimit};

use super::Whole;
use super::text::Overflow;
use crate::workspace::{RelPath, Result, Workspace, WorkspaceError};

const FOLDER: &str = ".foehn/output";
/// Most bytes that one output may fill of somebody's disk.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// As much is written at once.
const PIECE_BYTES: usize = 32 * 1024;
const MOST_FILES: usize = 20;
const LONGEST_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes calls of one moment different.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Writes the text to a new file whose name begins with `name`, and removes what is old.
pub(super) fn keep(workspace: &Workspace, name: &str, text: &str) -> Result<RelPath> {
    let now = SystemTime::now();
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let id = format!("{:x}{:02x}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let rules = workspace.resolve(&format!("{FOLDER}/.gitignore"))?;
    match workspace.create_new(&rules, b"*\n") {
        Ok(()) | Err(WorkspaceError::AlreadyExists { .. }) => {}
        Err(error) => return Err(error),
    }
    forget(workspace, now)?;
    let path = workspace.resolve(&format!("{FOLDER}/{name}-{seconds}-{id}.txt"))?;
    workspace.create_new(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes an output to such a file while it comes. Nothing is made before something has to be written.
pub(super) struct Keeper {
    workspace: Workspace,
    name: String,
    piece: String,
    written: usize,
    most: usize,
    place: Place,
}

#[derive(Default)]
enum Place {
    #[default]
    None,
    Open(RelPath, File),
    /// There was no more room for it.
    Full(RelPath),
    Failed(String),
}

impl Keeper {
    pub(super) fn new(workspace: Workspace, name: &str) -> Self {
        let (name, piece) = (name.to_owned(), String::new());
        Self { workspace, name, piece, written: 0, most: most_bytes(), place: Place::None }
    }

    fn write(&mut self) {
        let piece = take(&mut self.piece);
        self.written += piece.len();
        self.place = match take(&mut self.place) {
            Place::None => match self.begin(&piece) {
                Ok((path, file)) => Place::Open(path, file),
                Err(reason) => Place::Failed(reason),
            },
            Place::Open(path, _) if self.written > self.most => Place::Full(path),
            Place::Open(path, mut file) => match file.write_all(piece.as_bytes()) {
                Ok(()) => Place::Open(path, file),
                Err(error) => {
                    // A part of it would be taken for all of it. What cannot be removed either is removed later.
                    let _ = self.workspace.remove_file(&path);
                    Place::Failed(format!("`{path}`: {error}"))
                }
            },
            done => done,
        };
    }

    fn begin(&self, piece: &str) -> std::result::Result<(RelPath, File), String> {
        let path = keep(&self.workspace, &self.name, piece).map_err(|error| error.to_string())?;
        let mut options = OpenOptions::new();
        // Somebody may have put a link in its place.
        options.append(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let file = self.workspace.dir().open_with(path.as_path(), &options);
        match file {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(format!("`{path}`: {error}")),
        }
    }
}

/// A file beyond the limit of the process would end the process.
fn most_bytes() -> usize {
    let limit = getrlimit(Resource::Fsize).current.and_then(|limit| usize::try_from(limit).ok());
    MOST_BYTES.min(limit.unwrap_or(MOST_BYTES))
}

impl Overflow for Keeper {
    fn push(&mut self, character: char) {
        if matches!(self.place, Place::Full(_) | Place::Failed(_)) {
            return;
        }
        self.piece.push(character);
        if self.piece.len() >= PIECE_BYTES {
            self.write();
        }
    }

    fn end(mut self: Box<Self>) -> Whole {
        if !self.piece.is_empty() {
            self.write();
        }
        match self.place {
            Place::Open(path, _) => Whole::Kept(path.to_string()),
            Place::Full(path) => Whole::Beginning(path.to_string()),
            Place::Failed(reason) => Whole::NotKept(reason),
            Place::None => Whole::NotKept("there was nothing to write".to_owned()),
        }
    }
}

/// Leaves room for one more.
fn forget(workspace: &Workspace, now: SystemTime) -> Result<()> {
    let mut files = Vec::new();
    for entry in workspace.read_dir(&workspace.resolve(FOLDER)?)? {
        if entry.path.as_path().extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let metadata = workspace.symlink_metadata(&entry.path)?;
        files.push((metadata.modified().map(|time| time.into_std()).unwrap_or(UNIX_EPOCH), entry.path));
    }
    files.sort_by(|left, right| right.cmp(left));
    for (index, (changed, path)) in files.iter().enumerate() {
        let is_old = now.duration_since(*changed).is_ok_and(|age| age > LONGEST_AGE);
        if index + 1 >= MOST_FILES || is_old {
            // Another call may have removed it.
            let _ = workspace.remove_file(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(workspace: &Workspace, text: &str) -> Whole {
        let mut keeper = Box::new(Keeper::new(Workspace::open(workspace.root()).unwrap(), "sh"));
        text.chars().for_each(|character| keeper.push(character));
        keeper.end()
    }

    #[test]
    fn all_of_it_is_in_the_file_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let text = "\u{e9}\n".repeat(PIECE_BYTES);
        let Whole::Kept(path) = kept(&workspace, &text) else { panic!("it fits") };
        let read = workspace.read(&workspace.resolve(&path).unwrap(), 1 << 20).unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), text);
        let Whole::Beginning(path) = kept(&workspace, &"x".repeat(MOST_BYTES + PIECE_BYTES)) else {
            panic!("it does not fit")
        };
        let length = workspace.metadata(&workspace.resolve(&path).unwrap()).unwrap().len();
        assert_eq!(length, MOST_BYTES as u64);
    }

    #[test]
    fn a_link_out_of_the_workspace_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join(".foehn")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        assert!(matches!(kept(&workspace, "text"), Whole::NotKept(_)));
        assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let paths: Vec<RelPath> =
            (0..MOST_FILES + 5).map(|_| keep(&workspace, "make-all", "text").unwrap()).collect();
        let files = workspace.read_dir(&workspace.resolve(FOLDER).unwrap()).unwrap();
        assert_eq!(files.len(), MOST_FILES + 1);
        assert!(workspace.exists(paths.last().unwrap()).unwrap());
        assert!(paths[0].to_string().starts_with(".foehn/output/make-all-"));
    }
}
