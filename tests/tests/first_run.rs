//! What a person meets on a fresh machine: no key, no configuration, the offline stand-in and the real plugins.

use foehn_tests::World;

fn project() -> World {
    World::new()
        .file("src/engine.rs", "x".repeat(9_000))
        .file("src/main.rs", "y".repeat(300))
        .file("web/app.js", "z".repeat(5_000))
        .file("notes.txt", "remember the milk\n")
}

/// Each of `wanted` stands in the answer, in this order, and the answer says who gave it.
#[track_caller]
fn check(prompt: &str, wanted: &[&str]) {
    let run = project().foehn(&["run", prompt]).expect_code(0);
    let mut rest = run.stdout.as_str();
    for word in wanted {
        let place = rest.find(word).unwrap_or_else(|| panic!("no `{word}` in its place:\n{}", run.stdout));
        rest = &rest[place + word.len()..];
    }
    assert!(run.stdout.contains("stand-in"), "{}", run.stdout);
}

#[test]
fn the_largest_source_files_are_found_in_the_real_files() {
    check(
        "Which source files here are the largest?",
        &["src/engine.rs", "9000", "web/app.js", "5000", "src/main.rs", "300"],
    );
}

#[test]
fn plain_requests_reach_the_fitting_tool() {
    check("Read notes.txt", &["remember the milk"]);
    check("List the files here.", &["src/", "web/", "notes.txt"]);
    check("Find files named *.js", &["web/app.js"]);
    check("What can you do?", &["read_file"]);
}

#[test]
fn the_answer_is_stdout_and_the_talk_is_stderr() {
    let run = World::new().file("notes.txt", "remember the milk\n").foehn(&["run", "Read notes.txt"]);
    insta::assert_snapshot!(run.answer(), @"
    `read_file` gave:

    `notes.txt`: 1 line
    1|remember the milk

    (I am Foehn's offline stand-in, not a language model: I pick a tool by its words and report what it gave. Set `provider` for real answers.)
    ");
    insta::assert_snapshot!(run.talk(), @r#"
    session [ID] with offline/stand-in (an offline stand-in, not a real model)
    > read_file {"path":"notes.txt","start_line":1}
      ok, [TIME] ms
    answered in [TIME] s: 2 steps, 1 call, tokens n/a
    "#);
}

#[test]
fn without_plugins_it_says_so() {
    let world = World::with_plugins(&[]);
    let run = world.foehn(&["run", "Which source files here are the largest?"]).expect_code(0);
    insta::assert_snapshot!(run.answer(), @"
    There is no tool here that I could use, so there is nothing I can do.

    (I am Foehn's offline stand-in, not a language model: I pick a tool by its words and report what it gave. Set `provider` for real answers.)
    ");
    insta::assert_snapshot!(world.foehn(&["plugins", "list"]).expect_code(0).answer(), @"no plugin in [ROOT]/plugins; put a compiled one there, or name another folder with --plugins");
    insta::assert_snapshot!(world.foehn(&["tools", "list"]).expect_code(0).answer(), @"no tool; `foehn plugins list` tells which plugins there are and why one is not used");
}

#[test]
fn a_run_leaves_nothing_in_the_workspace() {
    let world = World::new().file("only.txt", "content");
    world.foehn(&["run", "List the files here."]).expect_code(0);
    let names: Vec<_> = std::fs::read_dir(world.work())
        .expect("the workspace")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    assert_eq!(names, ["only.txt"]);
    assert_eq!(world.left_running(), [""; 0]);
}
