//! One call that gives up rights for good.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::namespaces::{self, Entered};
use crate::support::support;
use crate::{ProcessBound, Profile, limits};

/// What was enforced, told by the kernel and not assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub landlock: Enforcement,
    pub seccomp: bool,
    #[serde(default)]
    pub network: NetworkNamespace,
    #[serde(default)]
    pub processes: ProcessBound,
    /// One line for a person for each thing that is not enforced.
    pub lacking: Vec<String>,
}

impl Confinement {
    /// Whether every rule of the profile holds.
    pub fn is_complete(&self) -> bool {
        self.landlock == Enforcement::Fully
            && self.seccomp
            && !matches!(self.processes, ProcessBound::Nothing(_))
    }
}

/// How a process is kept off the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkNamespace {
    /// It shares the network of the host: it may use it, or starts no programs and can make no socket.
    #[default]
    Shared,
    /// Its own, in which there is nobody but itself: its programs reach each other over loopback.
    Loopback,
    /// Its own, in which there is nothing, not even a loopback.
    Empty,
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
        // Not in namespaces of ours: whoever confines it needs to make them.
        let processes = bound(profile, false);
        limits::apply(&profile.limits, &processes)?;
        return Ok(Confinement {
            landlock: Enforcement::Not,
            seccomp: false,
            network: NetworkNamespace::Shared,
            processes,
            lacking: vec![UNCONFINED.to_owned()],
        });
    }
    enforce(profile)
}

/// Said where the caller asked for nothing.
const UNCONFINED: &str = "no rules of the kernel: the configuration leaves it to another program";

/// Which sockets there are to be.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    None,
    /// Those of the internet, in a network where nobody else is.
    OwnLoopback,
    Any,
}

#[cfg(target_os = "linux")]
impl Sockets {
    fn of(profile: &Profile, network: &NetworkNamespace) -> Self {
        match network {
            _ if profile.network => Self::Any,
            NetworkNamespace::Loopback => Self::OwnLoopback,
            _ => Self::None,
        }
    }
}

/// `as_user`: within a user namespace of its own.
fn bound(profile: &Profile, as_user: bool) -> ProcessBound {
    match profile.limits.processes {
        None => ProcessBound::Unasked,
        Some(_) if as_user => ProcessBound::OwnUser,
        Some(most) => ProcessBound::impose(most),
    }
}

#[cfg(target_os = "linux")]
fn enforce(profile: &Profile) -> Result<Confinement, SandboxError> {
    let mut support = support();
    let entered = if profile.execute_programs {
        namespaces::enter(!profile.network)?
    } else {
        Entered { network: NetworkNamespace::Shared, as_user: false }
    };
    let processes = bound(profile, entered.as_user);
    if let ProcessBound::Nothing(why) = &processes {
        support.lacking.push(format!(
            "nothing but a look now and then ends programs that start others without end ({why})"
        ));
    }
    limits::apply(&profile.limits, &processes)?;
    let sockets = Sockets::of(profile, &entered.network);
    let landlock = crate::files::apply(profile, sockets)?;
    if support.seccomp {
        crate::calls::apply(profile, sockets)?;
    }
    crate::privileges::apply(!entered.as_user)?;
    let Entered { network, .. } = entered;
    Ok(Confinement { landlock, seccomp: support.seccomp, network, processes, lacking: support.lacking })
}

#[cfg(not(target_os = "linux"))]
fn enforce(profile: &Profile) -> Result<Confinement, SandboxError> {
    let network = NetworkNamespace::Shared;
    let processes = bound(profile, false);
    limits::apply(&profile.limits, &processes)?;
    Ok(Confinement {
        landlock: Enforcement::Not,
        seccomp: false,
        network,
        processes,
        lacking: support().lacking,
    })
}
