//! An empty network as the second line behind the refused sockets: a namespace of its own, in which there is not even a
//! loopback to reach.
//!
//! Root may make one. Anyone else needs a user namespace around it, in which every right that comes with it is given up again
//! at once; files stay those of the same user. Many systems refuse that to ordinary users, and containers often do: the
//! sockets are refused all the same, and [`Confinement::network`](crate::Confinement::network) says which it is.
#![allow(unsafe_code, reason = "the only function for it that is not deprecated is unsafe")]

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe};

use crate::{NetworkNamespace, SandboxError};

/// Moves the process to an empty network. It has to have one thread.
pub(crate) fn leave() -> Result<NetworkNamespace, SandboxError> {
    let is_root = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if is_root {
        return Ok(match unshare(UnshareFlags::NEWNET) {
            Ok(()) => NetworkNamespace::Empty,
            Err(error) => NetworkNamespace::Refused(error.to_string()),
        });
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if let Err(error) = unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) {
        return Ok(NetworkNamespace::Refused(error.to_string()));
    }
    // From here on a failure would leave the process as nobody.
    let write =
        |file: &str, text: String| fs::write(file, text).map_err(|source| SandboxError::Namespace { source });
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(NetworkNamespace::EmptyAsUser)
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: only `FILES` can take a descriptor away from another thread, and it is not among the flags.
    Ok(unsafe { unshare_unsafe(flags) }?)
}
