//! A change of a contract is noticed, and calls of the past are held against the contracts of today.

use std::fs;

use foehn_tests::{Run, World};
use serde_json::{Value, json};

const KEPT: &str = "contract.json";

/// A world whose snapshot says what the tools promised before: edited by hand, since nobody can build the past.
#[track_caller]
fn world(edit: impl FnOnce(&mut Value)) -> World {
    let world = World::with_plugins(&["scan"]);
    world.foehn(&["contract", "snapshot"]).expect_code(0);
    let mut snapshot: Value = serde_json::from_str(&kept(&world)).expect("JSON");
    edit(&mut snapshot);
    world.write(&format!("work/{KEPT}"), serde_json::to_string_pretty(&snapshot).expect("JSON") + "\n");
    world
}

fn kept(world: &World) -> String {
    world.read(KEPT).expect("a snapshot")
}

fn tool(snapshot: &mut Value) -> &mut Value {
    &mut snapshot["tools"][0]
}

fn told(run: &Run) -> String {
    format!("{}{}", run.answer(), run.talk())
}

#[test]
fn a_snapshot_is_the_same_each_time() {
    let world = World::new();
    let first = world.foehn(&["contract", "snapshot"]).expect_code(0);
    insta::assert_snapshot!(told(&first), @"kept the contracts of 24 tools in [ROOT]/work/contract.json");
    let text = kept(&world);
    let again = world.foehn(&["contract", "snapshot"]).expect_code(0);
    insta::assert_snapshot!(told(&again), @"[ROOT]/work/contract.json is up to date");
    assert_eq!(kept(&world), text);
    let check = world.foehn(&["contract", "check"]).expect_code(0);
    insta::assert_snapshot!(told(&check), @"nothing changed that anybody could rely on");
    let names = |folder| {
        fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(world.work()), [KEPT], "nothing temporary stays");
}

#[test]
fn a_breaking_change_fails_until_it_is_accepted() {
    let world = world(|snapshot| {
        let properties = &mut tool(snapshot)["schema"]["properties"];
        properties["limit"]["maximum"] = json!(9_000);
        properties["depth"] = json!({"type": "integer"});
        tool(snapshot)["risk"] = json!("write");
    });
    let before = kept(&world);
    let check = world.foehn(&["contract", "check"]).expect_code(1);
    insta::assert_snapshot!(told(&check), @"
    breaking  `scan`: its risk fell from write to read-only; what was asked about may now run unasked
    breaking  `scan` at `/limit`: `maximum` changed from 9000 to 5000; values that were accepted are refused
    breaking  `scan` at `/depth`: it is gone; calls that give it are refused

    breaking: 3, safe: 0
    keep the old name as an alias, take the change back, or accept it with --accept REASON
    ");
    let refused = world.foehn(&["contract", "snapshot"]).expect_code(1);
    insta::assert_snapshot!(refused.talk(), @"the snapshot is as it was: it would forget what broke; see --accept");
    assert_eq!(
        world.foehn(&["contract", "check", "--accept", " "]).expect_code(2).talk(),
        "error: --accept needs a reason; it is kept in the snapshot\n"
    );
    assert_eq!(kept(&world), before);

    let accepted = world.foehn(&["contract", "check", "--accept", "Nobody used them."]).expect_code(0);
    insta::assert_snapshot!(accepted.talk(), @"accepted, and kept in [ROOT]/work/contract.json");
    world.foehn(&["contract", "check"]).expect_code(0);
    let snapshot: Value = serde_json::from_str(&kept(&world)).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&snapshot["history"]).expect("JSON"), @r#"
    [
      {
        "reason": "Nobody used them.",
        "changes": [
          "`scan`: its risk fell from write to read-only; what was asked about may now run unasked",
          "`scan` at `/limit`: `maximum` changed from 9000 to 5000; values that were accepted are refused",
          "`scan` at `/depth`: it is gone; calls that give it are refused"
        ]
      }
    ]
    "#);
}

#[test]
fn a_safe_change_passes_and_is_kept() {
    let world = world(|snapshot| {
        tool(snapshot)["description"] = json!("List things.");
        tool(snapshot)["schema"]["properties"].as_object_mut().expect("an object").shift_remove("after");
    });
    let check = world.foehn(&["contract", "check"]).expect_code(0);
    insta::assert_snapshot!(told(&check), @"
    safe      `scan`: its description changed; the same calls are accepted
    safe      `scan` at `/after`: it is new and may be left out

    breaking: 0, safe: 2
    ");
    world.foehn(&["contract", "snapshot"]).expect_code(0);
    assert_eq!(world.foehn(&["contract", "check", "--json"]).expect_code(0).answer(), "");
}

#[test]
fn an_alias_makes_a_rename_safe() {
    let world = World::with_plugins(&["upcalls"]);
    world.foehn(&["contract", "snapshot"]).expect_code(0);
    let renamed = kept(&world).replace("\"name\": \"whoami\"", "\"name\": \"who_am_i\"");
    world.write(&format!("work/{KEPT}"), renamed);
    let check = world.foehn(&["contract", "check"]).expect_code(0);
    insta::assert_snapshot!(told(&check), @"
    safe      `who_am_i`: renamed to `whoami`; the old name is an alias and still works

    breaking: 0, safe: 1
    ");
}

/// The argument `seats` of `find_rooms` was once called `capacity`, and keeps that name as an alias.
#[test]
fn a_renamed_argument_needs_an_alias_and_then_old_calls_still_work() {
    let named_before = |name: &str| {
        let world = World::with_plugins(&["rooms"]);
        world.foehn(&["contract", "snapshot"]).expect_code(0);
        world.write(&format!("work/{KEPT}"), kept(&world).replace("\"seats\"", &format!("\"{name}\"")));
        world
    };
    let without_alias = named_before("people").foehn(&["contract", "check"]).expect_code(1);
    insta::assert_snapshot!(told(&without_alias), @"
    breaking  `find_rooms` at `/people`: it is gone; calls that give it are refused
    safe      `find_rooms` at `/seats`: it is new and may be left out

    breaking: 1, safe: 1
    keep the old name as an alias, take the change back, or accept it with --accept REASON
    ");
    let world = named_before("capacity");
    insta::assert_snapshot!(told(&world.foehn(&["contract", "check"]).expect_code(0)), @"
    safe      `find_rooms` at `/capacity`: renamed to `seats`; the old name is an alias and still works

    breaking: 0, safe: 1
    ");

    let old = r#"{"date":"2026-03-02","start_time":"09:30","capacity":12}"#;
    let live = world.foehn(&["tools", "call", "find_rooms", old]).expect_code(0);
    insta::assert_snapshot!(live.answer(), @r#"{"ok":true,"result":"maple: 20 seats, Projector, Whiteboard, VideoCall","notes":["`/capacity`: this argument is now called `seats`"]}"#);
    let script = format!(
        "[[turn]]\ncalls = [{{ name = \"find_rooms\", arguments = '{old}' }}]\n[[turn]]\ntext = \"done\"\n"
    );
    let world = world.script(&script);
    world.foehn(&["run", "which rooms?"]).expect_code(0);
    insta::assert_snapshot!(told(&world.foehn(&["contract", "replay"]).expect_code(0)), @"0 of 1 call would no longer be accepted");
}

#[test]
fn a_damaged_snapshot_is_told_and_kept() {
    let world = World::with_plugins(&["scan"]).file(KEPT, "{\"version\": 1, \"tools\": [");
    for command in ["check", "snapshot", "budget"] {
        let run = world.foehn(&["contract", command]).expect_code(1);
        assert_eq!(
            run.talk(),
            "error: [ROOT]/work/contract.json: it is no snapshot of a contract: EOF while parsing a list at line 1 column 25; restore it, or take a new one after moving it away\n",
            "{command}"
        );
    }
    assert_eq!(kept(&world), "{\"version\": 1, \"tools\": [");
    let missing = World::with_plugins(&[]).foehn(&["contract", "check"]).expect_code(1);
    insta::assert_snapshot!(missing.talk(), @"error: there is no snapshot at [ROOT]/work/contract.json to compare with; `foehn contract snapshot` takes one");
}

#[test]
fn a_budget_tells_what_changed_since_the_snapshot() {
    let world = world(|snapshot| tool(snapshot)["description"] = json!("List things."));
    insta::assert_snapshot!(world.foehn(&["contract", "budget"]).expect_code(0).answer(), @"
                   CHARACTERS  TOKENS  SINCE THE SNAPSHOT
    scan           852         205     +71 +20
      scan         852         205     +71 +20
    agent default  852         205     +71 +20
    ");
}

const CALLS: &str = r#"
[[turn]]
nth = 1
calls = [
    { name = "scan", arguments = { path = ".", limit = 7 } },
    { name = "scan", arguments = { pth = "." } },
    { name = "who_am_i", arguments = {} },
]
[[turn]]
text = "done"
"#;

#[test]
fn calls_of_the_past_are_held_against_the_contracts_of_today() {
    let world = World::with_plugins(&["scan", "upcalls"]).script(CALLS);
    let events = world.foehn(&["run", "--json", "--yes", "look around"]).expect_code(0).stdout;
    insta::assert_snapshot!(told(&world.foehn(&["contract", "replay"]).expect_code(0)), @"0 of 2 calls would no longer be accepted");

    fs::remove_file(world.path("plugins/libupcalls.so")).expect("the plugin was there");
    insta::assert_snapshot!(told(&world.foehn(&["contract", "replay"]).expect_code(1)), @"
    [ID]
      There is no tool `who_am_i`; nothing was run. The tools are: `scan`.

    1 of 2 calls would no longer be accepted
    ");

    world.write("work/events.jsonl", events.replace(r#"\"limit\":7"#, r#"\"limit\":70000,\"depth\":1"#));
    insta::assert_snapshot!(told(&world.foehn(&["contract", "replay", "events.jsonl"]).expect_code(1)), @"
    events.jsonl
      `scan` was not run: its arguments have 2 problems.
        /depth: unknown_argument, expected: only `path`, `pattern`, `recursive`, `limit`, `after`, `include_hidden`
        /limit: out_of_range, expected: at most 5000
      There is no tool `whoami`; nothing was run. The tools are: `scan`.

    2 of 2 calls would no longer be accepted
    ");
    let refusals = world.foehn(&["contract", "replay", "--json", "events.jsonl"]).expect_code(1).events();
    let shown: Vec<_> = refusals
        .iter()
        .map(|refusal| (refusal["tool"].as_str(), refusal["problems"].as_array().map(Vec::len)))
        .collect();
    assert_eq!(shown, [(Some("scan"), Some(2)), (Some("whoami"), Some(0))]);
    world.write("work/events.jsonl", "{}\nno event\n");
    insta::assert_snapshot!(told(&world.foehn(&["contract", "replay", "events.jsonl"]).expect_code(1)), @"error: [ROOT]/work/events.jsonl, line 2 is no event of `run --json`: expected ident at line 1 column 2");
}

#[test]
fn permissions_for_a_former_name_still_hold() {
    let world = World::with_plugins(&["upcalls"])
        .user_config("[agents.default.tools.who_am_i]\ndeny = [\"who_am_i\"]\n");
    for name in ["whoami", "who_am_i"] {
        let envelope = world.foehn(&["tools", "call", "--yes", name]).expect_code(1).envelope();
        assert_eq!(envelope["error"]["code"], "forbidden", "{envelope}");
    }
}
