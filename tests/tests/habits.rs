//! Models with bad habits against the contract, through the built binary and over the wire: what they send, what they
//! read, and in how many further steps they get there.

use foehn_tests::{Run, World};
use serde_json::{Map, Value};

/// A call with everything in it that a habit can spoil.
const FULL: (&str, &str) = (
    "book_room",
    r#"{"room_id":"birch","date":"2026-03-02","start_time":"14:30","duration_minutes":45,"title":"Plan","attendees":5,"equipment":["Projector"]}"#,
);

/// The same without what may be left out.
const BARE: (&str, &str) = (
    "book_room",
    r#"{"room_id":"birch","date":"2026-03-02","start_time":"14:30","duration_minutes":45,"title":"Plan"}"#,
);

/// A call that needs no arguments at all.
const NOTHING: (&str, &str) = ("my_bookings", "{}");

/// A call that is right and fails all the same.
const NO_SUCH: (&str, &str) = ("cancel_booking", r#"{"booking_id":"birch-2026-03-02-0930"}"#);

/// Habits, and the call that is meant.
const CELLS: &[(&[&str], (&str, &str))] = &[
    (&[], FULL),
    (&["truncate_tool_name"], FULL),
    (&["prefix_tool_name"], FULL),
    (&["mark_tool_name"], FULL),
    (&["recase_tool_name"], FULL),
    (&["numbers_as_strings"], FULL),
    (&["lowercase_enums"], FULL),
    (&["twelve_hour_times"], FULL),
    (&["invent_user_ids"], FULL),
    (&["extra_arguments"], FULL),
    (&["null_optionals"], BARE),
    (&["json_in_strings"], FULL),
    (&["args_empty"], FULL),
    (&["args_empty"], NOTHING),
    (&["args_null"], FULL),
    (&["args_null"], NOTHING),
    (&["args_invalid"], FULL),
    (&["duplicate_calls"], FULL),
    (&["duplicate_calls"], NOTHING),
    (&["ignore_hints"], NO_SUCH),
    (&["ignore_hints", "invent_user_ids"], FULL),
    (&["apologise", "invent_user_ids"], FULL),
    (
        &[
            "mark_tool_name",
            "numbers_as_strings",
            "lowercase_enums",
            "twelve_hour_times",
            "invent_user_ids",
            "json_in_strings",
        ],
        FULL,
    ),
];

fn matrix(settings: &str) -> String {
    CELLS.iter().map(|(habits, call)| cell(settings, habits, *call)).collect::<Vec<_>>().join("\n")
}

/// One habit against one coercion: its heading with the outcome, then what went to and fro.
#[track_caller]
fn cell(settings: &str, habits: &[&str], (tool, arguments): (&str, &str)) -> String {
    let script = format!(
        "habits = {habits:?}\nstrict = [\"paired_results\", \"object_arguments\"]\n[[turn]]\ncalls = [{{ name = \
         \"{tool}\", arguments = '{arguments}' }}]\n[[turn]]\nalways = true\ntext = \"done\"\n"
    );
    let (world, model) = World::with_plugins(&["rooms"]).user_config(settings).serve(&script);
    let run = world.foehn(&["run", "--json", "--yes", "go"]);
    // The next request shows all that went before, also what ended the turn.
    world.foehn(&["run", "--json", "--session", &run.session(), "on"]).expect_code(0);
    let bodies = model.bodies();
    let messages = bodies.last().and_then(|body| body["messages"].as_array()).expect("a request");
    let meant = (tool, serde_json::from_str(arguments).expect("JSON"));
    let mut lines = Vec::new();
    for message in messages {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            lines.push(format!("  > {}", called(&call["function"], &meant)));
        }
        if message["role"] == "tool" {
            lines.push(format!("  < {}", read(message["content"].as_str().unwrap_or_default())));
        }
    }
    let habits = if habits.is_empty() { "none".to_owned() } else { habits.join(" + ") };
    format!("{habits}: {}\n{}\n", outcome(&run), lines.join("\n"))
}

/// What differs from what was meant.
fn called(function: &Value, (tool, meant): &(&str, Value)) -> String {
    let name = function["name"].as_str().unwrap_or_default();
    let text = function["arguments"].as_str().unwrap_or_default();
    let name = if name == *tool { name.to_owned() } else { format!("{name:?}") };
    let Ok(Value::Object(written)) = serde_json::from_str(text) else { return format!("{name} {text}") };
    let meant = meant.as_object().expect("an object");
    let other: Map<String, Value> =
        written.iter().filter(|(key, value)| meant.get(*key) != Some(value)).map(owned).collect();
    let missing: Vec<&str> =
        meant.keys().filter(|key| !written.contains_key(*key)).map(String::as_str).collect();
    let mut words = vec![name];
    if other.is_empty() && missing.is_empty() {
        words.push("as meant".to_owned());
    }
    if !other.is_empty() {
        words.push(Value::Object(other).to_string());
    }
    if !missing.is_empty() {
        words.push(format!("without {}", missing.join(", ")));
    }
    words.join(" ")
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// An envelope in one line: what became of the call, each problem, each note.
fn read(envelope: &str) -> String {
    let envelope: Value = serde_json::from_str(envelope).expect("an envelope is JSON");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let error = &envelope["error"];
    let mut parts = vec![match word(&error["code"]).as_str() {
        "" => "ok".to_owned(),
        "invalid_arguments" if error["retryable"] == true => "invalid_arguments".to_owned(),
        code => format!("{code}: {}", word(&error["message"])),
    }];
    let problems = list(&error["problems"]);
    parts.extend(
        problems.iter().map(|problem| format!("{} {}", word(&problem["path"]), word(&problem["code"]))),
    );
    parts.extend(list(&envelope["notes"]).iter().map(|note| format!("note {}", word(note))));
    parts.join(" | ")
}

fn outcome(run: &Run) -> String {
    let done = run.done();
    let envelopes = run.envelopes();
    let text = done["text"].as_str().unwrap_or_default();
    if done["status"] != "answered" || text != "done" {
        let reason = done["reason"].as_str().unwrap_or(text);
        return format!("stopped: {reason}");
    }
    let noted = envelopes.iter().any(|envelope| !envelope["notes"].is_null());
    let ended_well = envelopes.iter().filter(|envelope| envelope["ok"] == true).count();
    // One step calls and one answers; what is more was needed to get there.
    match done["steps"].as_u64().unwrap_or_default().saturating_sub(2) {
        0 if ended_well < envelopes.len() => format!("{ended_well} of {} done", envelopes.len()),
        0 if noted => "accepted with a note".to_owned(),
        0 => "accepted".to_owned(),
        1 => "recovered in 1 extra step".to_owned(),
        more => format!("recovered in {more} extra steps"),
    }
}

#[test]
fn a_lenient_contract() {
    insta::assert_snapshot!(matrix(""));
}

#[test]
fn a_strict_contract() {
    insta::assert_snapshot!(matrix("[agents.default]\ncoercion = \"strict\"\n"));
}

/// The demonstration without a script, with habits from each place that can name them.
#[track_caller]
fn check_demonstration(world: World, arguments: &[&str]) {
    let world = world.file("a.txt", "one\ntwo\n");
    let run = world.foehn(&[&["run", "--json", "read a.txt"], arguments].concat()).expect_code(0);
    let read: Vec<_> = run.envelopes().iter().map(|envelope| read(&envelope.to_string())).collect();
    assert_eq!(
        read,
        [
            "invalid_arguments | /user_id unknown_argument | note the tool name was read as `read_file`",
            "ok | note the tool name was read as `read_file`"
        ]
    );
    assert!(run.done()["text"].as_str().unwrap_or_default().contains("1|one"), "{run:?}");
}

#[test]
fn the_demonstration_misbehaves_too() {
    let habits = ["mark_tool_name", "invent_user_ids"];
    let flags = habits.map(|habit| ["--offline-habit", habit]).concat();
    check_demonstration(World::new(), &flags);
    let listed = format!("offline_habits = {habits:?}\n");
    check_demonstration(World::new().user_config(&listed), &[]);
    check_demonstration(World::new().env("FOEHN_OFFLINE_HABITS", &habits.join(",")), &[]);
}

#[test]
fn a_habit_that_cannot_be_had_is_told() {
    let check = |habit: &str| {
        let world = World::with_plugins(&[]).env("FOEHN_OFFLINE_HABITS", habit);
        world.foehn(&["run", "go"]).expect_code(2).talk()
    };
    insta::assert_snapshot!(check("missing_id"), @"error: offline_habits: `missing_id` is a habit of a server, and the stand-in has none; write it into a script for `foehn script-server`");
    assert!(
        check("naughty").starts_with("error: offline_habits: there is no habit `naughty`; the habits are: ")
    );
}

#[test]
fn every_habit_of_a_model_is_in_the_matrix() {
    let run = World::with_plugins(&[]).foehn(&["run", "--offline-habit", "none", "go"]).expect_code(2);
    let talk = run.talk();
    let listed = talk
        .split_once("[possible values: ")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(list, _)| list);
    let listed: Vec<&str> = listed.expect("clap lists them").split(", ").collect();
    let tested: Vec<&str> = CELLS.iter().flat_map(|(habits, _)| habits.iter().copied()).collect();
    let untested: Vec<_> = listed.iter().filter(|habit| !tested.contains(habit)).collect();
    assert_eq!((untested, listed.len()), (Vec::<&&str>::new(), 17));
}
