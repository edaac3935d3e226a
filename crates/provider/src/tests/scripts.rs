//! The stand-in within this process, and that it and the server play a script alike.

use std::fs;

use foehn_ports::ModelErrorKind;

use super::*;
use crate::offline::{Habit, Offline, Shows};

fn offline(script: &str) -> Offline {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.toml");
    fs::write(&path, script).unwrap();
    let settings = Settings {
        script: Some(path),
        timeout: Duration::from_millis(20),
        max_retries: 1,
        ..Settings::new("offline")
    };
    Offline::open(&settings).unwrap().with_first_wait(Duration::from_micros(1))
}

#[tokio::test]
async fn both_ways_of_playing_give_the_same() {
    let script = r#"
fragment = 3

[[turn]]
reasoning = "hm, let me see"
text = "Looking."
calls = [{ name = "t", arguments = '{"n": 1, "n": 2}', id = "x" }, { name = "u" }]
usage = { input = 7, output = 3 }

[[turn]]
text = "cut"
finish = "length"
"#;
    let server = server(script).await;
    let (local, wire) = (offline(script), remote(&settings(&server)));
    for _ in 0..2 {
        let (mine, my_deltas) = ask(&local, &prompt("go")).await;
        let (theirs, their_deltas) = ask(&wire, &prompt("go")).await;
        let (mine, theirs) = (mine.unwrap(), theirs.unwrap());
        assert_eq!(
            (&mine.message.text, &mine.message.reasoning, &mine.message.calls, mine.finish, mine.usage),
            (
                &theirs.message.text,
                &theirs.message.reasoning,
                &theirs.message.calls,
                theirs.finish,
                theirs.usage
            ),
        );
        assert_eq!(my_deltas, their_deltas);
    }
}

#[tokio::test]
async fn no_way_of_writing_changes_what_is_read() {
    let script = |habit: &str| {
        format!(
            "fragment = 3\nhabits = [{habit}]\n[[turn]]\ntext = \"Looking.\"\ncalls = [{{ name = \"t\", \
             arguments = {{ n = 1 }} }}, {{ name = \"u\", arguments = {{ n = 2 }} }}]\n"
        )
    };
    let read = async |habit: &str, streaming: bool| {
        let server = server(&script(habit)).await;
        let settings = Settings { streaming, ..settings(&server) };
        let response = ask(&remote(&settings), &prompt("go")).await.0.unwrap();
        let calls: Vec<_> =
            response.message.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        (response.message.text, calls)
    };
    let plain = read("", true).await;
    for habit in Habit::ALL.iter().filter(|habit| habit.shows() == Shows::Wire) {
        for streaming in [true, false] {
            assert_eq!(read(&format!("\"{habit}\""), streaming).await, plain, "{habit}");
        }
    }
}

#[tokio::test]
async fn faults_in_this_process_are_those_of_the_wire() {
    let rows = [
        (
            "status = 401, body = \"no\"",
            "Auth final: offline/script: the server refuses the API key from the script (401): no",
        ),
        ("close = true", "Transport retryable: offline/script: the connection ended without an answer"),
        (
            "cut_after = 1",
            "Truncated retryable: offline/script: the connection ended in the middle of the answer",
        ),
        ("stall_after = 1", "Timeout retryable: offline/script: the server was silent for 0.02 s"),
        (
            "error_after = 1, error = { message = \"overloaded\" }",
            "Overloaded retryable: offline/script: the server failed while it answered: overloaded",
        ),
        (
            "malformed_after = 1",
            "Protocol final: offline/script: the server sent something that is not the JSON it should be",
        ),
    ];
    for (fault, expected) in rows {
        let model = offline(&format!("[[turn]]\nalways = true\ntext = \"abc\"\nfault = {{ {fault} }}\n"));
        let told = shown(&ask(&model, &prompt("go")).await.0);
        assert_eq!(told.trim_end_matches(" (gave up after 2 attempts)"), expected);
    }
}

#[tokio::test]
async fn a_script_that_has_ended_or_is_wrong_says_so() {
    let model = offline("[[turn]]\ntext = \"a\"\n");
    assert!(ask(&model, &prompt("go")).await.0.is_ok());
    let error = ask(&model, &prompt("on")).await.0.unwrap_err();
    assert_eq!(
        (error.kind.clone(), error.to_string()),
        (
            ModelErrorKind::Script,
            "offline/script: the script has no turn left for request 2 (last user text: \"on\")".to_owned()
        )
    );
    let settings = Settings { script: Some("/nowhere.toml".into()), ..Settings::new("offline") };
    let error = crate::connect(&settings).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Script);
    assert!(error.message.starts_with("the script /nowhere.toml cannot be read"), "{error}");
}

#[tokio::test]
async fn without_a_script_plain_requests_are_served() {
    let model = crate::connect(&Settings::new("offline")).unwrap();
    let identity = model.identity();
    assert_eq!((identity.origin().as_str(), identity.stand_in), ("offline/stand-in", true));
    let (outcome, deltas) = ask(&*model, &prompt("hello")).await;
    let text: String = deltas
        .into_iter()
        .map(|delta| match delta {
            Delta::Text(text) => text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(outcome.unwrap().message.text, text);
    assert!(text.contains("offline stand-in, not a language model"));
}
