//! What a user is told when a server fails, and what is tried again.

use std::io::{Read, Write};
use std::net::TcpListener;

use secrecy::SecretString;

use super::*;

async fn check(script: &str, expected: &str) {
    let server = server(script).await;
    let settings = Settings {
        api_key: Some(SecretString::from("sk-test-123")),
        key_source: "MY_KEY".into(),
        ..settings(&server)
    };
    let (outcome, _) = ask(&remote(&settings), &prompt("go")).await;
    let told = shown(&outcome).replace(&server.url(), "PLACE");
    assert_eq!(told, expected, "{script}");
    assert_eq!(server.requests().len(), 1, "{script}");
}

#[tokio::test]
async fn failures_are_told_in_plain_words_and_without_the_key() {
    check(
        "[[turn]]\nfault = { status = 401, body = '{\"error\":{\"message\":\"Incorrect API key provided: sk-test-123\"}}', headers = { x-request-id = \"r1\" } }\n",
        "Auth final: openai-compatible/m: the server refuses the API key from MY_KEY (401): Incorrect API key provided: *** (request r1)",
    )
    .await;
    check(
        "[[turn]]\nfault = { status = 502, body = \"<html><head><title>Bad Gateway</title></head></html>\", headers = { content-type = \"text/html\" } }\n",
        "Overloaded retryable: openai-compatible/m: the server failed (502): a web page titled \"Bad Gateway\"",
    )
    .await;
    check(
        "[[turn]]\ntext = \"abc\"\nfault = { cut_after = 1 }\n",
        "Truncated retryable: openai-compatible/m: the connection ended in the middle of the answer",
    )
    .await;
    check(
        "[[turn]]\ncalls = [{ name = \"t\", arguments = { x = 1 } }]\nfault = { cut_after = 1 }\n",
        "Truncated retryable: openai-compatible/m: the connection ended in the middle of the answer",
    )
    .await;
    check(
        "[[turn]]\ntext = \"abc\"\nfault = { stall_after = 1 }\n",
        "Timeout retryable: openai-compatible/m: the server was silent for 0.3 s",
    )
    .await;
    check(
        "[[turn]]\nfault = { status = 200, body = \"<html>hi</html>\", headers = { content-type = \"text/html\" } }\n",
        "Protocol final: openai-compatible/m: PLACE answers with a web page; check `base_url`",
    )
    .await;
}

#[tokio::test]
async fn a_plain_answer_that_stops_is_a_typed_failure_too() {
    for (fault, expected) in [
        (
            "cut_after = 1",
            "Truncated retryable: openai-compatible/m: the connection ended in the middle of the answer",
        ),
        ("stall_after = 1", "Timeout retryable: openai-compatible/m: the server was silent for 0.3 s"),
    ] {
        let server = server(&format!("[[turn]]\ntext = \"abc\"\nfault = {{ {fault} }}\n")).await;
        let settings = Settings { streaming: false, ..settings(&server) };
        assert_eq!(shown(&ask(&remote(&settings), &prompt("go")).await.0), expected);
    }
}

#[tokio::test]
async fn a_body_that_ends_with_its_connection_is_cut_when_it_has_no_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 65536];
        let _ = stream.read(&mut request).unwrap();
        let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
    });
    let settings = Settings {
        model: Some("m".into()),
        base_url: Some(base_url),
        max_retries: 0,
        ..Settings::new("openai-compatible")
    };
    assert_eq!(
        shown(&ask(&remote(&settings), &prompt("go")).await.0),
        "Truncated retryable: openai-compatible/m: the connection ended in the middle of the answer"
    );
    served.join().unwrap();
}

#[tokio::test]
async fn a_server_that_is_gone_is_named_without_its_password() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let base_url = Some(format!("http://me:hunter22@{address}/v1?token=x"));
    let settings =
        Settings { model: Some("m".into()), base_url, max_retries: 0, ..Settings::new("openai-compatible") };
    let outcome = ask(&remote(&settings), &prompt("go")).await.0;
    assert_eq!(
        shown(&outcome),
        format!(
            "Transport retryable: openai-compatible/m: nothing listens at http://{address}/v1; is the server running?"
        )
    );
    let debugged = format!("{:?} {outcome:?}", remote(&settings));
    assert!(!debugged.contains("hunter22") && !debugged.contains("token"), "{debugged}");
}

/// Asks a server that fails as told, with retries; gives the outcome, the requests it saw and the retries told.
async fn retried(script: &str) -> (String, usize, Vec<String>) {
    let server = server(script).await;
    let settings = Settings { max_retries: 3, ..settings(&server) };
    let (outcome, deltas) = ask(&remote(&settings), &prompt("go")).await;
    let told = deltas.into_iter().filter_map(|delta| match delta {
        Delta::Retrying { attempt, reason, .. } => Some(format!("{attempt}: {reason}")),
        _ => None,
    });
    (shown(&outcome), server.requests().len(), told.collect())
}

#[tokio::test]
async fn what_can_pass_is_tried_again() {
    let told = |reason: &str| vec![format!("1: {reason}")];
    let end = "[[turn]]\ntext = \"a\"\n";
    let answer = "text \"a\"\nStop".to_owned();
    let rows = [
        (
            "status = 429, headers = { retry-after-ms = \"5\" }",
            "the server takes no more requests for now (429)",
        ),
        ("status = 503, headers = { retry-after = \"0\" }", "the server is overloaded (503)"),
        ("status = 500", "the server failed (500)"),
        ("close = true", "PLACE"),
        (
            "error_after = 0, error = { message = \"overloaded\" }",
            "the server failed while it answered: overloaded",
        ),
        ("cut_after = 0", "the connection ended in the middle of the answer"),
        ("stall_after = 0", "the server was silent for 0.3 s"),
    ];
    for (fault, reason) in rows {
        let (outcome, requests, retries) =
            retried(&format!("[[turn]]\ntext = \"x\"\nfault = {{ {fault} }}\n{end}")).await;
        assert_eq!((outcome, requests), (answer.clone(), 2), "{fault}");
        if reason != "PLACE" {
            assert_eq!(retries, told(reason), "{fault}");
        }
    }
    // A call is not shown before it is whole, so half of one is no reason to give up.
    let half = format!(
        "[[turn]]\ncalls = [{{ name = \"t\", arguments = {{ x = 1 }} }}]\nfault = {{ cut_after = 1 }}\n{end}"
    );
    assert_eq!(retried(&half).await.0, answer);
}

#[tokio::test]
async fn what_cannot_pass_or_was_shown_is_not_tried_again() {
    let rows = [
        (
            "[[turn]]\nfault = { status = 429, headers = { retry-after = \"14000\" } }\n",
            "RateLimited { retry_after_ms: Some(14000000) } retryable: openai-compatible/m: the server takes no more requests for \
             now (429); it asks to wait 3 h 53 min, and no more than 60 s are waited",
        ),
        (
            "[[turn]]\nfault = { status = 429, body = '{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"pay\"}}' }\n",
            "RateLimited { retry_after_ms: None } final: openai-compatible/m: the quota of this account is used up, so waiting does \
             not help: pay",
        ),
        (
            "[[turn]]\ntext = \"abc\"\nfault = { error_after = 1, error = { message = \"overloaded\" } }\n",
            "Overloaded retryable: openai-compatible/m: the server failed while it answered: overloaded",
        ),
        (
            "[[turn]]\nfault = { status = 400, body = '{\"error\":{\"message\":\"bad\"}}' }\n",
            "BadRequest { status: 400 } final: openai-compatible/m: the server refuses the request (400): bad",
        ),
    ];
    for (script, expected) in rows {
        assert_eq!(retried(script).await, (expected.to_owned(), 1, Vec::new()), "{script}");
    }
    let (outcome, requests, _) = retried("[[turn]]\nalways = true\nfault = { status = 500 }\n").await;
    assert_eq!(
        (outcome.as_str(), requests),
        ("Overloaded retryable: openai-compatible/m: the server failed (500) (gave up after 4 attempts)", 4)
    );
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    for fault in ["stall_after = 0", "stall_after = 1"] {
        let server = server(&format!("[[turn]]\ntext = \"abc\"\nfault = {{ {fault} }}\n")).await;
        let settings = Settings { timeout: Duration::from_secs(600), ..settings(&server) };
        let (model, request) = (remote(&settings), prompt("go"));
        let (started, mut seen) = tokio::sync::mpsc::unbounded_channel();
        let sink = |_: Delta| started.send(()).unwrap();
        let mut answer = model.respond(&request, &sink);
        tokio::select! {
            _ = &mut answer => panic!("a stalled server answered"),
            Some(()) = seen.recv() => {}
            () = async { while server.requests().is_empty() { tokio::task::yield_now().await } }, if fault.ends_with('0') => {}
        }
        drop(answer);
        server.hung_up().await;
    }
}

#[tokio::test]
async fn one_connection_serves_every_request() {
    let server = server("fragment = 1\n[[turn]]\nalways = true\ntext = \"some text\"\n").await;
    let model = remote(&settings(&server));
    for _ in 0..5 {
        assert_eq!(shown(&ask(&model, &prompt("go")).await.0), "text \"some text\"\nStop");
    }
    assert_eq!((server.requests().len(), server.connections()), (5, 1));
}
