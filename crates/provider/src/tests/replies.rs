//! Every way of writing an answer that was met in the wild, as raw text of the wire.

use super::*;

/// Asks a server that sends `raw` as its event stream, in pieces of so many bytes.
async fn stream(raw: &str, piece: usize) -> String {
    let script = serde_json::json!({"turns":[{"fault":{"raw":raw},"fragment":piece}]});
    let script = Script::parse(&script.to_string(), Path::new("test.json")).unwrap();
    let server = Server::start(script).await.unwrap();
    shown(&ask(&remote(&settings(&server)), &prompt("go")).await.0)
}

/// Asks for a plain answer from a server that sends this document.
async fn plain(document: &str, content_type: &str) -> String {
    let script = serde_json::json!({
        "turns": [{"fault":{"status":200,"headers":{"content-type":content_type},"body":document}}],
    });
    let script = Script::parse(&script.to_string(), Path::new("test.json")).unwrap();
    let server = Server::start(script).await.unwrap();
    let settings = Settings { streaming: false, ..settings(&server) };
    shown(&ask(&remote(&settings), &prompt("go")).await.0)
}

fn events(chunks: &[&str]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// A chunk with this delta.
fn delta(delta: &str) -> String {
    format!(
        r#"{{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    )
}

fn calls(calls: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{calls}]}}"#))
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

const DONE: &str = "[DONE]";

async fn check(name: &str, chunks: &[String], expected: &str) {
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let raw = events(&chunks);
    for piece in [usize::MAX, 1] {
        assert_eq!(stream(&raw, piece).await, expected, "{name}, pieces of {piece}");
    }
}

#[tokio::test]
async fn text_reasoning_and_usage() {
    let stop = finish("stop");
    let done = DONE.to_owned();
    check(
        "text",
        &[delta(r#"{"content":"Grüße "}"#), delta(r#"{"content":"€"}"#), stop.clone(), done.clone()],
        "text \"Grüße €\"\nStop",
    )
    .await;
    check(
        "reasoning",
        &[delta(r#"{"reasoning_content":"hm"}"#), delta(r#"{"content":"a"}"#), stop.clone(), done.clone()],
        "reasoning \"hm\"\ntext \"a\"\nStop",
    )
    .await;
    check(
        "reasoning by its other name",
        &[
            delta(r#"{"reasoning":"hm","content":""}"#),
            delta(r#"{"content":"a"}"#),
            stop.clone(),
            done.clone(),
        ],
        "reasoning \"hm\"\ntext \"a\"\nStop",
    )
    .await;
    check(
        "thinking parts",
        &[
            delta(r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#),
            delta(r#"{"content":[{"type":"text","text":"a"}]}"#),
            stop.clone(),
            done.clone(),
        ],
        "reasoning \"hm\"\ntext \"a\"\nStop",
    )
    .await;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}"#;
    check(
        "usage in a chunk of its own",
        &[delta(r#"{"content":"a"}"#), stop.clone(), usage.into(), done.clone()],
        "text \"a\"\nStop\nusage Some(7) Some(3) Some(2)",
    )
    .await;
    check(
        "usage beside the finish",
        &[delta(r#"{"content":"a"}"#), r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#.into(), done.clone()],
        "text \"a\"\nLength\nusage Some(7) Some(3) None",
    )
    .await;
    check(
        "usage that says nothing",
        &[r#"{"choices":[],"usage":{}}"#.into(), delta(r#"{"content":"a"}"#), stop.clone(), done.clone()],
        "text \"a\"\nStop",
    )
    .await;
    check(
        "empty choices, null calls",
        &[
            r#"{"choices":[]}"#.into(),
            delta(r#"{"content":"a","tool_calls":null}"#),
            stop.clone(),
            done.clone(),
        ],
        "text \"a\"\nStop",
    )
    .await;
    check(
        "bare chunks",
        &[
            r#"{"choices":[{"delta":{"content":"a"}}]}"#.into(),
            r#"{"choices":[{"delta":{},"finish_reason":"eos"}]}"#.into(),
            done.clone(),
        ],
        "text \"a\"\nStop",
    )
    .await;
    check(
        "an unknown finish",
        &[delta(r#"{"content":"a"}"#), finish("whatever"), done.clone()],
        "text \"a\"\nOther",
    )
    .await;
    check("an empty finish", &[delta(r#"{"content":"a"}"#), finish(""), done.clone()], "text \"a\"\nStop")
        .await;
    check("no finish", &[delta(r#"{"content":"a"}"#), done.clone()], "text \"a\"\nStop").await;
    check("no [DONE]", &[delta(r#"{"content":"a"}"#), stop.clone()], "text \"a\"\nStop").await;
    check(
        "neither",
        &[delta(r#"{"content":"a"}"#)],
        "Truncated retryable: openai-compatible/m: the connection ended in the middle of the answer",
    )
    .await;
    check("a filter", &[delta(r#"{"content":"a"}"#), finish("content_filter"), done], "text \"a\"\nFiltered")
        .await;
}

#[tokio::test]
async fn calls_and_their_fragments() {
    let end = [finish("tool_calls"), DONE.to_owned()];
    let with_end = |chunks: &[String]| [chunks, &end].concat();
    let one =
        calls(r#"{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":1}"}}"#);
    check("one", &with_end(std::slice::from_ref(&one)), "call a t {\"x\":1}\nToolCalls").await;
    check("finish stop", &[one.clone(), finish("stop"), DONE.into()], "call a t {\"x\":1}\nStop").await;
    check(
        "three in one chunk",
        &with_end(&[calls(
            r#"{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"u","arguments":"{}"}},{"index":2,"id":"c","function":{"name":"t","arguments":"{}"}}"#,
        )]),
        "call a t {}\ncall b u {}\ncall c t {}\nToolCalls",
    )
    .await;
    check(
        "interleaved fragments, empty later ids, repeated names",
        &with_end(&[
            calls(r#"{"index":0,"id":"a","function":{"name":"t","arguments":""}}"#),
            calls(r#"{"index":1,"id":"b","function":{"name":"u","arguments":"{\"y\""}}"#),
            calls(r#"{"index":0,"id":"","function":{"name":"t","arguments":"{\"x\":"}}"#),
            calls(r#"{"index":1,"function":{"arguments":":2}"}}"#),
            calls(r#"{"index":0,"function":{"arguments":"1}"}}"#),
        ]),
        "call a t {\"x\":1}\ncall b u {\"y\":2}\nToolCalls",
    )
    .await;
    check(
        "two entries with one index in the first chunk",
        &with_end(&[
            calls(r#"{"index":0,"id":"z","function":{"name":"t","arguments":""}},{"index":0,"function":{"arguments":"{\"n\":"}}"#),
            calls(r#"{"index":0,"function":{"arguments":"4}"}}"#),
        ]),
        "call z t {\"n\":4}\nToolCalls",
    )
    .await;
    check(
        "id first, name later",
        &with_end(&[
            calls(r#"{"index":0,"id":"a","type":"function"}"#),
            calls(r#"{"index":0,"function":{"name":"t","arguments":"{}"}}"#),
        ]),
        "call a t {}\nToolCalls",
    )
    .await;
    for index in ["", r#""index":null,"#] {
        let open = |id: &str, path: &str| {
            calls(&format!(
                r#"{{{index}"id":"{id}","function":{{"name":"t","arguments":"{{\"p\":\"{path}\"}}"}}}}"#
            ))
        };
        check(
            "no index",
            &with_end(&[open("x", "a"), open("y", "b")]),
            "call x t {\"p\":\"a\"}\ncall y t {\"p\":\"b\"}\nToolCalls",
        )
        .await;
    }
    let nameless = |path: &str| {
        calls(&format!(r#"{{"index":0,"function":{{"name":"t","arguments":"{{\"p\":\"{path}\"}}"}}}}"#))
    };
    check(
        "one index for all and no ids",
        &with_end(&[nameless("a"), nameless("b"), nameless("c")]),
        "call - t {\"p\":\"a\"}\ncall - t {\"p\":\"b\"}\ncall - t {\"p\":\"c\"}\nToolCalls",
    )
    .await;
    check(
        "one index for all, no ids, in fragments with repeated names",
        &with_end(&[
            calls(r#"{"index":0,"function":{"name":"t","arguments":"{\"p\":"}}"#),
            calls(r#"{"index":0,"function":{"name":"t","arguments":"1}"}}"#),
            calls(r#"{"index":0,"function":{"name":"t","arguments":"{\"p\":"}}"#),
            calls(r#"{"index":0,"function":{"arguments":"2}"}}"#),
            calls(r#"{"index":0,"function":{"name":"t","arguments":""}}"#),
        ]),
        "call - t {\"p\":1}\ncall - t {\"p\":2}\nToolCalls",
    )
    .await;
    for (name, first, second) in
        [("index from one", 1, 2), ("one index for all", 0, 0), ("a huge index", 2_000_000, 2_000_001)]
    {
        let open = |index: u32, id: &str| {
            calls(&format!(
                r#"{{"index":{index},"id":"{id}","function":{{"name":"t","arguments":"{{\"p\":\"{id}\"}}"}}}}"#
            ))
        };
        check(
            name,
            &with_end(&[open(first, "x"), open(second, "y")]),
            "call x t {\"p\":\"x\"}\ncall y t {\"p\":\"y\"}\nToolCalls",
        )
        .await;
    }
}

#[tokio::test]
async fn arguments_in_every_form() {
    let rows = [
        (r#""arguments":"""#, "call a t {}\nToolCalls"),
        (r#""arguments":"null""#, "call a t {}\nToolCalls"),
        (r#""arguments":null"#, "call a t {}\nToolCalls"),
        (r#""description":"none""#, "call a t {}\nToolCalls"),
        (
            r#""arguments":"{\"path\":\"r.md\",\"content\":\"abc""#,
            "call a t {\"path\":\"r.md\",\"content\":\"abc\nToolCalls",
        ),
        (
            r#""arguments":"{\"n\":1,\"n\":12345678901234567890123}""#,
            "call a t {\"n\":1,\"n\":12345678901234567890123}\nToolCalls",
        ),
        (
            r#""arguments":{"n": 1, "n": 12345678901234567890123, "s": "ü"}"#,
            "call a t {\"n\": 1, \"n\": 12345678901234567890123, \"s\": \"ü\"}\nToolCalls",
        ),
        (r#""arguments":{}"#, "call a t {}\nToolCalls"),
    ];
    for (arguments, expected) in rows {
        let call = format!(r#"{{"index":0,"id":"a","function":{{"name":"t",{arguments}}}}}"#);
        check(arguments, &[calls(&call), finish("tool_calls"), DONE.into()], expected).await;
        let document = format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","function":{{"name":"t",{arguments}}}}}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        assert_eq!(plain(&document, "application/json").await, expected, "plain, {arguments}");
    }
}

#[tokio::test]
async fn a_call_without_an_id_gets_one_of_ours() {
    let raw = events(&[
        &calls(r#"{"index":0,"function":{"name":"t","arguments":"{}"}}"#),
        &finish("tool_calls"),
        DONE,
    ]);
    assert_eq!(stream(&raw, usize::MAX).await, "call - t {}\nToolCalls");
    let raw = serde_json::json!({"turns":[{"always":true,"calls":[{"name":"t"},{"name":"u"}],"habits":["missing_id"]}]});
    let server = Server::start(Script::parse(&raw.to_string(), Path::new("t.json")).unwrap()).await.unwrap();
    let model = remote(&settings(&server));
    let ids = |outcome: Result<ModelResponse, ModelError>| -> Vec<String> {
        outcome.unwrap().message.calls.into_iter().map(|call| call.id.0).collect()
    };
    let first = ids(ask(&model, &prompt("go")).await.0);
    assert_eq!(first, ids(ask(&model, &prompt("go")).await.0), "the same request gives the same ids");
    assert_ne!(first, ids(ask(&model, &prompt("stay")).await.0));
    let strict =
        |id: &String| id.len() == 9 && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    assert!(first[0] != first[1] && first.iter().all(strict), "{first:?}");
}

#[tokio::test]
async fn the_framing_of_events() {
    let text = delta(r#"{"content":"a"}"#);
    let end = format!("data: {}\n\ndata: [DONE]\n\n", finish("stop"));
    let rows = [
        ("no space", format!("data:{text}\n\n{end}")),
        ("line ends of two letters", format!("data: {text}\r\n\r\n{}", end.replace('\n', "\r\n"))),
        ("comments and empty events", format!(": ping\n\ndata: \n\nevent: x\n\ndata: {text}\n\n{end}")),
        ("a line that is no field", format!("nonsense\n\ndata: {text}\n\n{end}")),
        ("names and ids of events", format!("id: 1\nevent: message\ndata: {text}\n\n{end}")),
    ];
    for (name, raw) in rows {
        for piece in [usize::MAX, 1] {
            assert_eq!(stream(&raw, piece).await, "text \"a\"\nStop", "{name}, pieces of {piece}");
        }
    }
}

#[tokio::test]
async fn errors_in_place_of_an_answer() {
    let stop = finish("stop");
    let overloaded =
        "Overloaded retryable: openai-compatible/m: the server failed while it answered: overloaded";
    check("first", &[r#"{"error":{"message":"overloaded"}}"#.into()], overloaded).await;
    check(
        "after text",
        &[delta(r#"{"content":"a"}"#), r#"{"error":{"message":"overloaded"}}"#.into()],
        overloaded,
    )
    .await;
    let malformed = stream(
        &format!("data: {}\n\ndata: {{\"choices\": [oops\n\ndata: {stop}\n\n", delta("{}")),
        usize::MAX,
    )
    .await;
    assert!(
        malformed.starts_with(
            "Protocol final: openai-compatible/m: the server sent something that is not the JSON"
        ),
        "{malformed}"
    );
    assert_eq!(
        plain(r#"{"error":{"code":502,"message":"bad gateway"}}"#, "application/json").await,
        "Overloaded retryable: openai-compatible/m: the server failed (502): bad gateway"
    );
    assert_eq!(plain("{\"choices\":", "application/json").await.split(':').next(), Some("Protocol final"));
}

#[tokio::test]
async fn plain_answers() {
    let document = r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
    let expected = "reasoning \"hm\"\ntext \"a\"\nStop\nusage Some(7) Some(3) None";
    for content_type in ["application/json; charset=utf-8", "text/plain"] {
        assert_eq!(plain(document, content_type).await, expected, "{content_type}");
    }
    let bare = r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"t","arguments":"{}"}},{"function":{"name":"u","arguments":""}}]}}]}"#;
    assert_eq!(plain(bare, "application/json").await, "call a t {}\ncall - u {}\nToolCalls");
}

#[tokio::test]
async fn a_server_that_ignores_the_stream_is_read_all_the_same() {
    let server = server("[[turn]]\ntext = \"a\"\ncalls = [{ name = \"t\" }]\nusage = { input = 1, output = 2 }\nfault = { plain = true }\n").await;
    let (outcome, deltas) = ask(&remote(&settings(&server)), &prompt("go")).await;
    assert_eq!(shown(&outcome), "text \"a\"\ncall call_1_0 t {}\nToolCalls\nusage Some(1) Some(2) None");
    assert_eq!(deltas, [Delta::Text("a".into())]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_arrives_is_shown_as_it_arrives() {
    let server = server("fragment = 2\n[[turn]]\nreasoning = \"hmm\"\ntext = \"abc\"\n").await;
    let (_, deltas) = ask(&remote(&settings(&server)), &prompt("go")).await;
    let text = |text: &str| Delta::Text(text.into());
    let reasoning = |text: &str| Delta::Reasoning(text.into());
    assert_eq!(deltas, [reasoning("hm"), reasoning("m"), text("ab"), text("c")]);
}

#[tokio::test]
async fn an_answer_has_bounds() {
    let many: Vec<String> = (0..129)
        .map(|n| format!(r#"{{"index":{n},"id":"{n}","function":{{"name":"t","arguments":"{{}}"}}}}"#))
        .collect();
    assert_eq!(
        stream(&events(&[&calls(&many.join(",")), &finish("tool_calls"), DONE]), usize::MAX).await,
        "Protocol final: openai-compatible/m: the answer holds more than 128 tool calls; none was run"
    );
    let long = "x".repeat(1024 * 1024);
    let call = calls(&format!(
        r#"{{"index":0,"id":"a","function":{{"name":"t","arguments":"{{\"x\":\"{long}\"}}"}}}}"#
    ));
    assert_eq!(
        stream(&events(&[&call, &finish("tool_calls"), DONE]), usize::MAX).await,
        "Protocol final: openai-compatible/m: the tool calls of the answer hold more than 1048576 bytes of arguments; none \
         was run"
    );
}
