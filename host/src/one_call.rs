//! A model that makes exactly one call, for `foehn tools call`: the call takes the very way of a real model's call,
//! through contract, rules, approval and worker, because it is one.

use std::sync::atomic::{AtomicBool, Ordering};

use foehn_ports::{BoxFuture, DeltaSink, Model, ModelError, ModelIdentity, ModelRequest, ModelResponse};
use foehn_protocol::{AssistantMessage, CallId, Finish, ToolCall, Usage};

#[derive(Debug)]
pub(crate) struct OneCall {
    identity: ModelIdentity,
    name: String,
    arguments: String,
    done: AtomicBool,
}

impl OneCall {
    pub(crate) fn new(name: String, arguments: String) -> Self {
        let identity =
            ModelIdentity { provider: "operator".into(), model: "tools call".into(), stand_in: false };
        Self { identity, name, arguments, done: AtomicBool::new(false) }
    }
}

impl Model for OneCall {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn respond<'a>(
        &'a self,
        _request: &'a ModelRequest,
        _deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        let origin = self.identity.origin();
        let (message, finish) = if self.done.swap(true, Ordering::Relaxed) {
            let text = "the call is done".to_owned();
            (AssistantMessage { text, origin, ..AssistantMessage::default() }, Finish::Stop)
        } else {
            let call = ToolCall {
                id: CallId::from("call00001"),
                provider_id: None,
                name: self.name.clone(),
                arguments: self.arguments.clone(),
            };
            (AssistantMessage { calls: vec![call], origin, ..AssistantMessage::default() }, Finish::ToolCalls)
        };
        Box::pin(std::future::ready(Ok(ModelResponse { message, finish, usage: Usage::default() })))
    }
}
