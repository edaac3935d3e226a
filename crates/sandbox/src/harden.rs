//! Protection of the host itself, which holds the keys that its workers must not read.

/// Makes this process unreadable for others of the same user: its memory and `/proc/PID/environ` need privileges from now
/// on, and it leaves no core file. Call it first in `main`.
///
/// Does nothing where the system has no such switch.
pub fn harden_host() {
    #[cfg(target_os = "linux")]
    {
        // The kernel refuses only unknown arguments; there is nothing to do about it, and the second line (Landlock's
        // own rule against looking into processes outside) holds for every worker.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
}
