//! The file, network and signal rules of a profile as one Landlock ruleset.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use crate::confine::Sockets;
use crate::paths;
use crate::{Enforcement, Profile, SandboxError};

/// The rights that are asked for. Every one is known since Linux 6.12, so that a current kernel enforces them fully.
const BASELINE: ABI = ABI::V6;

pub(crate) fn apply(profile: &Profile, sockets: Sockets) -> Result<Enforcement, SandboxError> {
    let mut ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(BASELINE))?.scope(Scope::from_all(BASELINE))?;
    if sockets == Sockets::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(BASELINE))?;
    }
    let execute = if profile.execute_programs { AccessFs::Execute.into() } else { BitFlags::EMPTY };
    let read = AccessFs::ReadFile | AccessFs::ReadDir | execute;
    let everything = AccessFs::from_write(BASELINE) | read;
    let write_device = AccessFs::ReadFile | AccessFs::WriteFile;

    let mut ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(paths::LIBRARIES, read))?
        .add_rules(path_beneath_rules(paths::WRITABLE_DEVICES, write_device))?;
    if profile.network {
        ruleset = ruleset.add_rules(path_beneath_rules(paths::NETWORK, read))?;
    }
    if profile.execute_programs {
        ruleset = ruleset.add_rules(path_beneath_rules(paths::PROGRAMS, read))?;
    }
    ruleset = allow(ruleset, &profile.read, read)?;
    ruleset = allow(ruleset, &profile.write, everything)?;

    let status = ruleset.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Enforcement::Fully,
        RulesetStatus::PartiallyEnforced => Enforcement::Partially,
        RulesetStatus::NotEnforced => Enforcement::Not,
    })
}

/// Unlike system files, a path that was asked for by name has to exist: leaving it out would only fail later, in words
/// that nobody understands.
fn allow(
    mut ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    for path in paths {
        let file = PathFd::new(path).map_err(|error| unreadable(path, error))?;
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(BASELINE) };
        ruleset = ruleset.add_rule(PathBeneath::new(file, access))?;
    }
    Ok(ruleset)
}

fn unreadable(path: &Path, error: landlock::PathFdError) -> SandboxError {
    SandboxError::Path { path: path.to_path_buf(), message: error.to_string() }
}

impl From<landlock::RulesetError> for SandboxError {
    fn from(error: landlock::RulesetError) -> Self {
        Self::Landlock { message: error.to_string() }
    }
}
