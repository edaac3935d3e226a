//! What a model reads when a command ends, fails, hangs, floods, prompts or is stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use foehn_plugin_sdk::wire::ReplyKind::{self, Cancelled, Failed, InvalidArguments, Ok, Refused, TimedOut};
use foehn_plugin_sdk::wire::{Classification, Facts, Operation, Preview, Reply, Risk};
use foehn_plugin_testkit::{Call, TempWorkspace, TestHost, Value, assert_contract, json, run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use shell::{RunShell, foehn_plugin};

/// Most characters of this plugin's definitions; those of all standard plugins together may have 8,000.
const DEFINITION_CHARACTERS: usize = 2_560;

fn shell(workspace: &TempWorkspace, arguments: Value) -> Call {
    run(RunShell, arguments).workspace(workspace)
}

/// The reply in short, with the time it took taken out.
fn told(reply: &Reply) -> (ReplyKind, String) {
    let text = if reply.kind == Ok { reply.text() } else { reply.message.clone() };
    let text = match text
        .split_once(" after ")
        .and_then(|(what, rest)| Some((what, rest.split_once(" s in ")?.1)))
    {
        Some((what, rest)) => format!("{what} in {rest}"),
        None => text,
    };
    (reply.kind, text)
}

#[track_caller]
fn check(arguments: Value, kind: ReplyKind, text: &str) {
    let reply = shell(&TempWorkspace::new([("sub/x", "")]), arguments).run();
    assert_eq!(told(&reply), (kind, text.to_owned()));
}

#[track_caller]
fn check_command(command: &str, kind: ReplyKind, text: &str) {
    check(json!({"command": command}), kind, text);
}

#[test]
fn the_exit_code_is_the_answer() {
    check_command("echo out; echo err >&2; echo out", Ok, "exit code 0 in `.`\nout\nerr\nout\n");
    check_command("exit 3", Ok, "exit code 3 in `.`\n(no output)");
    check_command("echo before; kill -SEGV $$", Failed, "killed by signal 11 (SIGSEGV) in `.`\nbefore\n");
    let reply = shell(&TempWorkspace::empty(), json!({"command": "sh -c 'kill -9 $$'; exit $?"})).run();
    assert_eq!(told(&reply), (Ok, "exit code 137 in `.`\nKilled\n".to_owned()));
    assert_eq!(reply.notes, ["exit code 137 usually means that a program was killed by signal 9 (SIGKILL)"]);
}

#[test]
fn a_failure_after_the_start_says_that_it_ran() {
    let reply = shell(&TempWorkspace::empty(), json!({"command": "kill -9 $$"})).run();
    assert_eq!((reply.kind, reply.executed), (Failed, Some(true)));
}

#[test]
fn there_is_nobody_to_answer() {
    check_command("read x; echo got:$x; cat", Ok, "exit code 0 in `.`\ngot:\n");
    check_command(
        "(echo x > /dev/tty) 2>/dev/null || echo no terminal",
        Ok,
        "exit code 0 in `.`\nno terminal\n",
    );
    check_command("echo $PAGER $TERM $GIT_TERMINAL_PROMPT", Ok, "exit code 0 in `.`\ncat dumb 0\n");
}

#[test]
fn the_hosts_environment_is_not_seen() {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "there is something to hide");
    check_command("env | grep -c ^CARGO_MANIFEST || true", Ok, "exit code 0 in `.`\n0\n");
}

#[test]
fn a_call_runs_where_it_says_and_leaves_nothing() {
    check(json!({"command": "ls", "working_directory": "sub"}), Ok, "exit code 0 in `sub`\nx\n");
    let workspace = TempWorkspace::new([("sub/x", "")]);
    let reply = shell(&workspace, json!({"command": "cd sub && export A=1"})).run();
    assert_eq!(
        reply.notes,
        ["the next call starts again in its working_directory and without these variables"]
    );
    let reply = shell(&workspace, json!({"command": "ls; echo \"[$A]\""})).run();
    assert_eq!(told(&reply), (Ok, "exit code 0 in `.`\nsub\n[]\n".to_owned()));
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let workspace = TempWorkspace::new([("scratch/", "")]);
    let call = |command: &str, folder: &str| {
        told(&shell(&workspace, json!({"command": command, "working_directory": folder})).run())
    };
    assert_eq!(call("rm -rf ../scratch", "scratch").0, Ok);
    assert_eq!(call("pwd", "scratch"), (Failed, "working_directory: `scratch` does not exist".to_owned()));
    assert_eq!(call("echo still here", "."), (Ok, "exit code 0 in `.`\nstill here\n".to_owned()));
}

#[test]
fn a_folder_outside_is_refused() {
    let base = TempWorkspace::new([("ws/file", ""), ("ws-evil/x", "")]);
    symlink("../ws-evil", base.join("ws/out")).unwrap();
    let cases = [
        ("..", Refused, "working_directory: `..` lies outside of the workspace"),
        ("../ws-evil", Refused, "working_directory: `../ws-evil` lies outside of the workspace"),
        ("out", Refused, "working_directory: `out` is a link that leads out of the workspace"),
        ("file", Failed, "working_directory: `file` is not a directory, or a part of it is not"),
    ];
    for (folder, kind, message) in cases {
        let call = || {
            run(RunShell, json!({"command": "touch ran", "working_directory": folder}))
                .workspace(base.join("ws"))
        };
        let reply = call().run();
        assert_eq!((told(&reply), reply.executed), ((kind, message.to_owned()), Some(false)));
        assert_eq!(call().classify().refusal.as_deref(), Some(message));
    }
    assert!(!base.list_all().iter().any(|name| name.ends_with("ran")));
}

#[test]
fn at_the_timeout_everything_ends() {
    // Lengths that no other program on this machine sleeps.
    let command =
        "echo begun; (sleep 48251 | sleep 48252) & trap '' TERM; setsid sleep 48253 & sleep 48254 | cat";
    check(
        json!({"command": command, "timeout_seconds": 1}),
        TimedOut,
        "stopped because its time was up in `.`\nbegun\n",
    );
    assert_eq!(sleeping("4825"), Vec::<String>::new());
}

#[test]
fn the_time_of_the_call_ends_it_too() {
    let workspace = TempWorkspace::empty();
    let call = shell(&workspace, json!({"command": "echo begun; sleep 48261"}));
    let reply = call.time_limit(Duration::from_secs(1)).run();
    assert_eq!(told(&reply), (TimedOut, "stopped because its time was up in `.`\nbegun\n".to_owned()));
    assert_eq!(sleeping("4826"), Vec::<String>::new());
}

#[test]
fn a_cancelled_command_ends_and_keeps_its_output() {
    let workspace = TempWorkspace::empty();
    let started = workspace.join("started");
    mknodat(CWD, &started, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let host = TestHost::new();
    let reply = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Reading waits until the command writes.
            fs::read(&started).unwrap();
            host.cancel();
        });
        shell(&workspace, json!({"command": "echo begun; echo > started; sleep 48271"})).run_on(&host)
    });
    assert_eq!(told(&reply), (Cancelled, "cancelled in `.`\nbegun\n".to_owned()));
    assert_eq!((reply.executed, sleeping("4827")), (Some(true), Vec::new()));
}

#[test]
fn a_background_process_does_not_hold_the_call() {
    let reply = shell(&TempWorkspace::empty(), json!({"command": "sleep 48281 & echo done"})).run();
    assert_eq!(told(&reply), (Ok, "exit code 0 in `.`\ndone\n".to_owned()));
    let note = reply.notes.first().expect("a note about what still runs");
    // Its name is not `sleep` yet when it has only just begun.
    let pid =
        note.rsplit_once("(pid ").and_then(|(_, pid)| Pid::from_raw(pid.strip_suffix(')')?.parse().ok()?));
    let pid = pid.unwrap_or_else(|| panic!("{note}"));
    kill_process(pid, Signal::KILL).unwrap();
    assert!(note.starts_with("still running in the background: "), "{note}");
}

#[test]
fn output_is_bounded_at_characters() {
    let workspace = TempWorkspace::empty();
    let reply = shell(&workspace, json!({"command": "yes | head -c 3000000"})).run();
    let text = reply.text();
    assert!(text.contains("bytes left out") && text.chars().count() < 31_000, "{}", text.len());
    let command =
        "i=0; while [ $i -lt 999 ]; do printf a; i=$((i+1)); done; printf 'é%.0s' 1 2 3 4 5 6 7 8 9 0";
    let config = json!({"output_characters": 1000});
    let reply = shell(&workspace, json!({"command": command})).config(config).run();
    let text = reply.text();
    assert!(text.ends_with("éééééééééé") && text.contains("bytes left out"), "{text}");
}

/// The one file that holds all of the last output, if there is one.
fn kept(workspace: &TempWorkspace) -> Option<String> {
    let name = workspace.list_all().into_iter().find(|name| name.starts_with(".foehn/output/shell-"))?;
    Some(workspace.read(&name))
}

#[test]
fn all_of_a_long_output_is_in_a_file_that_the_answer_names() {
    let call = |workspace: &TempWorkspace, command: &str| {
        let config = json!({"output_characters": 20});
        shell(workspace, json!({"command": command})).config(config).run()
    };
    let workspace = TempWorkspace::empty();
    assert_eq!(call(&workspace, "seq 5").text().lines().count(), 6);
    assert_eq!((kept(&workspace), workspace.list_all()), (None, Vec::new()));
    let reply = call(&workspace, "seq 1000");
    let whole: String = (1..=1000).map(|number| format!("{number}\n")).collect();
    assert_eq!(kept(&workspace).as_ref(), Some(&whole));
    let named = workspace.list_all().into_iter().find(|name| name.ends_with(".txt")).unwrap();
    assert!(reply.text().contains(&format!("bytes left out; all of it: `{named}` ...]")), "{}", reply.text());
    assert_eq!(workspace.read(".foehn/output/.gitignore"), "*\n");

    let workspace = TempWorkspace::empty();
    let reply = call(&workspace, "seq 1000; kill -9 $$");
    assert_eq!((reply.kind, kept(&workspace)), (Failed, Some(whole)));
    assert!(reply.message.contains("all of it: `.foehn/output/shell-"), "{}", reply.message);
}

#[test]
fn where_nothing_can_be_kept_the_answer_says_so() {
    let base = TempWorkspace::new([("ws/a", ""), ("elsewhere/", "")]);
    symlink("../elsewhere", base.join("ws/.foehn")).unwrap();
    let call = run(RunShell, json!({"command": "seq 10000"})).workspace(base.join("ws"));
    let reply = call.config(json!({"output_characters": 20})).run();
    assert!(reply.text().contains("; all of it could not be kept: `.foehn"), "{}", reply.text());
    assert_eq!(base.list_all(), ["elsewhere/", "ws/", "ws/.foehn -> ../elsewhere", "ws/a"]);
}

#[test]
fn the_streams_can_be_kept_apart() {
    let apart = |command: &str, text: &str| {
        check(json!({"command": command, "separate_streams": true}), Ok, text);
    };
    apart("echo a; echo b >&2; echo c; printf d >&2", "exit code 0 in `.`\nstdout:\na\nc\nstderr:\nb\nd");
    apart("printf a", "exit code 0 in `.`\nstdout:\na\nstderr:\n(no output)");
    let config = json!({"output_characters": 20});
    let arguments = json!({"command": "seq 99; seq 99 >&2", "separate_streams": true});
    let reply = shell(&TempWorkspace::empty(), arguments).config(config).run();
    assert_eq!(reply.text().matches("bytes left out").count(), 2, "{}", reply.text());
}

#[test]
fn the_operator_sets_the_environment_and_what_commands_start_through() {
    let config = json!({"env": {"GREETING": "hi"}, "launcher": ["env", "THROUGH=1"]});
    let arguments = json!({"command": "echo $GREETING $THROUGH"});
    let reply = shell(&TempWorkspace::empty(), arguments).config(config).run();
    assert_eq!(told(&reply), (Ok, "exit code 0 in `.`\nhi 1\n".to_owned()));
}

#[test]
fn what_cannot_run_is_an_answer_too() {
    let call = |command: &str| {
        let workspace = TempWorkspace::new([("plain.txt", "")]);
        told(&shell(&workspace, json!({"command": command})).run())
    };
    let failed = |code: i32, message: &str| (Ok, format!("exit code {code} in `.`\n/bin/sh: 1: {message}\n"));
    assert_eq!(call("no-such-program x"), failed(127, "no-such-program: not found"));
    assert_eq!(call("./plain.txt"), failed(126, "./plain.txt: Permission denied"));
    assert_eq!(call("echo 'open"), failed(2, "Syntax error: Unterminated quoted string"));
}

#[test]
fn output_that_is_no_text_is_shown_all_the_same() {
    check_command(r"printf '\304\343\272\303'", Ok, "exit code 0 in `.`\n\u{FFFD}\u{FFFD}\u{FFFD}");
    check_command(r"printf '\033[31mred\033[0m 10%%\r 20%%\n'", Ok, "exit code 0 in `.`\n 20%\n");
}

#[test]
fn arguments_that_make_no_sense_say_so() {
    check_command(" \n", InvalidArguments, "command is empty");
    check_command("echo a\0b", InvalidArguments, "command has a NUL character");
    check_command(
        &"x".repeat(1024 * 1024),
        InvalidArguments,
        "command has 1048576 bytes, at most 131071 are possible; write a script file and run that",
    );
    check(
        json!({"command": "true", "timeout_seconds": 0}),
        InvalidArguments,
        "timeout_seconds is 0; give at least 1",
    );
    check(
        json!({"command": "true", "timeout_seconds": 601}),
        InvalidArguments,
        "timeout_seconds is 601; at most 600 are allowed",
    );
    let reply = shell(&TempWorkspace::empty(), json!({"command": "true", "timeout_seconds": -1})).run();
    assert_eq!(reply.kind, InvalidArguments);
}

#[test]
fn a_person_sees_the_whole_command() {
    let command = "echo harmless; # \n".repeat(200) + "rm -rf sub";
    let workspace = TempWorkspace::new([("sub/x", "")]);
    let classification =
        shell(&workspace, json!({"command": command, "working_directory": "./sub"})).classify();
    let preview = Some(Preview::Command { command, directory: "sub".into() });
    let operation = |name: &str, risk| Operation { name: name.to_owned(), risk: Some(risk), target: None };
    let operations =
        vec![operation("echo harmless", Risk::Execute), operation("rm -rf sub", Risk::Destructive)];
    assert_eq!(classification, Classification { preview, operations, ..Classification::default() });
    assert_eq!(workspace.list_all(), ["sub/", "sub/x"]);
}

#[test]
fn what_only_reads_runs_unasked_where_the_operator_says_so() {
    let check = |command: &str, unasked: bool, expected: &[Risk]| {
        let config = json!({"read_only_unasked": unasked});
        let arguments = json!({"command": command});
        let found = shell(&TempWorkspace::empty(), arguments).config(config).classify();
        let risks: Vec<Risk> = found.operations.iter().filter_map(|operation| operation.risk).collect();
        assert_eq!(risks, expected, "{command}");
    };
    check("ls -la && git status | head", false, &[Risk::Execute; 3]);
    check("ls -la && git status | head", true, &[Risk::ReadOnly; 3]);
    check("cargo metadata --no-deps", true, &[Risk::ReadOnly]);
    check("cd sub && true", true, &[Risk::ReadOnly]);
    check("cat /etc/passwd", true, &[Risk::Execute]);
    check("cat \"$x\"", true, &[Risk::Execute]);
    check("cat < ../x", true, &[Risk::Execute]);
    check("while read -r l; do echo $l; done < /etc/passwd", true, &[Risk::Execute]);
    check("ls > out", true, &[Risk::Execute, Risk::ReadOnly]);
    check("ls $(git push)", true, &[Risk::Execute, Risk::Execute]);
    check("eval ls", true, &[Risk::Destructive, Risk::ReadOnly]);
}

#[test]
fn what_leads_out_is_a_fact() {
    let arguments = json!({"command": "echo x > ../a; curl https://ada@example.org:8/x | tee /b"});
    let workspace = TempWorkspace::new([("sub/x", "")]);
    let facts = shell(&workspace, arguments).classify().facts;
    let outside = workspace.path().canonicalize().unwrap().parent().unwrap().join("a");
    let expected = Facts {
        paths: vec![outside, "/b".into()],
        hosts: vec!["example.org".to_owned()],
        ..Facts::default()
    };
    assert_eq!(facts, expected);
}

#[test]
fn the_definition_is_sound_and_short() {
    assert_contract!(foehn_plugin(), DEFINITION_CHARACTERS);
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
