//! What this kernel offers, for `doctor` and for a decision before any process is started.
#![allow(unsafe_code, reason = "asking the kernel for its Landlock version is a raw system call")]

/// What this kernel can enforce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The kernel's version of Landlock; `None` when it has none or it is switched off.
    pub landlock_abi: Option<u32>,
    pub seccomp: bool,
    /// One line for a person for each thing that is missing; empty when everything can be enforced.
    pub lacking: Vec<String>,
}

/// Landlock's file rules are complete from this version on (truncation), its network rules and its signal rules from
/// the later ones.
const LANDLOCK_STEPS: &[(u32, &str)] = &[
    (2, "moving files between folders cannot be confined (Landlock 2, Linux 5.19)"),
    (3, "truncating files cannot be confined (Landlock 3, Linux 6.2)"),
    (4, "TCP cannot be confined by Landlock (Landlock 4, Linux 6.7); seccomp still refuses sockets"),
    (5, "device commands cannot be confined (Landlock 5, Linux 6.10)"),
    (6, "signals to processes outside cannot be confined (Landlock 6, Linux 6.12)"),
];

/// Asks the kernel. Changes nothing and costs two system calls.
pub fn support() -> Support {
    let landlock_abi = landlock_abi();
    let seccomp = has_seccomp();
    let mut lacking = lacking_landlock(landlock_abi);
    if !seccomp {
        lacking.push(
            "seccomp is not available: sockets and new processes cannot be refused by system call".to_owned(),
        );
    }
    Support { landlock_abi, seccomp, lacking }
}

pub(crate) fn lacking_landlock(abi: Option<u32>) -> Vec<String> {
    match abi {
        None if cfg!(target_os = "linux") => {
            vec![
                "Landlock is not available: files are not confined (it needs Linux 5.13 with `landlock` \
                 in the list of security modules)"
                    .to_owned(),
            ]
        }
        None => vec![format!("confinement of files is not available on {}", std::env::consts::OS)],
        Some(abi) => LANDLOCK_STEPS
            .iter()
            .filter(|(since, _)| abi < *since)
            .map(|(_, line)| (*line).to_owned())
            .collect(),
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn landlock_abi() -> Option<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION` of the kernel's interface.
    const ASK_VERSION: u32 = 1;
    // SAFETY: with this flag, no attributes and size zero the call creates nothing and touches no memory; it returns
    // the version or a negative error.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            ASK_VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn landlock_abi() -> Option<u32> {
    None
}

fn has_seccomp() -> bool {
    cfg!(target_os = "linux") && std::path::Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_older_landlock_lacks_more() {
        let counts: Vec<_> = (1..=7).map(|abi| lacking_landlock(Some(abi)).len()).collect();
        assert_eq!(counts, [5, 4, 3, 2, 1, 0, 0]);
        assert_eq!(lacking_landlock(None).len(), 1);
    }
}
