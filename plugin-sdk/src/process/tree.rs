//! Everything descended from a started program.
//!
//! A signal to the process group misses whatever made a session of its own, and the parent's id is lost when a parent ends.
//! So a process counts as descended when its chain of living parents leads to the program, or when it was adopted by us (we
//! are the subreaper) and is in the program's session or still carries the mark in its environment.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, test_kill_process_group, waitpid,
};

use super::LeftRunning;

/// The environment variable that marks a run.
const MARK: &str = "FOEHN_RUN";

/// What runs that are over left behind. Nobody else waits for it when it ends.
static LEFT: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Programs of runs that are not over, or whose end was not noticed yet.
static LEADERS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Held by many while a program is started and put among the leaders, and by one who buries orphans.
static STARTING: RwLock<()> = RwLock::new(());

/// To be held from before a program is started until its tree is made: else its end could be noticed by somebody else.
pub(super) fn starting() -> RwLockReadGuard<'static, ()> {
    STARTING.read().unwrap_or_else(PoisonError::into_inner)
}

/// The mark of one run, unique on this machine.
#[derive(Clone, Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// A new mark. Also sees to it that orphans come to this process from now on, which must be so before anything starts.
    pub(super) fn new() -> Self {
        static SUBREAPER: Once = Once::new();
        static RUNS: AtomicU64 = AtomicU64::new(0);
        SUBREAPER.call_once(adopt_orphans);
        bury();
        Self(format!("{}-{}", getpid().as_raw_nonzero(), RUNS.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) fn variable(&self) -> (OsString, OsString) {
        (MARK.into(), self.0.clone().into())
    }

    fn is_on(&self, pid: Pid) -> bool {
        let variable = format!("{MARK}={}", self.0);
        for _ in 0..BEGIN_ROUNDS {
            let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
            if !environ.is_empty() {
                return environ.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes());
            }
            if Process::read(pid).is_none_or(|process| process.ended || process.is_bare) {
                return false;
            }
            thread::park_timeout(BEGIN_WAIT);
        }
        false
    }
}

/// A process that is just becoming another program shows no environment for a moment.
const BEGIN_ROUNDS: usize = 100;
const BEGIN_WAIT: Duration = Duration::from_millis(1);
/// How often a look that found nothing is repeated while there are children.
const LOOKS: usize = 5;
/// How often a look is repeated because something ended meanwhile.
const MOST_LOOKS: usize = 100;

/// How often ending is repeated, and how long the ended have to go.
const END_ROUNDS: usize = 400;
const END_WAIT: Duration = Duration::from_millis(5);

/// A started program with everything descended from it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    leader: Pid,
    mark: Mark,
}

impl Tree {
    /// `leader` leads a session of its own.
    pub(super) fn new(leader: Pid, mark: Mark) -> Self {
        LEADERS.lock().unwrap_or_else(PoisonError::into_inner).push(leader);
        Self { leader, mark }
    }

    /// The end of the program was noticed: its number can be anybody's from now on.
    pub(super) fn leader_ended(&self) {
        LEADERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|leader| *leader != self.leader);
    }

    /// Sends a signal to everything that is alive.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(members) = self.members() else {
            // Errors here and below mean that there is nobody left to hear it.
            let _ = kill_process_group(self.leader, signal);
            return;
        };
        for pid in members.iter().filter_map(|member| Pid::from_raw(member.pid)) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills everything that is alive, once. Each is stopped before it is asked what it started: one that starts others all
    /// the time would else be ahead for ever.
    pub(super) fn kill(&self) {
        // In one step, before any of them can start another; then those that made a group of their own.
        self.signal_group(Signal::KILL);
        let stopped = self.visit(|pid| {
            let _ = kill_process(pid, Signal::STOP);
        });
        let Some(stopped) = stopped else {
            return self.signal(Signal::KILL);
        };
        for pid in stopped.iter().filter_map(|member| Pid::from_raw(member.pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Sends a signal to the program's own group, which is most of a run. No process can be started past it.
    pub(super) fn signal_group(&self, signal: Signal) {
        // The number of a group that is over may be somebody else's by now.
        let is_ours = |pid: Pid| {
            pid == self.leader
                || Process::read(pid)
                    .is_some_and(|process| process.session == self.leader.as_raw_nonzero().get())
        };
        if children_of(getpid()).is_none_or(|children| children.into_iter().any(is_ours)) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    /// Kills until nothing is alive.
    pub(super) fn end(&self) {
        for _ in 0..END_ROUNDS {
            self.kill();
            thread::park_timeout(END_WAIT);
            if self.alive().is_empty() {
                return;
            }
        }
    }

    /// What is alive, without the program itself once it has been waited for.
    pub(super) fn alive(&self) -> Vec<LeftRunning> {
        // What goes from process to process can be missed between two of them, but not time and again.
        for _ in 0..LOOKS {
            // Most programs leave nothing behind, which one question tells.
            if is_childless() {
                break;
            }
            match self.members() {
                Some(members) if members.is_empty() => thread::park_timeout(BEGIN_WAIT),
                Some(members) => return members,
                // Without `/proc` it is known that there is something, not what.
                None if test_kill_process_group(self.leader).is_ok() => {
                    return vec![LeftRunning {
                        pid: self.leader.as_raw_nonzero().get(),
                        name: String::new(),
                    }];
                }
                None => break,
            }
        }
        Vec::new()
    }

    /// The run is over: what is still alive will be buried by a later one.
    pub(super) fn leave(&self, alive: &[LeftRunning]) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(alive.iter().filter_map(|process| Pid::from_raw(process.pid)));
    }

    /// `None` when the system does not tell.
    fn members(&self) -> Option<Vec<LeftRunning>> {
        self.visit(|_| ())
    }

    /// The same, doing something to each before its children are read.
    fn visit(&self, first: impl Fn(Pid)) -> Option<Vec<LeftRunning>> {
        let mut ended = HashSet::new();
        let mut found = Vec::new();
        // One that does nothing but hand itself on must not hold us for ever.
        for _ in 0..MOST_LOOKS {
            let known = ended.len();
            found = self.look(&first, &mut ended)?;
            // What one that ended meanwhile had started is our child since, and may have come after our list was read.
            if ended.len() == known {
                break;
            }
        }
        Some(found)
    }

    fn look(&self, first: impl Fn(Pid), all_ended: &mut HashSet<Pid>) -> Option<Vec<LeftRunning>> {
        let mut found = Vec::new();
        let mut pending = Vec::new();
        for pid in children_of(getpid())? {
            let is_ours = |process| pid == self.leader || self.is_adopted(pid, &process);
            if Process::read(pid).is_some_and(is_ours) {
                pending.push(pid);
            } else if Process::read(pid).is_none_or(|process| process.ended) {
                // Perhaps only now, while it was asked whose it is.
                all_ended.insert(pid);
            }
        }
        while let Some(pid) = pending.pop() {
            let Some(process) = Process::read(pid) else {
                all_ended.insert(pid);
                continue;
            };
            if process.ended {
                all_ended.insert(pid);
            } else {
                first(pid);
            }
            pending.extend(children_of(pid).unwrap_or_default());
            if !process.ended {
                found.push(LeftRunning { pid: pid.as_raw_nonzero().get(), name: process.name });
            } else if pid != self.leader {
                // Ours to bury once it is our child; until then the wait below is refused, which is as well.
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        found.sort();
        Some(found)
    }

    fn is_adopted(&self, pid: Pid, process: &Process) -> bool {
        if process.session == self.leader.as_raw_nonzero().get() {
            return true;
        }
        if process.ended {
            bury_orphan(pid, process);
            return false;
        }
        self.mark.is_on(pid)
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Where it is refused, what is left is the process group.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Takes note of the end of what was left behind; without that it would stay in the table of processes.
fn bury() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|&pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)));
}

/// An orphan that ended before anybody saw it: it lost its mark with its memory. What is of our own session was started by
/// somebody else in this process, who waits for it.
fn bury_orphan(pid: Pid, process: &Process) {
    let Ok(_nobody_starts) = STARTING.try_write() else { return };
    let is_leader = LEADERS.lock().unwrap_or_else(PoisonError::into_inner).contains(&pid);
    let is_of_others = Process::read(getpid()).is_some_and(|own| own.session != process.session);
    if !is_leader && is_of_others {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

struct Process {
    name: String,
    /// 0 when it began outside of our namespace of processes, as in a container that a program was started into.
    session: i32,
    ended: bool,
    /// Whether its environment is known to be empty.
    is_bare: bool,
}

impl Process {
    fn read(pid: Pid) -> Option<Self> {
        let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(&String::from_utf8_lossy(&stat))
    }

    /// `PID (NAME) STATE PARENT GROUP SESSION ...`; a name may hold anything, parentheses and blanks too.
    fn parse(stat: &str) -> Option<Self> {
        let (start, rest) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let session = fields.nth(2)?.parse().ok()?;
        // Where the environment begins and ends, the 50th and 51st of all (proc_pid_stat(5)). Who is not told does not wait.
        let is_bare = match (fields.nth(43), fields.next()) {
            (Some(start), Some(end)) => start == end && end != "0",
            _ => true,
        };
        Some(Self { name: name.to_owned(), session, ended: matches!(state, "Z" | "X"), is_bare })
    }
}

/// Whether this process has no child at all, not even one that has ended.
#[cfg(target_os = "linux")]
fn is_childless() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// Elsewhere what a program leaves behind is no child of ours.
#[cfg(not(target_os = "linux"))]
fn is_childless() -> bool {
    false
}

/// The children of all threads of a process; `None` when the system does not tell.
fn children_of(pid: Pid) -> Option<Vec<Pid>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).ok()? {
        let list = match fs::read_to_string(thread.ok()?.path().join("children")) {
            Ok(list) => list,
            // A thread, or all of it, that has just ended.
            Err(error) if is_gone(&error) => continue,
            Err(_) => return None,
        };
        children.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    Some(children)
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let process = Process::parse("42 (a) b (c)) S 7 42 41 0 -1").unwrap();
        assert_eq!((process.name.as_str(), process.session, process.ended), ("a) b (c)", 41, false));
        assert!(Process::parse("42 (x) Z 7 42 41 0").unwrap().ended);
        assert!(Process::parse("garbage").is_none());
    }
}
