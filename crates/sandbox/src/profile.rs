//! What a confined process may do, as plain data that crosses to the worker as JSON.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Everything that is not named here is refused.
///
/// System files are not listed: what every program needs to start (libraries, time zones) is always readable, programs
/// and their settings with [`execute_programs`](Self::execute_programs), name resolution and certificates with
/// [`network`](Self::network).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// Folders and files that can be read. With [`execute_programs`](Self::execute_programs) also executed.
    pub read: Vec<PathBuf>,
    /// Folders and files that can be read, changed, created and removed.
    pub write: Vec<PathBuf>,
    /// Whether other programs can be started, under the same rules. Without it no child process can exist at all.
    pub execute_programs: bool,
    /// Whether the network of the host can be reached. Programs without it get one of their own, where the system allows that,
    /// with nothing in it but their own loopback; else they can make no socket.
    pub network: bool,
    /// Nothing of all this but the limits: somebody else confines what is started.
    pub unconfined: bool,
    pub limits: Limits,
}

/// Resource limits of the process and of everything it starts. `None` leaves what the process was started with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of address space.
    pub address_space: Option<u64>,
    /// Bytes that can be written to and belong to the process alone. What a runtime reserves and does not use is not counted.
    pub data: Option<u64>,
    /// Processes and threads, as well as the system can count those of one confined process and all below it: see
    /// [`ProcessBound`](crate::ProcessBound).
    pub processes: Option<u64>,
    /// Bytes of the largest file that can be written.
    pub file_size: Option<u64>,
    pub open_files: Option<u64>,
    pub cpu_seconds: Option<u64>,
}
