//! The wire code against real connections on loopback: what arrives, what is sent, what goes wrong.

mod faults;
mod replies;
mod requests;
mod scripts;
mod secrets;
mod vendors;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use foehn_ports::{Delta, Model, ModelError, ModelRequest, ModelResponse};
use foehn_protocol::Message;

use crate::offline::{Script, Server};
use crate::remote::Remote;
use crate::settings::Settings;

/// Settings that reach `server` as a plain compatible server: no retries, and a silence that a test can wait for.
fn settings(server: &Server) -> Settings {
    Settings {
        model: Some("m".into()),
        base_url: Some(server.url()),
        timeout: Duration::from_millis(300),
        max_retries: 0,
        ..Settings::new("openai-compatible")
    }
}

fn remote(settings: &Settings) -> Remote {
    let remote = Remote::open(settings, settings.info().unwrap()).unwrap();
    remote.with_first_wait(Duration::from_micros(1))
}

fn prompt(text: &str) -> ModelRequest {
    ModelRequest {
        system: "s".into(),
        messages: vec![Message::User { text: text.into() }],
        tools: Vec::new(),
        max_output_tokens: None,
        temperature: None,
    }
}

async fn server(script: &str) -> Server {
    Server::start(Script::parse(script, Path::new("test.toml")).unwrap()).await.unwrap()
}

async fn ask(model: &dyn Model, request: &ModelRequest) -> (Result<ModelResponse, ModelError>, Vec<Delta>) {
    let deltas = Mutex::new(Vec::new());
    let sink = |delta: Delta| deltas.lock().unwrap().push(delta);
    let outcome = model.respond(request, &sink).await;
    (outcome, deltas.into_inner().unwrap())
}

/// An outcome in lines: what a person compares at a glance.
fn shown(outcome: &Result<ModelResponse, ModelError>) -> String {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => {
            let again = if error.retryable { "retryable" } else { "final" };
            return format!("{:?} {again}: {error}", error.kind);
        }
    };
    let mut lines = Vec::new();
    if !response.message.reasoning.is_empty() {
        lines.push(format!("reasoning {:?}", response.message.reasoning));
    }
    if !response.message.text.is_empty() {
        lines.push(format!("text {:?}", response.message.text));
    }
    for call in &response.message.calls {
        let id = call.provider_id.as_deref().unwrap_or("-");
        lines.push(format!("call {} {} {}", id, call.name, call.arguments));
    }
    let usage = response.usage;
    lines.push(format!("{:?}", response.finish));
    if usage.input_tokens.is_some() || usage.output_tokens.is_some() {
        lines.push(format!(
            "usage {:?} {:?} {:?}",
            usage.input_tokens, usage.output_tokens, usage.cached_tokens
        ));
    }
    lines.join("\n")
}
