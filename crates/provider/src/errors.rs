//! What went wrong with a request, in words for a person, and whether it can pass by itself.
//!
//! Servers agree on little more than the status, so the rules read the status first and then the words of the body.
//! Nothing here is masked: that happens once, where a [`Failure`] becomes a [`ModelError`].

use std::time::{Duration, SystemTime};

use foehn_ports::{ModelError, ModelErrorKind, ModelIdentity};
use serde_json::Value;

use crate::mask::Mask;
use crate::retry::requested_wait;

/// One failed attempt.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) kind: ModelErrorKind,
    pub(crate) message: String,
    pub(crate) request_id: Option<String>,
    pub(crate) retryable: bool,
    /// The time that the server asks for.
    pub(crate) wait: Option<Duration>,
}

/// What the words of a failure need to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// Where the request went, without password and query.
    pub(crate) place: String,
    pub(crate) model: String,
    pub(crate) key_source: String,
    pub(crate) has_key: bool,
}

/// Header names under which servers give the id of a request, to be quoted to their support.
const REQUEST_ID_HEADERS: [&str; 4] =
    ["x-request-id", "request-id", "mistral-correlation-id", "x-goog-request-id"];

const LONGEST_DETAIL: usize = 300;

impl Failure {
    pub(crate) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), request_id: None, retryable: false, wait: None }
    }

    /// As it leaves this crate.
    pub(crate) fn told(self, identity: &ModelIdentity, mask: &Mask) -> ModelError {
        ModelError {
            kind: self.kind,
            provider: identity.provider.clone(),
            model: identity.model.clone(),
            message: mask.clean(&self.message),
            request_id: self.request_id.map(|id| mask.clean(&id)),
            retryable: self.retryable,
        }
    }

    pub(crate) fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The answer ended before its end.
    pub(crate) fn truncated() -> Self {
        Self::new(ModelErrorKind::Truncated, "the connection ended in the middle of the answer").retryable()
    }

    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::new(ModelErrorKind::Protocol, message)
    }

    pub(crate) fn silent(limit: Duration) -> Self {
        let message = format!("the server was silent for {} s", limit.as_secs_f64());
        Self::new(ModelErrorKind::Timeout, message).retryable()
    }

    /// A reply whose status is not 200.
    pub(crate) fn of_reply(
        status: u16,
        header: &dyn Fn(&str) -> Option<String>,
        body: &str,
        scene: &Scene,
    ) -> Self {
        let said = detail(body);
        let said_after = said.as_ref().map_or_else(String::new, |said| format!(": {said}"));
        let wait = requested_wait(header, SystemTime::now());
        let lower = body.to_ascii_lowercase();
        let failure = match status {
            300..=399 => {
                let target = header("location").unwrap_or_else(|| "another address".into());
                let message = format!(
                    "{} answers {status}, a redirect to {target}; set `base_url` to where the API really is",
                    scene.place
                );
                Self::new(ModelErrorKind::BadRequest { status }, message)
            }
            401 | 403 => Self::new(ModelErrorKind::Auth, refused_key(status, scene, &said_after)),
            402 => Self::new(ModelErrorKind::RateLimited { retry_after_ms: None }, spent(&said_after)),
            429 if is_spent(&lower) => {
                Self::new(ModelErrorKind::RateLimited { retry_after_ms: None }, spent(&said_after))
            }
            429 => {
                let retry_after_ms = wait.and_then(|wait| u64::try_from(wait.as_millis()).ok());
                let message = format!("the server takes no more requests for now (429){said_after}");
                Self::new(ModelErrorKind::RateLimited { retry_after_ms }, message).retryable()
            }
            400 | 413 | 422 if is_too_long(&lower) => {
                Self::new(ModelErrorKind::ContextTooLong, too_long(scene, &said_after))
            }
            404 => {
                let message = format!(
                    "{} knows no model `{}`, or is not the API{said_after}; check `model` and `base_url`",
                    scene.place, scene.model
                );
                Self::new(ModelErrorKind::BadRequest { status }, message)
            }
            408 | 409 | 425 => Self::new(
                ModelErrorKind::Overloaded,
                format!("the server could not take the request in time ({status}){said_after}"),
            )
            .retryable(),
            500..=599 => {
                let what = if status == 529 || status == 503 { "is overloaded" } else { "failed" };
                let message = format!("the server {what} ({status}){said_after}");
                Self::new(ModelErrorKind::Overloaded, message).retryable()
            }
            _ => Self::new(
                ModelErrorKind::BadRequest { status },
                format!("the server refuses the request ({status}){said_after}"),
            ),
        };
        let request_id = REQUEST_ID_HEADERS.iter().find_map(|name| header(name)).filter(|id| !id.is_empty());
        Self { request_id, wait, ..failure }
    }

    /// An error object where an answer was expected: in the body of a 200, or in the middle of a stream.
    pub(crate) fn of_error_object(error: &Value, scene: &Scene) -> Self {
        let text = error.to_string();
        let lower = text.to_ascii_lowercase();
        let code = [error.get("code"), error.get("status")]
            .into_iter()
            .flatten()
            .find_map(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code));
        let wrapped = format!("{{\"error\":{text}}}");
        if let Some(status) = code {
            return Self::of_reply(status, &|_| None, &wrapped, scene);
        }
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let said = detail(&wrapped).map_or_else(String::new, |said| format!(": {said}"));
        if is_spent(&lower) {
            return Self::new(ModelErrorKind::RateLimited { retry_after_ms: None }, spent(&said));
        }
        if is_too_long(&lower) {
            return Self::new(ModelErrorKind::ContextTooLong, too_long(scene, &said));
        }
        if has(&["rate_limit", "rate limit", "resource_exhausted", "too many requests"]) {
            let message = format!("the server takes no more requests for now{said}");
            return Self::new(ModelErrorKind::RateLimited { retry_after_ms: None }, message).retryable();
        }
        if has(&["authentication", "permission", "unauthorized", "invalid api key", "invalid_api_key"]) {
            return Self::new(ModelErrorKind::Auth, refused_key(401, scene, &said));
        }
        if has(&[
            "overloaded",
            "unavailable",
            "capacity",
            "server_error",
            "internal",
            "try again",
            "timed out",
        ]) {
            let message = format!("the server failed while it answered{said}");
            return Self::new(ModelErrorKind::Overloaded, message).retryable();
        }
        if has(&["invalid_request", "invalid_argument"]) {
            let message = format!("the server refuses the request{said}");
            return Self::new(ModelErrorKind::BadRequest { status: 400 }, message);
        }
        Self::protocol(format!("the server answered with an error{said}"))
    }

    /// A failure of the connection, at any point.
    pub(crate) fn of_transport(
        error: &reqwest::Error,
        idle: Duration,
        connect: Duration,
        scene: &Scene,
    ) -> Self {
        let place = &scene.place;
        let cause = deepest(error);
        let lower = cause.to_ascii_lowercase();
        if error.is_timeout() && error.is_connect() {
            let message = format!("no connection to {place} within {} s", connect.as_secs_f64());
            return Self::new(ModelErrorKind::Timeout, message).retryable();
        }
        if error.is_timeout() {
            return Self::silent(idle);
        }
        if error.is_connect() {
            let message = if lower.contains("refused") {
                format!("nothing listens at {place}; is the server running?")
            } else if lower.contains("lookup") || lower.contains("dns") || lower.contains("not known") {
                format!("the host of {place} cannot be found; check `base_url` and the network")
            } else if lower.contains("certificate") || lower.contains("tls") || lower.contains("handshake") {
                format!("no safe connection to {place}: {cause}")
            } else {
                format!("no connection to {place}: {cause}")
            };
            return Self::new(ModelErrorKind::Transport, message).retryable();
        }
        if error.is_body() || error.is_decode() {
            return Self::truncated();
        }
        Self::new(ModelErrorKind::Transport, format!("the connection to {place} broke: {cause}")).retryable()
    }
}

fn refused_key(status: u16, scene: &Scene, said: &str) -> String {
    if !scene.has_key {
        return format!("the server wants an API key ({status}){said}; looked for {}", scene.key_source);
    }
    format!("the server refuses the API key from {} ({status}){said}", scene.key_source)
}

fn spent(said: &str) -> String {
    format!("the quota of this account is used up, so waiting does not help{said}")
}

fn too_long(scene: &Scene, said: &str) -> String {
    format!("the conversation is too long for `{}`{said}", scene.model)
}

fn is_spent(lower: &str) -> bool {
    ["insufficient_quota", "exceeded your current quota", "billing", "credit balance", "out of credits"]
        .iter()
        .any(|words| lower.contains(words))
}

fn is_too_long(lower: &str) -> bool {
    [
        "context_length",
        "context length",
        "context window",
        "context size",
        "exceed_context",
        "prompt is too long",
        "too many tokens",
        "input token count",
        "too large for model",
        "maximum context",
    ]
    .iter()
    .any(|words| lower.contains(words))
}

/// What a body says, in one short line.
fn detail(body: &str) -> Option<String> {
    let body = body.trim();
    if body.is_empty() {
        return None;
    }
    if let Ok(value) = serde_json::from_str::<Value>(body) {
        return message_of(&value).or_else(|| Some(value.to_string())).map(|text| one_line(&text));
    }
    let lower = body.get(..body.len().min(200)).unwrap_or(body).to_ascii_lowercase();
    if lower.starts_with("<!doctype") || lower.contains("<html") {
        let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        return Some(title.map_or_else(
            || "a web page".to_owned(),
            |(title, _)| format!("a web page titled \"{}\"", one_line(title)),
        ));
    }
    Some(one_line(body))
}

fn message_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => values.iter().find_map(message_of),
        Value::Object(object) => ["error", "message", "detail", "msg", "errors"]
            .iter()
            .find_map(|key| message_of(object.get(*key)?)),
        _ => None,
    }
}

fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().count() > LONGEST_DETAIL {
            line = line.chars().take(LONGEST_DETAIL).chain(['…']).collect();
            break;
        }
    }
    line
}

/// The last cause of a chain: the outer ones only say "error sending request".
fn deepest(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    // The outermost error of the client names the address, which may hold a query.
    if cause.source().is_none() && std::error::Error::source(error).is_none() {
        return "the client gave no cause".to_owned();
    }
    one_line(&cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        Scene {
            place: "https://api.example/v1".into(),
            model: "m".into(),
            key_source: "EXAMPLE_KEY".into(),
            has_key: true,
        }
    }

    fn check(status: u16, body: &str, expected: &str, kind: ModelErrorKind, retryable: bool) {
        let failure = Failure::of_reply(status, &|_| None, body, &scene());
        assert_eq!(
            (failure.message.as_str(), &failure.kind, failure.retryable),
            (expected, &kind, retryable),
            "{status} {body}"
        );
    }

    #[test]
    fn replies_are_told_in_plain_words() {
        use ModelErrorKind::*;
        check(
            401,
            r#"{"message":"Unauthorized"}"#,
            "the server refuses the API key from EXAMPLE_KEY (401): Unauthorized",
            Auth,
            false,
        );
        check(
            429,
            r#"{"error":{"message":"slow down"}}"#,
            "the server takes no more requests for now (429): slow down",
            RateLimited { retry_after_ms: None },
            true,
        );
        check(
            429,
            r#"{"error":{"code":"insufficient_quota","message":"no money"}}"#,
            "the quota of this account is used up, so waiting does not help: no money",
            RateLimited { retry_after_ms: None },
            false,
        );
        check(
            502,
            "<html><head><title>502 Bad\nGateway</title></head></html>",
            "the server failed (502): a web page titled \"502 Bad Gateway\"",
            Overloaded,
            true,
        );
        check(500, "", "the server failed (500)", Overloaded, true);
        check(529, "busy", "the server is overloaded (529): busy", Overloaded, true);
        check(
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
            "the conversation is too long for `m`: This model's maximum context length is 8192 tokens",
            ContextTooLong,
            false,
        );
        check(
            404,
            "",
            "https://api.example/v1 knows no model `m`, or is not the API; check `model` and `base_url`",
            BadRequest { status: 404 },
            false,
        );
        check(
            422,
            r#"{"detail":[{"msg":"extra fields not permitted","loc":["body"]}]}"#,
            "the server refuses the request (422): extra fields not permitted",
            BadRequest { status: 422 },
            false,
        );
        check(
            301,
            "",
            "https://api.example/v1 answers 301, a redirect to another address; set `base_url` to where the API \
             really is",
            BadRequest { status: 301 },
            false,
        );
    }

    #[test]
    fn an_error_object_in_a_200_is_sorted_by_its_words() {
        use ModelErrorKind::*;
        let rows = [
            (r#"{"message":"overloaded"}"#, Overloaded, true),
            (r#"{"code":502,"message":"x"}"#, Overloaded, true),
            (r#"{"type":"rate_limit_error"}"#, RateLimited { retry_after_ms: None }, true),
            (r#"{"code":"insufficient_quota"}"#, RateLimited { retry_after_ms: None }, false),
            (r#"{"type":"authentication_error"}"#, Auth, false),
            (r#"{"message":"prompt is too long: 9 > 8"}"#, ContextTooLong, false),
            (r#"{"type":"invalid_request_error","message":"bad"}"#, BadRequest { status: 400 }, false),
            (r#""something odd""#, Protocol, false),
        ];
        for (error, kind, retryable) in rows {
            let value = serde_json::from_str(error).unwrap();
            let failure = Failure::of_error_object(&value, &scene());
            assert_eq!((failure.kind, failure.retryable), (kind, retryable), "{error}");
        }
    }

    #[test]
    fn a_long_or_hostile_body_becomes_one_short_line() {
        let body = format!("a\u{1b}[2Jb\r\n{}", "word ".repeat(500));
        let failure = Failure::of_reply(418, &|_| None, &body, &scene());
        assert!(failure.message.chars().count() < 400);
        assert!(!failure.message.chars().any(char::is_control));
    }
}
