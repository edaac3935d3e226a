//! Ports that do what a test says.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use foehn_ports::{
    BoxFuture, CallContext, Delta, DeltaSink, Gate, GrantKey, Journal, JournalError, Model, ModelError,
    ModelErrorKind, ModelIdentity, ModelRequest, ModelResponse, Outcome, OutcomeKind, ToolRequest, Toolbox,
    ToolboxError,
};
use foehn_protocol::{
    AssistantMessage, CallId, Classification, Entry, Finish, Operation, Part, Preview, Risk, SessionId,
    ToolCall, ToolSpec, Usage,
};
use serde_json::{Value, json};

/// One answer of the model.
pub enum Say {
    Answer {
        text: String,
        calls: Vec<(String, String)>,
        finish: Finish,
    },
    /// Says a little and then nothing more.
    Hang(&'static str),
    Fail(&'static str),
}

pub fn text(text: &str) -> Say {
    Say::Answer { text: text.to_owned(), calls: Vec::new(), finish: Finish::Stop }
}

pub fn call(name: &str, arguments: &str) -> Say {
    calls("", &[(name, arguments)])
}

pub fn calls(text: &str, calls: &[(&str, &str)]) -> Say {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect();
    Say::Answer { text: text.to_owned(), calls, finish: Finish::ToolCalls }
}

impl Say {
    pub fn finish(mut self, with: Finish) -> Self {
        if let Self::Answer { finish, .. } = &mut self {
            *finish = with;
        }
        self
    }
}

pub struct Script {
    identity: ModelIdentity,
    says: Mutex<std::vec::IntoIter<Say>>,
    requests: Mutex<Vec<ModelRequest>>,
    calls: AtomicUsize,
}

impl Script {
    pub fn new(says: Vec<Say>) -> Self {
        Self {
            identity: ModelIdentity {
                provider: "fake".to_owned(),
                model: "script".to_owned(),
                stand_in: false,
            },
            says: Mutex::new(says.into_iter()),
            requests: Mutex::default(),
            calls: AtomicUsize::new(0),
        }
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    fn error(&self, message: &str) -> ModelError {
        ModelError {
            kind: ModelErrorKind::Overloaded,
            provider: self.identity.provider.clone(),
            model: self.identity.model.clone(),
            message: message.to_owned(),
            request_id: None,
            retryable: false,
        }
    }
}

impl Model for Script {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn respond<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        let say = self.says.lock().unwrap().next();
        Box::pin(async move {
            tokio::task::yield_now().await;
            let (text, calls, finish) = match say {
                Some(Say::Answer { text, calls, finish }) => (text, calls, finish),
                Some(Say::Hang(words)) => {
                    deltas(Delta::Text(words.to_owned()));
                    return std::future::pending().await;
                }
                Some(Say::Fail(message)) => return Err(self.error(message)),
                None => return Err(self.error("the script has ended")),
            };
            if !text.is_empty() {
                deltas(Delta::Text(text.clone()));
            }
            let calls = calls
                .into_iter()
                .map(|(name, arguments)| {
                    let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
                    ToolCall { id: CallId(format!("c{number}")), provider_id: None, name, arguments }
                })
                .collect();
            let message = AssistantMessage { text, calls, ..AssistantMessage::default() };
            let usage = Usage { input_tokens: Some(10), output_tokens: Some(1), cached_tokens: None };
            Ok(ModelResponse { message, finish, usage })
        })
    }
}

/// What a tool does when it runs.
#[derive(Clone)]
pub enum Act {
    /// Gives its arguments back.
    Echo,
    Say(String),
    End(OutcomeKind, &'static str),
    /// Tells progress, waits to be cancelled, and gives what it had.
    UntilCancelled,
    /// Waits for ever, whatever it is told.
    Never,
}

#[derive(Clone)]
pub struct Tool {
    pub spec: ToolSpec,
    pub act: Act,
    pub classification: Option<Classification>,
}

impl Tool {
    pub fn new(name: &str, risk: Risk) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "n": {"type": "integer"}},
            "additionalProperties": false,
        });
        Self {
            spec: ToolSpec {
                name: name.to_owned(),
                plugin: "files".to_owned(),
                description: format!("Tool {name}."),
                risk,
                schema,
                ..ToolSpec::default()
            },
            act: Act::Echo,
            classification: None,
        }
    }

    pub fn reader(name: &str) -> Self {
        Self::new(name, Risk::ReadOnly)
    }

    pub fn writer(name: &str) -> Self {
        Self::new(name, Risk::Write)
    }

    pub fn act(mut self, act: Act) -> Self {
        self.act = act;
        self
    }

    pub fn schema(mut self, schema: Value) -> Self {
        self.spec.schema = schema;
        self
    }

    /// The operations it works out for every call, as `name` and risk.
    pub fn classified(mut self, operations: &[(&str, Risk)]) -> Self {
        self.spec.classifies = true;
        let classification = self.classification.get_or_insert_default();
        classification.operations = operations
            .iter()
            .map(|(name, risk)| Operation { name: (*name).to_owned(), risk: *risk, target: None })
            .collect();
        classification.preview = Some(Preview::Text { text: "what it would do".to_owned() });
        self
    }

    pub fn refuses(mut self, why: &str) -> Self {
        self.spec.classifies = true;
        self.classification.get_or_insert_default().refusal = Some(why.to_owned());
        self
    }
}

pub struct Shelf {
    tools: Vec<(Arc<ToolSpec>, Tool)>,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Shelf {
    pub fn new(tools: Vec<Tool>, ran: Arc<Mutex<Vec<String>>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (Arc::new(tool.spec.clone()), tool)).collect(), ran }
    }

    fn tool(&self, name: &str) -> &Tool {
        &self.tools.iter().find(|(spec, _)| spec.name == name).unwrap().1
    }
}

impl Toolbox for Shelf {
    fn tools(&self) -> Vec<Arc<ToolSpec>> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    fn find(&self, name: &str) -> Option<Arc<ToolSpec>> {
        let known = |spec: &ToolSpec| spec.name == name || spec.aliases.iter().any(|alias| alias == name);
        self.tools.iter().find(|(spec, _)| known(spec)).map(|(spec, _)| spec.clone())
    }

    fn classify<'a>(
        &'a self,
        request: &'a ToolRequest,
    ) -> BoxFuture<'a, Result<Classification, ToolboxError>> {
        Box::pin(async {
            tokio::task::yield_now().await;
            self.tool(&request.spec.name).classification.clone().ok_or_else(|| ToolboxError::Unavailable {
                plugin: request.spec.plugin.clone(),
                message: "it is gone".to_owned(),
            })
        })
    }

    fn execute<'a>(&'a self, request: &'a ToolRequest, context: CallContext<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.ran.lock().unwrap().push(format!("{} {}", request.spec.name, request.arguments));
            let outcome = |kind, text: &str, message: &str| Outcome {
                kind,
                parts: (!text.is_empty()).then(|| Part::Text { text: text.to_owned() }).into_iter().collect(),
                message: message.to_owned(),
                notes: Vec::new(),
                executed: None,
            };
            tokio::task::yield_now().await;
            match &self.tool(&request.spec.name).act {
                Act::Echo => outcome(OutcomeKind::Ok, &request.arguments, ""),
                Act::Say(text) => outcome(OutcomeKind::Ok, text, ""),
                Act::End(kind, message) => outcome(*kind, "", message),
                Act::UntilCancelled => {
                    (context.progress)("half way".to_owned());
                    context.cancel.cancelled().await;
                    outcome(OutcomeKind::Cancelled, "half of it", "cancelled")
                }
                Act::Never => std::future::pending().await,
            }
        })
    }
}

pub struct Ledger {
    session: SessionId,
    entries: Mutex<Vec<Entry>>,
    commits: AtomicUsize,
    fails_at: Option<usize>,
}

impl Ledger {
    pub fn new(stored: Vec<Entry>, fails_at: Option<usize>) -> Self {
        Self {
            session: SessionId::from("session"),
            entries: Mutex::new(stored),
            commits: AtomicUsize::new(0),
            fails_at,
        }
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }
}

impl Journal for Ledger {
    fn session(&self) -> &SessionId {
        &self.session
    }

    fn append(&self, entry: Entry) {
        self.entries.lock().unwrap().push(entry);
    }

    fn committed(&self) -> BoxFuture<'_, Result<(), JournalError>> {
        let number = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        let fails = self.fails_at.is_some_and(|at| number >= at);
        Box::pin(async move {
            tokio::task::yield_now().await;
            match fails {
                true => Err(JournalError::Store {
                    place: "sessions.db".to_owned(),
                    message: "cannot be written: the disk is full".to_owned(),
                }),
                false => Ok(()),
            }
        })
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Entry>, JournalError>> {
        Box::pin(async { Ok(self.entries()) })
    }
}

/// Somebody is there, unless said otherwise.
pub struct Gatekeeper {
    pub attended: bool,
    pub says_yes: Option<&'static str>,
    grants: Mutex<HashSet<GrantKey>>,
}

impl Default for Gatekeeper {
    fn default() -> Self {
        Self { attended: true, says_yes: None, grants: Mutex::default() }
    }
}

impl Gatekeeper {
    pub fn absent() -> Self {
        Self { attended: false, ..Self::default() }
    }

    pub fn yes(words: &'static str) -> Self {
        Self { attended: false, says_yes: Some(words), ..Self::default() }
    }
}

impl Gate for Gatekeeper {
    fn attended(&self) -> bool {
        self.attended
    }

    fn approves_everything(&self) -> Option<&str> {
        self.says_yes
    }

    fn granted(&self, key: &GrantKey) -> bool {
        self.grants.lock().unwrap().contains(key)
    }

    fn grant(&self, key: GrantKey) {
        self.grants.lock().unwrap().insert(key);
    }
}
