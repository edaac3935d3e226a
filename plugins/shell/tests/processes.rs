//! Programs that outlive their calls: found again, read, fed, ended, and gone with everything they started.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;

use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, Ok, Refused};
use foehn_plugin_sdk::wire::{Classification, Operation, Part, Reply, Risk, SessionEnded, op};
use foehn_plugin_sdk::{Plugin, Tool, serde_json};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, call, json, run};
use shell::{ListProcesses, ReadProcessOutput, StartProcess, StopProcess, WriteProcessInput};

/// A session of its own, as tests of one program share their processes.
struct Session {
    name: &'static str,
    workspace: TempWorkspace,
}

impl Session {
    fn new(name: &'static str) -> Self {
        Self { name, workspace: TempWorkspace::new([("sub/x", "")]) }
    }

    fn call<T: Tool>(&self, tool: T, arguments: Value) -> Reply {
        let session = self.name.to_owned();
        run(tool, arguments).workspace(&self.workspace).head(|head| head.session = session).run()
    }

    /// Starts a command, and tells its id.
    #[track_caller]
    fn start(&self, command: &str) -> (u64, String) {
        let reply = self.call(StartProcess, json!({"command": command}));
        let text = reply.text();
        let id = text.split(' ').nth(1).and_then(|id| id.parse().ok());
        (id.unwrap_or_else(|| panic!("{reply:?}")), told(&text))
    }

    #[track_caller]
    fn check<T: Tool>(&self, tool: T, arguments: Value, kind: ReplyKind, expected: &str) {
        let reply = self.call(tool, arguments);
        let text = if reply.kind == Ok { reply.text() } else { reply.message.clone() };
        assert_eq!((reply.kind, told(&text).as_str()), (kind, expected));
    }
}

/// Without ids and times.
fn told(text: &str) -> String {
    let words = text.split(' ').scan("", |before, word| {
        let shown = if *before == "process" && word.parse::<u32>().is_ok() { "N" } else { word };
        let shown = if *before == "since" && word.parse::<f64>().is_ok() { "T" } else { shown };
        *before = word;
        Some(shown)
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_is_found_again_read_and_ended() {
    let session = Session::new("found");
    let (id, first) = session.start("cd sub; ls; read line; echo got:$line; exec sleep 49371");
    assert_eq!(first, "process N runs since T s; output 0..2 of 2 characters\nx\n");
    session.check(
        WriteProcessInput,
        json!({"id": id, "text": "hello\n"}),
        Ok,
        "process N runs since T s; output 2..12 of 12 characters\ngot:hello\n",
    );
    session.check(
        ReadProcessOutput,
        json!({"id": id, "since": 6}),
        Ok,
        "process N runs since T s; output 6..12 of 12 characters\nhello\n",
    );
    session.check(
        ReadProcessOutput,
        json!({"id": id, "since": 12}),
        Ok,
        "process N runs since T s; output 12..12 of 12 characters\n(no new output)",
    );
    session.check(
        StopProcess,
        json!({"id": id}),
        Ok,
        "process N ended: killed by signal 15 (SIGTERM); output 12..12 of 12 characters\n(no new output)",
    );
    assert_eq!(sleeping("49371"), Vec::<String>::new());
    session.check(WriteProcessInput, json!({"id": id, "text": "x"}), Failed, "its input is closed");
}

#[test]
fn a_program_starts_in_the_folder_it_is_told() {
    let session = Session::new("folder");
    let start = |folder: &str, kind, expected: &str| {
        session.check(
            StartProcess,
            json!({"command": "ls; touch ran", "working_directory": folder}),
            kind,
            expected,
        );
    };
    start("sub", Ok, "process N ended: exit code 0 in `sub`; output 0..2 of 2 characters\nx\n");
    assert_eq!(session.workspace.list_all(), ["sub/", "sub/ran", "sub/x"]);
    start("gone", Failed, "working_directory: `gone` does not exist");
    start("..", Refused, "working_directory: `..` lies outside of the workspace");
    let arguments = json!({"command": "touch ../../x", "working_directory": "sub"});
    let found = run(StartProcess, arguments).workspace(&session.workspace).classify();
    assert_eq!(found.facts.paths.len(), 1, "{found:?}");
}

#[test]
fn a_session_sees_its_own_only() {
    let (mine, other) = (Session::new("mine"), Session::new("other"));
    let (id, _) = mine.start("exec sleep 49381");
    other.check(ListProcesses, json!({}), Ok, "none");
    let listed = told(&mine.call(ListProcesses, json!({})).text());
    assert_eq!(listed, format!("{id} runs since T s: exec sleep 49381"));
    other.check(
        StopProcess,
        json!({"id": id}),
        Failed,
        &format!(
            "there is no process {id}; list_processes shows those there are; they end with their session"
        ),
    );
    mine.call(StopProcess, json!({"id": id}));
}

/// Ends one session in a plugin that answers for all of them.
fn end_session(session: &str, host_ends: bool) -> SessionEnded {
    let plugin = Plugin::new("shell", "1.0.0", "").tool(StartProcess).tool(ListProcesses);
    let reply = call(plugin, "", json!({"host_ends": host_ends}))
        .head(|head| head.session = session.to_owned())
        .op(op::END_SESSION, &TestHost::new());
    let Some(Part::Json { value }) = reply.parts.first() else { panic!("{reply:?}") };
    let mut ended: SessionEnded = serde_json::from_value(value.clone()).unwrap();
    for line in ended.ended.iter_mut().chain(&mut ended.kept) {
        // `process ID COMMAND, after TIME s`
        *line = line.split_once('`').and_then(|(_, rest)| rest.split_once('`')).unwrap().0.to_owned();
    }
    ended
}

#[test]
fn a_session_takes_its_own_programs_along_and_leaves_what_is_kept() {
    let (ending, staying) = (Session::new("ending"), Session::new("staying"));
    let long = format!("exec sleep 49421 # {}\nmore", "x".repeat(200));
    ending.start(&long);
    ending.start("true");
    let keep = run(StartProcess, json!({"command": "exec sleep 49422"})).config(json!({"keep": true}));
    let reply = keep.workspace(&ending.workspace).head(|head| head.session = ending.name.to_owned()).run();
    let kept: u64 = reply.text().split(' ').nth(1).unwrap().parse().unwrap();
    staying.start("exec sleep 49423");
    let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    let ended = SessionEnded {
        ended: lines(&[&format!("exec sleep 49421 # {}...", "x".repeat(101))]),
        kept: lines(&["exec sleep 49422"]),
    };
    assert_eq!(end_session("ending", false), ended);
    assert_eq!(["49421", "49422", "49423"].map(|seconds| sleeping(seconds).len()), [0, 1, 1]);
    let listed = told(&staying.call(ListProcesses, json!({})).text());
    assert!(listed.contains("sleep 49422") && listed.contains("sleep 49423"), "{listed}");
    assert!(!ending.call(ListProcesses, json!({})).text().contains("49421"));
    staying.call(StopProcess, json!({"id": kept}));
    assert_eq!(end_session("staying", false).ended, ["exec sleep 49423"]);
    assert_eq!(sleeping("4942"), Vec::<String>::new());
}

#[test]
fn what_ends_at_once_says_so_at_once() {
    let session = Session::new("at once");
    let (_, text) = session.start("no-such-server --port 1");
    assert_eq!(
        text,
        "process N ended: exit code 127; output 0..39 of 39 characters\n/bin/sh: 1: no-such-server: not found\n"
            .replace("39", "38")
    );
    let reply = session.call(StartProcess, json!({"command": "sleep 49391 & echo up"}));
    assert!(reply.text().ends_with("\nup\n"), "{}", reply.text());
    assert_eq!(reply.notes.len(), 1, "{:?}", reply.notes);
    assert_eq!(sleeping("49391"), Vec::<String>::new());
}

#[test]
fn a_deaf_program_and_its_hidden_child_end_too() {
    let session = Session::new("deaf");
    let command =
        "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo up; sleep 49401' &); sleep 49402; sleep 49403";
    let (id, _) = session.start(command);
    session.call(ReadProcessOutput, json!({"id": id, "since": 0, "wait_seconds": 30}));
    let reply = session.call(StopProcess, json!({"id": id}));
    assert!(reply.text().contains("ended: "), "{}", reply.text());
    assert_eq!(sleeping("4940"), Vec::<String>::new());
}

#[test]
fn the_latest_output_is_kept_and_what_is_gone_is_told() {
    let session = Session::new("latest");
    let (id, _) = session.start("yes 123456789 | head -n 30000; echo end; read x");
    let latest = loop {
        let reply = session.call(ReadProcessOutput, json!({"id": id}));
        if reply.text().contains(" of 300004 ") {
            break reply;
        }
    };
    let first = told(latest.text().lines().next().unwrap_or_default());
    assert_eq!(first, "process N runs since T s; output 270004..300004 of 300004 characters");
    assert_eq!(latest.notes, ["characters 0..270004 are left out"]);
    session.call(WriteProcessInput, json!({"id": id, "text": "", "close": true}));
    session.check(
        ReadProcessOutput,
        json!({"id": id, "since": 300_004, "wait_seconds": 30}),
        Ok,
        "process N ended: exit code 1; output 300004..300004 of 300004 characters\n(no new output)",
    );
}

#[test]
fn only_so_many_run_at_once() {
    let session = Session::new("many");
    let start = || {
        let head_session = session.name.to_owned();
        run(StartProcess, json!({"command": "exec sleep 49411"}))
            .workspace(&session.workspace)
            .config(json!({"max_running": 1}))
            .head(|head| head.session = head_session)
            .run()
    };
    let first = start();
    assert_eq!(first.kind, Ok, "{first:?}");
    let second = start();
    assert_eq!(
        (second.kind, second.message.as_str(), second.executed),
        (Failed, "1 processes run, at most 1 may; stop one first", Some(false))
    );
    let id: u64 = first.text().split(' ').nth(1).unwrap().parse().unwrap();
    session.call(StopProcess, json!({"id": id}));
}

#[test]
fn a_start_is_understood_like_any_command() {
    let workspace = TempWorkspace::empty();
    let start = run(StartProcess, json!({"command": "npm run dev && git push"}));
    let found = start.workspace(&workspace).classify();
    let names: Vec<&str> = found.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["npm run dev", "git push"]);
    let found = run(ListProcesses, json!({})).classify();
    let operation = Operation { name: "list_processes".to_owned(), risk: Some(Risk::ReadOnly), target: None };
    assert_eq!(found, Classification { operations: vec![operation], ..Classification::default() });
}

/// Command lines of the processes that sleep for a time that begins so.
fn sleeping(seconds: &str) -> Vec<String> {
    let wanted = format!("sleep\0{seconds}");
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| line.starts_with(&wanted))
        .collect()
}
