//! Settings that are wrong stop the start and say where; settings that are right tell where they came from.

use foehn_tests::{World, brief};

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
    insta::assert_snapshot!(refused("model = \"m\"\nprovider = \"offline\n"), @r#"error: [ROOT]/work/foehn.toml:2:20: invalid basic string, expected `"`"#);
    insta::assert_snapshot!(refused("max_tool_iterations = \"many\"\n"), @r#"error: [ROOT]/work/foehn.toml:1:23: invalid type: string "many", expected a whole number"#);
    insta::assert_snapshot!(refused("\nmodle = \"m\"\n"), @"error: [ROOT]/work/foehn.toml:2:1: unknown key `modle`; did you mean `model`?");
    insta::assert_snapshot!(refused("model = \"m\"\nmodel = \"n\"\n"), @"error: [ROOT]/work/foehn.toml:2:1: duplicate key");
    insta::assert_snapshot!(refused("[agents.default.tools.scan]\ndney = []\nallow = \"*\"\n"), @r#"error: [ROOT]/work/foehn.toml:3:9: invalid type: string "*", expected a sequence"#);
    insta::assert_snapshot!(refused("[plugins]\ntrst = \"any\"\n"), @"error: [ROOT]/work/foehn.toml:2:8: unknown key `trst`; did you mean `trust`?");
    insta::assert_snapshot!(refused([0xff, 0xfe, b'm', 0]), @"error: [ROOT]/work/foehn.toml is not UTF-8 but UTF-16 (little endian); save it as UTF-8");
}

/// The settings of a tool are its plugin's to know; what it does not know keeps it from running.
#[test]
fn a_misspelt_deny_list_is_not_taken_for_none() {
    let world = World::new().user_config("[agents.default.tools.scan]\ndney = [\"*\"]\n");
    let run = world.foehn(&["tools", "call", "scan"]).expect_code(1);
    insta::assert_snapshot!(brief(&run.envelope()), @"failed executed=false retryable=true: Not run: plugin `scan` cannot run: it does not accept its configuration: configuration of tool `scan`: unknown field `dney`, expected one of `root`, `extra_roots`, `skipped_directories`, `respect_gitignore`, `denied`.");
}

#[test]
fn rules_for_a_tool_that_is_not_there_are_told() {
    let world = World::new().user_config("[agents.default.tools.delet_file]\ndeny = [\"*\"]\n");
    let run = world.foehn(&["run", "List the files here."]).expect_code(0);
    insta::assert_snapshot!(run.talk().lines().next().unwrap_or_default(), @"warning: the configuration of tool `delet_file` is not used: no loaded plugin brings that tool");
}

#[test]
fn a_mistake_never_shows_the_line_with_the_key() {
    let talk = refused("api_key = \"sk-made-up-123456\nmodel = 1\n");
    assert!(!talk.contains("sk-made-up"), "{talk}");
    insta::assert_snapshot!(talk, @r#"error: [ROOT]/work/foehn.toml:1:29: invalid basic string, expected `"`"#);
}

#[test]
fn an_empty_file_a_mark_and_other_line_ends_are_fine() {
    let start = |text: &str| World::new().file("foehn.toml", text).foehn(&["run", "List the files here."]);
    start("").expect_code(0);
    start("\u{feff}streaming = false\r\nmax_tool_iterations = 5\r\n").expect_code(0);
}

#[test]
fn a_project_may_not_weaken_what_the_user_decided() {
    insta::assert_snapshot!(refused("[agents.default.tools.run_shell]\nallow = [\"*\"]\n"), @r#"
    error: [ROOT]/work/foehn.toml came with its folder and may not set:
      line 2: `agents.default.tools.run_shell.allow`: only you give permissions
    Set it in your own settings ([ROOT]/config/foehn/foehn.toml), or say there that you trust the folder: trusted_folders = ["[ROOT]/work"]
    "#);
    let project = "[agents.default.tools.run_shell]\nallow = [\"run\"]\n";
    let world = World::new().project_config(project);
    let trusting = format!("trusted_folders = [\"{}\"]\n", world.work().display());
    world.user_config(&trusting).foehn(&["config", "show"]).expect_code(0);
}

#[test]
fn a_wrong_variable_or_flag_is_named() {
    let run = World::new().env("FOEHN_MAX_RETRIES", "many").foehn(&["run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @r#"error: environment variable `FOEHN_MAX_RETRIES`: invalid type: string "many", expected an integer"#);
    let run = World::new().env("FOEHN_MODLE", "m").foehn(&["run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"error: environment variable `FOEHN_MODLE`: unknown key `modle`; did you mean `MODEL`?");
    let run = World::new().foehn(&["run", "--provider", "mistrall", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"error: mistrall/-: there is no provider `mistrall`; set `provider` to one of: offline, mistral, openai, anthropic, gemini, openai-compatible");
    let run = World::new().foehn(&["--agent", "defualt", "run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"error: there is no agent `defualt`; did you mean `default`?");
    let run = World::new().foehn(&["--config", "none.toml", "run", "hi"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"error: [ROOT]/work/none.toml cannot be read: there is no such file");
}

#[test]
fn show_tells_each_value_and_where_it_came_from() {
    let world = World::with_plugins(&[])
        .project_config("max_tool_iterations = 7\ntimeout_seconds = 30\nmax_retries = 1\n")
        .user_config("timeout_seconds = 60\nstreaming = false\n")
        .env("FOEHN_MAX_RETRIES", "2")
        .env("FOEHN_API_KEY", "sk-made-up-123456");
    let show = world.foehn(&["config", "show"]).expect_code(0);
    // Columns are as wide as the longest path of the machine.
    let rows: Vec<_> =
        show.answer().lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    SETTING VALUE FROM
    api_key "********" environment variable FOEHN_API_KEY
    base_url - default
    coercion "lenient" default
    contract.max_characters 8000 default
    contract.max_tokens - default
    equal_calls_stop 5 default
    equal_calls_warn 3 default
    log.file - default
    log.level "warn" default
    max_invalid_calls 2 default
    max_output_tokens - default
    max_retries 2 environment variable FOEHN_MAX_RETRIES
    max_tool_iterations 7 [ROOT]/work/foehn.toml:1
    model - default
    offline_habits [] default
    offline_script - default
    plugins.grace_seconds 2 default
    plugins.idle_seconds 60 default
    plugins.isolation "worker" default
    plugins.max_parallel 4 default
    plugins.trust "any" environment variable FOEHN_PLUGINS__TRUST
    plugins_path "[ROOT]/plugins" environment variable FOEHN_PLUGINS_PATH
    provider "offline" default
    sandbox.cpu_seconds - default
    sandbox.file_megabytes - default
    sandbox.memory_megabytes 2048 default
    sandbox.open_files - default
    sandbox.processes 2048 default
    sandbox.program_megabytes - default
    sandbox.read [] default
    sandbox.require false default
    sandbox.write [] default
    store.path - default
    streaming false [ROOT]/config/foehn/foehn.toml:2
    system_message_file "foehn.md" default
    temperature - default
    timeout_seconds 30 [ROOT]/work/foehn.toml:2
    trusted_folders [] default
    undo.shell false default
    working_directory "" default
    "#);
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
