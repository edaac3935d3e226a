//! The tool with the cargo that runs these tests: what it answers, what it refuses, what it leaves behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use cargo::{Cargo, foehn_plugin};
use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, InvalidArguments, Ok, Refused};
use foehn_plugin_sdk::wire::{Preview, Reply, Risk, op};
use foehn_plugin_testkit::{Call, TempWorkspace, TestHost, Value, assert_contract, json, run};

/// Most characters of this plugin's definitions; those of all standard plugins together may have 8,000.
const DEFINITION_CHARACTERS: usize = 900;

const MANIFEST: &str = "[package]\nname = \"greet\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
const SOURCE: &str = "pub fn greet() -> &'static str { \"hello\" }\n\n#[test]\nfn greets() { assert_eq!(greet(), \"hello\"); }\n\n\
                      #[test]\nfn parts() { assert_eq!(greet(), \"bye\"); }\n";
const MAIN: &str = "fn main() {\n    let unused = 1;\n    println!(\"{} {:?}\", greet::greet(), std::env::args().nth(1));\n}\n";

fn package() -> TempWorkspace {
    TempWorkspace::new([
        ("greet/Cargo.toml", MANIFEST),
        ("greet/src/lib.rs", SOURCE),
        ("greet/src/main.rs", MAIN),
    ])
}

fn call(workspace: &TempWorkspace, mut arguments: Value) -> Call {
    if arguments["working_directory"].is_null() {
        arguments["working_directory"] = json!("greet");
    }
    run(Cargo, arguments).workspace(workspace.path()).config(json!({"program": env!("CARGO")}))
}

/// The reply without what differs from run to run.
fn told(reply: &Reply) -> (ReplyKind, String) {
    let text = if reply.kind == Ok { reply.text() } else { reply.message.clone() };
    let mut kept: Vec<String> = text
        .lines()
        .filter(|line| !line.contains("Finished `") && !line.starts_with("note: run with"))
        .map(str::to_owned)
        .collect();
    if let Some(first) = kept.first_mut()
        && let Some((what, rest)) = first.split_once(" after ")
    {
        *first = format!("{what}{}", rest.split_once(" s").unwrap().1);
    }
    (reply.kind, kept.join("\n"))
}

#[track_caller]
fn check_refused(arguments: Value, message: &str) {
    let workspace = package();
    let arguments = || arguments.clone();
    let reply = call(&workspace, arguments()).run();
    assert_eq!((told(&reply), reply.executed), ((Refused, message.to_owned()), Some(false)));
    assert_eq!(call(&workspace, arguments()).classify().refusal.as_deref(), Some(message));
    assert!(!workspace.join("greet/target").exists());
}

#[test]
fn a_program_is_built_and_run() {
    let workspace = package();
    let reply = call(&workspace, json!({"subcommand": "run", "arguments": ["--quiet", "--", "--you"]})).run();
    let (kind, text) = told(&reply);
    assert_eq!(kind, Ok);
    assert!(
        text.starts_with("cargo run: exit code 0 in `greet`\nwarning: unused variable: `unused`\n"),
        "{text}"
    );
    assert!(text.ends_with("\nhello Some(\"--you\")"), "{text}");
    let offline =
        call(&workspace, json!({"subcommand": "metadata", "arguments": ["--no-deps", "--format-version=1"]}));
    assert!(offline.run().text().contains(r#""name":"greet""#));
}

#[test]
fn tests_are_told_by_what_fails_and_kept_whole() {
    let workspace = package();
    let more: String = (0..10).map(|number| format!("#[test]\nfn passes_{number}() {{}}\n")).collect();
    workspace.write("greet/src/lib.rs", format!("{SOURCE}{more}"));
    let reply = call(&workspace, json!({"subcommand": "test", "arguments": ["--lib"]})).run();
    let (kind, text) = told(&reply);
    assert_eq!(kind, Ok);
    assert!(
        text.starts_with("cargo test: exit code 101 in `greet`\n\nrunning 12 tests\ntest parts ... FAILED\n"),
        "{text}"
    );
    assert!(text.contains("test result: FAILED. 11 passed; 1 failed"), "{text}");
    let (_, place) = text.split_once("lines without news left out; all of it: `").unwrap();
    let whole = workspace.read(place.strip_suffix("`]").unwrap());
    assert!(whole.contains("test greets ... ok") && whole.contains("Compiling greet"), "{whole}");
}

#[test]
fn a_dependency_that_only_a_network_has_is_told_with_its_remedy() {
    let workspace = package();
    workspace.write("greet/Cargo.toml", format!("{MANIFEST}[dependencies]\nfoehn-no-such-package = \"1\"\n"));
    let reply = call(&workspace, json!({"subcommand": "check"})).run();
    let remedy =
        "it had no network; the operator can give it one: network = \"on\" in [agents.default.tools.cargo]";
    assert_eq!(
        (reply.kind, reply.notes.as_slice()),
        (Ok, [remedy.to_owned()].as_slice()),
        "{}",
        reply.text()
    );
}

#[test]
fn what_runs_something_else_or_leads_out_is_refused() {
    for option in ["--config", "--config=build.rustc-wrapper='x'"] {
        check_refused(
            json!({"subcommand": "build", "arguments": [option]}),
            &format!(
                "arguments[0] `{option}` is refused: a setting can name programs to run; write it into `.cargo/config.toml`"
            ),
        );
    }
    check_refused(
        json!({"subcommand": "check", "arguments": ["-Zunstable-options"]}),
        "arguments[0] `-Zunstable-options` is refused: unstable options can name programs to run",
    );
    check_refused(
        json!({"subcommand": "build", "arguments": ["--target-dir", "../../out"]}),
        "arguments[1] `../../out` is refused: `../../out` leads out of the workspace",
    );
    check_refused(
        json!({"subcommand": "build", "arguments": ["--jobs", "--config=x"]}),
        "arguments[1] `--config=x` is refused: it begins with a dash; write `--jobs=--config=x`",
    );
    check_refused(
        json!({"subcommand": "clippy", "arguments": ["--", "-Clinker=./evil"]}),
        "arguments[1] `-Clinker=./evil` is refused: `-C` is not among the options of `cargo clippy` that may be used here \
         (-A, --allow, -W, --warn, -D, --deny, -F, --forbid, --cap-lints); the operator can add it to `allowed_options`",
    );
    check_refused(
        json!({"subcommand": "doc", "arguments": ["--open"]}),
        "arguments[0] `--open` is refused: nobody is there to look at a browser",
    );
}

#[test]
fn only_listed_subcommands_run() {
    let workspace = package();
    for (subcommand, kind) in
        [("install", InvalidArguments), ("+nightly", InvalidArguments), ("", InvalidArguments)]
    {
        assert_eq!(call(&workspace, json!({"subcommand": subcommand})).run().kind, kind, "{subcommand}");
    }
    let away = call(&workspace, json!({"subcommand": "check", "working_directory": "gone"})).run();
    assert_eq!(told(&away), (Failed, "working_directory: `gone` does not exist".to_owned()));
    let missing = run(Cargo, json!({"subcommand": "check"}))
        .workspace(workspace.path())
        .config(json!({"program": "foehn-test-no-such-cargo"}))
        .run();
    let message = "`foehn-test-no-such-cargo` was not found: install Rust (https://rustup.rs, or the package `cargo` of the \
                   system), or set `program` in this tool's configuration";
    assert_eq!((told(&missing), missing.executed), ((Failed, message.to_owned()), Some(false)));
}

#[test]
fn the_version_is_told_without_a_look_at_the_project() {
    let workspace = package();
    let asked = || call(&workspace, json!({"subcommand": "--version"}));
    let classification = asked().classify();
    assert_eq!(classification.operations[0].risk, Some(Risk::ReadOnly));
    assert_eq!(
        classification.preview,
        Some(Preview::Command { command: "cargo --version".to_owned(), directory: "/".into() })
    );
    let (kind, text) = told(&asked().run());
    assert_eq!(kind, Ok);
    assert!(text.starts_with("cargo --version: exit code 0 in `/`\ncargo "), "{text}");
}

#[test]
fn all_that_the_project_decides_is_execution() {
    let risks: Vec<(String, Option<Risk>)> = foehn_plugin()
        .manifest()
        .tools
        .remove(0)
        .operations
        .into_iter()
        .map(|operation| (operation.name, operation.risk))
        .filter(|(_, risk)| *risk != Some(Risk::Execute))
        .collect();
    assert_eq!(risks, [("info".to_owned(), Some(Risk::ReadOnly))]);
}

#[test]
fn the_definition_is_sound_and_short() {
    assert_contract!(foehn_plugin(), DEFINITION_CHARACTERS);
}

#[test]
fn what_a_subcommand_changed_is_taken_back() {
    let workspace = package();
    workspace.write("greet/src/lib.rs", "pub  fn greet( ) -> u8 {1}\n");
    let call = || {
        call(&workspace, json!({"subcommand": "fmt"})).head(|head| {
            head.key = "s/1".to_owned();
            head.take_back_programs = true;
        })
    };
    let before = workspace.tree();
    assert_eq!(call().run().kind, Ok);
    assert_ne!(workspace.tree(), before);
    assert_eq!(call().op(op::UNDO, &TestHost::new()).kind, Ok);
    assert_eq!(workspace.tree(), before);
}
