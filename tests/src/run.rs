//! A started `foehn` and what it left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// Far above what any step takes, so that it only fires when something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
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

    /// The result envelopes in order.
    #[track_caller]
    pub fn envelopes(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter(|event| event["type"] == "call_finished")
            .map(|event| {
                serde_json::from_str(event["envelope"].as_str().expect("text")).expect("an envelope is JSON")
            })
            .collect()
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
    lines: mpsc::Receiver<String>,
    seen: Vec<String>,
    stderr: mpsc::Receiver<String>,
    root: PathBuf,
}

impl Started {
    pub(crate) fn spawn(command: &mut Command, root: &Path) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (line_sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            let mut stdout = stdout;
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if line_sender.send(text).is_err() {
                    break;
                }
            }
        });
        let (stderr_sender, stderr) = mpsc::channel();
        let mut pipe = child.stderr.take().expect("piped");
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            let _ = stderr_sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        Self { child, lines, seen: Vec::new(), stderr, root: root.to_owned() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types a line; stdin must be a pipe.
    pub fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("stdin is a pipe");
        writeln!(stdin, "{line}").expect("the process reads its stdin");
    }

    pub fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    /// Waits for the first line of stdout that holds `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(_) => {
                    let seen = self.seen.concat();
                    let _ = self.child.kill();
                    let stderr = self.stderr.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
                    panic!("`{text}` never came; stdout so far:\n{seen}\nstderr:\n{stderr}");
                }
            }
        }
    }

    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -{name}");
    }

    /// Waits for its end.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        self.child.stdin = None;
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.seen.push(line);
        }
        let stderr = self.stderr.recv_timeout(PATIENCE).expect("the process ends");
        let code = self.child.wait().expect("the process was started").code();
        Run { code, stdout: std::mem::take(&mut self.seen).concat(), stderr }
    }

    /// Processes that still run and belong to this test: they name its folder in their command line or work in it.
    pub fn left_running(root: &Path) -> Vec<String> {
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let folder = entry.path();
            if !entry.file_name().to_string_lossy().chars().all(|character| character.is_ascii_digit()) {
                continue;
            }
            let command = std::fs::read(folder.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let working = std::fs::read_link(folder.join("cwd")).unwrap_or_default();
            if command.contains(&*root.to_string_lossy()) || working.starts_with(root) {
                left.push(command);
            }
        }
        left
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
