//! Who may say yes: the operator beforehand, a person at the time, and nobody by silence.

use std::process::Stdio;

use foehn_tests::{Run, Started, World};

const CREATE: &str = r#"
[[turn]]
calls = [{ name = "create_file", arguments = { path = "new.txt", content = "new\n" } }]
[[turn]]
text = "done"
"#;

/// Runs one `create_file` under the user's settings; whether the file is there tells if it ran.
#[track_caller]
fn check(settings: &str, arguments: &[&str], code: i32, created: bool) -> Run {
    let world = World::new().script(CREATE).user_config(settings);
    let run = world.foehn(&[&["run", "--json", "create it"], arguments].concat()).expect_code(code);
    assert_eq!(world.read("new.txt").is_some(), created, "{run:?}");
    run
}

#[test]
fn with_nobody_to_ask_the_answer_is_no() {
    let run = check("", &[], 4, false);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "create it"
    step 1
    answer "" calls=1
    end #1 create_file declined executed=false: Not run: it needs an approval (risk: write asks) and nobody is there to give it. Do not try again; say what you would have done.
    step 2
    text "done"
    answer "done" calls=0
    done declined "done" steps=2 calls=1 (a call needed an approval and nobody was there to give it)
    "#);
    insta::assert_snapshot!(run.envelopes().remove(0), @r#"{"ok":false,"error":{"code":"declined","message":"Not run: it needs an approval (risk: write asks) and nobody is there to give it. Do not try again; say what you would have done.","executed":false,"retryable":false}}"#);
}

#[test]
fn an_open_pipe_is_nobody() {
    let world = World::new().script(CREATE);
    let mut started = world.start(&["run", "create it"], Stdio::piped());
    let pipe = started.take_stdin();
    let run = started.finish().expect_code(4);
    drop(pipe);
    insta::assert_snapshot!(run.talk(), @"
    session [ID] with offline/script (an offline stand-in, not a real model)
      declined: Not run: it needs an approval (risk: write asks) and nobody is there to give it. Do not try again; say what you would have done.
    a call needed an approval and nobody was there to give it
    answered with a call declined in [TIME] s: 2 steps, 1 call, tokens n/a
    ");
    assert_eq!(world.read("new.txt"), None);
}

#[test]
fn yes_is_said_beforehand_for_one_run() {
    let run = check("", &["--yes"], 0, true);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "create it"
    step 1
    answer "" calls=1
    start #1 create_file {"content":"new\n","path":"new.txt"} [create] (risk: write asks; approved by --yes)
    end #1 create_file ok
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
}

#[test]
fn an_allowed_operation_is_not_asked() {
    let allow = |list: &str| format!("[agents.default.tools.create_file]\nallow = {list}\n");
    let run = check(&allow(r#"["create"]"#), &[], 0, true);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "create it"
    step 1
    answer "" calls=1
    start #1 create_file {"content":"new\n","path":"new.txt"} [create] (allow = ["create"] of tool `create_file`)
    end #1 create_file ok
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
    check(&allow(r#"["*"]"#), &[], 0, true);
    // A list turns what it does not name into a question, and nobody is there.
    check(&allow("[]"), &[], 4, false);
}

#[test]
fn a_denied_operation_is_not_even_asked() {
    let deny = "[agents.default.tools.create_file]\nallow = [\"*\"]\ndeny = [\"create\"]\n";
    let run = check(deny, &["--yes"], 0, false);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "create it"
    step 1
    answer "" calls=1
    end #1 create_file forbidden executed=false: Not run: a rule forbids it (deny = ["create"] of tool `create_file`).
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
    insta::assert_snapshot!(run.envelopes().remove(0), @r#"{"ok":false,"error":{"code":"forbidden","message":"Not run: a rule forbids it (deny = [\"create\"] of tool `create_file`).","executed":false,"retryable":false}}"#);
}

#[test]
fn a_denied_read_is_refused_too() {
    let script = "[[turn]]\ncalls = [{ name = \"read_file\", arguments = { path = \"a.txt\" } }]\n[[turn]]\ntext = \"done\"\n";
    let world = World::new()
        .file("a.txt", "secret\n")
        .script(script)
        .user_config("[agents.default.tools.read_file]\ndeny = [\"*\"]\n");
    let run = world.foehn(&["run", "--json", "--yes", "read"]).expect_code(0);
    assert!(!run.stdout.contains("secret\\n"), "{run:?}");
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "read"
    step 1
    answer "" calls=1
    end #1 read_file forbidden executed=false: Not run: a rule forbids it (deny = ["*"] of tool `read_file`).
    step 2
    text "done"
    answer "done" calls=0
    done answered "done" steps=2 calls=1
    "#);
}

#[test]
fn a_disabled_tool_is_not_offered() {
    let world = World::new().user_config("[agents.default]\nenabled_tools = [\"read_file\", \"scan\"]\n");
    let run = world.foehn(&["tools", "list"]).expect_code(0);
    insta::assert_snapshot!(run.answer(), @"
    TOOL       RISK       PLUGIN
    read_file  read-only  file-rw  Read a text file.
    scan       read-only  scan     List files and folders, sorted, one a line: size in bytes or kind, a tab, the path.
    ");
    world.foehn(&["tools", "call", "--yes", "run_shell", "{\"command\":\"true\"}"]).expect_code(1);
}

const THREE: &str = r#"
[[turn]]
calls = [{ name = "create_file", arguments = { path = "1.txt", content = "one" } }]
[[turn]]
calls = [{ name = "create_file", arguments = { path = "2.txt", content = "two" } }]
[[turn]]
calls = [{ name = "create_file", arguments = { path = "3.txt", content = "three" } }]
[[turn]]
text = "done"
"#;

/// A chat through a pipe: types the prompt, then one line for each question.
#[track_caller]
fn chat(world: &World, replies: &[&str]) -> Run {
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("create them");
    for reply in replies {
        asked(&mut started);
        started.type_line(reply);
    }
    started.wait_for_talk("answered in");
    started.type_line("/exit");
    started.finish().expect_code(0)
}

#[track_caller]
fn asked(started: &mut Started) {
    started.wait_for_talk("asked because");
}

fn files(world: &World) -> Vec<&'static str> {
    ["1.txt", "2.txt", "3.txt"].into_iter().filter(|path| world.read(path).is_some()).collect()
}

#[test]
fn a_person_answers_each_question() {
    let world = World::new().script(THREE);
    let run = chat(&world, &["y", "n", "yes"]);
    assert_eq!(files(&world), ["1.txt", "3.txt"]);
    insta::assert_snapshot!(run.talk(), @r#"
    session [ID] with offline/script (an offline stand-in, not a real model)
    /tools lists the tools, /clear starts afresh, /exit leaves; ctrl-C cancels a turn, twice leaves

    > ? the model wants to run `create_file` (write, plugin file-rw): create `1.txt`
      | one
      asked because: risk: write asks
      always covers: `create` of tool `create_file` for agent `default`
      [y]es once, [n]o, [a]lways:   approved once (user)
    > create_file {"content":"one","path":"1.txt"}
      ok, [TIME] ms
    ? the model wants to run `create_file` (write, plugin file-rw): create `2.txt`
      | two
      asked because: risk: write asks
      always covers: `create` of tool `create_file` for agent `default`
      [y]es once, [n]o, [a]lways:   declined (user)
      declined: Not run: the user said no. Do not repeat this call; ask what to do instead.
    ? the model wants to run `create_file` (write, plugin file-rw): create `3.txt`
      | three
      asked because: risk: write asks
      always covers: `create` of tool `create_file` for agent `default`
      [y]es once, [n]o, [a]lways:   approved once (user)
    > create_file {"content":"three","path":"3.txt"}
      ok, [TIME] ms
    answered in [TIME] s: 4 steps, 3 calls, tokens n/a

    >
    "#);
}

#[test]
fn always_covers_the_same_and_nothing_else() {
    let world = World::new().script(THREE);
    chat(&world, &["a"]);
    assert_eq!(files(&world), ["1.txt", "2.txt", "3.txt"]);

    let two_tools = r#"
        [[turn]]
        calls = [{ name = "create_file", arguments = { path = "1.txt", content = "one" } }]
        [[turn]]
        calls = [{ name = "edit_file", arguments = { path = "1.txt", old_text = "one", new_text = "1" } }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().script(two_tools);
    chat(&world, &["a", "n"]);
    assert_eq!(world.read("1.txt").as_deref(), Some("one"));
}

#[test]
fn a_destructive_call_is_asked_every_time() {
    let script = r#"
        [[turn]]
        calls = [{ name = "delete_file", arguments = { path = "1.txt" } }]
        [[turn]]
        calls = [{ name = "delete_file", arguments = { path = "2.txt" } }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().file("1.txt", "1").file("2.txt", "2").script(script);
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("delete them");
    asked(&mut started);
    // Not offered, so it is no answer and the question stays open.
    started.type_line("a");
    started.type_line("y");
    asked(&mut started);
    started.type_line("n");
    started.wait_for_talk("answered in");
    started.finish().expect_code(0);
    assert_eq!(files(&world), ["2.txt"]);
}

#[test]
fn the_end_of_input_is_not_a_yes() {
    let world = World::new().script(CREATE);
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("create it");
    asked(&mut started);
    started.finish().expect_code(0);
    assert_eq!(world.read("new.txt"), None);
    assert_eq!(world.left_running(), [""; 0]);
}

#[test]
fn what_is_shown_is_what_runs() {
    let script = r#"
        [[turn]]
        calls = [{ name = "run_shell", arguments = '{"command":"echo a\u001b[2K; touch b","working_directory":"."}' }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().script(script);
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("go");
    asked(&mut started);
    started.type_line("n");
    started.wait_for_talk("answered in");
    let run = started.finish().expect_code(0);
    insta::assert_snapshot!(run.talk(), @r#"
    session [ID] with offline/script (an offline stand-in, not a real model)
    /tools lists the tools, /clear starts afresh, /exit leaves; ctrl-C cancels a turn, twice leaves

    > ? the model wants to run `run_shell` (execute, plugin shell): echo, touch b
      | echo a\u{1b}[2K; touch b
      ! it holds characters that do not show; they are written as \u{..} above
      asked because: risk: execute asks
      always covers: `echo {"command":"echo a\u001b[2K; touch b","working_directory":".","separate_streams":false}` and `touch b {"command":"echo a\u001b[2K; touch b","working_directory":".","separate_streams":false}` of tool `run_shell` for agent `default`
      [y]es once, [n]o, [a]lways:   declined (user)
      declined: Not run: the user said no. Do not repeat this call; ask what to do instead.
    answered in [TIME] s: 2 steps, 1 call, tokens n/a

    >
    "#);
}
