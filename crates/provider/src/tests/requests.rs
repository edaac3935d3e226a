//! What is sent.

use foehn_protocol::{AssistantMessage, CallId, ToolCall};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn the_base_url_is_taken_in_every_form() {
    for ending in ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1?version=2", "/openai/v1"] {
        let server = server("[[turn]]\ntext = \"a\"\n").await;
        let base_url = Some(format!("http://{}{ending}", server.address()));
        let settings = Settings { base_url, ..settings(&server) };
        assert_eq!(shown(&ask(&remote(&settings), &prompt("go")).await.0), "text \"a\"\nStop", "{ending}");
        let path = server.requests()[0].path.clone();
        let expected = match ending {
            "/v1?version=2" => "/v1/chat/completions?version=2",
            "/openai/v1" => "/openai/v1/chat/completions",
            _ => "/v1/chat/completions",
        };
        assert_eq!(path, expected, "{ending}");
    }
}

#[tokio::test]
async fn keys_and_passwords_go_into_headers_only() {
    let server = server("[[turn]]\nalways = true\ntext = \"a\"\n").await;
    let with_password = Some(format!("http://me:hunter22@{}/v1", server.address()));
    let rows = [
        (Some("sk-test-123\n"), None, Some("Bearer sk-test-123")),
        (None, None, None),
        (None, with_password.clone(), Some("Basic bWU6aHVudGVyMjI=")),
        (Some("sk-test-123"), with_password, Some("Bearer sk-test-123")),
    ];
    for (key, base_url, expected) in rows {
        let plain = settings(&server);
        let settings = Settings {
            api_key: key.map(SecretString::from),
            base_url: base_url.or(plain.base_url.clone()),
            ..plain
        };
        let _ = ask(&remote(&settings), &prompt("go")).await;
        let sent = server.requests().pop().unwrap();
        assert_eq!(sent.header("authorization"), expected);
        assert!(!sent.path.contains("hunter22") && !sent.body.contains("sk-test"));
    }
}

/// A session that began elsewhere: foreign ids, empty and broken arguments, a result for each call, one more question.
fn old_session() -> ModelRequest {
    let call = |id: &str, arguments: &str| ToolCall {
        id: CallId::from(id),
        provider_id: None,
        name: "t".into(),
        arguments: arguments.into(),
    };
    let result = |id: &str| Message::Tool {
        call: CallId::from(id),
        provider_id: None,
        tool: "t".into(),
        content: "{\"ok\":true}".into(),
        is_error: false,
    };
    let answer = AssistantMessage {
        calls: vec![
            call("toolu_01AbCdEfGh", ""),
            call("call_Zz99_1", "{\"cut"),
            call("abc123xyz", "{\"a\":1}"),
        ],
        reasoning: "secret thoughts".into(),
        origin: "anthropic/other".into(),
        native: Some(json!({"anything":1})),
        ..Default::default()
    };
    let messages = vec![
        Message::User { text: "go".into() },
        Message::Assistant(answer),
        result("toolu_01AbCdEfGh"),
        result("call_Zz99_1"),
        result("abc123xyz"),
        Message::User { text: "more".into() },
    ];
    ModelRequest { messages, ..prompt("") }
}

#[tokio::test]
async fn an_old_session_goes_on_with_the_strictest_server() {
    let server = server(
        "strict = [\"paired_results\", \"object_arguments\", \"nine_character_ids\", \"no_user_after_result\", \
         \"no_stream_options\"]\n[[turn]]\nalways = true\ntext = \"a\"\n",
    )
    .await;
    let settings = Settings {
        provider: "mistral".into(),
        api_key: Some(SecretString::from("sk-test-123")),
        model: None,
        ..settings(&server)
    };
    let (request, model) = (old_session(), remote(&settings));
    assert_eq!(shown(&ask(&model, &request).await.0), "text \"a\"\nStop");
    assert_eq!(shown(&ask(&model, &request).await.0), "text \"a\"\nStop");
    let sent = server.requests();
    assert_eq!(sent[0].body, sent[1].body, "the same conversation gives the same bytes");
    assert_eq!(sent[0].json()["model"], "devstral-latest");
    assert!(!sent[0].body.contains("secret thoughts"));
}

#[tokio::test]
async fn the_request_goes_before_the_settings() {
    let server = server("[[turn]]\nalways = true\ntext = \"a\"\n").await;
    let settings = Settings {
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        streaming: false,
        ..settings(&server)
    };
    let model = remote(&settings);
    let _ = ask(&model, &prompt("go")).await;
    let _ = ask(&model, &ModelRequest { temperature: Some(0.0), max_output_tokens: Some(7), ..prompt("go") })
        .await;
    let sent: Vec<Value> = server.requests().iter().map(crate::offline::Recorded::json).collect();
    let told =
        |body: &Value| (body["temperature"].clone(), body["max_tokens"].clone(), body.get("stream").cloned());
    assert_eq!(
        sent.iter().map(told).collect::<Vec<_>>(),
        [(json!(0.5), json!(100), None), (json!(0.0), json!(7), None)]
    );
}
