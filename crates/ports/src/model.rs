//! A model that answers.

use std::fmt;

use foehn_protocol::{AssistantMessage, Finish, Message, Usage};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One model at one endpoint.
pub trait Model: Send + Sync {
    fn identity(&self) -> &ModelIdentity;

    /// Sends one request and streams the answer. Retries are the implementation's business: it never repeats a request
    /// after a delta was handed out. Dropping the future closes the connection and ends every wait.
    ///
    /// `call_ids` of the answer are the implementation's own: nine lower-case letters or digits, unique in the session
    /// as far as `request.messages` shows it.
    fn respond<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>>;
}

/// Takes what arrives, as it arrives.
pub type DeltaSink<'a> = &'a (dyn Fn(Delta) + Send + Sync);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelIdentity {
    pub provider: String,
    pub model: String,
    /// The offline stand-in, which must be named as such to the user.
    pub stand_in: bool,
}

impl ModelIdentity {
    /// `provider/model`, as kept beside each answer.
    pub fn origin(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// What to send. The same request gives the same bytes on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub system: String,
    pub messages: Vec<Message>,
    /// Empty: the model is offered no tool.
    pub tools: Vec<ToolDefinition>,
    pub max_output_tokens: Option<u64>,
    pub temperature: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    Retrying { attempt: u32, wait_ms: u64, reason: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelResponse {
    pub message: AssistantMessage,
    pub finish: Finish,
    pub usage: Usage,
}

/// A failed request, in words for a person, without any secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{provider}/{model}: {message}{}", RequestId(.request_id.as_deref()))]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub provider: String,
    pub model: String,
    /// What happened and what to do.
    pub message: String,
    pub request_id: Option<String>,
    pub retryable: bool,
}

struct RequestId<'a>(Option<&'a str>);

impl fmt::Display for RequestId<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => write!(formatter, " (request {id})"),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No key, or the server refused it.
    Auth,
    RateLimited {
        retry_after_ms: Option<u64>,
    },
    Overloaded,
    BadRequest {
        status: u16,
    },
    ContextTooLong,
    Timeout,
    Transport,
    /// The answer ended before its end.
    Truncated,
    /// The server answered in a way that no rule covers.
    Protocol,
    /// A script of the stand-in is wrong or has ended.
    Script,
}
