//! Arguments of a model on the whole way: over the wire, past the approval, into the plugin, and back in the history.

use std::process::Stdio;

use foehn_tests::{World, brief};
use serde_json::Value;

/// The calls of `echo` by a served model: what the plugin saw, or why it saw nothing.
#[track_caller]
fn echoed(habits: &str, arguments: &str) -> String {
    let script = format!(
        "habits = [{habits}]\nstrict = [\"paired_results\", \"object_arguments\"]\n[[turn]]\ncalls = [{{ name = \
         \"echo\", arguments = '{arguments}' }}]\n[[turn]]\nalways = true\ntext = \"done\"\n"
    );
    let (world, _model) = World::with_plugins(&["echo"]).serve(&script);
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    run.envelopes().iter().map(brief).collect::<Vec<_>>().join("\n")
}

#[test]
fn lists_and_objects_may_come_as_text_and_text_stays_text() {
    let call = r#"{"id":1,"text":"[\"x\"]","paths":["a.txt","b.txt"],"filter":{"least":1}}"#;
    insta::assert_snapshot!(echoed("\"json_in_strings\"", call), @r#"
    ok {"id":1,"text":"[\"x\"]","paths":["a.txt","b.txt"],"least":1,"after":null}
      note `/paths`: JSON text was read as an array
      note `/filter`: JSON text was read as an object
    "#);
    insta::assert_snapshot!(echoed("", r#"{"id":1,"paths":"a.txt, b.txt","filter":"{least:1}"}"#), @r#"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have 2 problems.
      /filter wrong_type | expected: object | got: "{least:1}" | suggestion: write the JSON value itself, not text in quotes
      /paths wrong_type | expected: array | got: "a.txt, b.txt" | suggestion: write the JSON value itself, not text in quotes
    "#);
}

#[test]
fn null_is_left_out_at_any_depth_unless_it_means_something() {
    insta::assert_snapshot!(echoed("\"null_optionals\"", r#"{"id":1}"#), @r#"
    ok {"id":1,"text":"","paths":[],"least":0,"after":null}
      note `/text`: null was taken as left out
      note `/paths`: null was taken as left out
      note `/filter`: null was taken as left out
    "#);
    insta::assert_snapshot!(echoed("", r#"{"id":1,"filter":{"least":null},"after":null}"#), @r#"
    ok {"id":1,"text":"","paths":[],"least":0,"after":null}
      note `/filter/least`: null was taken as left out
    "#);
    insta::assert_snapshot!(echoed("", r#"{"id":null}"#), @"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have a problem, `wrong_type`.
      /id wrong_type | expected: integer | got: null | suggestion: it needs a value
    ");
}

#[test]
fn whole_numbers_may_be_written_in_any_way_that_says_so() {
    insta::assert_snapshot!(echoed("", r#"{"id":1e3}"#), @r#"
    ok {"id":1000,"text":"","paths":[],"least":0,"after":null}
      note `/id`: a number without fraction was read as an integer
    "#);
    insta::assert_snapshot!(echoed("", r#"{"id":10.0}"#), @r#"
    ok {"id":10,"text":"","paths":[],"least":0,"after":null}
      note `/id`: a number without fraction was read as an integer
    "#);
    insta::assert_snapshot!(echoed("", r#"{"id":10.5}"#), @"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have a problem, `wrong_type`.
      /id wrong_type | expected: integer | got: 10.5 | suggestion: write a whole number, such as 6
    ");
    for beyond in ["18446744073709551616", "-1", "1e30"] {
        let read = echoed("", &format!("{{\"id\":{beyond}}}"));
        assert!(read.starts_with("invalid_arguments executed=false"), "{read}");
        assert!(read.contains("\n  /id out_of_range | expected: "), "{read}");
    }
}

#[test]
fn a_key_given_twice_is_refused_at_any_depth() {
    insta::assert_snapshot!(echoed("", r#"{"id":1,"id":2}"#), @"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have a problem, `duplicate_argument`.
      /id duplicate_argument | expected: each argument once | suggestion: keep the one that is meant
    ");
    insta::assert_snapshot!(echoed("", r#"{"id":1,"filter":{"least":1,"least":2}}"#), @"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have a problem, `duplicate_argument`.
      /filter/least duplicate_argument | expected: each argument once | suggestion: keep the one that is meant
    ");
}

#[test]
fn a_key_that_is_not_there_is_refused_with_the_nearest() {
    insta::assert_snapshot!(echoed("", r#"{"id":1,"Text":"a","filter":{"lest":1}}"#), @"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have 2 problems.
      /Text unknown_argument | expected: only `id`, `text`, `paths`, `filter`, `after` | got: `Text` | suggestion: did you mean `text`?
      /filter/lest unknown_argument | expected: only `least` | got: `lest` | suggestion: did you mean `least`?
    ");
    insta::assert_snapshot!(echoed("\"extra_arguments\", \"invent_user_ids\"", r#"{"id":1}"#), @r#"
    invalid_arguments executed=false retryable=true: `echo` was not run: its arguments have 2 problems.
      /user_id unknown_argument | expected: only `id`, `text`, `paths`, `filter`, `after` | got: `user_id`
      /verbose unknown_argument | expected: only `id`, `text`, `paths`, `filter`, `after` | got: `verbose`
    ok {"id":1,"text":"","paths":[],"least":0,"after":null}
    "#);
}

/// Every digit of a number of 64 bits: in the plugin, in the events, in the next request, and in the session when it
/// goes on.
#[track_caller]
fn check_digits(id: &str, digits: &str) {
    let script = format!(
        "[[turn]]\ncalls = [{{ name = \"echo\", arguments = '{{\"id\":{id}}}' }}]\n[[turn]]\nalways = true\ntext = \
         \"done\"\n"
    );
    let (world, model) = World::with_plugins(&["echo"]).serve(&script);
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    let number: Value = serde_json::from_str(digits).expect("a number");
    assert_eq!(run.envelopes()[0]["result"]["id"], number, "{id}");
    let started = run.events().into_iter().find(|event| event["type"] == "call_started").expect("it ran");
    let ran: Value = serde_json::from_str(started["arguments"].as_str().unwrap_or_default()).expect("JSON");
    assert_eq!(ran["id"], number, "{id}");
    world.foehn(&["run", "--json", "--session", &run.session(), "on"]).expect_code(0);
    let bodies = model.bodies();
    assert_eq!(bodies.len(), 3);
    for body in &bodies[1..] {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let call =
            messages.iter().find_map(|message| message["tool_calls"][0]["function"]["arguments"].as_str());
        assert_eq!(call, Some(format!("{{\"id\":{id}}}").as_str()), "{id}");
        let result = messages.iter().find(|message| message["role"] == "tool").expect("a result");
        let content = result["content"].as_str().unwrap_or_default();
        assert!(content.contains(&format!("\"id\":{digits},")), "{id}: {content}");
    }
}

#[test]
fn no_digit_of_a_number_is_lost_on_the_way() {
    check_digits("7301994455012233447", "7301994455012233447");
    check_digits("\"4611686018427387905\"", "4611686018427387905");
    check_digits("9007199254740995", "9007199254740995");
    check_digits("18446744073709551615", "18446744073709551615");
}

#[test]
fn what_is_approved_is_the_very_value_that_runs() {
    let world = World::with_plugins(&["echo"]).script(
        "[[turn]]\ncalls = [{ name = \"echo\", arguments = '{\"id\":\"7301994455012233447\"}' }]\n[[turn]]\ntext = \
         \"done\"\n",
    );
    let mut chat = world.start(&["chat"], Stdio::piped());
    chat.type_line("go");
    chat.wait_for_talk("asked because");
    chat.type_line("y");
    chat.wait_for_talk("answered in");
    chat.type_line("/exit");
    let talk = chat.finish().expect_code(0).talk();
    insta::assert_snapshot!(talk, @r#"
    session [ID] with offline/script (an offline stand-in, not a real model)
    /tools lists the tools, /clear starts afresh, /exit leaves; ctrl-C cancels a turn, twice leaves

    > ? the model wants to run `echo` (write, plugin echo): echo
      | id: 7301994455012233447
      | text: ""
      | paths: []
      asked because: risk: write asks
      always covers: `echo` of tool `echo` for agent `default`
      [y]es once, [n]o, [a]lways:   approved once (user)
    > echo {"id":7301994455012233447,"text":"","paths":[]}
      ok, [TIME] ms
    answered in [TIME] s: 2 steps, 1 call, tokens n/a

    >
    "#);
}
