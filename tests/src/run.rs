//! A started `foehn`, and what came out of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::clean::clean;
use crate::outline::outline;

/// Far above what any step takes, so that it only fires when something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub(crate) root: PathBuf,
}

impl Run {
    /// The events of `--json`; fails on any line that is not one.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self:?}"))
        };
        self.stdout.lines().map(parse).collect()
    }

    /// The events in short lines, without what differs from run to run.
    #[track_caller]
    pub fn outline(&self) -> String {
        clean(&outline(&self.events()), &self.root)
    }

    /// What a person reads beside the answer, without what differs from run to run.
    pub fn talk(&self) -> String {
        clean(&self.stderr, &self.root)
    }

    /// The answer or data, without what differs from run to run.
    pub fn answer(&self) -> String {
        clean(&self.stdout, &self.root)
    }

    /// The envelope that `foehn tools call` prints, which must be all of stdout.
    #[track_caller]
    pub fn envelope(&self) -> Value {
        match self.answer().lines().collect::<Vec<_>>().as_slice() {
            [line] => serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}")),
            _ => panic!("not one line: {self:?}"),
        }
    }

    /// The result envelopes in the order of the calls; those that ran beside each other end in any order.
    #[track_caller]
    pub fn envelopes(&self) -> Vec<Value> {
        let events = self.events();
        let mut calls: Vec<&Value> = Vec::new();
        for event in events.iter().filter(|event| event["call"].is_string()) {
            if !calls.contains(&&event["call"]) {
                calls.push(&event["call"]);
            }
        }
        let finished = |call: &Value| {
            let of_call = |event: &&Value| event["type"] == "call_finished" && event["call"] == *call;
            let text = clean(events.iter().find(of_call)?["envelope"].as_str().expect("text"), &self.root);
            Some(serde_json::from_str(&text).expect("an envelope is JSON"))
        };
        calls.into_iter().filter_map(finished).collect()
    }

    /// The session that the events belong to.
    #[track_caller]
    pub fn session(&self) -> String {
        self.events()[0]["session"].as_str().expect("each event names its session").to_owned()
    }

    /// The last event, which tells how the turn ended.
    #[track_caller]
    pub fn done(&self) -> Value {
        let last = self.events().pop().unwrap_or_else(|| panic!("no event: {self:?}"));
        assert_eq!(last["type"], "turn_done", "{self:?}");
        last
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// A running `foehn`; killed when dropped.
#[derive(Debug)]
pub struct Started {
    child: Child,
    stdout: Lines,
    stderr: Lines,
    root: PathBuf,
}

impl Started {
    pub(crate) fn spawn(command: &mut Command, root: &Path) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = Lines::of(child.stdout.take().expect("piped"));
        let stderr = Lines::of(child.stderr.take().expect("piped"));
        Self { child, stdout, stderr, root: root.to_owned() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types a line; stdin must be a pipe.
    pub fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("stdin is a pipe");
        writeln!(stdin, "{line}").expect("the process reads its stdin");
    }

    /// The open end of its stdin, for who wants to keep it open beyond the end.
    pub fn take_stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("stdin is a pipe")
    }

    /// Waits for the next line of stdout that holds `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        self.stdout.wait_for(text).unwrap_or_else(|| self.never_came(text))
    }

    /// Waits for the next line of stderr that holds `text`.
    #[track_caller]
    pub fn wait_for_talk(&mut self, text: &str) -> String {
        self.stderr.wait_for(text).unwrap_or_else(|| self.never_came(text))
    }

    #[track_caller]
    fn never_came(&mut self, text: &str) -> ! {
        let _ = self.child.kill();
        self.stdout.read_to_end();
        self.stderr.read_to_end();
        panic!("`{text}` never came\nstdout:\n{}\nstderr:\n{}", self.stdout.seen, self.stderr.seen);
    }

    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -{name}");
    }

    /// Closes its stdin and waits for its end.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        self.child.stdin = None;
        if !(self.stdout.read_to_end() && self.stderr.read_to_end()) {
            self.never_came("the end of the process");
        }
        let code = self.child.wait().expect("the process was started").code();
        let take = |lines: &mut Lines| std::mem::take(&mut lines.seen);
        Run { code, stdout: take(&mut self.stdout), stderr: take(&mut self.stderr), root: self.root.clone() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One stream, read beside the test so that the process never blocks on a full pipe.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: mpsc::Receiver<String>,
    pub(crate) seen: String,
}

impl Lines {
    pub(crate) fn of(stream: impl Read + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Self { lines, seen: String::new() }
    }

    pub(crate) fn wait_for(&mut self, text: &str) -> Option<String> {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).ok()?;
            self.seen.push_str(&line);
            if line.contains(text) {
                return Some(line);
            }
        }
    }

    /// `false` when the stream does not end.
    pub(crate) fn read_to_end(&mut self) -> bool {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.seen.push_str(&line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}
