//! What an operator says about the programs of one tool: network, launcher, environment. A script stands for `dotnet`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use foehn_tests::{OF_THE_SYSTEM, World, brief};
use serde_json::json;

const DOTNET: &str = "[agents.default.tools.dotnet]\nprogram = \"[WORK]/dotnet\"\n";

/// The answer when the stand-in runs with these settings; `[WORK]` and `[ROOT]` are the folders of the world.
fn told(script: &str, settings: &str, change: impl FnOnce(World) -> World) -> (World, String) {
    let world = change(World::with_plugins(&["dotnet"])).file("dotnet", script);
    let program = world.work().join("dotnet");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its owner may");
    let settings = format!("{DOTNET}{settings}")
        .replace("[WORK]", &world.work().display().to_string())
        .replace("[ROOT]", &world.path("").display().to_string());
    let world = world.user_config(&settings);
    let run = world.foehn(&["tools", "call", "--yes", "dotnet", r#"{"subcommand":"build"}"#]);
    let told = brief(&run.envelope());
    (world, told)
}

fn same(world: World) -> World {
    world
}

#[test]
fn a_program_reaches_the_network_only_where_the_operator_leaves_it() {
    let has_bash = Command::new("bash").arg("--version").output().is_ok();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!("#!/usr/bin/env bash\nexec 3<>/dev/tcp/127.0.0.1/{port} && echo connected\n");
    if has_bash {
        let reaches = |settings| told(&script, settings, same).1.contains("connected");
        assert_eq!(
            ["", "network = \"on\"\n", "network = \"off\"\n"].map(reaches),
            [false, true, false],
            "as it is by default, on, off"
        );
    }
}

#[test]
fn a_program_gets_the_variables_that_the_operator_passes_on() {
    let script = "#!/bin/sh\necho \"$MINE $HINT ${#GITHUB_TOKEN} $GITHUB_TOKEN $OTHER_TOKEN\"\n";
    let settings =
        "env_pass = [\"GITHUB_TOKEN\", \"HINT\"]\n[agents.default.tools.dotnet.env]\nMINE = \"own\"\n";
    let (_, told) = told(script, settings, |world| {
        world.env("GITHUB_TOKEN", "ghp-made-up-123456").env("OTHER_TOKEN", "no").env("HINT", "a hint")
    });
    insta::assert_snapshot!(told, @r#"ok "dotnet build: exit code 0 after [TIME] s in `.`\nown a hint 18 [secret] \n""#);
}

#[test]
fn a_launcher_stays_inside_the_rules_of_the_kernel_unless_it_is_the_boundary() {
    // Stands for a container: does what only an unconfined program can, then starts what it is given.
    let launcher =
        r#"launcher = ["sh", "-c", "echo out 2>/dev/null > [ROOT]/outside.txt; exec \"$@\"", "launcher"]"#;
    let outside = |settings: &str| {
        let (world, told) = told("#!/bin/sh\necho \"[$1]\"\n", settings, same);
        (told, world.path("outside.txt").exists())
    };
    let ran = r#"ok "dotnet build: exit code 0 after [TIME] s in `.`\n[build]\n""#;
    assert_eq!(outside(&format!("{launcher}\n")), (ran.to_owned(), false));
    let alone = format!("{launcher}\nconfinement = \"launcher\"\n");
    assert_eq!(outside(&alone), (ran.to_owned(), true));
    let (refused, wrote) = outside(&format!("{alone}[sandbox]\nrequire = true\n"));
    insta::assert_snapshot!(refused, @"failed executed=false retryable=true: plugin `dotnet` cannot run: it cannot be confined as `[sandbox] require = true` demands: no rules of the kernel: the configuration leaves it to another program");
    assert!(!wrote);
}

#[test]
fn programs_that_start_others_without_end_meet_the_bound_of_the_kernel() {
    // Ends by itself where the bound does not hold.
    let command = "f() { [ $1 -gt 0 ] || exec sleep 20; f $(($1 - 1)) & f $(($1 - 1)) & wait; }; \
                   (f 6) 2>&1 | grep -om1 'Cannot fork\\|Resource temporarily unavailable' || echo started all";
    let world = World::with_plugins(&["shell"]).user_config("[sandbox]\nprocesses = 30\n");
    let envelope = world.call("run_shell", &json!({"command": command}));
    let told = envelope["result"].as_str().expect("text");
    let is_bounded = told.contains("Cannot fork") || told.contains("Resource temporarily unavailable");
    // Where nobody counts, as for root in some containers, the result says so; elsewhere there is nothing to say.
    let mut notes = envelope["notes"].as_array().into_iter().flatten().filter_map(|note| note.as_str());
    let is_told =
        notes.any(|note| note.starts_with(OF_THE_SYSTEM) && note.contains("start others without end"));
    assert_ne!(is_bounded, is_told, "{envelope}");
}

/// The answer of a command under these limits.
fn limited(limits: &str, command: &str) -> String {
    let world = World::with_plugins(&["shell"]).user_config(&format!("[sandbox]\n{limits}\n"));
    let told = brief(&world.call("run_shell", &json!({"command": command})));
    assert_eq!(world.left_running(), [""; 0], "{command}");
    told
}

#[test]
fn the_operator_bounds_what_one_program_takes() {
    let double = "awk 'BEGIN { s = \"x\"; while (length(s) < 200000000) s = s s; print \"grew\" }' 2>/dev/null || echo bounded";
    let grown = |limits: &str| limited(limits, double);
    insta::assert_snapshot!(grown(""), @r#"ok "exit code 0 after [TIME] s in `.`\ngrew\n""#);
    insta::assert_snapshot!(grown("program_megabytes = 100"), @r#"ok "exit code 0 after [TIME] s in `.`\nbounded\n""#);
    // The address space is that of workers which start no programs.
    insta::assert_snapshot!(grown("memory_megabytes = 100"), @r#"ok "exit code 0 after [TIME] s in `.`\ngrew\n""#);
    insta::assert_snapshot!(limited("cpu_seconds = 1", "(while :; do :; done); echo $?"), @r#"ok "exit code 0 after [TIME] s in `.`\nKilled\n137\n""#);
    insta::assert_snapshot!(limited("file_megabytes = 1", "head -c 3000000 /dev/zero > x; echo $?; ls -s --block-size=1K x"), @r#"ok "exit code 0 after [TIME] s in `.`\nFile size limit exceeded\n153\n1024 x\n""#);
    // What the worker itself writes ends before the limit, and so does not end the worker.
    let settings = "file_megabytes = 1\n[agents.default.tools.run_shell]\noutput_characters = 20";
    insta::assert_snapshot!(limited(settings, "seq 300000"), @r#"ok "exit code 0 after [TIME] s in `.`\n1\n2\n3\n4\n5\n\n[... 1988875 bytes left out; more of its beginning: `.foehn/output/shell-[ID].txt` ...]\n99\n300000\n""#);
}
