//! A key is for the model's server alone: no command, message, log or stored byte shows it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use foehn_tests::{Run, World, brief};
use serde_json::json;

const KEY: &str = "sk-made-up-123456";

fn with_keys(world: World) -> World {
    world
        .env("FOEHN_API_KEY", KEY)
        .env("MISTRAL_API_KEY", "sk-made-up-234567")
        .env("DATABASE_URL", "postgres://ada:hunter22@db/x")
        .env("FOEHN_LOG__LEVEL", "trace")
}

/// Nothing that a run printed, and no file it left, holds a secret.
#[track_caller]
fn clean(world: &World, run: &Run) {
    for secret in [KEY, "sk-made-up", "hunter22"] {
        assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret), "{run:?}");
        let holders = holders(&world.path("state"), secret.as_bytes());
        assert_eq!(holders, [""; 0], "{secret}");
    }
}

/// Files below a folder that hold these bytes.
fn holders(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holders(&path, bytes));
        } else if fs::read(&path).unwrap_or_default().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn commands_start_with_a_short_list_of_variables() {
    let world = with_keys(World::with_plugins(&["shell"])).env("LC_ALL", "C.UTF-8");
    let envelope = world.call("run_shell", &json!({"command": "env | cut -d= -f1 | sort | tr '\\n' ' '"}));
    insta::assert_snapshot!(brief(&envelope), @r#"ok "exit code 0 after [TIME] s in `.`\nDEBIAN_FRONTEND DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO FOEHN_RUN GIT_PAGER GIT_TERMINAL_PROMPT HOME LC_ALL MANPAGER NO_COLOR NPM_CONFIG_UPDATE_NOTIFIER NPM_CONFIG_YES PAGER PATH PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PWD SSH_ASKPASS_REQUIRE SYSTEMD_PAGER TERM TMPDIR ""#);
}

/// Every way a command has to look for the keys of the host.
#[test]
fn commands_cannot_read_the_environment_of_the_host() {
    let world = with_keys(World::with_plugins(&["shell"]));
    let command = "env; cat /proc/self/environ; cat /proc/$PPID/environ; for p in /proc/[0-9]*; do cat $p/environ; \
                   done; cat /proc/*/cmdline";
    let run = world.foehn(&["tools", "call", "--yes", "run_shell", &json!({"command": command}).to_string()]);
    clean(&world, &run);
    assert!(run.stdout.contains("PATH="), "{run:?}");
}

/// A `dotnet` that looks for keys instead of building.
#[test]
fn the_environment_of_the_dotnet_tool_is_short_too() {
    let world = with_keys(World::with_plugins(&["dotnet"]))
        .file("dotnet", "#!/bin/sh\nenv; cat /proc/$PPID/environ\n");
    let program = world.work().join("dotnet");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its owner may");
    let settings = format!("[agents.default.tools.dotnet]\nprogram = \"{}\"\n", program.display());
    let world = world.user_config(&settings);
    let run = world.foehn(&["tools", "call", "--yes", "dotnet", r#"{"subcommand":"--info"}"#]);
    clean(&world, &run);
    assert!(run.stdout.contains("DOTNET_NOLOGO="), "{run:?}");
}

#[test]
fn a_key_in_the_settings_is_not_handed_on() {
    let world = World::with_plugins(&["shell"])
        .env("TEAM_KEY", KEY)
        .env("FOEHN_LOG__LEVEL", "trace")
        .user_config("provider = \"openai-compatible\"\nmodel = \"m\"\napi_key = { env = \"TEAM_KEY\" }\n");
    let run = world.foehn(&["tools", "call", "--yes", "run_shell", r#"{"command":"env"}"#]);
    clean(&world, &run);
    clean(&world, &world.foehn(&["config", "show"]).expect_code(0));
    clean(&world, &world.foehn(&["config", "show", "--json"]).expect_code(0));
    clean(&world, &world.foehn(&["doctor"]));
}

/// A server that refuses the key and says which one it was.
fn echoing() -> String {
    format!(
        "[[turn]]\nalways = true\nfault = {{ status = 401, body = '{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}' }}\n"
    )
}

#[test]
fn a_refused_key_is_named_by_its_source() {
    let (world, model) = with_keys(World::new()).serve(&echoing());
    let run = world.foehn(&["run", "hi"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"
    session [ID] with openai-compatible/scripted
    error: openai-compatible/scripted: the server refuses the API key from `api_key` (environment variable FOEHN_API_KEY) (401): wrong key ***
    failed in [TIME] s: 1 step, 0 calls, tokens n/a
    ");
    clean(&world, &run);
    clean(&world, &world.foehn(&["run", "--json", "hi"]).expect_code(1));
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_key_with_a_line_end_is_trimmed_and_one_with_a_space_is_refused() {
    let hello = "[[turn]]\nalways = true\ntext = \"hello\"\n";
    let (world, model) = World::new().serve(hello);
    let world = world.env("FOEHN_API_KEY", &format!("{KEY}\n"));
    // A header with a line end in it could not be sent.
    world.foehn(&["run", "hi"]).expect_code(0);
    assert_eq!(model.requests().len(), 1);

    let world = world.env("FOEHN_API_KEY", "sk-made-up 123456");
    let run = world.foehn(&["run", "hi"]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"Some(2) error: openai-compatible/scripted: the API key from `api_key` (environment variable FOEHN_API_KEY) holds a space, a line end or a character that no key has; copy it again");
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let world = World::new()
        .env("FOEHN_PROVIDER", "openai-compatible")
        .env("FOEHN_MODEL", "m")
        .env("FOEHN_MAX_RETRIES", "0")
        .env("FOEHN_BASE_URL", "http://ada:hunter22@127.0.0.1:9/v1");
    let run = world.foehn(&["run", "hi"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"
    session [ID] with openai-compatible/m
    error: openai-compatible/m: nothing listens at http://127.0.0.1:[PORT]/v1; is the server running?
    failed in [TIME] s: 1 step, 0 calls, tokens n/a
    ");
    clean(&world, &run);
    clean(&world, &world.foehn(&["config", "show"]));
    clean(&world, &world.foehn(&["doctor"]));
}

#[test]
fn without_a_key_it_says_where_it_looked() {
    let run = World::new().env("FOEHN_PROVIDER", "mistral").foehn(&["run", "hi"]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"Some(2) error: mistral/-: no API key: looked for MISTRAL_API_KEY; set MISTRAL_API_KEY or `api_key` in the configuration, or use provider `offline`, which needs none");
}

/// A key that lies in a file of the workspace is no secret of that file, but it is one of the host's.
#[test]
fn a_known_secret_is_masked_even_when_a_tool_prints_it() {
    let script = "[[turn]]\ncalls = [{ name = \"read_file\", arguments = { path = \"copied.txt\" } }]\n\
                  [[turn]]\ntext = \"done\"\n";
    let (world, model) = with_keys(World::with_plugins(&["file_rw"])).serve(script);
    let world = world.file("copied.txt", format!("key = {KEY}\n"));
    let run = world.foehn(&["run", "--json", "go"]).expect_code(0);
    clean(&world, &run);
    assert!(run.stdout.contains("key = "), "{run:?}");
    assert!(!model.bodies()[1].to_string().contains(KEY), "{:?}", model.bodies());
}
