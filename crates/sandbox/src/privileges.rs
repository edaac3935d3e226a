//! Privileges of root that a confined process gives up. For an ordinary user there is nothing to do.
//!
//! File rules alone do not hold root back: with `CAP_PERFMON` the kernel lets it read the memory and the environment of
//! processes outside, with `CAP_SYS_ADMIN` far more.

use rustix::thread::{
    CapabilitySet, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

use crate::SandboxError;

/// What root needs to work on files of other users in a workspace, as tools in a container do.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// `as_root`: what root keeps is kept. Who is root only within a namespace of its own is an ordinary user, and keeps nothing.
pub(crate) fn apply(as_root: bool) -> Result<(), SandboxError> {
    let kept = if as_root { KEPT } else { CapabilitySet::empty() };
    let mut sets = capabilities(None).map_err(failed)?;
    let given_up = sets.permitted - kept;
    if given_up.is_empty() {
        return Ok(());
    }
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        for capability in given_up.iter() {
            remove_capability_from_bounding_set(capability).map_err(failed)?;
        }
        clear_ambient_capability_set().map_err(failed)?;
    }
    sets.permitted &= kept;
    sets.effective &= kept;
    sets.inheritable &= kept;
    set_capabilities(None, sets).map_err(failed)
}

fn failed(error: rustix::io::Errno) -> SandboxError {
    SandboxError::Privileges { source: error.into() }
}
