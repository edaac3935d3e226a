//! A person at a terminal: asked where a pipe would be declined, and left alone where nothing is to be asked.

use foehn_tests::{Run, World};

const CREATE: &str = r#"
[[turn]]
calls = [{ name = "create_file", arguments = { path = "new.txt", content = "new\n" } }]
[[turn]]
text = "done"
"#;

#[track_caller]
fn answered(reply: &str, created: bool) -> Run {
    let world = World::new().script(CREATE);
    let mut terminal = world.at_terminal(&["run", "create it"]);
    terminal.wait_for("asked because");
    terminal.type_line(reply);
    let run = terminal.finish().expect_code(0);
    assert_eq!(run.stdout, "done\n");
    assert_eq!(world.read("new.txt").is_some(), created);
    run
}

#[test]
fn a_run_asks_and_takes_the_answer() {
    let screen = answered("y", true).stderr;
    for part in ["create `new.txt`", "  | new\n", "[y]es once, [n]o, [a]lways:", "approved once (user)"] {
        assert!(screen.contains(part), "no `{part}` in\n{screen}");
    }
    answered("n", false);
}

#[test]
fn an_unclear_answer_is_asked_again() {
    let world = World::new().script(CREATE);
    let mut terminal = world.at_terminal(&["run", "create it"]);
    terminal.wait_for("asked because");
    terminal.type_line("maybe");
    terminal.type_line("n");
    terminal.finish().expect_code(0);
    assert_eq!(world.read("new.txt"), None);
}

#[test]
fn json_asks_nobody() {
    let world = World::new().script(CREATE);
    let run = world.at_terminal(&["run", "--json", "create it"]).finish().expect_code(4);
    assert_eq!(run.done()["status"], "declined");
    assert_eq!(run.stderr, "");
}

#[test]
fn one_tool_call_asks_too() {
    let world = World::new();
    let arguments = r#"{"path":"new.txt","content":"new\n"}"#;
    let mut terminal = world.at_terminal(&["tools", "call", "create_file", arguments]);
    terminal.wait_for("asked because");
    terminal.type_line("y");
    assert_eq!(terminal.finish().expect_code(0).envelope()["ok"], true);
    assert_eq!(world.read("new.txt").as_deref(), Some("new\n"));
}

#[test]
fn a_prompt_argument_does_not_wait_for_keys() {
    let world = World::new().script("[[turn]]\ntext = \"hello\"\n");
    assert_eq!(world.at_terminal(&["run", "hi"]).finish().expect_code(0).stdout, "hello\n");
}

#[test]
fn a_command_cannot_reach_the_terminal() {
    let world = World::with_plugins(&["shell"]);
    let arguments = r#"{"command":"(echo stolen > /dev/tty) 2>/dev/null; tty; read x; echo got:$x"}"#;
    let run = world.at_terminal(&["tools", "call", "--yes", "run_shell", arguments]).finish().expect_code(0);
    assert!(!run.stderr.contains("stolen"), "{run:?}");
    insta::assert_snapshot!(run.envelope()["result"], @r#""exit code 0 after [TIME] s in `.`\nnot a tty\ngot:\n""#);
}
