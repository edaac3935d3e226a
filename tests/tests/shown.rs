//! A person sees all of what will run before it does, to its end and with what does not show.

use std::process::Stdio;

use foehn_tests::World;
use serde_json::{Value, json};

fn calling(tool: &str, arguments: &Value) -> World {
    World::new().script(&format!(
        "[[turn]]\ncalls = [{{ name = \"{tool}\", arguments = '''{arguments}''' }}]\n[[turn]]\ntext = \"done\"\n"
    ))
}

/// What stands on a screen of 40 by 10 characters when the question comes.
#[track_caller]
fn asked(command: &str) -> String {
    let world = calling("run_shell", &json!({"command": command})).file("data/x", "");
    let mut terminal = world.at_terminal(&["run", "go"]);
    terminal.resize(40, 10);
    terminal.wait_for("asked because");
    terminal.type_line("n");
    let screen = terminal.finish().expect_code(0).stderr;
    assert!(world.read("data/x").is_some(), "it was declined");
    let (before, _) = screen.split_once("[y]es once").expect("a question");
    before.to_owned()
}

#[test]
fn the_end_of_a_long_command_is_shown_before_the_question() {
    let command = format!("{}rm -rf data", "echo harmless; ".repeat(200));
    assert!(command.len() > 3_000);
    let shown = asked(&command);
    assert!(shown.contains(&format!("  | {command}\n")), "{shown}");
    assert!(shown.contains(&format!("  ({} characters in 1 lines)\n", command.len())), "{shown}");
    assert!(shown.contains("): echo harmless, rm -rf data\n"), "{shown}");

    // And not by a program that reads the events alone.
    let world = calling("run_shell", &json!({"command": command}));
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    let started = run.events().into_iter().find(|event| event["type"] == "call_started").expect("a call");
    assert!(started["arguments"].as_str().is_some_and(|arguments| arguments.contains(&command)), "{started}");
}

#[test]
fn blank_lines_hide_nothing() {
    let shown = asked(&format!("echo harmless{}rm -rf data", "\n".repeat(61)));
    let blank = "  | \n".repeat(60);
    assert!(
        shown
            .contains(&format!("  | echo harmless\n{blank}  | rm -rf data\n  (85 characters in 62 lines)\n")),
        "{shown}"
    );
    assert!(shown.contains("): echo harmless, rm -rf data\n"), "{shown}");
    // In one line, too.
    let blanks = " ".repeat(2_000);
    let shown = asked(&format!("echo harmless{blanks}; rm -rf data"));
    assert!(
        shown.contains(&format!("  | echo harmless{blanks}; rm -rf data\n  (2026 characters in 1 lines)\n")),
        "{shown}"
    );
}

#[test]
fn an_empty_command_is_not_even_asked() {
    let run =
        calling("run_shell", &json!({"command": " \n\t"})).foehn(&["run", "--json", "go"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "go"
    step 1
    answer "" calls=1
    end #1 run_shell refused executed=false: command is empty
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
}

#[test]
fn what_does_not_show_is_written_out_and_runs_as_it_was() {
    let hidden = format!("a\u{200b}b\u{1b}[2K\u{1b}[1A\rc{}d\u{202e}e", "\u{3000}".repeat(200));
    let world = calling("run_shell", &json!({"command": format!("printf %s '{hidden}' > out.txt")}));
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("go");
    started.wait_for_talk("asked because");
    started.type_line("y");
    started.wait_for_talk("answered in");
    started.type_line("/exit");
    let talk = started.finish().expect_code(0).talk();
    // The line after the question is a short form, with dots.
    let is_plain =
        |character: char| character == '\n' || character == '…' || (' '..='~').contains(&character);
    assert!(talk.chars().all(is_plain), "{talk:?}");
    let shown = format!(r"a\u{{200b}}b\u{{1b}}[2K\u{{1b}}[1A\rc{}d\u{{202e}}e", r"\u{3000}".repeat(200));
    assert!(talk.contains(&format!("  | printf %s '{shown}' > out.txt\n")), "{talk}");
    assert!(talk.contains("! it holds characters that do not show"), "{talk}");
    assert_eq!(world.read("out.txt"), Some(hidden));
}

#[test]
fn a_name_that_is_turned_round_is_shown_as_it_is() {
    let name = "a\u{202e}txt.exe";
    let world = calling("create_file", &json!({"path": name, "content": "x"}));
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("go");
    started.wait_for_talk("asked because");
    started.type_line("y");
    started.wait_for_talk("answered in");
    started.type_line("/exit");
    let talk = started.finish().expect_code(0).talk();
    insta::assert_snapshot!(talk, @r#"
    session [ID] with offline/script (an offline stand-in, not a real model)
    /tools lists the tools, /clear starts afresh, /exit leaves; ctrl-C cancels a turn, twice leaves

    > ? the model wants to run `create_file` (write, plugin file-rw): create `a\u{202e}txt.exe`
      | x
      asked because: risk: write asks
      always covers: `create` of tool `create_file` for agent `default`
      [y]es once, [n]o, [a]lways:   approved once (user)
    > create_file {"path":"a\u{202e}txt.exe","content":"x"}
      ok, [TIME] ms
    answered in [TIME] s: 2 steps, 1 call, tokens n/a

    >
    "#);
    assert_eq!(world.read(name).as_deref(), Some("x"));
}
