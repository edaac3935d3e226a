//! One call that gives up rights for good.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::support::support;
use crate::{Profile, limits};

/// What was enforced, told by the kernel and not assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub landlock: Enforcement,
    pub seccomp: bool,
    /// One line for a person for each thing that is not enforced.
    pub lacking: Vec<String>,
}

impl Confinement {
    /// Whether every rule of the profile holds.
    pub fn is_complete(&self) -> bool {
        self.landlock == Enforcement::Fully && self.seccomp
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    Fully,
    /// An older kernel enforces a part; [`Confinement::lacking`] says which is missing.
    Partially,
    Not,
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("cannot allow `{}` in the sandbox: {message}", path.display())]
    Path { path: PathBuf, message: String },
    #[error("cannot limit the {name}: {source}")]
    Limit { name: &'static str, source: io::Error },
    #[error("cannot give up the privileges of root: {source}")]
    Privileges { source: io::Error },
    #[error("the kernel refused the file rules of the sandbox: {message}")]
    Landlock { message: String },
    #[error("the kernel refused the system call rules of the sandbox: {message}")]
    Seccomp { message: String },
}

/// Confines the calling thread and every thread and process it starts from now on, irrevocably.
///
/// Call it while the process has one thread. What the kernel does not know is left out and reported; what it knows and
/// refuses is an error, after which the process is confined in part and should end.
pub fn confine(profile: &Profile) -> Result<Confinement, SandboxError> {
    limits::apply(&profile.limits)?;
    enforce(profile)
}

#[cfg(target_os = "linux")]
fn enforce(profile: &Profile) -> Result<Confinement, SandboxError> {
    let support = support();
    let landlock = crate::files::apply(profile)?;
    if support.seccomp {
        crate::calls::apply(profile)?;
    }
    crate::privileges::apply()?;
    Ok(Confinement { landlock, seccomp: support.seccomp, lacking: support.lacking })
}

#[cfg(not(target_os = "linux"))]
fn enforce(_: &Profile) -> Result<Confinement, SandboxError> {
    let support = support();
    Ok(Confinement { landlock: Enforcement::Not, seccomp: false, lacking: support.lacking })
}
