//! Serves plain requests without a model: one tool, chosen by its words, its arguments filled from the text, and an
//! answer from what it gave. A pure function of the request: no clock, no chance, no memory.
//!
//! It refuses to pretend. Every answer says what it is, a request that no tool fits is told what can be done, and no
//! argument is made up: a tool whose required arguments the text does not hold is not called.

mod fill;
mod prompt;
mod rows;
mod tell;
mod words;

use foehn_ports::ModelRequest;
use foehn_protocol::Message;

use self::prompt::Prompt;
use super::play::{Played, PlayedCall};

/// Letters per piece, so that front ends show a stream.
pub(super) const FRAGMENT: usize = 24;

/// In every answer that calls nothing.
const CONFESSION: &str = "(I am Foehn's offline stand-in, not a language model: I pick a tool by its words and report \
                          what it gave. Set `provider` for real answers.)";

/// More calls than this for one request are not made.
const MOST_CALLS: usize = 4;

/// One result with the tool that gave it.
struct Given<'a> {
    tool: &'a str,
    /// Empty when the tool is no longer offered.
    description: &'a str,
    content: &'a str,
    is_error: bool,
}

pub(super) fn answer(request: &ModelRequest) -> Played {
    let (prompt, given) = conversation(request);
    let prompt = Prompt::read(prompt);
    if !given.is_empty() {
        return said(&tell::answer(&prompt, &given));
    }
    for tool in words::ranked(&prompt, &request.tools) {
        let filled = fill::calls(tool, &prompt);
        if filled.is_empty() {
            continue;
        }
        let calls = filled.into_iter().take(MOST_CALLS).map(|arguments| {
            PlayedCall::new(tool.name.clone(), serde_json::Value::Object(arguments).to_string())
        });
        return Played {
            text: format!("(offline stand-in, not a model) Calling `{}`.", tool.name),
            calls: calls.collect(),
            finish: "tool_calls".to_owned(),
            fragment: Some(FRAGMENT),
            ..Played::default()
        };
    }
    said(&tell::help(&request.tools))
}

fn said(text: &str) -> Played {
    Played {
        text: format!("{text}\n\n{CONFESSION}"),
        finish: "stop".to_owned(),
        fragment: Some(FRAGMENT),
        ..Played::default()
    }
}

/// What was asked, and what tools gave for it so far.
///
/// Without tools on offer, the last user message is the host's demand for a summary, so the one before it counts.
fn conversation(request: &ModelRequest) -> (&str, Vec<Given<'_>>) {
    let mut asked = "";
    let mut given = Vec::new();
    let mut earlier = None;
    for message in &request.messages {
        match message {
            Message::User { text } => {
                if !given.is_empty() {
                    earlier = Some((asked, std::mem::take(&mut given)));
                }
                asked = text;
            }
            Message::Tool { tool, content, is_error, .. } => {
                let offered = request.tools.iter().find(|offered| offered.name == *tool);
                let description = offered.map_or("", |offered| offered.description.as_str());
                given.push(Given { tool, description, content, is_error: *is_error });
            }
            Message::Assistant(_) => {}
        }
    }
    match earlier {
        Some(earlier) if given.is_empty() && request.tools.is_empty() => earlier,
        _ => (asked, given),
    }
}

#[cfg(test)]
mod tests;
