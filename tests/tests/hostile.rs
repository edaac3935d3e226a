//! A plugin that does everything wrong costs the call it is asked for, and nothing else.

use foehn_tests::{World, brief};

fn world() -> World {
    World::with_plugins(&["hostile"])
        .env("FOEHN_TIMEOUT_SECONDS", "1")
        .env("FOEHN_PLUGINS__GRACE_SECONDS", "1")
        .env("FOEHN_SANDBOX__MEMORY_MEGABYTES", "512")
}

/// Calls one hostile tool, then a good one of the same plugin. Stdout holds the envelope and nothing that the plugin
/// printed; nothing is left running.
#[track_caller]
fn check(tool: &str, code: i32, expected: &str) {
    let world = world();
    let run = world.foehn(&["tools", "call", "--yes", tool]).expect_code(code);
    assert_eq!(brief(&run.envelope()), expected, "{tool}");
    assert_eq!(world.left_running(), [""; 0], "{tool}");
    let fine = world.foehn(&["tools", "call", "fine"]).expect_code(0);
    assert_eq!(brief(&fine.envelope()), "ok \"fine\"", "after {tool}");
}

#[test]
fn a_panic_is_a_failed_result() {
    check("panic", 1, r#"failed executed=true retryable=true: panicked: on purpose"#);
}

#[test]
fn what_clings_to_its_programs_loses_its_process() {
    let world = world();
    let run = world.foehn(&["tools", "call", "--yes", "clinging"]).expect_code(0);
    assert_eq!(brief(&run.envelope()), "ok \"kept\"");
    let ended = "ended: all that plugin `hostile` kept running, by force: it stays\n";
    assert_eq!((run.talk().as_str(), world.left_running()), (ended, Vec::new()));
}

#[test]
fn a_panic_while_panicking_ends_the_worker() {
    check(
        "double_panic",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` crashed (signal 6, SIGABRT) while running `double_panic`: thread caused non-unwinding panic. aborting."#,
    );
}

#[test]
fn an_abort_ends_the_worker() {
    check(
        "abort",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`"#,
    );
}

#[test]
fn a_wild_write_ends_the_worker() {
    check(
        "segfault",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` crashed (signal 11, SIGSEGV) while running `segfault`"#,
    );
}

#[test]
fn endless_recursion_ends_the_worker() {
    check(
        "stack_overflow",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` crashed (signal 6, SIGABRT) while running `stack_overflow`: fatal runtime error: stack overflow, aborting"#,
    );
}

#[test]
fn an_exit_is_told_with_its_status() {
    check(
        "exit_seven",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` ended itself with exit status 7 while running `exit_seven`"#,
    );
}

#[test]
fn a_loop_that_listens_to_nothing_is_killed() {
    check(
        "loop_forever",
        1,
        r#"timeout executed="unknown" retryable=false: no result within 1 s; it did not stop within 1 s more, its worker was killed"#,
    );
}

#[test]
fn a_loop_that_listens_ends_by_itself() {
    check(
        "loop_politely",
        1,
        r#"timeout executed="unknown" retryable=false: no result within 1 s; it was stopped"#,
    );
}

#[test]
fn memory_without_end_has_an_end() {
    check(
        "eat_memory",
        1,
        r#"crashed executed="unknown" retryable=false: plugin `hostile` crashed (signal 6, SIGABRT) while running `eat_memory`: memory allocation of 16777216 bytes failed"#,
    );
}

#[test]
fn prints_reach_neither_answer_nor_protocol() {
    check("print", 0, "ok \"printed\"");
}

#[test]
fn stdin_is_empty() {
    check("read_stdin", 0, "ok \"read 0 bytes\"");
}

#[test]
fn a_change_of_its_process_stays_there() {
    check("change_process", 0, "ok \"changed\"");
}

#[test]
fn a_child_in_a_session_of_its_own_ends_with_the_worker() {
    let world = world();
    let run = world.foehn(&["tools", "call", "--yes", "leave_child"]).expect_code(0);
    assert!(brief(&run.envelope()).starts_with("ok \"left "), "{run:?}");
    assert_eq!(world.left_running(), [""; 0]);
}

/// One process of the host survives all of them, and its stream of events stays clean.
#[test]
fn one_session_survives_them_all() {
    // Not more than two that end the worker: three within a minute switch the plugin off.
    let tools = ["panic", "fine", "abort", "fine", "loop_forever", "fine", "print", "change_process", "fine"];
    let turn = |tool: &str| format!("[[turn]]\ncalls = [{{ name = \"{tool}\" }}]\n");
    let script: String = tools.iter().map(|tool| turn(tool)).collect();
    let world = world().script(&format!("{script}[[turn]]\ntext = \"done\"\n"));
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=17 stand_in
    turn 1 "go"
    step 1
    answer "" calls=1
    start #1 panic {} [panic] (risk: read-only runs)
    end #1 panic failed executed=true: panicked: on purpose
    step 2
    answer "" calls=1
    start #2 fine {} [fine] (risk: read-only runs)
    end #2 fine ok
    step 3
    answer "" calls=1
    start #3 abort {} [abort] (risk: read-only runs)
    end #3 abort crashed executed="unknown": plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`
    step 4
    answer "" calls=1
    start #4 fine {} [fine] (risk: read-only runs)
    end #4 fine ok
    step 5
    answer "" calls=1
    start #5 loop_forever {} [loop_forever] (risk: read-only runs)
    progress #5 looping
    end #5 loop_forever timeout executed="unknown": no result within 1 s; it did not stop within 1 s more, its worker was killed
    step 6
    answer "" calls=1
    start #6 fine {} [fine] (risk: read-only runs)
    end #6 fine ok
    step 7
    answer "" calls=1
    start #7 print {} [print] (risk: read-only runs)
    end #7 print ok
    step 8
    answer "" calls=1
    start #8 change_process {} [change_process] (risk: read-only runs)
    end #8 change_process ok
    step 9
    answer "" calls=1
    start #9 fine {} [fine] (risk: read-only runs)
    end #9 fine ok
    step 10
    text "done"
    answer "done" calls=0
    done answered "done" steps=10 calls=9
    "#);
    assert_eq!(world.left_running(), [""; 0]);
}

#[test]
fn calls_beside_a_crash_are_not_hurt() {
    let script = r#"
        [[turn]]
        calls = [{ name = "fine" }, { name = "abort" }, { name = "read_stdin" }]
        [[turn]]
        text = "done"
    "#;
    let run = world().script(script).foehn(&["run", "--json", "go"]).expect_code(0);
    let shown: Vec<_> = run.envelopes().iter().map(brief).collect();
    assert_eq!([&shown[0], &shown[2]], ["ok \"fine\"", "ok \"read 0 bytes\""], "{shown:?}");
    assert!(shown[1].starts_with("crashed executed=\"unknown\""), "{shown:?}");
}

#[test]
fn three_crashes_switch_it_off_and_say_so() {
    let crash = "[[turn]]\ncalls = [{ name = \"abort\" }]\n";
    let script = format!(
        "{crash}{crash}{crash}[[turn]]\ncalls = [{{ name = \"fine\" }}]\n[[turn]]\ntext = \"done\"\n"
    );
    let run = world().script(&script).foehn(&["run", "--json", "go"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=17 stand_in
    turn 1 "go"
    step 1
    answer "" calls=1
    start #1 abort {} [abort] (risk: read-only runs)
    end #1 abort crashed executed="unknown": plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`
    step 2
    answer "" calls=1
    start #2 abort {} [abort] (risk: read-only runs)
    end #2 abort crashed executed="unknown": plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`
    step 3
    answer "" calls=1
    notice warning: `abort` was called 3 times in a row with equal arguments; at 5 the turn ends
    start #3 abort {} [abort] (risk: read-only runs)
    end #3 abort crashed executed="unknown": plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`
    step 4
    answer "" calls=1
    start #4 fine {} [fine] (risk: read-only runs)
    end #4 fine failed executed=false: plugin `hostile` cannot run: it is switched off after 3 crashes within 60 s (the last: it crashed (signal 6, SIGABRT) while running `abort`); a new file or a restart of the host switches it on again
    step 5
    text "done"
    answer "done" calls=0
    done answered "done" steps=5 calls=4
    "#);
}
