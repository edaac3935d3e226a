//! The whole way over HTTP: what a server sends, and what becomes of a server that misbehaves.

use foehn_tests::{Run, World, brief};
use serde_json::Value;

fn world() -> World {
    World::with_plugins(&["scan", "file_rw"]).file("a.txt", "content of a\n").file("b.txt", "content of b\n")
}

const TWO_READS: &str = r#"
fragment = 5
strict = ["paired_results", "object_arguments"]

[[turn]]
text = "Reading both."
calls = [
    { name = "read_file", arguments = { path = "a.txt" } },
    { name = "read_file", arguments = { path = "b.txt" } },
]
HABITS

[[turn]]
text = "Both were read."
usage = { input = 30, output = 5 }
"#;

/// Two parallel calls in one answer, streamed in pieces; the results go back in order.
#[track_caller]
fn check_two_reads(habits: &str, arguments: &[&str]) -> Run {
    let (world, model) = world().serve(&TWO_READS.replace("HABITS", habits));
    let run = world.foehn(&[&["run", "--json", "read both"], arguments].concat()).expect_code(0);
    let results: Vec<_> = run.envelopes().iter().map(brief).collect();
    let expected = ["a", "b"].map(|name| format!("ok \"`{name}.txt`: 1 line\\n1|content of {name}\""));
    assert_eq!(results, expected, "{habits}");
    let bodies = model.bodies();
    let messages = bodies[1]["messages"].as_array().into_iter().flatten();
    let sent: Vec<_> = messages
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            brief(&serde_json::from_str(message["content"].as_str().unwrap_or_default()).unwrap_or_default())
        })
        .collect();
    assert_eq!(sent, expected, "{habits}");
    run
}

#[test]
fn text_streams_and_two_calls_run_beside_each_other() {
    let run = check_two_reads("", &[]);
    insta::assert_snapshot!(run.outline(), @r#"
    session default openai-compatible/scripted tools=10
    turn 1 "read both"
    step 1
    text "Readi"
    text "ng bo"
    text "th."
    answer "Reading both." calls=2
    start #1 read_file {"path":"a.txt","start_line":1} [read_file] (risk: read-only runs)
    start #2 read_file {"path":"b.txt","start_line":1} [read_file] (risk: read-only runs)
    end #1 read_file ok
    end #2 read_file ok
    step 2
    text "Both "
    text "were "
    text "read."
    answer "Both were read." calls=0
    done answered "Both were read." steps=2 calls=2
    "#);
}

#[test]
fn a_whole_answer_is_read_too() {
    let run = check_two_reads("", &["--no-stream"]);
    insta::assert_snapshot!(run.outline(), @r#"
    session default openai-compatible/scripted tools=10
    turn 1 "read both"
    step 1
    text "Reading both."
    answer "Reading both." calls=2
    start #1 read_file {"path":"a.txt","start_line":1} [read_file] (risk: read-only runs)
    start #2 read_file {"path":"b.txt","start_line":1} [read_file] (risk: read-only runs)
    end #1 read_file ok
    end #2 read_file ok
    step 2
    text "Both were read."
    answer "Both were read." calls=0
    done answered "Both were read." steps=2 calls=2
    "#);
}

#[test]
fn calls_are_told_apart_whatever_their_index_or_id() {
    for habits in [
        "args_object",
        "missing_id",
        "missing_type",
        "repeat_name",
        "late_name",
        "missing_index",
        "index_from_one",
        "huge_index",
        "same_index",
        "null_calls",
        "empty_usage",
        "finish_stop",
        "finish_unknown",
        "noise",
        "carriage_returns",
        "no_done",
    ] {
        check_two_reads(&format!("habits = [\"{habits}\"]"), &[]);
    }
}

/// A call of a tool that takes nothing, with arguments as a server may send them.
#[track_caller]
fn check_empty(call: &str, arguments: &[&str]) {
    let script = format!("[[turn]]\n{call}\n[[turn]]\ntext = \"done\"\n");
    let (world, model) = world().serve(&script);
    let run = world.foehn(&[&["run", "--json", "list"], arguments].concat()).expect_code(0);
    let envelopes = run.envelopes();
    assert_eq!((envelopes.len(), &envelopes[0]["ok"]), (1, &Value::Bool(true)), "{call}: {run:?}");
    assert_eq!(model.bodies().len(), 2, "{call}");
    let sent = &model.bodies()[1]["messages"];
    let calls = sent.as_array().into_iter().flatten().filter_map(|message| message["tool_calls"].as_array());
    let arguments: Vec<_> = calls.flatten().map(|call| call["function"]["arguments"].clone()).collect();
    assert_eq!(arguments, ["{}"], "{call}");
}

#[test]
fn empty_arguments_mean_none() {
    for arguments in ["\"\"", "\"null\"", "\"  \""] {
        let call = format!("calls = [{{ name = \"scan\", arguments = {arguments} }}]");
        check_empty(&call, &[]);
        check_empty(&call, &["--no-stream"]);
    }
    check_empty("calls = [{ name = \"scan\" }]\nhabits = [\"args_empty\"]", &[]);
    for arguments in [r#","arguments":null"#, ""] {
        let delta = format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a1","type":"function","function":{{"name":"scan"{arguments}}}}}]}},"finish_reason":null}}]}}"#
        );
        let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
        check_empty(
            &format!("fault = {{ raw = '''data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n''' }}"),
            &[],
        );
    }
}

/// A fault, then a server that works again: what the user reads, and that the session goes on.
#[track_caller]
fn check_fault(fault: &str) -> String {
    let script = format!(
        "strict = [\"paired_results\"]\n[[turn]]\nnth = 1\ntext = \"one two three\"\n{fault}\n\
         [[turn]]\nuser = \"again\"\ntext = \"back\"\n"
    );
    let (world, model) = world().serve(&script);
    let world = world.env("FOEHN_MAX_RETRIES", "0");
    let run = world.foehn(&["run", "--json", "hello"]).expect_code(1);
    let done = run.done();
    assert_eq!(done["status"], "failed");
    assert_eq!(run.envelopes(), [Value::Null; 0]);
    let next = world.foehn(&["run", "--json", "--session", &run.session(), "again"]).expect_code(0);
    assert_eq!(next.done()["text"], "back", "{fault}");
    drop(model);
    world.clean(done["reason"].as_str().unwrap_or_default())
}

#[test]
fn every_fault_of_a_server_is_told_in_plain_words() {
    let message = r#"'{"error":{"message":"no"}}'"#;
    insta::assert_snapshot!(check_fault(&format!("fault = {{ status = 401, body = {message} }}")), @"openai-compatible/scripted: the server wants an API key (401): no; looked for FOEHN_API_KEY");
    insta::assert_snapshot!(check_fault(&format!("fault = {{ status = 429, body = {message} }}")), @"openai-compatible/scripted: the server takes no more requests for now (429): no");
    insta::assert_snapshot!(check_fault(&format!("fault = {{ status = 500, body = {message} }}")), @"openai-compatible/scripted: the server failed (500): no");
    insta::assert_snapshot!(check_fault("fault = { status = 502, body = \"<html><title>Bad Gateway</title>\" }"), @r#"openai-compatible/scripted: the server failed (502): a web page titled "Bad Gateway""#);
    insta::assert_snapshot!(check_fault("fault = { close = true }"), @"openai-compatible/scripted: the connection to http://127.0.0.1:[PORT]/v1 broke: connection closed before message completed");
    insta::assert_snapshot!(check_fault("fragment = 4\nfault = { cut_after = 2 }"), @"openai-compatible/scripted: the connection ended in the middle of the answer");
    insta::assert_snapshot!(
        check_fault("fragment = 4\nfault = { error_after = 2, error = { message = \"overloaded\" } }"),
        @"openai-compatible/scripted: the server failed while it answered: overloaded"
    );
    insta::assert_snapshot!(check_fault("fragment = 4\nfault = { malformed_after = 2 }"), @"openai-compatible/scripted: the server sent something that is not the JSON it should be (expected value at line 1 column 14)");
    let half_call = "fragment = 4\ncalls = [{ name = \"scan\", arguments = { path = \".\" } }]\nfault = { cut_after = 5 }";
    insta::assert_snapshot!(check_fault(half_call), @"openai-compatible/scripted: the connection ended in the middle of the answer");
}

#[test]
fn a_silent_server_is_given_up() {
    let (world, _model) =
        world().serve("[[turn]]\ntext = \"a b\"\nfragment = 2\nfault = { stall_after = 1 }\n");
    let world = world.env("FOEHN_TIMEOUT_SECONDS", "1").env("FOEHN_MAX_RETRIES", "0");
    let run = world.foehn(&["run", "--json", "hello"]).expect_code(1);
    insta::assert_snapshot!(run.done()["reason"], @r#""openai-compatible/scripted: the server was silent for 1 s""#);
}

#[test]
fn nobody_listens() {
    let world = world()
        .env("FOEHN_PROVIDER", "openai-compatible")
        .env("FOEHN_MODEL", "m")
        .env("FOEHN_BASE_URL", "http://127.0.0.1:9")
        .env("FOEHN_MAX_RETRIES", "0");
    let run = world.foehn(&["run", "hello"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"
    session [ID] with openai-compatible/m
    error: openai-compatible/m: nothing listens at http://127.0.0.1:[PORT]; is the server running?
    failed in [TIME] s: 1 step, 0 calls, tokens n/a
    ");
}

#[test]
fn a_server_that_asks_for_patience_gets_it() {
    let script = "[[turn]]\nfault = { status = 429, headers = { retry-after = \"0\" }, body = \"slow down\" }\n\
                  [[turn]]\nfault = { status = 503, headers = { retry-after = \"0\" } }\n\
                  [[turn]]\ntext = \"here\"\n";
    let (world, model) = world().serve(script);
    let run = world.foehn(&["run", "--json", "hello"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default openai-compatible/scripted tools=10
    turn 1 "hello"
    step 1
    retrying 1: the server takes no more requests for now (429): slow down
    retrying 2: the server is overloaded (503)
    text "here"
    answer "here" calls=0
    done answered "here" steps=1 calls=0
    "#);
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn a_connection_that_broke_before_anything_was_shown_is_tried_again() {
    let half_call = "[[turn]]\nfragment = 4\ncalls = [{ name = \"create_file\", arguments = { path = \"a\" } }]\n\
                     fault = { cut_after = 2 }\n";
    let script = format!("[[turn]]\nfault = {{ close = true }}\n{half_call}[[turn]]\ntext = \"here\"\n");
    let (world, model) = world().serve(&script);
    let run = world.foehn(&["run", "--json", "--yes", "hello"]).expect_code(0);
    insta::assert_snapshot!(run.outline(), @r#"
    session default openai-compatible/scripted tools=10
    turn 1 "hello"
    step 1
    retrying 1: the connection to http://127.0.0.1:[PORT]/v1 broke: connection closed before message completed
    retrying 2: the connection ended in the middle of the answer
    text "here"
    answer "here" calls=0
    done answered "here" steps=1 calls=0
    "#);
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn a_stream_that_ended_without_its_mark_is_whole_when_it_says_so() {
    let (world, _model) = world().serve("[[turn]]\ntext = \"whole\"\nhabits = [\"no_done\"]\n");
    assert_eq!(world.foehn(&["run", "hello"]).expect_code(0).stdout, "whole\n");
}

#[test]
fn the_request_holds_system_message_tools_and_prompt() {
    let (world, model) = world().serve("[[turn]]\ntext = \"hello\"\n");
    let world = world.file("foehn.md", "Answer in one word.");
    world.foehn(&["run", "hi"]).expect_code(0);
    let body = model.bodies().remove(0);
    let names: Vec<_> =
        body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(
        names,
        [
            "create_file",
            "delete_file",
            "edit_file",
            "find_files",
            "list_directory",
            "move_file",
            "read_file",
            "scan",
            "search_files",
            "write_file"
        ]
    );
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    assert!(system.contains("Answer in one word."), "{system}");
    assert_eq!(
        (&body["model"], &body["stream"], &body["messages"][1]["content"]),
        (&Value::from("scripted"), &Value::from(true), &Value::from("hi"),)
    );
}

#[test]
fn the_definitions_of_all_shipped_tools_stay_short() {
    let all = World::with_plugins(&["scan", "file_rw", "shell", "dotnet", "cargo"]);
    let (world, model) = all.serve("[[turn]]\ntext = \"hello\"\n");
    world.foehn(&["run", "hi"]).expect_code(0);
    let length = model.bodies()[0]["tools"].to_string().chars().count();
    assert!(length <= 8_000, "{length} characters");
}
