//! Settings that are wrong stop the start and say where; settings that are right tell where they came from.

use foehn_tests::World;

/// The talk of a start that fails because of the project's file.
#[track_caller]
fn refused(text: impl AsRef<[u8]>) -> String {
    let world = World::new().file("foehn.toml", text);
    let run = world.foehn(&["run", "List the files here."]).expect_code(2);
    assert_eq!(run.stdout, "");
    run.talk()
}

#[test]
fn a_mistake_is_told_with_file_line_and_column() {
    insta::assert_snapshot!(refused("model = \"m\"\nprovider = \"offline\n"), @"");
    insta::assert_snapshot!(refused("max_tool_iterations = \"many\"\n"), @"");
    insta::assert_snapshot!(refused("\nmodle = \"m\"\n"), @"");
    insta::assert_snapshot!(refused("model = \"m\"\nmodel = \"n\"\n"), @"");
    insta::assert_snapshot!(refused("[agents.default.tools.scan]\ndney = []\nallow = \"*\"\n"), @"");
    insta::assert_snapshot!(refused("[plugins]\ntrst = \"any\"\n"), @"");
    insta::assert_snapshot!(refused([0xff, 0xfe, b'm', 0]), @"");
}

#[test]
fn a_mistake_never_shows_the_line_with_the_key() {
    let talk = refused("api_key = \"sk-made-up-123456\nmodel = 1\n");
    assert!(!talk.contains("sk-made-up"), "{talk}");
    insta::assert_snapshot!(talk, @"");
}

#[test]
fn an_empty_file_a_mark_and_other_line_ends_are_fine() {
    let start = |text: &str| World::new().file("foehn.toml", text).foehn(&["run", "List the files here."]);
    start("").expect_code(0);
    start("\u{feff}streaming = false\r\nmax_tool_iterations = 5\r\n").expect_code(0);
}

#[test]
fn a_project_may_not_weaken_what_the_user_decided() {
    insta::assert_snapshot!(refused("[agents.default.tools.run_shell]\nallow = [\"*\"]\n"), @"");
    let project = "[agents.default.tools.run_shell]\nallow = [\"run\"]\n";
    let world = World::new().project_config(project);
    let trusting = format!("trusted_folders = [\"{}\"]\n", world.work().display());
    world.user_config(&trusting).foehn(&["config", "show"]).expect_code(0);
}

#[test]
fn a_wrong_variable_or_flag_is_named() {
    let run = World::new().env("FOEHN_MAX_RETRIES", "many").foehn(&["run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
    let run = World::new().env("FOEHN_MODLE", "m").foehn(&["run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
    let run = World::new().foehn(&["run", "--provider", "mistrall", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
    let run = World::new().foehn(&["--agent", "defualt", "run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
    let run = World::new().foehn(&["--config", "none.toml", "run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
}

#[test]
fn show_tells_each_value_and_where_it_came_from() {
    let world = World::with_plugins(&[])
        .project_config("max_tool_iterations = 7\ntimeout_seconds = 30\nmax_retries = 1\n")
        .user_config("timeout_seconds = 60\nstreaming = false\n")
        .env("FOEHN_MAX_RETRIES", "2")
        .env("FOEHN_API_KEY", "sk-made-up-123456");
    let show = world.foehn(&["config", "show"]).expect_code(0);
    insta::assert_snapshot!(show.answer(), @"");
}

#[test]
fn a_file_of_the_workspace_named_env_is_never_read() {
    let world = World::new().file(".env", "FOEHN_PROVIDER=mistral\nFOEHN_BASE_URL=http://evil.example\n");
    let show = world.foehn(&["config", "show"]).expect_code(0);
    assert!(!show.stdout.contains("evil") && !show.stdout.contains("mistral"), "{show:?}");
}

#[test]
fn doctor_tells_what_this_machine_gives() {
    let world = World::new();
    world.write("plugins/text.so", "text");
    let doctor = world.foehn(&["doctor"]);
    for word in ["andlock", "seccomp", "scan", "text", "offline", "[ROOT]/state"] {
        assert!(doctor.answer().contains(word), "no `{word}` in {}", doctor.answer());
    }
    for event in world.foehn(&["doctor", "--json"]).events() {
        assert!(event.is_object(), "{event}");
    }
}
