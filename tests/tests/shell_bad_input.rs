//! Calls of `run_shell` that make no sense, and commands that cannot run: each a clear result, and nothing left running.

use std::os::unix::fs::symlink;

use foehn_tests::{World, brief};
use serde_json::{Value, json};

/// The results of calls in one session, in short.
#[track_caller]
fn results(world: World, settings: &str, calls: &[Value]) -> (World, String) {
    let turns: String = calls
        .iter()
        .map(|arguments| {
            format!("[[turn]]\ncalls = [{{ name = \"run_shell\", arguments = '''{arguments}''' }}]\n")
        })
        .collect();
    let world = world
        .script(&format!("{turns}[[turn]]\ntext = \"done\"\n"))
        .user_config(&format!("max_invalid_calls = 100\nmax_tool_iterations = 200\n{settings}"));
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    let told: Vec<String> = run.envelopes().iter().map(brief).collect();
    assert_eq!(told.len(), calls.len());
    assert_eq!(world.left_running(), [""; 0]);
    (world, told.join("\n"))
}

fn world() -> World {
    let world = World::with_plugins(&["shell"]).file("plain.txt", "").file("sub/x", "");
    symlink("..", world.work().join("out")).expect("a link");
    world
}

#[test]
fn arguments_that_make_no_sense_run_nothing() {
    let mark = |mut arguments: Value| {
        arguments["command"] = json!("touch ran");
        arguments
    };
    let (world, told) = results(
        world(),
        "",
        &[
            json!({}),
            json!({"command": ""}),
            json!({"command": 5}),
            json!({"command": "touch ran\u{0}x"}),
            json!({"command": format!("touch ran; {}", "x".repeat(1_000_000))}),
            mark(json!({"working_directory": "missing"})),
            mark(json!({"working_directory": "plain.txt"})),
            mark(json!({"working_directory": "../"})),
            mark(json!({"working_directory": "/etc"})),
            mark(json!({"working_directory": "out"})),
            mark(json!({"working_directory": "sub\u{0}x"})),
            mark(json!({"working_directory": "a".repeat(300)})),
            mark(json!({"timeout_seconds": 0})),
            mark(json!({"timeout_seconds": -1})),
            mark(json!({"timeout_seconds": 601})),
            mark(json!({"timeout_seconds": 1e300})),
            mark(json!({"timeout_seconds": "soon"})),
        ],
    );
    let shortened = told.replace(&"x".repeat(1000), "").replace(&"a".repeat(290), "[..]");
    insta::assert_snapshot!(shortened, @r#"
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `missing_argument`.
      /command missing_argument | expected: string
    refused executed=false retryable=false: command is empty
    ok "exit code 127 after [TIME] s in `.`\n/bin/sh: 1: 5: not found\n"
      note `/command`: a number was read as text, digit by digit
    refused executed=false retryable=false: command has a NUL character
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `bad_length`.
      /command bad_length | expected: at most 131071 characters | got: "touch ran; xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    refused executed=false retryable=false: working_directory: `missing` does not exist
    refused executed=false retryable=false: working_directory: `plain.txt` is not a directory, or a part of it is not
    refused executed=false retryable=false: working_directory: `../` lies outside of the workspace
    refused executed=false retryable=false: working_directory: `/etc` lies outside of the workspace
    refused executed=false retryable=false: working_directory: `out` is a link that leads out of the workspace
    refused executed=false retryable=false: working_directory: invalid path `sub\0x`: it holds a NUL character
    refused executed=false retryable=false: working_directory: invalid path: the name `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...` is 300 bytes long, at most 255 are allowed
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `out_of_range`.
      /timeout_seconds out_of_range | expected: at least 1 | got: 0
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `out_of_range`.
      /timeout_seconds out_of_range | expected: at least 1 | got: -1
    refused executed=false retryable=false: timeout_seconds is 601; at most 600 are allowed
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `out_of_range`.
      /timeout_seconds out_of_range | expected: an integer from -9223372036854775808 to 18446744073709551615 | got: 1e+300
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have a problem, `wrong_type`.
      /timeout_seconds wrong_type | expected: null or integer | got: "soon" | suggestion: write it in digits without quotes, such as 6
    "#);
    assert_eq!(world.read("ran"), None);
}

#[test]
fn what_cannot_run_is_told_with_its_place() {
    let (_, told) = results(
        world(),
        "",
        &[
            json!({"command": "no-such-program --x"}),
            json!({"command": "./plain.txt"}),
            json!({"command": "./sub"}),
            json!({"command": "echo one\necho 'open"}),
            json!({"command": "if true; then"}),
            json!({"command": "rm -r ../sub; pwd; ls", "working_directory": "sub"}),
            json!({"command": "pwd", "working_directory": "sub"}),
        ],
    );
    insta::assert_snapshot!(told, @r#"
    ok "exit code 127 after [TIME] s in `.`\n/bin/sh: 1: no-such-program: not found\n"
    ok "exit code 126 after [TIME] s in `.`\n/bin/sh: 1: ./plain.txt: Permission denied\n"
    ok "exit code 126 after [TIME] s in `.`\n/bin/sh: 1: ./sub: Permission denied\n"
    ok "exit code 2 after [TIME] s in `.`\none\n/bin/sh: 2: Syntax error: Unterminated quoted string\n"
    ok "exit code 2 after [TIME] s in `.`\n/bin/sh: 1: Syntax error: end of file unexpected (expecting \"fi\")\n"
    ok "exit code 0 after [TIME] s in `sub`\n[ROOT]/work/sub\n"
    refused executed=false retryable=false: working_directory: `sub` does not exist
    "#);
}

#[test]
fn output_without_end_or_without_characters_is_bounded() {
    let settings = "[agents.default.tools.run_shell]\noutput_characters = 40\n";
    let (world, told) = results(
        world(),
        settings,
        &[
            json!({"command": "yes", "timeout_seconds": 1}),
            json!({"command": "head -c 100 /dev/urandom; exit 7"}),
            json!({"command": "printf '\\303'; sleep 0.2; printf '\\251'"}),
            json!({"command": "cat /dev/zero | head -c 100000 | wc -c"}),
        ],
    );
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with("timeout executed=true retryable=false: stopped because its time was up"),
        "{told}"
    );
    assert!(told.contains("ok \"exit code 7 after "), "{told}");
    assert!(told.contains("in `.`\\né\""), "{told}");
    assert!(told.contains("in `.`\\n100000\\n\""), "{told}");
    assert!(told.chars().count() < 2_000, "{told}");
    assert!(world.work().join(".foehn/output/.gitignore").exists());
}

/// Where the output would be kept, somebody put something else.
#[test]
fn a_link_in_the_place_of_our_folder_leads_nowhere() {
    let settings = "[agents.default.tools.run_shell]\noutput_characters = 40\n";
    let kept = |place: &dyn Fn(&World)| {
        let world = world();
        world.write("elsewhere/x", "");
        place(&world);
        let (world, told) = results(world, settings, &[json!({"command": "seq 1000"})]);
        let elsewhere = std::fs::read_dir(world.path("elsewhere")).expect("a folder").count();
        assert_eq!(elsewhere, 1, "{told}");
        let (_, said) = told.split_once("bytes left out; ").expect("it is too long");
        said.split_once(" ...]").expect("the end of the line").0.to_owned()
    };
    let link = |to: &'static str| {
        kept(&move |world| {
            symlink(to.replace("[ROOT]", &world.root().display().to_string()), world.work().join(".foehn"))
                .expect("a link");
        })
    };
    let told = [
        link("../elsewhere"),
        link("[ROOT]/elsewhere"),
        link("missing"),
        link(".foehn"),
        link("sub"),
        kept(&|world| world.write("work/.foehn", "a file")),
        kept(&|world| {
            std::fs::create_dir(world.work().join(".foehn")).expect("a folder");
            symlink("../../elsewhere", world.work().join(".foehn/output")).expect("a link");
        }),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    all of it could not be kept: `.foehn/output` is a link that leads out of the workspace
    all of it could not be kept: `.foehn` is a link that leads out of the workspace
    all of it could not be kept: `.foehn` is a link to something that does not exist; nothing is created through it
    all of it could not be kept: `.foehn/output` leads through too many links
    all of it: `.foehn/output/shell-[ID].txt`
    all of it could not be kept: `.foehn/output` is not a directory, or a part of it is not
    all of it could not be kept: `.foehn/output` is a link that leads out of the workspace
    ");
}
