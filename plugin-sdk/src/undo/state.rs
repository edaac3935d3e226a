//! What is at a path: enough to tell whether two moments are the same, and to bring one back.

use std::io::Read;
use std::path::PathBuf;

use cap_std::fs::MetadataExt;
use serde::{Deserialize, Serialize};

use crate::workspace::{RelPath, Result, Workspace, WorkspaceError};

/// Permission bits, and those that make a program run as its owner or group.
pub(super) const MODE_BITS: u32 = 0o7777;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum State {
    Absent,
    File {
        hash: String,
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    Directory {
        mode: u32,
    },
    /// A device, pipe or socket: never brought back.
    Other,
}

impl State {
    /// What is there now.
    pub(super) fn of(workspace: &Workspace, path: &RelPath) -> Result<Self> {
        let metadata = match workspace.symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(WorkspaceError::NotFound { .. } | WorkspaceError::NotADirectory { .. }) => {
                return Ok(Self::Absent);
            }
            Err(error) => return Err(error),
        };
        let mode = metadata.mode() & MODE_BITS;
        if metadata.is_symlink() {
            return Ok(Self::Link { target: workspace.read_link(path)? });
        }
        if metadata.is_dir() {
            return Ok(Self::Directory { mode });
        }
        if !metadata.is_file() {
            return Ok(Self::Other);
        }
        Ok(Self::File { hash: hash_of(workspace, path)?, mode })
    }
}

/// The hash of a file's content, read piece by piece.
fn hash_of(workspace: &Workspace, path: &RelPath) -> Result<String> {
    let mut file = workspace.open_file(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let read =
            file.read(&mut piece).map_err(|source| WorkspaceError::Io { path: path.clone(), source })?;
        if read == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update(piece.get(..read).unwrap_or_default());
    }
}
