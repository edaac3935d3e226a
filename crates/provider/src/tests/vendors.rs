//! Anthropic and Gemini: text, calls, and what they sign going back to them.

use foehn_ports::ToolDefinition;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;
use crate::offline::Recorded;

/// What a document keeps of the first call's arguments: the server builds it from parsed JSON.
fn in_document() -> String {
    serde_json::from_str::<Value>(IN_STREAM).unwrap().to_string()
}

const IN_STREAM: &str = r#"{"n": 1, "n": 12345678901234567890123}"#;

const SCRIPT: &str = r#"
[[turn]]
reasoning = "let me see"
text = "Looking."
calls = [
    { name = "t", arguments = '{"n": 1, "n": 12345678901234567890123}', id = "toolu_1" },
    { name = "t", id = "toolu_2" },
]
usage = { input = 7, output = 3, cached = 2 }

[[turn]]
always = true
text = "done"
finish = "length"
"#;

fn request() -> ModelRequest {
    let tool = ToolDefinition {
        name: "t".into(),
        description: "does".into(),
        parameters: json!({"type":"object","properties":{"n":{"type":"integer"}}}),
    };
    ModelRequest { tools: vec![tool], ..prompt("go") }
}

/// One step with two calls, their results, and the next answer.
async fn conversation(provider: &str, streaming: bool) -> (Server, Vec<String>, ModelRequest) {
    let server = server(SCRIPT).await;
    let settings = Settings {
        provider: provider.into(),
        model: None,
        api_key: Some(SecretString::from("sk-test-123")),
        streaming,
        base_url: Some(format!("http://{}", server.address())),
        ..settings(&server)
    };
    let model = remote(&settings);
    let mut request = request();
    let first = ask(&model, &request).await.0;
    let mut told = vec![shown(&first)];
    let answer = first.unwrap().message;
    let results: Vec<Message> = answer
        .calls
        .iter()
        .map(|call| Message::Tool {
            call: call.id.clone(),
            provider_id: call.provider_id.clone(),
            tool: call.name.clone(),
            content: "{\"ok\":true,\"result\":\"r\"}".into(),
            is_error: false,
        })
        .collect();
    request.messages.push(Message::Assistant(answer));
    request.messages.extend(results);
    told.push(shown(&ask(&model, &request).await.0));
    (server, told, request)
}

fn last(server: &Server) -> (Recorded, Value) {
    let recorded = server.requests().pop().unwrap();
    let body = recorded.json();
    (recorded, body)
}

#[tokio::test]
async fn anthropic_gets_its_signed_thoughts_and_ids_back() {
    for streaming in [true, false] {
        let (server, told, mut request) = conversation("anthropic", streaming).await;
        let arguments = if streaming { IN_STREAM.to_owned() } else { in_document() };
        assert_eq!(
            told,
            [
                format!(
                    "reasoning \"let me see\"\ntext \"Looking.\"\ncall toolu_1 t {arguments}\ncall toolu_2 t {{}}\nToolCalls\nusage \
                     Some(9) Some(3) Some(2)"
                ),
                "text \"done\"\nLength\nusage Some(0) Some(0) Some(0)".to_owned(),
            ],
            "streaming {streaming}"
        );
        let (recorded, body) = last(&server);
        assert_eq!(
            (recorded.path.as_str(), recorded.header("x-api-key")),
            ("/v1/messages", Some("sk-test-123"))
        );
        assert_eq!(
            (
                &body["max_tokens"],
                &body["messages"][1]["content"][0],
                &body["messages"][1]["content"][2]["id"]
            ),
            (
                &json!(8192),
                &json!({"type":"thinking","thinking":"let me see","signature":"script"}),
                &json!("toolu_1")
            )
        );
        let results: Vec<&Value> = body["messages"][2]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| &block["tool_use_id"])
            .collect();
        assert_eq!(results, ["toolu_1", "toolu_2"]);

        // Under other instructions nothing signed goes back, and the ids are ours.
        request.system = "other".into();
        let settings = Settings {
            provider: "anthropic".into(),
            api_key: Some(SecretString::from("sk-test-123")),
            base_url: Some(server.url()),
            ..settings(&server)
        };
        let _ = ask(&remote(&settings), &request).await;
        let (_, body) = last(&server);
        let said = body["messages"][1]["content"].as_array().unwrap();
        let kinds: Vec<&str> = said.iter().filter_map(|block| block["type"].as_str()).collect();
        assert_eq!(kinds, ["text", "tool_use", "tool_use"]);
        let Message::Assistant(answer) = &request.messages[1] else { panic!() };
        assert_eq!(said[1]["id"], answer.calls[0].id.as_str());
        assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], answer.calls[0].id.as_str());
    }
}

#[tokio::test]
async fn gemini_keeps_every_digit_and_no_key_in_the_address() {
    for streaming in [true, false] {
        let (server, told, _) = conversation("gemini", streaming).await;
        let usage = "usage Some(7) Some(3) Some(2)";
        let arguments = if streaming { IN_STREAM.to_owned() } else { in_document() };
        assert_eq!(
            told[0],
            format!(
                "reasoning \"let me see\"\ntext \"Looking.\"\ncall - t {arguments}\ncall - t {{}}\nToolCalls\n{usage}"
            ),
            "streaming {streaming}"
        );
        assert!(told[1].starts_with("text \"done\"\nLength"), "{}", told[1]);
        let (recorded, body) = last(&server);
        let verb = if streaming { "streamGenerateContent?alt=sse" } else { "generateContent" };
        assert_eq!(recorded.path, format!("/v1beta/models/gemini-2.5-flash:{verb}"));
        assert_eq!(recorded.header("x-goog-api-key"), Some("sk-test-123"));
        let turns: Vec<&Value> =
            body["contents"].as_array().unwrap().iter().map(|turn| &turn["role"]).collect();
        assert_eq!(turns, ["user", "model", "user"]);
    }
}

#[tokio::test]
async fn their_failures_are_told_like_all_others() {
    for provider in ["anthropic", "gemini"] {
        let server = server("[[turn]]\ntext = \"abc\"\nfault = { error_after = 1, error = { type = \"overloaded_error\", message = \"Overloaded\" } }\n[[turn]]\nfault = { status = 401, body = \"no sk-test-123\" }\n[[turn]]\ntext = \"abc\"\nfault = { cut_after = 1 }\n").await;
        let settings = Settings {
            provider: provider.into(),
            api_key: Some(SecretString::from("sk-test-123")),
            model: Some("m".into()),
            ..settings(&server)
        };
        let model = remote(&settings);
        let mut told = Vec::new();
        for _ in 0..3 {
            told.push(shown(&ask(&model, &request()).await.0));
        }
        let key = settings.info().unwrap().key_variables.join(" or ");
        assert_eq!(
            told,
            [
                format!(
                    "Overloaded retryable: {provider}/m: the server failed while it answered: Overloaded"
                ),
                format!("Auth final: {provider}/m: the server refuses the API key from {key} (401): no ***"),
                format!(
                    "Truncated retryable: {provider}/m: the connection ended in the middle of the answer"
                ),
            ]
        );
    }
}
