//! An end at any time, polite or not, leaves no process behind and a session that can go on.

use std::fs;
use std::process::{Command, Stdio};

use foehn_tests::{Started, World, brief};
use serde_json::Value;

/// Starts three calls in one answer; the second prints a line, says so through the pipe and then hangs.
const THREE: &str = r#"
[[turn]]
nth = 1
calls = [
    { name = "run_shell", arguments = { command = "echo first" } },
    { name = "run_shell", arguments = { command = "echo partial; echo x > begun; (setsid sleep 301 &) ; sleep 302" } },
    { name = "run_shell", arguments = { command = "touch third" } },
]
"#;

/// Answers the prompt that follows, and refuses a history in which a call has not exactly one result.
const AFTERWARDS: &str = r#"
strict = ["paired_results"]
[[turn]]
text = "hello again"
"#;

fn world() -> World {
    let world = World::new().script(THREE);
    let status = Command::new("mkfifo").arg(world.work().join("begun")).status();
    assert!(status.is_ok_and(|status| status.success()));
    world
}

/// Starts a run and waits until the second call's command is at work.
fn begun(world: &World, arguments: &[&str]) -> Started {
    let started = world.start(&[&["run", "--yes", "go"], arguments].concat(), Stdio::null());
    // Opening a FIFO waits for its writer.
    assert_eq!(fs::read_to_string(world.work().join("begun")).ok().as_deref(), Some("x\n"));
    started
}

/// Goes on with the session over HTTP and gives the results in the history that the model was sent, in short.
#[track_caller]
fn results_afterwards(world: World, session: &str) -> String {
    let (world, model) = world.serve(AFTERWARDS);
    let run = world.foehn(&["run", "--json", "--session", session, "hello"]).expect_code(0);
    assert_eq!(run.done()["text"], "hello again");
    let bodies = model.bodies();
    let messages = bodies[0]["messages"].as_array().into_iter().flatten();
    let result = |message: &Value| {
        let envelope = world.clean(message["content"].as_str().unwrap_or_default());
        brief(&serde_json::from_str(&envelope).expect("an envelope is JSON"))
    };
    messages.filter(|message| message["role"] == "tool").map(result).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_signal_ends_the_turn_with_a_result_for_every_call() {
    let world = world();
    let mut started = begun(&world, &["--json"]);
    started.signal("INT");
    started.wait_for("turn_done");
    let run = started.finish().expect_code(130);
    assert_eq!(world.left_running(), [""; 0]);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "go"
    step 1
    answer "" calls=3
    start #1 run_shell {"command":"echo first","working_directory":".","separate_streams":false} [echo first] (risk: execute asks; approved by --yes)
    end #1 run_shell ok
    start #2 run_shell {"command":"echo partial; echo x > begun; (setsid sleep 301 &) ; sleep 302","working_directory":".","separate_streams":false} [echo partial, write inside, echo x, sleep 301, sleep 302] (risk: execute asks; approved by --yes)
    end #2 run_shell cancelled executed=true: cancelled after [TIME] s in `.`
    partial

    end #3 run_shell cancelled executed=false: Not run: the user ended the turn first.
    done cancelled "" steps=1 calls=3 (the user ended the turn)
    "#);
    assert!(!world.work().join("third").exists());

    let session = run.session();
    insta::assert_snapshot!(results_afterwards(world, &session), @r#"
    ok "exit code 0 after [TIME] s in `.`\nfirst\n"
    cancelled executed=true retryable=false: cancelled after [TIME] s in `.`
    partial

    cancelled executed=false retryable=false: Not run: the user ended the turn first.
    "#);
}

#[test]
fn every_polite_signal_leaves_nothing_behind() {
    for signal in ["TERM", "HUP"] {
        let world = world();
        let started = begun(&world, &["--json"]);
        started.signal(signal);
        let run = started.finish().expect_code(130);
        assert_eq!(run.done()["status"], "cancelled", "{signal}");
        assert_eq!(world.left_running(), [""; 0], "{signal}");
    }
}

#[test]
fn a_second_signal_does_not_wait_for_a_call_that_does_not_end() {
    // The grace is longer than any test, so only the second signal can end it.
    let script = "[[turn]]\ncalls = [{ name = \"loop_forever\" }]\n";
    let world = World::with_plugins(&["hostile"]).script(script).env("FOEHN_PLUGINS__GRACE_SECONDS", "3600");
    let mut started = world.start(&["run", "go"], Stdio::null());
    started.wait_for_talk("looping");
    started.signal("INT");
    started.wait_for_talk("once more ends at once");
    started.signal("INT");
    started.finish().expect_code(130);
    assert_eq!(world.left_running(), [""; 0]);
}

#[test]
fn a_cancelled_wait_for_the_model_ends_at_once() {
    let world = World::new().script("[[turn]]\ntext = \"never\"\ndelay_ms = 3600000\n");
    let mut started = world.start(&["run", "--json", "go"], Stdio::null());
    started.wait_for("step_started");
    started.signal("INT");
    let run = started.finish().expect_code(130);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "go"
    step 1
    done cancelled "" steps=1 calls=0 (the user ended the turn)
    "#);
}

#[test]
fn a_killed_host_takes_its_processes_with_it_and_loses_no_finished_step() {
    let world = world();
    let mut started = begun(&world, &["--json"]);
    let line = started.wait_for("call_finished");
    started.signal("KILL");
    let run = started.finish();
    assert_eq!(run.code, None);
    assert_eq!(world.left_running(), [""; 0]);

    let event: Value = serde_json::from_str(&line).expect("an event");
    let session = event["session"].as_str().expect("a session").to_owned();
    insta::assert_snapshot!(results_afterwards(world, &session), @r#"
    ok "exit code 0 after [TIME] s in `.`\nfirst\n"
    interrupted executed="unknown" retryable=false: The host ended while this call ran: its outcome is unknown. Look at what it did before you repeat it.
    interrupted executed=false retryable=true: The host ended before this call began: it was not run.
    "#);
}
