//! Conversations that outlive the process.

use std::process::Stdio;

use foehn_tests::World;
use serde_json::Value;

/// Answers anything, over HTTP so that it shows what was sent.
const ALWAYS: &str = "strict = [\"paired_results\"]\n[[turn]]\nalways = true\ntext = \"noted\"\n";

fn texts(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .filter(|message| message["role"] != "system")
        .map(|message| format!("{} {}", message["role"].as_str().unwrap_or_default(), message["content"]))
        .collect()
}

#[test]
fn a_session_goes_on_where_it_was() {
    let (world, model) = World::new().serve(ALWAYS);
    let first = world.foehn(&["run", "--json", "my name is Ada"]).expect_code(0).session();
    let second = world.foehn(&["run", "--json", "--session", &first, "what is it?"]).expect_code(0);
    assert_eq!(second.session(), first);
    insta::assert_snapshot!(second.outline(), @r#"
    session default openai-compatible/scripted tools=12 resumed
    turn 2 "what is it?"
    step 1
    text "noted"
    answer "noted" calls=0
    done answered "noted" steps=1 calls=0
    "#);
    let expected = [r#"user "my name is Ada""#, r#"assistant "noted""#, r#"user "what is it?""#];
    assert_eq!(texts(&model.bodies()[1]), expected);
}

#[test]
fn the_latest_of_this_folder_goes_on() {
    let world = World::new().script(ALWAYS).file("sub/x", "");
    let here = world.foehn(&["run", "--json", "one"]).expect_code(0).session();
    let elsewhere = world.foehn(&["run", "--json", "-C", "sub", "two"]).expect_code(0).session();
    assert_eq!(world.foehn(&["run", "--json", "--continue", "three"]).expect_code(0).session(), here);
    let below = world.foehn(&["run", "--json", "-C", "sub", "--continue", "four"]).expect_code(0).session();
    assert_eq!(below, elsewhere);
}

#[test]
fn the_list_tells_what_is_stored() {
    let world = World::new().script(ALWAYS);
    insta::assert_snapshot!(world.foehn(&["sessions"]).expect_code(0).answer(), @"no session of this folder is stored");
    let id = world.foehn(&["run", "--json", "tidy the garden"]).expect_code(0).session();
    insta::assert_snapshot!(world.foehn(&["sessions"]).expect_code(0).answer(), @"
    SESSION                               AGENT    FIRST PROMPT
    [ID]  default  tidy the garden
    ");
    let listed = world.foehn(&["sessions", "--json"]).expect_code(0).events();
    let facts: Vec<_> = listed.iter().map(|one| (&one["id"], &one["agent"], &one["title"])).collect();
    assert_eq!(facts, [(&Value::from(id), &"default".into(), &"tidy the garden".into())]);
}

#[test]
fn what_is_not_stored_cannot_go_on() {
    let world = World::new().script(ALWAYS);
    let run = world.foehn(&["run", "--continue", "go"]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"Some(1) error: no session of [ROOT]/work is stored yet; run without --continue to start one");
    let run = world.foehn(&["run", "--session", "nonsense", "go"]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"Some(1) error: the session cannot go on: session `nonsense` does not exist");
    let both = world.foehn(&["run", "--session", "x", "--continue", "go"]).expect_code(2);
    assert!(both.stderr.contains("cannot be used with"), "{both:?}");
}

#[test]
fn one_session_has_one_writer() {
    let script = "[[turn]]\nnth = 1\ntext = \"first\"\n[[turn]]\nuser = \"wait\"\ntext = \"late\"\ndelay_ms = 3600000\n";
    let (world, _model) = World::new().serve(script);
    let session = world.foehn(&["run", "--json", "hello"]).expect_code(0).session();
    let mut owner = world.start(&["run", "--json", "--session", &session, "wait"], Stdio::null());
    owner.wait_for("step_started");
    let second = world.foehn(&["run", "--session", &session, "me too"]);
    insta::assert_snapshot!(format!("{:?} {}", second.code, second.talk()), @"Some(1) error: the session cannot go on: the session journal [ROOT]/state/foehn.db has session `[ID]` open in another Foehn (process [PID]). End that one first, or start a new session");
    owner.signal("INT");
    owner.finish().expect_code(130);
}

#[test]
fn a_chat_forgets_only_when_it_is_told_to() {
    let (world, model) = World::new().serve(ALWAYS);
    let mut started = world.start(&["chat"], Stdio::piped());
    for line in ["one", "two", "/clear", "three"] {
        started.type_line(line);
        if !line.starts_with('/') {
            started.wait_for("noted");
        }
    }
    started.type_line("/tools");
    started.wait_for_talk("scan");
    started.type_line("/exit");
    started.finish().expect_code(0);
    let sent: Vec<_> = model.bodies().iter().map(texts).collect();
    let one = vec![r#"user "one""#.to_owned()];
    let two = vec![r#"user "one""#.into(), r#"assistant "noted""#.into(), r#"user "two""#.into()];
    assert_eq!(sent, [one, two, vec![r#"user "three""#.to_owned()]]);
}
