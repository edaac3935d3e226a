//! Taking a prompt back: the files are as before, the rest is named, and the model knows.

use foehn_tests::{Served, World};
use serde_json::{Value, json};

/// Two prompts that change files, and answers to whatever comes then.
const EDITS: &str = r#"
strict = ["paired_results"]
[[turn]]
nth = 1
calls = [
    { name = "edit_file", arguments = { path = "a.txt", old_text = "one", new_text = "1" } },
    { name = "create_file", arguments = { path = "new/b.txt", content = "b" } },
    { name = "read_file", arguments = { path = "a.txt" } },
]
[[turn]]
nth = 2
text = "both done"
[[turn]]
nth = 3
calls = [
    { name = "write_file", arguments = { path = "a.txt", content = "all new" } },
    { name = "move_file", arguments = { source = "c.txt", destination = "d.txt" } },
    { name = "run_shell", arguments = { command = "touch e.txt" } },
]
[[turn]]
always = true
text = "noted"
"#;

fn changed() -> (World, Served) {
    let (world, model) = World::new().file("a.txt", "one\r\ntwo\r\n").file("c.txt", "c").serve(EDITS);
    let first = world.foehn(&["run", "--json", "--yes", "first prompt"]).expect_code(0).session();
    world.foehn(&["run", "--yes", "--session", &first, "second prompt"]).expect_code(0);
    (world, model)
}

fn files(world: &World) -> Vec<Option<String>> {
    ["a.txt", "new/b.txt", "c.txt", "d.txt"].iter().map(|name| world.read(name)).collect()
}

#[test]
fn one_prompt_after_another_is_taken_back() {
    let (world, _model) = changed();
    insta::assert_snapshot!(world.foehn(&["undo", "--list"]).expect_code(0).answer(), @"
    TURN  PROMPT         CALLS                             STATE
    2     second prompt  write_file, move_file, run_shell
    1     first prompt   edit_file, create_file
    ");
    let before = files(&world);
    insta::assert_snapshot!(world.foehn(&["undo", "--dry-run"]).expect_code(1).answer(), @r#"
    would take back "second prompt":
      `d.txt`: is `c.txt` again
      `a.txt`: has its old content again
      not: `run_shell` can be taken back only when it runs with `[undo] shell = true` in your settings
    "#);
    assert_eq!(files(&world), before, "a dry run changes nothing");
    insta::assert_snapshot!(world.foehn(&["undo"]).expect_code(1).answer(), @r#"
    took back "second prompt":
      `d.txt`: is `c.txt` again
      `a.txt`: has its old content again
      not: `run_shell` can be taken back only when it runs with `[undo] shell = true` in your settings
    "#);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(files(&world), [text("1\r\ntwo\r\n"), text("b"), text("c"), None]);
    insta::assert_snapshot!(world.foehn(&["undo"]).expect_code(0).answer(), @r#"
    took back "first prompt":
      `new/b.txt`: the new file is gone
      `new`: the new folder is gone
      `a.txt`: has its old content again
    "#);
    assert_eq!(files(&world), [text("one\r\ntwo\r\n"), None, text("c"), None]);
    assert!(!world.path("work/new").exists(), "the folder that the call made is gone");
    insta::assert_snapshot!(world.foehn(&["undo", "--list"]).expect_code(0).answer(), @"
    TURN  PROMPT         CALLS                             STATE
    2     second prompt  write_file, move_file, run_shell  taken back
    1     first prompt   edit_file, create_file            taken back
    ");
    insta::assert_snapshot!(world.foehn(&["undo"]).expect_code(1).talk(), @"no prompt of session [ID] is left to take back");
}

#[test]
fn what_somebody_else_changed_stays_and_is_named() {
    let (world, _model) = changed();
    world.foehn(&["undo"]).expect_code(1);
    world.write("work/a.txt", "mine\n");
    let row = world.foehn(&["undo", "--json"]).expect_code(1).events();
    assert_eq!(
        row,
        [json!({
            "turn": 1, "prompt": "first prompt", "dry_run": false,
            "restored": ["`new/b.txt`: the new file is gone", "`new`: the new folder is gone"],
            "left": ["`a.txt` was changed by somebody else since, and stays as it is"],
            "notes": [],
        })]
    );
    assert_eq!(world.read("a.txt").as_deref(), Some("mine\n"));
}

#[test]
fn the_model_is_told_before_the_next_prompt() {
    let (world, model) = World::new().file("a.txt", "one\r\ntwo\r\n").serve(EDITS);
    let session = world.foehn(&["run", "--json", "--yes", "first prompt"]).expect_code(0).session();
    world.foehn(&["undo", &session]).expect_code(0);
    world.foehn(&["run", "--session", &session, "--yes", "and now?"]).expect_code(0);
    let bodies = model.bodies();
    let messages = bodies[2]["messages"].as_array().expect("messages");
    let said: Vec<&Value> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| &message["content"])
        .collect();
    insta::assert_snapshot!(json!(said).to_string(), @r#"["first prompt","[The user took back what was done for \"first prompt\".\nAs before again:\n- `new/b.txt`: the new file is gone\n- `new`: the new folder is gone\n- `a.txt`: has its old content again\nRead a file again before you rely on it.]","and now?"]"#);
}

#[test]
fn a_session_is_taken_back_where_it_worked() {
    let world = World::new().file("sub/x", "").script(EDITS);
    insta::assert_snapshot!(world.foehn(&["undo"]).expect_code(1).talk(), @"error: no session of [ROOT]/work is stored");
    insta::assert_snapshot!(world.foehn(&["undo", "nonsense"]).expect_code(2).talk(), @"error: there is no session nonsense; see `foehn sessions`");
    let id = world.foehn(&["run", "--json", "--yes", "first prompt"]).expect_code(0).session();
    insta::assert_snapshot!(world.foehn(&["undo", "-C", "sub", &id]).expect_code(2).talk(), @"error: session [ID] worked in [ROOT]/work, not here; add `-C [ROOT]/work`");
}

#[test]
fn what_commands_did_comes_back_together_with_what_the_file_tools_did() {
    let script = r#"
[[turn]]
nth = 1
calls = [{ name = "edit_file", arguments = { path = "a.txt", old_text = "one", new_text = "1" } }]
[[turn]]
nth = 2
calls = [{ name = "run_shell", arguments = { command = "tr a-z A-Z < a.txt > b.txt; mv b.txt a.txt; rm -r sub; chmod 700 c.sh" } }]
[[turn]]
nth = 3
calls = [{ name = "edit_file", arguments = { path = "a.txt", old_text = "TWO", new_text = "2" } }]
[[turn]]
always = true
text = "done"
"#;
    let files = |world: World| world.file("a.txt", "one\r\ntwo\r\n").file("sub/d.txt", "d").file("c.sh", "c");
    let (world, _model) = files(World::new()).user_config("[undo]\nshell = true\n").serve(script);
    let state = |world: &World| {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &world.work().join("c.sh").metadata().expect("it is there").permissions(),
        );
        (["a.txt", "b.txt", "sub/d.txt"].map(|name| world.read(name)), mode)
    };
    let before = state(&world);
    world.foehn(&["run", "--yes", "change it all"]).expect_code(0);
    assert_eq!(world.read("a.txt").as_deref(), Some("1\r\n2\r\n"));
    insta::assert_snapshot!(world.foehn(&["undo"]).expect_code(0).answer(), @r#"
    took back "change it all":
      `a.txt`: has its old content again
      `c.sh`: has its old permissions again
      `a.txt`: has its old content again
      `sub`: is there again
      `sub/d.txt`: is there again
      `a.txt`: has its old content again
    "#);
    assert_eq!(state(&world), before);
}
