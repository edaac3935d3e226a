//! Who answers approvals in this process, and what they answered for the rest of it.

use std::collections::HashSet;
use std::sync::Mutex;

use foehn_ports::{Gate, GrantKey};

/// Grants live as long as the process.
#[derive(Debug)]
pub(crate) struct SessionGate {
    attended: bool,
    yes: bool,
    grants: Mutex<HashSet<GrantKey>>,
}

impl SessionGate {
    /// `attended`: a person reads the questions. `yes`: the operator approved everything beforehand with `--yes`.
    pub(crate) fn new(attended: bool, yes: bool) -> Self {
        Self { attended, yes, grants: Mutex::default() }
    }
}

impl Gate for SessionGate {
    fn attended(&self) -> bool {
        self.attended
    }

    fn approves_everything(&self) -> Option<&str> {
        self.yes.then_some("--yes")
    }

    fn granted(&self, key: &GrantKey) -> bool {
        self.grants.lock().is_ok_and(|grants| grants.contains(key))
    }

    fn grant(&self, key: GrantKey) {
        if let Ok(mut grants) = self.grants.lock() {
            grants.insert(key);
        }
    }
}
