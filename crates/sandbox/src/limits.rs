//! Resource limits, set hard: the process cannot raise them again.

use rlimit::Resource;

use crate::profile::Limits;
use crate::{ProcessBound, SandboxError};

pub(crate) fn apply(limits: &Limits, bound: &ProcessBound) -> Result<(), SandboxError> {
    let processes = match bound {
        ProcessBound::OwnUser => limits.processes,
        ProcessBound::WholeUser => {
            limits.processes.map(|own| own.saturating_add(crate::processes::tasks_of_user()))
        }
        _ => None,
    };
    // A crashing plugin must not leave its memory, and the user's data in it, in the workspace.
    set(Resource::CORE, "core file size", Some(0))?;
    set(Resource::AS, "address space", limits.address_space)?;
    set(Resource::DATA, "memory for data", limits.data)?;
    set(Resource::NPROC, "number of processes", processes)?;
    set(Resource::FSIZE, "file size", limits.file_size)?;
    set(Resource::NOFILE, "number of open files", limits.open_files)?;
    set(Resource::CPU, "processor time", limits.cpu_seconds)
}

fn set(resource: Resource, name: &'static str, limit: Option<u64>) -> Result<(), SandboxError> {
    let Some(limit) = limit else { return Ok(()) };
    if !resource.is_supported() {
        return Ok(());
    }
    let failed = |source| SandboxError::Limit { name, source };
    let (_, ceiling) = resource.get().map_err(failed)?;
    let limit = limit.min(ceiling);
    resource.set(limit, limit).map_err(failed)
}
