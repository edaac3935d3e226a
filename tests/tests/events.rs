//! `--json`: only events on stdout, in order; exit codes that tell how it ended; stdin left alone.

use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use foehn_tests::{World, built};

const ONE_READ: &str = r#"
[[turn]]
reasoning = "let me look"
text = "Looking."
calls = [{ name = "read_file", arguments = { path = "a.txt" } }]

[[turn]]
text = "It says hello."
usage = { input = 20, output = 4 }
"#;

const HELLO: &str = "[[turn]]\nalways = true\ntext = \"hello\"\n";

#[test]
fn one_call_in_order() {
    let world = World::new().file("a.txt", "hello\n").script(ONE_READ);
    let run = world.foehn(&["run", "--json", "What is in a.txt?"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "What is in a.txt?"
    step 1
    reasoning "let me look"
    text "Looking."
    answer "Looking." calls=1
    start #1 read_file {"path":"a.txt","start_line":1} [read_file] (risk: read-only runs)
    end #1 read_file ok
    step 2
    text "It says hello."
    answer "It says hello." calls=0
    done answered "It says hello." steps=2 calls=1
    "#);
    insta::assert_snapshot!(run.talk(), @"");
    let envelope = run.envelopes().remove(0);
    insta::assert_snapshot!(envelope, @r#"{"ok":true,"result":"`a.txt`: 1 line\n1|hello"}"#);
}

#[test]
fn every_event_names_version_session_and_turn() {
    let world = World::new().file("a.txt", "hello\n").script(ONE_READ);
    let events = world.foehn(&["run", "--json", "go"]).events();
    let session = &events[0]["session"];
    let heads: Vec<_> = events.iter().map(|event| (&event["v"], &event["session"])).collect();
    assert_eq!(heads, vec![(&1.into(), session); events.len()]);
    let turns: Vec<_> = events.iter().map(|event| event["turn"].as_u64()).collect();
    let mut expected = vec![Some(1); events.len()];
    expected[0] = Some(0);
    assert_eq!(turns, expected);
}

/// Exit code and status of a run; a status of `""` means that no turn began.
#[track_caller]
fn check_code(script: &str, arguments: &[&str], code: i32, status: &str) {
    let world = World::new().file("a.txt", "hello\n").script(script).env("FOEHN_MAX_RETRIES", "0");
    let arguments = [&["run", "--json"], arguments].concat();
    let run = world.foehn(&arguments).expect_code(code);
    let found = if run.stdout.is_empty() { "".into() } else { run.done()["status"].clone() };
    assert_eq!(found, status, "{run:?}");
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let write = r#"
        [[turn]]
        calls = [{ name = "create_file", arguments = { path = "b.txt", content = "b" } }]
        [[turn]]
        text = "done"
    "#;
    check_code(ONE_READ, &["go"], 0, "answered");
    check_code("[[turn]]\nfault = { status = 500 }\n", &["go"], 1, "failed");
    check_code(ONE_READ, &["go", "--no-such-flag"], 2, "");
    check_code(ONE_READ, &[" "], 2, "");
    check_code(ONE_READ, &["go", "--provider", "nobody"], 2, "");
    check_code("[[turn]]\ntekst = \"a\"\n", &["go"], 2, "");
    check_code(ONE_READ, &["go", "--max-tool-iterations", "1"], 3, "limit");
    check_code(write, &["go"], 4, "declined");
    check_code(write, &["go", "--yes"], 0, "answered");
}

#[test]
fn a_prompt_argument_leaves_stdin_alone() {
    let world = World::new().script(HELLO);
    let mut started = world.start(&["run", "--json", "hi"], Stdio::piped());
    let never_closed = started.take_stdin();
    assert_eq!(started.finish().expect_code(0).done()["text"], "hello");
    drop(never_closed);

    let (ours, theirs) = UnixStream::pair().expect("a socket pair");
    let run = world.start(&["run", "--json", "hi"], Stdio::from(std::os::fd::OwnedFd::from(theirs))).finish();
    assert_eq!(run.expect_code(0).done()["text"], "hello");
    drop(ours);

    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" run --json hi <&-"]).arg(built().foehn());
    let run = world.run_command(shell);
    assert_eq!(run.expect_code(0).done()["text"], "hello");
}

#[test]
fn a_dash_reads_the_prompt_from_stdin() {
    let world = World::new().script(HELLO);
    let mut started = world.start(&["run", "--json", "-"], Stdio::piped());
    started.type_line("from a pipe");
    let run = started.finish().expect_code(0);
    let prompt = run.events()[1]["prompt"].as_str().map(|prompt| prompt.trim().to_owned());
    assert_eq!(prompt.as_deref(), Some("from a pipe"));
}

#[test]
fn hostile_text_of_a_model_cannot_move_the_cursor() {
    let world = World::new().script("[[turn]]\nalways = true\ntext = \"a\\u001b[2Jb\\u202ec\"\n");
    assert_eq!(world.foehn(&["run", "hi"]).expect_code(0).stdout, "a\\u{1b}[2Jb\\u{202e}c\n");
    assert_eq!(world.foehn(&["run", "--json", "hi"]).expect_code(0).done()["text"], "a\u{1b}[2Jb\u{202e}c");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let world = World::new().script(HELLO);
    for arguments in [&["run", "--json", "hi"][..], &["config", "show"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = world.command(arguments).stdin(Stdio::null()).stdout(writer).output().expect("it starts");
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), told.contains("error")), (Some(141), false), "{told}");
    }
}
