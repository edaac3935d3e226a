//! Processes below a process, by descent and not by group: a program that starts its own session leaves every group.
//!
//! The host and each worker are *subreapers*: what loses its parent below them becomes their child, so that nothing that a
//! plugin started can slip away to the system's first process. An orphan of a dead worker is told from the host's own
//! children by its session, which is never the host's, and by its seccomp filters, of which it has more than the host.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

/// A killed process needs a moment to be gone; a process that cannot die (stuck in the kernel) ends the waiting.
const ROUNDS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Living workers of this process, so that they are never taken for orphans.
static WORKERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Held while a worker is started, so that it is listed before anybody can look for orphans.
pub(crate) fn workers() -> MutexGuard<'static, BTreeSet<u32>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Orphans below this process become its children from now on.
pub(crate) fn become_subreaper() {
    #[cfg(target_os = "linux")]
    {
        // Refused by no Linux that has Landlock; without it only the group kill is left.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

pub(crate) fn kill(process: u32) {
    if let Some(pid) = pid(process) {
        // Gone already is what we want.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills a process, its group and all that descends from it. The caller reaps the process itself.
pub(crate) fn kill_all(root: u32, may_have_children: bool) {
    let below = if may_have_children { below(root) } else { Vec::new() };
    if let Some(pid) = pid(root) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    kill(root);
    kill_each(&below);
}

/// Group by group first: that is one step, in which no member can start another. Programs that start others without end
/// would be ahead of any list.
fn kill_each(found: &[Process]) {
    let own = Process::read(std::process::id()).map(|own| own.group);
    let groups: BTreeSet<u32> = found.iter().map(|process| process.group).collect();
    for group in groups.into_iter().filter(|group| Some(*group) != own).filter_map(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    found.iter().for_each(|process| kill(process.id));
}

/// Kills everything below this process and waits until it is gone. For a worker that ends.
pub(crate) fn kill_own_descendants() {
    for _ in 0..ROUNDS {
        while matches!(waitpid(None, WaitOptions::NOHANG), Ok(Some(_))) {}
        let descendants = below(std::process::id());
        if descendants.is_empty() {
            return;
        }
        kill_each(&descendants);
        std::thread::park_timeout(PAUSE);
    }
}

/// Kills and reaps what dead workers left behind.
pub(crate) fn sweep_orphans() {
    let own_filters = seccomp_filters("self");
    for _ in 0..ROUNDS {
        let orphans: Vec<_> = {
            let workers = workers();
            let me = std::process::id();
            let session = Process::read(me).map(|own| own.session);
            processes()
                .into_iter()
                .filter(|process| process.parent == me && Some(process.session) != session)
                .filter(|process| !workers.contains(&process.id))
                .filter(|process| seccomp_filters(&process.id.to_string()) > own_filters)
                .collect()
        };
        if orphans.is_empty() {
            return;
        }
        kill_each(&orphans);
        for orphan in orphans {
            kill_each(&below(orphan.id));
            let _ = waitpid(pid(orphan.id), WaitOptions::NOHANG);
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Everything that descends from a process and still runs.
fn below(root: u32) -> Vec<Process> {
    let all = processes();
    let mut found = BTreeSet::from([root]);
    // A child may be listed before its parent: go on until nothing is added.
    loop {
        let before = found.len();
        for process in &all {
            if found.contains(&process.parent) {
                found.insert(process.id);
            }
        }
        if found.len() == before {
            break;
        }
    }
    all.into_iter()
        .filter(|process| process.id != root && !process.dead && found.contains(&process.id))
        .collect()
}

struct Process {
    id: u32,
    parent: u32,
    /// This and the session are 0 when they began outside of our namespace of processes, as in a container.
    group: u32,
    session: u32,
    /// Ended and not yet reaped.
    dead: bool,
}

impl Process {
    fn read(id: u32) -> Option<Self> {
        parse_stat(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }
}

/// All processes that this one can see; none where there is no `/proc` or the sandbox hides it.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// `PID (NAME) STATE PARENT GROUP SESSION ...`, where the name may hold anything.
fn parse_stat(id: u32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    Some(Process { id, parent, group, session, dead: matches!(state, "Z" | "X") })
}

fn seccomp_filters(process: &str) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp_filters:"))
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

fn pid(process: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(process).ok()?)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn stat_lines() {
        let parsed =
            |stat| parse_stat(7, stat).map(|process| (process.parent, process.session, process.dead));
        assert_eq!(parsed("7 (sh) S 3 7 5 0"), Some((3, 5, false)));
        assert_eq!(parsed("7 (a) b) Z 4) Z 3 7 5 0"), Some((3, 5, true)));
        assert_eq!(parsed("7 (sh"), None);
    }

    #[test]
    fn descendants_also_in_their_own_session() {
        let mut child = Command::new("sh")
            .args(["-c", "setsid sleep 600 & echo started; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        let descendants = below(child.id());
        assert!(!descendants.is_empty());
        kill_all(child.id(), true);
        child.wait().unwrap();
        assert!(below(child.id()).is_empty());
    }
}
