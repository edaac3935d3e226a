//! What logs hold at their most talkative, whatever a server echoes.

use std::io;
use std::sync::{Arc, Mutex};

use secrecy::SecretString;

use super::*;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const SCRIPT: &str = r#"
[[turn]]
text = "hello"
[[turn]]
fault = { status = 401, body = "wrong key sk-test-123" }
[[turn]]
text = "a"
fault = { error_after = 0, error = { message = "wrong key sk-test-123" } }
[[turn]]
text = "a"
fault = { malformed_after = 0 }
"#;

#[tokio::test]
async fn no_log_and_no_error_holds_a_key() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    for provider in ["openai-compatible", "mistral", "anthropic", "gemini"] {
        let server = server(SCRIPT).await;
        let settings = Settings {
            provider: provider.into(),
            base_url: Some(format!("http://me:hunter22@{}", server.address())),
            api_key: Some(SecretString::from("sk-test-123\n")),
            ..settings(&server)
        };
        tracing::debug!(?settings, "connecting");
        let model = remote(&settings);
        for _ in 0..4 {
            let told = format!("{:?}", ask(&model, &prompt("go")).await);
            assert!(!told.contains("sk-test") && !told.contains("hunter22"), "{told}");
        }
        let sent = server.requests();
        assert_eq!(sent.len(), 4, "{provider}");
        assert!(
            sent.iter().all(|request| format!("{:?}", request.headers).contains("sk-test-123")),
            "{provider}"
        );
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("connecting"));
    for line in logged.lines() {
        // The script server is no part of what a user logs, and records what it is sent.
        assert!(!line.contains("sk-test-123") && !line.contains("hunter22"), "{line}");
    }
}
