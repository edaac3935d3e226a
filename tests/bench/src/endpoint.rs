//! A model that answers at once: plays a list of answers over HTTP on loopback and stamps when each request arrived.
//!
//! It speaks just enough of the OpenAI protocol to be a stopwatch. The host's own scripted server is part of what is
//! measured, so it cannot be the measure.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::memory;

/// What the model says next.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Text(String),
    Call { tool: &'static str, arguments: Value },
}

/// One request, from its last byte in to the last byte out.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) arrived: Instant,
    pub(crate) answered: Instant,
    pub(crate) body: String,
}

/// A running endpoint; it lives as long as the process.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<Answer>,
    exchanges: Vec<Exchange>,
    connections: usize,
    weigh: bool,
    heaviest: u64,
    calls: usize,
}

/// What one run of the host left behind.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) connections: usize,
    /// The most bytes that the host and its workers held when a request arrived; 0 if it was not asked for.
    pub(crate) heaviest: u64,
}

impl Endpoint {
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot listen on loopback")?;
        let endpoint = Self { address: listener.local_addr()?, state: Arc::default() };
        let accepting = endpoint.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let serving = accepting.clone();
                serving.lock().connections += 1;
                // A host that goes away ends its connection; what is missing is seen by whoever reads the record.
                std::thread::spawn(move || serving.serve(connection));
            }
        });
        Ok(endpoint)
    }

    /// Forgets the last run and plays these answers next. Weighing takes time, so such a run is not timed.
    pub(crate) fn play(&self, answers: Vec<Answer>, weigh: bool) {
        *self.lock() = State { answers: answers.into(), weigh, ..State::default() };
    }

    pub(crate) fn record(&self) -> Record {
        let state = self.lock();
        Record {
            exchanges: state.exchanges.clone(),
            connections: state.connections,
            heaviest: state.heaviest,
        }
    }

    fn serve(&self, connection: TcpStream) -> Result<()> {
        connection.set_nodelay(true)?;
        let mut writer = connection.try_clone()?;
        let mut reader = BufReader::new(connection);
        while let Some(body) = read_request(&mut reader)? {
            let arrived = Instant::now();
            let reply = {
                let mut state = self.lock();
                if state.weigh {
                    state.heaviest = state.heaviest.max(memory::of_descendants()?);
                }
                state.calls += 1;
                let call = state.calls;
                response(state.answers.pop_front(), call)
            };
            writer.write_all(reply.as_bytes())?;
            self.lock().exchanges.push(Exchange { arrived, answered: Instant::now(), body });
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of the next request; none at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> Result<Option<String>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = Some(value.trim().parse().context("the request's length is no number")?);
        }
    }
    let Some(length) = length else {
        bail!("the request has no length");
    };
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(String::from_utf8(body).context("the request is not UTF-8")?))
}

/// One whole streamed answer in one write.
fn response(answer: Option<Answer>, call: usize) -> String {
    let Some(answer) = answer else {
        let text =
            r#"{"error":{"message":"the bench has no further answer","type":"invalid_request_error"}}"#;
        return format!(
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        );
    };
    let (delta, finish) = match answer {
        Answer::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Answer::Call { tool, arguments } => {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            let calls = json!([{"index": 0, "id": format!("call{call:05}"), "type": "function", "function": function}]);
            (json!({"role": "assistant", "tool_calls": calls}), "tool_calls")
        }
    };
    let events = [
        event(&json!([{"index": 0, "delta": delta, "finish_reason": null}])),
        event(&json!([{"index": 0, "delta": {}, "finish_reason": finish}])),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n",
        events.len()
    )
}

fn event(choices: &Value) -> String {
    let chunk = json!({"id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "bench", "choices": choices});
    format!("data: {chunk}\n\n")
}
