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
    #[serde(default)]
    pub network: NetworkNamespace,
    /// One line for a person for each thing that is not enforced.
    pub lacking: Vec<String>,
}

impl Confinement {
    /// Whether every rule of the profile holds.
    pub fn is_complete(&self) -> bool {
        self.landlock == Enforcement::Fully && self.seccomp
    }
}

/// How a process is kept off the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkNamespace {
    /// It shares the network of the host: it may use it, or starts no programs and can make no socket.
    #[default]
    Shared,
    /// Its own, empty one.
    Empty,
    /// Its own, empty one, inside a user namespace of its own: the kernel counts its processes apart.
    EmptyAsUser,
    /// It was to have its own, and the system said no, in these words. Its sockets are refused by system call alone.
    Refused(String),
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
    #[error("cannot stay the same user in a namespace: {source}")]
    Namespace { source: io::Error },
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
    if profile.unconfined {
        limits::apply(&profile.limits, &NetworkNamespace::Shared)?;
        return Ok(Confinement {
            landlock: Enforcement::Not,
            seccomp: false,
            network: NetworkNamespace::Shared,
            lacking: vec![UNCONFINED.to_owned()],
        });
    }
    enforce(profile)
}

/// Said where the caller asked for nothing.
const UNCONFINED: &str = "no rules of the kernel: the configuration leaves it to another program";

#[cfg(target_os = "linux")]
fn enforce(profile: &Profile) -> Result<Confinement, SandboxError> {
    let support = support();
    let network = if profile.execute_programs && !profile.network {
        crate::network::leave()?
    } else {
        NetworkNamespace::Shared
    };
    // After the namespace, whose processes are counted apart.
    limits::apply(&profile.limits, &network)?;
    let landlock = crate::files::apply(profile)?;
    if support.seccomp {
        crate::calls::apply(profile)?;
    }
    crate::privileges::apply(network != NetworkNamespace::EmptyAsUser)?;
    Ok(Confinement { landlock, seccomp: support.seccomp, network, lacking: support.lacking })
}

#[cfg(not(target_os = "linux"))]
fn enforce(profile: &Profile) -> Result<Confinement, SandboxError> {
    let network = NetworkNamespace::Shared;
    limits::apply(&profile.limits, &network)?;
    Ok(Confinement { landlock: Enforcement::Not, seccomp: false, network, lacking: support().lacking })
}
