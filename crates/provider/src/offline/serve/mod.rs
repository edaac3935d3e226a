//! A loopback server that plays a script in the wire formats of vendors, so that the real client code is tested, and any
//! other client can be driven. It records what it was sent and can be as strict as the strictest server.
//!
//! By the path: `…/chat/completions`, `…/messages` (Anthropic), `…:generateContent` and `…:streamGenerateContent`
//! (Gemini), `…/models`. It is a test instrument: no TLS, no key is checked, and [`Server`] binds nothing but loopback.

mod anthropic;
mod connection;
mod gemini;
mod openai;
mod strict;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub use strict::Strictness;

use self::connection::{Connection, Head};
use super::play::{Asked, Played, Player};
use super::script::{Fault, Script};

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

#[derive(Debug)]
struct Shared {
    player: Player,
    requests: Mutex<Vec<Recorded>>,
    connections: AtomicUsize,
    hang_ups: watch::Sender<usize>,
    /// Where each request is appended to as one line of JSON, before it is answered.
    record: Option<PathBuf>,
}

/// An answer as a vendor writes it. The pieces of a stream are whole event texts.
struct Written {
    head: Vec<String>,
    /// One for each event of the answer.
    steps: Vec<String>,
    tail: Vec<String>,
    /// The same as one document.
    plain: Value,
}

#[derive(Clone, Copy)]
enum Format {
    OpenAi,
    Anthropic,
    Gemini,
}

impl Server {
    /// Starts on a free port of 127.0.0.1.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script, None));
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for clients that want one ending in `/v1`.
    pub fn url(&self) -> String {
        base_url(self.address)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were opened so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Resolves once a client has left in the middle of an answer.
    pub async fn hung_up(&self) {
        let mut hang_ups = self.shared.hang_ups.subscribe();
        // The sender lives as long as `self`.
        let _ = hang_ups.wait_for(|count| *count > 0).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Keys that a client sent are left out: the record is for reading.
    fn append_to(&self, file: &Path) -> io::Result<()> {
        let headers: serde_json::Map<String, Value> = self
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "authorization" | "x-api-key" | "x-goog-api-key"))
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        let line = serde_json::json!({
            "method": self.method, "path": self.path, "headers": headers, "body": self.json(),
        });
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
        writeln!(file, "{line}")
    }
}

impl Shared {
    fn new(script: Script, record: Option<PathBuf>) -> Self {
        Self {
            player: Player::new(script),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            hang_ups: watch::Sender::new(0),
            record,
        }
    }

    fn keep(&self, request: Recorded) -> io::Result<()> {
        if let Some(file) = &self.record {
            request.append_to(file)?;
        }
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        Ok(())
    }
}

/// Serves `script` at `address` until the future is dropped. `ready` is told the base URL once it can be reached. With
/// `record`, each request is appended to that file before it is answered: one line of JSON with `method`, `path`,
/// `headers` (without keys) and `body`.
pub async fn serve(
    script: Script,
    address: SocketAddr,
    record: Option<PathBuf>,
    ready: impl FnOnce(String),
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    ready(base_url(listener.local_addr()?));
    accept(listener, Arc::new(Shared::new(script, record))).await;
    Ok(())
}

fn base_url(address: SocketAddr) -> String {
    format!("http://{address}/v1")
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        // A client that is gone before it is accepted is nobody's concern.
        let Ok((stream, _)) = accepted else { continue };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let mut connection = Connection::new(stream);
            while let Ok(Some(request)) = connection.request().await {
                let answered = answer(&mut connection, &shared, request).await;
                if answered.is_err() {
                    shared.hang_ups.send_modify(|count| *count += 1);
                }
                if !matches!(answered, Ok(Open::Yes)) {
                    break;
                }
            }
        });
    }
}

/// Whether a connection goes on after an answer.
enum Open {
    Yes,
    No,
}

/// Answers one request. An error means that the client has left.
async fn answer(connection: &mut Connection, shared: &Shared, request: Recorded) -> io::Result<Open> {
    let body = request.json();
    let path = request.path.clone();
    let route = path.split('?').next().unwrap_or_default().to_owned();
    shared.keep(request)?;
    let (format, streaming) = if route.ends_with("/chat/completions") {
        (Format::OpenAi, body.get("stream") == Some(&Value::Bool(true)))
    } else if route.ends_with("/messages") {
        (Format::Anthropic, body.get("stream") == Some(&Value::Bool(true)))
    } else if route.ends_with(":streamGenerateContent") {
        (Format::Gemini, true)
    } else if route.ends_with(":generateContent") {
        (Format::Gemini, false)
    } else if route.ends_with("/models") {
        let models = serde_json::json!({"object":"list","data":[{"id":"script","object":"model"}]});
        return connection.whole(&Head::json(200), &models.to_string()).await.map(|()| Open::Yes);
    } else {
        return refuse(connection, 404, &format!("no such path: {route}")).await;
    };
    if let Some(message) = strict::problem(&shared.player.script().strict, &body) {
        return refuse(connection, 400, &message).await;
    }
    let asked: Asked = match format {
        Format::OpenAi => openai::asked(&body),
        Format::Anthropic => anthropic::asked(&body),
        Format::Gemini => gemini::asked(&body),
    };
    let played = match shared.player.answer(&asked) {
        Ok(played) => played,
        Err(error) => return refuse(connection, 400, &error.to_string()).await,
    };
    let written = match format {
        Format::OpenAi => openai::written(&played, &body),
        Format::Anthropic => anthropic::written(&played),
        Format::Gemini => gemini::written(&played),
    };
    connection.rest(played.delay).await?;
    perform(connection, format, &played, written, streaming).await
}

async fn refuse(connection: &mut Connection, status: u16, message: &str) -> io::Result<Open> {
    let error = serde_json::json!({"error":{"message":message,"type":"invalid_request_error"}});
    connection.whole(&Head::json(status), &error.to_string()).await.map(|()| Open::Yes)
}

async fn perform(
    connection: &mut Connection,
    format: Format,
    played: &Played,
    written: Written,
    streaming: bool,
) -> io::Result<Open> {
    let fault = played.fault.clone().unwrap_or_default();
    if fault.close {
        return Ok(Open::No);
    }
    if let Some(status) = fault.status {
        let head = Head::with(status, &fault.headers);
        return connection.whole(&head, &fault.body).await.map(|()| Open::Yes);
    }
    if let Some(raw) = &fault.raw {
        connection.start(&Head::stream()).await?;
        let size = played.fragment.unwrap_or(usize::MAX).max(1);
        for piece in raw.as_bytes().chunks(size) {
            connection.chunk(piece).await?;
        }
        return connection.end().await.map(|()| Open::Yes);
    }
    if !streaming || fault.plain {
        return plain(connection, &fault, &written.plain.to_string()).await;
    }
    connection.start(&Head::stream()).await?;
    for text in &written.head {
        connection.chunk(text.as_bytes()).await?;
    }
    for (number, text) in written.steps.iter().enumerate() {
        if let Some(open) = break_off(connection, format, &fault, number).await? {
            return Ok(open);
        }
        connection.chunk(text.as_bytes()).await?;
    }
    if let Some(open) = break_off(connection, format, &fault, usize::MAX).await? {
        return Ok(open);
    }
    for text in &written.tail {
        connection.chunk(text.as_bytes()).await?;
    }
    connection.end().await.map(|()| Open::Yes)
}

/// One document, with those faults that a document can have.
async fn plain(connection: &mut Connection, fault: &Fault, document: &str) -> io::Result<Open> {
    if fault.stall_after.is_some() || fault.cut_after.is_some() {
        let half = document.get(..document.len() / 2).unwrap_or_default();
        connection.part_of_whole(&Head::json(200), document.len(), half).await?;
        if fault.stall_after.is_some() {
            connection.wait_for_hang_up().await?;
        }
        return Ok(Open::No);
    }
    if fault.error_after.is_some() {
        let error = serde_json::json!({ "error": fault.error });
        return connection.whole(&Head::json(200), &error.to_string()).await.map(|()| Open::Yes);
    }
    let document = if fault.malformed_after.is_some() { "{\"choices\": [oops" } else { document };
    connection.whole(&Head::json(200), document).await.map(|()| Open::Yes)
}

/// Plays the fault that is due after so many events; `None` when none is.
async fn break_off(
    connection: &mut Connection,
    format: Format,
    fault: &Fault,
    number: usize,
) -> io::Result<Option<Open>> {
    let due = |after: Option<usize>| after.is_some_and(|after| after <= number);
    if due(fault.cut_after) {
        return Ok(Some(Open::No));
    }
    if due(fault.stall_after) {
        connection.wait_for_hang_up().await?;
        return Ok(Some(Open::No));
    }
    let text = if due(fault.error_after) {
        let error = fault.error.clone().unwrap_or_else(|| Value::from("unknown"));
        match format {
            Format::Anthropic => event("error", &serde_json::json!({"type":"error","error":error})),
            Format::OpenAi | Format::Gemini => data(&serde_json::json!({ "error": error })),
        }
    } else if due(fault.malformed_after) {
        "data: {\"choices\": [oops\n\n".to_owned()
    } else {
        return Ok(None);
    };
    connection.chunk(text.as_bytes()).await?;
    connection.end().await?;
    Ok(Some(Open::Yes))
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}
