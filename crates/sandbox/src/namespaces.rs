//! Namespaces: a network of its own, in which there is nobody but the programs themselves, and a user whose processes the
//! kernel counts apart.
//!
//! Root may make a network. Anyone else needs a user namespace around it, in which every right that comes with it is given up
//! again at once; files stay those of the same user. Many systems refuse that to ordinary users, and containers often do: the
//! sockets are refused all the same, and [`Confinement`](crate::Confinement) says which it is.
#![allow(unsafe_code, reason = "the only function for it that is not deprecated is unsafe")]

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe};

use crate::{NetworkNamespace, SandboxError, loopback};

pub(crate) struct Entered {
    pub network: NetworkNamespace,
    /// Whether it is within a user namespace of its own.
    pub as_user: bool,
}

/// Moves the process to an empty network if it is to have one, and to a user of its own where that can be. It has to have one
/// thread.
pub(crate) fn enter(empty_network: bool) -> Result<Entered, SandboxError> {
    let network = |result: io::Result<()>| match result {
        _ if !empty_network => NetworkNamespace::Shared,
        Ok(()) => match loopback::switch_on() {
            Ok(()) => NetworkNamespace::Loopback,
            Err(_) => NetworkNamespace::Empty,
        },
        Err(error) => NetworkNamespace::Refused(error.to_string()),
    };
    let net = if empty_network { UnshareFlags::NEWNET } else { UnshareFlags::empty() };
    if capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN)) {
        return Ok(Entered { network: network(unshare(net)), as_user: false });
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if let Err(error) = unshare(net | UnshareFlags::NEWUSER) {
        return Ok(Entered { network: network(Err(error)), as_user: false });
    }
    // From here on a failure would leave the process as nobody.
    let write =
        |file: &str, text: String| fs::write(file, text).map_err(|source| SandboxError::Namespace { source });
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(Entered { network: network(Ok(())), as_user: true })
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: only `FILES` can take a descriptor away from another thread, and it is not among the flags.
    Ok(unsafe { unshare_unsafe(flags) }?)
}
