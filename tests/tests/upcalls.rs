//! What a plugin may ask of its host, through the ABI and the worker and back.

use foehn_tests::{World, brief};

fn world() -> World {
    World::with_plugins(&["upcalls"])
}

#[track_caller]
fn check(world: &World, tool: &str, expected: &str) {
    let run = world.foehn(&["tools", "call", tool]).expect_code(0);
    assert_eq!(brief(&run.envelope()), expected, "{tool}");
}

#[test]
fn a_tool_knows_agent_caller_deadline_and_its_own_settings() {
    check(&world(), "whoami", r#"ok "agent default, caller operator, a deadline, greeting \"\"""#);
    let settings = "[agents.default.tools.whoami]\ngreeting = \"moin\"\n[agents.other.tools.whoami]\ngreeting = \"salut\"\n";
    let world = world().user_config(settings);
    check(&world, "whoami", r#"ok "agent default, caller operator, a deadline, greeting \"moin\"""#);
    let other = world.foehn(&["--agent", "other", "tools", "call", "whoami"]).expect_code(0);
    insta::assert_snapshot!(brief(&other.envelope()), @r#"ok "agent other, caller operator, a deadline, greeting \"salut\"""#);
}

#[test]
fn a_setting_that_does_not_fit_is_told_before_anything_runs() {
    let world = world().user_config("[agents.default.tools.whoami]\ngreting = \"moin\"\n");
    let run = world.foehn(&["tools", "call", "whoami"]).expect_code(1);
    insta::assert_snapshot!(brief(&run.envelope()), @"failed executed=false retryable=true: plugin `upcalls` cannot run: it does not accept its configuration: configuration of tool `whoami`: `greting`: unknown field `greting`, expected `greeting`");
    let doctor = world.foehn(&["doctor"]);
    assert!(doctor.stdout.contains("greting"), "{doctor:?}");
}

#[test]
fn state_outlives_the_process() {
    let world = world();
    for calls in 1..=3 {
        check(&world, "count", &format!(r#"ok "{calls}, keys [\"count\", \"last\"]""#));
    }
}

#[test]
fn progress_is_an_event_and_log_lines_are_in_the_log() {
    let script = "[[turn]]\ncalls = [{ name = \"chatter\" }]\n[[turn]]\ntext = \"done\"\n";
    let world = world().script(script);
    let log = world.path("log.txt");
    let world = world.env("FOEHN_LOG__FILE", &log.display().to_string()).env("FOEHN_LOG__LEVEL", "warn");
    let run = world.foehn(&["run", "--json", "go"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=5 stand_in
    turn 1 "go"
    step 1
    answer "" calls=1
    start #1 chatter {} [chatter] (risk: read-only runs)
    progress #1 half way
    end #1 chatter ok
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
    let logged = std::fs::read_to_string(log).expect("the log");
    let line = logged.lines().find(|line| line.contains("a line for the log")).unwrap_or_default();
    let session = run.session();
    for part in ["WARN", "plugin.upcalls", "42", "default", &session] {
        assert!(line.contains(part), "no `{part}` in {logged}");
    }
    assert!(!run.stderr.contains("a line for the log"), "{run:?}");
}

#[test]
fn questions_of_plugins_are_answered_with_not_supported() {
    check(
        &world(),
        "ask",
        "ok \"user: the host cannot do `ask_user`: this host puts no questions of plugins to the user; model: the host \
         cannot do `complete`: this host puts no questions of plugins to a model\"",
    );
}
