//! Which processes a run has left behind.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// How long a killed process may take to disappear. What is left then, stays.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until no process belongs to the folder any more: none works below it, names it in its command line or has it in
/// its environment. Answers with what does not go away.
pub(crate) fn wait_until_gone(root: &Path) -> Vec<String> {
    loop {
        let left = processes(root);
        let Some(process) = left.first() else { return Vec::new() };
        if !process.ends() {
            return left.into_iter().map(|process| process.command).collect();
        }
    }
}

struct Process {
    id: i32,
    command: String,
}

impl Process {
    fn ends(&self) -> bool {
        let Some(handle) = Pid::from_raw(self.id).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok())
        else {
            return true;
        };
        let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
        let mut watched = [PollFd::new(&handle, PollFlags::IN)];
        poll(&mut watched, Some(&patience)).is_ok_and(|ready| ready > 0)
    }
}

fn processes(root: &Path) -> Vec<Process> {
    let name = root.to_string_lossy();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse() else { continue };
        let text = |part: &str| {
            String::from_utf8_lossy(&fs::read(entry.path().join(part)).unwrap_or_default()).replace('\0', " ")
        };
        let command = text("cmdline");
        let works_there =
            fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder.starts_with(root));
        let belongs = works_there || command.contains(&*name) || text("environ").contains(&*name);
        // The scripted model is the test's own.
        if belongs && !command.contains("script-server") {
            found.push(Process { id, command });
        }
    }
    found
}
