//! The tool with a recording stand-in for `dotnet`: what reaches the program, and what does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use dotnet::{Dotnet, foehn_plugin};
use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, InvalidArguments, Ok, Refused, TimedOut};
use foehn_plugin_sdk::wire::{Classification, Operation, Preview, Reply, Risk};
use foehn_plugin_testkit::{Call, TempWorkspace, Value, assert_contract, json, run};

/// Most characters of this plugin's definitions; those of all standard plugins together may have 8,000.
const DEFINITION_CHARACTERS: usize = 1_200;
/// Says what it was started with, one argument a line.
const STAND_IN: &str = "#!/bin/sh\nfor argument do echo \"[$argument]\"; done\necho \"in ${PWD##*/}\"\n";
/// Set when this test binary runs itself with another `PATH`.
const WITH_PATH: &str = "FOEHN_TEST_WITH_PATH";

/// A workspace, and beside it the stand-in with `script` as its text.
struct Scene {
    base: TempWorkspace,
}

impl Scene {
    fn new(script: &str) -> Self {
        let base = TempWorkspace::new([("ws/app/App.csproj", "<Project/>"), ("bin/dotnet", script)]);
        fs::set_permissions(base.join("bin/dotnet"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { base }
    }

    fn call(&self, arguments: Value) -> Call {
        let config = json!({"program": self.base.join("bin/dotnet"), "allowed_properties": ["Flavour"]});
        run(Dotnet, arguments).config(config).workspace(self.base.join("ws"))
    }
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
    let reply = Scene::new(STAND_IN).call(arguments).run();
    assert_eq!(told(&reply), (kind, text.to_owned()));
}

#[test]
fn arguments_reach_the_program_one_by_one() {
    check(
        json!({"subcommand": "build", "arguments": ["App.csproj", "-c", "My Release; $(id)", "-p:Flavour=a"], "working_directory": "app"}),
        Ok,
        "dotnet build: exit code 0 in `app`\n[build]\n[App.csproj]\n[-c]\n[My Release; $(id)]\n[-p:Flavour=a]\nin app\n",
    );
    check(
        json!({"subcommand": "--list-sdks"}),
        Ok,
        "dotnet --list-sdks: exit code 0 in `/`\n[--list-sdks]\nin \n",
    );
}

#[test]
fn a_failed_build_is_an_answer_and_a_killed_one_is_not() {
    let failed =
        Scene::new("#!/bin/sh\necho error CS1002; exit 1\n").call(json!({"subcommand": "build"})).run();
    assert_eq!(told(&failed), (Ok, "dotnet build: exit code 1 in `.`\nerror CS1002\n".to_owned()));
    let killed = Scene::new("#!/bin/sh\nkill -9 $$\n").call(json!({"subcommand": "test"})).run();
    assert_eq!(told(&killed), (Failed, "dotnet test was killed by signal 9 in `.`\n(no output)".to_owned()));
    let slow = Scene::new("#!/bin/sh\necho begun; sleep 48291\n");
    let slow = slow.call(json!({"subcommand": "run", "timeout_seconds": 1})).run();
    assert_eq!(
        told(&slow),
        (TimedOut, "dotnet run was stopped because its time was up in `.`\nbegun\n".to_owned())
    );
}

#[test]
fn a_build_is_told_by_its_errors_and_kept_whole() {
    let scene = Scene::new(
        "#!/bin/sh\nfor lib in 1 2 3 4 5; do echo \"  Lib$lib -> /ws/Lib$lib/bin/Debug/net8.0/Lib$lib.dll\"; done\necho 'A.cs(1,1): error CS1002: ; expected [A.csproj]'\n\
         echo 'Build FAILED.'\necho 'A.cs(1,1): error CS1002: ; expected [A.csproj]'\nexit 1\n",
    );
    let (kind, text) = told(&scene.call(json!({"subcommand": "build"})).run());
    let (news, place) = text.split_once("[6 lines without news left out; all of it: `").unwrap();
    assert_eq!(
        (kind, news),
        (
            Ok,
            "dotnet build: exit code 1 in `.`\nA.cs(1,1): error CS1002: ; expected [A.csproj]\nBuild FAILED.\n"
        )
    );
    let file = place.strip_suffix("`]\n").unwrap();
    assert!(file.starts_with(".foehn/output/dotnet-build-"), "{file}");
    let whole = scene.base.read(&format!("ws/{file}"));
    assert_eq!(whole.lines().count(), 8, "{whole}");
    assert_eq!(scene.base.read("ws/.foehn/output/.gitignore"), "*\n");
}

#[test]
fn a_program_that_missed_its_network_says_what_gives_it_one() {
    let scene =
        Scene::new("#!/bin/sh\necho \"A.csproj : error NU1301: Unable to load [$NuGetAudit]\"; exit $CODE\n");
    let restore = |mut config: Value, code: &str| {
        config["program"] = json!(scene.base.join("bin/dotnet"));
        config["env"] = json!({"CODE": code});
        let reply = run(Dotnet, json!({"subcommand": "restore"}))
            .config(config)
            .workspace(scene.base.join("ws"))
            .run();
        (told(&reply).1.split_once('[').unwrap().1.to_owned(), reply.notes)
    };
    let remedy =
        "it had no network; the operator can give it one: network = \"on\" in [agents.default.tools.dotnet]";
    assert_eq!(restore(json!({}), "1"), ("false]\n".to_owned(), vec![remedy.to_owned()]));
    assert_eq!(restore(json!({"network": "off"}), "1").1, [remedy]);
    assert_eq!(restore(json!({"network": "on"}), "1"), ("]\n".to_owned(), Vec::new()));
    assert_eq!(restore(json!({}), "0").1, Vec::<String>::new());
}

#[test]
fn an_output_too_long_for_the_memory_is_whole_in_its_file() {
    let scene =
        Scene::new("#!/bin/sh\nseq 300000\necho 'A.cs(1,1): error CS1002: ; expected [A.csproj]'; exit 1\n");
    let (_, text) = told(&scene.call(json!({"subcommand": "run"})).run());
    let (shown, place) = text.split_once("[all of it: `").unwrap();
    assert!(shown.contains(" bytes left out ...]") && shown.contains("error CS1002"), "{}", shown.len());
    assert!(shown.chars().count() < 31_000, "{}", shown.len());
    let whole = scene.base.read(&format!("ws/{}", place.strip_suffix("`]\n").unwrap()));
    assert_eq!(whole.lines().count(), 300_001);
}

#[test]
fn a_launcher_and_more_environment_are_the_operators_word() {
    let scene = Scene::new("#!/bin/sh\necho \"$MINE-$PASSED-$CARGO_PKG_NAME-$1\"\n");
    let config = json!({
        "program": scene.base.join("bin/dotnet"),
        "launcher": ["env", "PASSED=launched"],
        "env": {"MINE": "own"},
        "env_pass": ["CARGO_PKG_NAME"],
        "network": "off",
    });
    let call = || run(Dotnet, json!({"subcommand": "build"})).workspace(scene.base.join("ws"));
    let expected = "dotnet build: exit code 0 in `.`\nown-launched-foehn-plugin-dotnet-build\n";
    assert_eq!(told(&call().config(config).run()), (Ok, expected.to_owned()));
    let missing = call().config(json!({"launcher": ["foehn-test-no-launcher"]})).run();
    assert_eq!(told(&missing), (Failed, "program `foehn-test-no-launcher` was not found".to_owned()));
    let unknown = call().config(json!({"netwerk": "off"})).open_error();
    assert_eq!(
        unknown.unwrap().split(", expected").next(),
        Some("configuration of tool `dotnet`: unknown field `netwerk`")
    );
}

#[test]
fn what_leaves_the_workspace_or_runs_more_is_refused() {
    let scene = Scene::new(STAND_IN);
    symlink("../..", scene.base.join("ws/app/up")).unwrap();
    let cases = [
        (
            json!(["@x.rsp"]),
            "arguments[0] `@x.rsp` is refused: a response file hides its arguments; give them one by one",
        ),
        (
            json!(["-p:PreBuildEvent=id"]),
            "arguments[0] `-p:PreBuildEvent=id` is refused: property `PreBuildEvent` is not among the allowed ones (the \
             operator can add it to `allowed_properties`)",
        ),
        (json!(["-o", "../out"]), "arguments[1] `../out` is refused: `../out` leads out of the workspace"),
        (
            json!(["-o", "app/up/out"]),
            "arguments[1] `app/up/out` is refused: `app/up/out` leads out of the workspace",
        ),
    ];
    for (arguments, message) in cases {
        let call = || scene.call(json!({"subcommand": "build", "arguments": arguments}));
        let reply = call().run();
        assert_eq!((told(&reply), reply.executed), ((Refused, message.to_owned()), Some(false)));
        assert_eq!(call().classify().refusal.as_deref(), Some(message));
    }
    let inside = scene.base.join("ws/app/App.csproj");
    let reply = scene.call(json!({"subcommand": "build", "arguments": [inside]})).run();
    assert_eq!(reply.kind, Ok, "{}", reply.message);
}

#[test]
fn only_listed_subcommands_run() {
    let reply = Scene::new(STAND_IN).call(json!({"subcommand": "exec"})).run();
    assert_eq!(reply.kind, InvalidArguments);
    check(json!({"subcommand": "--info", "arguments": ["x"]}), Refused, "`dotnet --info` takes no arguments");
    check(
        json!({"subcommand": "build", "timeout_seconds": 1801}),
        InvalidArguments,
        "timeout_seconds is 1801; at most 1800 are allowed",
    );
    check(
        json!({"subcommand": "build", "working_directory": "nodir"}),
        Failed,
        "working_directory: `nodir` does not exist",
    );
}

#[test]
fn a_missing_sdk_says_how_to_get_one() {
    let workspace = TempWorkspace::empty();
    let config = json!({"program": "foehn-test-no-such-dotnet"});
    let reply = run(Dotnet, json!({"subcommand": "--info"})).config(config).workspace(&workspace).run();
    let message = "`foehn-test-no-such-dotnet` was not found: install the .NET SDK (https://dotnet.microsoft.com/download, or \
                   the package `dotnet-sdk-8.0` or later of the system), or set `program` in this tool's configuration";
    assert_eq!((told(&reply), reply.executed), ((Failed, message.to_owned()), Some(false)));
}

#[test]
fn the_environment_keeps_servers_away_and_a_confined_call_out_of_the_home() {
    let script = "#!/bin/sh\necho $MSBUILDDISABLENODEREUSE $UseSharedCompilation ${DOTNET_CLI_HOME##*/ws/} ${NUGET_PACKAGES##*/ws/}\n\
                  env | grep -c ^CARGO_MANIFEST\ntrue\n";
    let scene = Scene::new(script);
    let free = scene.call(json!({"subcommand": "restore"})).run();
    assert_eq!(told(&free), (Ok, "dotnet restore: exit code 0 in `.`\n1 false\n0\n".to_owned()));
    for _ in 0..2 {
        let confined = scene
            .call(json!({"subcommand": "restore"}))
            .head(|head| head.risk_profile = Some(Risk::Execute))
            .run();
        let expected =
            "dotnet restore: exit code 0 in `.`\n1 false .foehn/dotnet .foehn/dotnet/packages\n0\n";
        assert_eq!(told(&confined), (Ok, expected.to_owned()));
    }
    assert_eq!(scene.base.read("ws/.foehn/dotnet/.gitignore"), "*\n");
}

#[test]
fn operations_and_risks_follow_the_subcommand() {
    let classify = |arguments: Value| Scene::new(STAND_IN).call(arguments).classify();
    let expected = |name: &str, risk, command: &str, directory: &str| Classification {
        operations: vec![Operation { name: name.to_owned(), risk: Some(risk), target: None }],
        preview: Some(Preview::Command { command: command.to_owned(), directory: directory.into() }),
        ..Classification::default()
    };
    assert_eq!(
        classify(json!({"subcommand": "--list-runtimes"})),
        expected("info", Risk::ReadOnly, "dotnet --list-runtimes", "/")
    );
    assert_eq!(
        classify(
            json!({"subcommand": "test", "arguments": ["--filter", "it's (a|b)", ""], "working_directory": "app"})
        ),
        expected("test", Risk::Execute, r"dotnet test --filter 'it'\''s (a|b)' ''", "app")
    );
    let operations: Vec<String> = foehn_plugin()
        .manifest()
        .tools
        .remove(0)
        .operations
        .into_iter()
        .map(|operation| operation.name)
        .collect();
    assert_eq!(operations, ["new", "build", "run", "test", "restore", "clean", "format", "info"]);
}

#[test]
fn the_program_is_found_on_the_path() {
    if let Some(workspace) = std::env::var_os(WITH_PATH) {
        let reply = run(Dotnet, json!({"subcommand": "clean"})).workspace(workspace).run();
        assert_eq!(told(&reply), (Ok, "dotnet clean: exit code 0 in `.`\n[clean]\nin ws\n".to_owned()));
        return;
    }
    // The path of a running process cannot be changed safely, so the test runs itself with another one.
    let scene = Scene::new(STAND_IN);
    let path = format!("{}:/usr/bin:/bin", scene.base.join("bin").display());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_is_found_on_the_path"])
        .env("PATH", path)
        .env(WITH_PATH, scene.base.join("ws"))
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
}

#[test]
fn the_definition_is_sound_and_short() {
    assert_contract!(foehn_plugin(), DEFINITION_CHARACTERS);
}

#[test]
fn a_real_dotnet_says_the_same_as_without_us() {
    let Result::Ok(output) = Command::new("dotnet").arg("--list-sdks").output() else {
        return; // Where there is none, the stand-in has to do.
    };
    let direct = String::from_utf8_lossy(&output.stdout).into_owned();
    let reply = run(Dotnet, json!({"subcommand": "--list-sdks"})).workspace(TempWorkspace::empty()).run();
    let (kind, text) = told(&reply);
    assert_eq!((kind, text.ends_with(&direct)), (Ok, true), "{text}");
}
