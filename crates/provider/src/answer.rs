//! Puts an answer together from the events of a stream, hands out what a user may see, and holds the bounds: a server
//! that never stops must not fill the memory of the host.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use foehn_ports::{Delta, DeltaSink};
use foehn_protocol::{Finish, ToolCall, Usage};
use serde_json::Value;

use crate::errors::Failure;
use crate::ids::Ids;

const MOST_CALLS: usize = 128;
const MOST_ARGUMENT_BYTES: usize = 1024 * 1024;
const MOST_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// One step of an answer, in no vendor's words. `part` tells calls apart and orders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Text(String),
    Reasoning(String),
    CallStarted {
        part: usize,
        name: String,
    },
    /// A piece of the arguments, verbatim.
    Arguments {
        part: usize,
        json: String,
    },
    /// Its name as settled, and the vendor's id.
    CallEnded {
        part: usize,
        name: String,
        provider_id: Option<String>,
    },
}

/// What the end of an answer tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ending {
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
    /// What the vendor wants back verbatim.
    pub(crate) native: Option<Value>,
    /// Arguments that came as an object, verbatim, by the position of their call; they replace what was assembled.
    pub(crate) verbatim_arguments: Vec<String>,
}

/// A finish as servers write it; calls decide where it is missing.
pub(crate) fn finish_of(written: Option<&str>, has_calls: bool) -> Finish {
    match written.filter(|written| !written.is_empty()) {
        Some("stop" | "end" | "eos" | "end_turn" | "stop_sequence") => Finish::Stop,
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("tool_calls" | "function_call") => Finish::ToolCalls,
        Some("content_filter") => Finish::Filtered,
        Some(_) => Finish::Other,
        None if has_calls => Finish::ToolCalls,
        None => Finish::Stop,
    }
}

/// An answer in the making.
pub(crate) struct Assembly<'a> {
    deltas: DeltaSink<'a>,
    /// Set before anything is shown: from then on the request is not repeated.
    handed_out: &'a AtomicBool,
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, OpenCall>,
    argument_bytes: usize,
}

#[derive(Default)]
struct OpenCall {
    name: String,
    provider_id: Option<String>,
    arguments: String,
}

/// A complete answer, without its origin.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<ToolCall>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(deltas: DeltaSink<'a>, handed_out: &'a AtomicBool) -> Self {
        Self {
            deltas,
            handed_out,
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
            argument_bytes: 0,
        }
    }

    pub(crate) fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Text(text) => {
                self.text.push_str(&text);
                self.show(Delta::Text(text))?;
            }
            Event::Reasoning(text) => {
                self.reasoning.push_str(&text);
                self.show(Delta::Reasoning(text))?;
            }
            Event::CallStarted { part, name } => {
                self.calls.entry(part).or_default().name = name;
                if self.calls.len() > MOST_CALLS {
                    return Err(Failure::protocol(format!(
                        "the answer holds more than {MOST_CALLS} tool calls; none was run"
                    )));
                }
            }
            Event::Arguments { part, json } => {
                self.argument_bytes += json.len();
                if self.argument_bytes > MOST_ARGUMENT_BYTES {
                    return Err(Failure::protocol(format!(
                        "the tool calls of the answer hold more than {MOST_ARGUMENT_BYTES} bytes of arguments; none \
                         was run"
                    )));
                }
                self.calls.entry(part).or_default().arguments.push_str(&json);
            }
            Event::CallEnded { part, name, provider_id } => {
                let call = self.calls.entry(part).or_default();
                call.name = name;
                call.provider_id = provider_id;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self, ending: &Ending, ids: &mut Ids) -> Answer {
        let calls = self.calls.into_values().enumerate().map(|(position, call)| ToolCall {
            id: ids.next(),
            provider_id: call.provider_id,
            name: call.name,
            arguments: ending.verbatim_arguments.get(position).cloned().unwrap_or(call.arguments),
        });
        Answer { text: self.text, reasoning: self.reasoning, calls: calls.collect() }
    }

    fn show(&self, delta: Delta) -> Result<(), Failure> {
        if self.text.len() + self.reasoning.len() > MOST_TEXT_BYTES {
            return Err(Failure::protocol(format!("the answer is longer than {MOST_TEXT_BYTES} bytes")));
        }
        self.handed_out.store(true, Ordering::Relaxed);
        (self.deltas)(delta);
        Ok(())
    }
}
