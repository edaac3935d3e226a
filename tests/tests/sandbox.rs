//! The kernel enforces what a tool declares, whatever its code tries.

use foehn_tests::{World, brief};

#[track_caller]
fn check(tool: &str, expected: &str) {
    let world = World::with_plugins(&["hostile"]);
    let run = world.foehn(&["tools", "call", tool]).expect_code(1);
    assert_eq!(brief(&run.envelope()), expected, "{tool}");
    assert_eq!(world.read("lie.txt"), None);
}

#[test]
fn a_read_only_tool_cannot_write() {
    check("liar", "failed executed=true retryable=true: Permission denied (os error 13)");
}

#[test]
fn a_tool_without_network_cannot_connect() {
    check("phone", "failed executed=true retryable=true: Operation not permitted (os error 1)");
}

#[test]
fn a_tool_sees_no_key_of_its_host() {
    let world = World::with_plugins(&["hostile"])
        .env("MISTRAL_API_KEY", "sk-made-up-123456")
        .env("DATABASE_URL", "postgres://ada:hunter22@db/x");
    let run = world.foehn(&["tools", "call", "spy"]).expect_code(0);
    let seen = run.envelope()["result"].as_str().unwrap_or_default().to_owned();
    let (own, host) = seen.split_once('\n').unwrap_or_default();
    let mut names: Vec<_> = own.split_whitespace().filter_map(|pair| pair.split_once('=')).collect();
    names.retain(|(name, _)| *name != "PATH");
    assert_eq!(names, [("HOME", "[ROOT]/home"), ("RUST_BACKTRACE", "0")], "{own}");
    insta::assert_snapshot!(host, @"host: not readable: Permission denied (os error 13)");
}

#[test]
fn the_operator_can_open_further_folders_and_nobody_else() {
    let command = |world: &World| {
        let folder = world.path("shared").display().to_string();
        serde_json::json!({"command": format!("cat {folder}/in.txt; echo out > {folder}/out.txt")})
            .to_string()
    };
    let run = |settings: &str| {
        let world = World::with_plugins(&["shell"]);
        world.write("shared/in.txt", "in");
        let settings = settings.replace("[SHARED]", &world.path("shared").display().to_string());
        let world = world.user_config(&settings);
        let run = world.foehn(&["tools", "call", "--yes", "run_shell", &command(&world)]).expect_code(0);
        (brief(&run.envelope()), world.path("shared/out.txt").exists())
    };
    insta::assert_debug_snapshot!(run(""), @r#"
    (
        "ok \"exit code 2 after [TIME] s in `.`\\ncat: [ROOT]/shared/in.txt: Permission denied\\n/bin/sh: 1: cannot create [ROOT]/shared/out.txt: Permission denied\\n\"",
        false,
    )
    "#);
    insta::assert_debug_snapshot!(run("[sandbox]\nread = [\"[SHARED]\"]\n"), @r#"
    (
        "ok \"exit code 2 after [TIME] s in `.`\\nin/bin/sh: 1: cannot create [ROOT]/shared/out.txt: Permission denied\\n\"",
        false,
    )
    "#);
    insta::assert_debug_snapshot!(run("[sandbox]\nwrite = [\"[SHARED]\"]\n"), @r#"
    (
        "ok \"exit code 0 after [TIME] s in `.`\\nin\"",
        true,
    )
    "#);
}

#[test]
fn a_requirement_is_met_here_or_says_what_is_missing() {
    let world = World::with_plugins(&["scan"]).env("FOEHN_SANDBOX__REQUIRE", "true").file("a.txt", "a");
    let run = world.foehn(&["tools", "call", "scan"]);
    let doctor = world.foehn(&["doctor"]).stdout;
    let complete = !doctor.contains("cannot be confined") && !doctor.contains("not available");
    assert_eq!(run.code == Some(0), complete, "{run:?}\n{doctor}");
}

#[test]
fn in_process_works_and_still_stops_a_panic() {
    let world = World::with_plugins(&["scan", "hostile"])
        .file("a.txt", "a")
        .user_config("[plugins]\nisolation = \"in_process\"\n");
    let scan = world.foehn(&["tools", "call", "scan"]).expect_code(0);
    insta::assert_snapshot!(brief(&scan.envelope()), @r#"ok "1 entry in `.`\n1\ta.txt""#);
    let panic = world.foehn(&["tools", "call", "panic"]).expect_code(1);
    insta::assert_snapshot!(brief(&panic.envelope()), @"failed executed=true retryable=true: panicked: on purpose");
    let fine = world.foehn(&["tools", "call", "fine"]).expect_code(0);
    assert_eq!(brief(&fine.envelope()), "ok \"fine\"");
}
