//! What `start_process` keeps running: it ends with its session, or with the host where the operator keeps it, and whoever
//! watches is told.

use std::process::Stdio;

use foehn_tests::{Served, Started, World, brief};
use serde_json::{Value, json};

/// Starts a server in one prompt, and lists what runs in another.
fn script() -> String {
    let call = |user: &str, tool: &str, arguments: Value| {
        format!(
            "[[turn]]\nuser = \"{user}\"\ncalls = [{{ name = \"{tool}\", arguments = '''{arguments}''' }}]\n\
             [[turn]]\nuser = \"{user}\"\ntext = \"{user} done\"\n"
        )
    };
    [
        call(
            "start",
            "start_process",
            json!({"command": "trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done"}),
        ),
        call(
            "deaf",
            "start_process",
            json!({"command": "trap '' TERM; (setsid sleep 612 &); sleep 613; sleep 614"}),
        ),
        call("list", "list_processes", json!({})),
    ]
    .concat()
}

fn world(section: &str) -> (World, Served) {
    let rules = "allow = [\"*\", \"unknown\"]\n";
    let config = format!(
        "[agents.default.tools.start_process]\n{rules}{section}\n[agents.default.tools.list_processes]\n"
    );
    World::with_plugins(&["shell"]).user_config(&config).serve(&script())
}

fn prompt(chat: &mut Started, prompt: &str) {
    chat.type_line(prompt);
    chat.wait_for(&format!("{prompt} done"));
}

/// The next line that begins so, perhaps behind a prompt.
fn told(chat: &mut Started, beginning: &str) -> String {
    chat.wait_for_talk(beginning).trim_start_matches("> ").to_owned()
}

/// What the model read as the result of its latest call.
fn latest_result(model: &Served) -> String {
    let bodies = model.bodies();
    let messages = bodies.last().and_then(|body| body["messages"].as_array()).cloned().unwrap_or_default();
    let result = messages.iter().rfind(|message| message["role"] == "tool");
    let envelope = result.and_then(|result| result["content"].as_str()).unwrap_or_default().to_owned();
    brief(&serde_json::from_str(&envelope).unwrap_or_default())
}

#[test]
fn a_new_session_finds_nothing_of_the_old_one() {
    let (world, model) = world("");
    let mut chat = world.start(&["chat"], Stdio::piped());
    prompt(&mut chat, "start");
    prompt(&mut chat, "deaf");
    chat.type_line("/clear");
    let told = [told(&mut chat, "ended: "), told(&mut chat, "ended: ")].concat();
    assert_eq!(world.read("ended").as_deref(), Some("bye\n"));
    prompt(&mut chat, "list");
    let listed = latest_result(&model);
    // The host lives on; what the old session started does not.
    assert_eq!(sleeping("612"), 0);
    let end = chat.finish().expect_code(0);
    insta::assert_snapshot!(world.clean(&format!("{told}{listed}")), @r#"
    ended: process [PID] `trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done`, after [TIME] s
    ended: process [PID] `trap '' TERM; (setsid sleep 612 &); sleep 613; sleep 614`, after [TIME] s
    ok "none"
    "#);
    assert!(!end.talk().contains("still runs"), "{}", end.talk());
    assert_eq!(world.left_running(), [""; 0]);
}

#[test]
fn what_the_operator_keeps_serves_the_next_session_and_ends_with_the_host() {
    let (world, model) = world("keep = true");
    let mut chat = world.start(&["chat"], Stdio::piped());
    prompt(&mut chat, "start");
    chat.type_line("/clear");
    let kept = told(&mut chat, "still runs: ");
    prompt(&mut chat, "list");
    let listed = latest_result(&model);
    assert_eq!(world.read("ended"), None);
    chat.type_line("/exit");
    let ended = told(&mut chat, "ended: ");
    chat.finish().expect_code(0);
    insta::assert_snapshot!(world.clean(&format!("{kept}{listed}\n{ended}")), @r#"
    still runs: process [PID] `trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done`, after [TIME] s
    ok "1 runs since [TIME] s: trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done"
    ended: process [PID] `trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done`, after [TIME] s
    "#);
    assert_eq!((world.read("ended").as_deref(), world.left_running()), (Some("bye\n"), Vec::new()));
}

#[test]
fn one_run_tells_what_ends_with_it() {
    let (world, _model) = world("keep = true");
    let run = world.foehn(&["run", "start"]).expect_code(0);
    insta::assert_snapshot!(run.talk(), @r#"
    session [ID] with openai-compatible/scripted
    > start_process {"command":"trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done","working_directory":"."}
      ok, [TIME] ms
    answered in [TIME] s: 2 steps, 1 call, tokens n/a
    ended: process [PID] `trap 'echo bye > ended; exit' TERM; echo up; while :; do sleep 0.01; done`, after [TIME] s
    "#);
    assert_eq!((world.read("ended").as_deref(), world.left_running()), (Some("bye\n"), Vec::new()));
}

#[test]
fn a_killed_host_takes_them_along() {
    let (world, _model) = world("keep = true");
    let mut chat = world.start(&["chat"], Stdio::piped());
    prompt(&mut chat, "deaf");
    chat.signal("KILL");
    assert_eq!(world.left_running(), [""; 0]);
}

/// How many processes sleep for so long.
fn sleeping(seconds: &str) -> usize {
    let wanted = format!("sleep\0{seconds}\0");
    let processes = std::fs::read_dir("/proc").expect("a system with processes").flatten();
    let lines = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| *line == wanted).count()
}
