//! A run at a terminal: what a person sees and types goes through a real pseudo-terminal.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::{Lines, Run};

/// A running `foehn` whose stdin and stderr are a terminal. Stdout is not: it is a pipe.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    screen: Lines,
    stdout: Lines,
    keys: File,
    root: PathBuf,
}

impl Terminal {
    pub(crate) fn spawn(mut command: Command, root: PathBuf) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("its other end");
        let name = ptsname(&ours, Vec::new()).expect("its name").into_string().expect("UTF-8");
        let theirs = File::options().read(true).write(true).open(name).expect("the other end");
        let ours = File::from(ours);
        command.stdin(theirs.try_clone().expect("a copy")).stderr(theirs).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the built host starts");
        // The command holds the other end, and the screen could never end while it does.
        drop(command);
        let stdout = Lines::of(child.stdout.take().expect("piped"));
        let screen = Lines::of(ours.try_clone().expect("a copy"));
        Self { child, screen, stdout, keys: ours, root }
    }

    /// Waits for the next line of the screen that holds `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        assert!(self.screen.wait_for(text).is_some(), "`{text}` never came:\n{}", self.screen.seen);
    }

    /// Makes the screen as small as somebody's window.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keys, size).expect("a terminal has a size");
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).expect("the terminal takes keys");
    }

    /// Waits for its end; the screen, with what was typed, is the run's stderr.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        assert!(self.stdout.read_to_end() && self.screen.read_to_end(), "no end:\n{}", self.screen.seen);
        let code = self.child.wait().expect("the process was started").code();
        let screen = self.screen.seen.replace("\r\n", "\n");
        Run { code, stdout: std::mem::take(&mut self.stdout.seen), stderr: screen, root: self.root.clone() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
