//! Turns events into lines for a person: the answer on one writer, the talk about it on another.

use std::io::{self, Write};

use foehn_protocol::{Event, EventBody, NoticeLevel, ToolResult, TurnStatus, Usage};

use crate::visible::visible;

/// Draws the events of one session in order.
///
/// With `streaming` each piece of text is shown as it arrives; without it only the final answer is written, which is
/// what a pipe wants.
#[derive(Debug)]
pub struct Drawer<Answer, Talk> {
    answer: Answer,
    talk: Talk,
    streaming: bool,
    /// The answer's current line is not ended yet.
    open_line: bool,
    /// Something of the current model answer was already streamed.
    streamed: String,
}

impl<Answer: Write, Talk: Write> Drawer<Answer, Talk> {
    pub fn new(answer: Answer, talk: Talk, streaming: bool) -> Self {
        Self { answer, talk, streaming, open_line: false, streamed: String::new() }
    }

    /// Writes what one event has to say; most have little.
    pub fn draw(&mut self, event: &Event) -> io::Result<()> {
        match &event.body {
            EventBody::SessionStarted { provider, model, stand_in, resumed, .. } => {
                let stand_in = if *stand_in { " (an offline stand-in, not a real model)" } else { "" };
                let verb = if *resumed { "resumed" } else { "session" };
                self.say(&format!("{verb} {} with {provider}/{model}{stand_in}", event.session))
            }
            EventBody::TurnStarted { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ApprovalRequested(_) => Ok(()),
            EventBody::StepStarted { .. } => {
                self.streamed.clear();
                Ok(())
            }
            EventBody::TextDelta { text } => self.stream(text),
            EventBody::Retrying { attempt, wait_ms, reason } => {
                self.say(&format!("try {attempt} in {:.1} s: {reason}", *wait_ms as f64 / 1000.0))
            }
            EventBody::AssistantMessage { .. } => self.end_line(),
            EventBody::ApprovalResolved { decision, by, .. } => {
                let word = match decision {
                    foehn_protocol::Decision::Once => "approved once",
                    foehn_protocol::Decision::Always => "approved from now on",
                    foehn_protocol::Decision::No => "declined",
                };
                self.say(&format!("  {word} ({by})"))
            }
            EventBody::CallStarted { tool, arguments, .. } => {
                self.say(&format!("> {tool} {}", shorten(arguments, ARGUMENTS_SHOWN)))
            }
            EventBody::CallProgress { text, .. } => self.say(&format!("  {text}")),
            EventBody::CallFinished(result) => self.say(&result_line(result)),
            EventBody::Notice { level, text } => match level {
                NoticeLevel::Info => self.say(text),
                NoticeLevel::Warning => self.say(&format!("warning: {text}")),
            },
            EventBody::TurnDone { status, text, reason, steps, calls, usage, elapsed_ms } => {
                self.finish(*status, text, reason.as_deref())?;
                self.say(&format!(
                    "{} in {:.1} s: {}, {}, {}",
                    status_word(*status),
                    *elapsed_ms as f64 / 1000.0,
                    counted(*steps, "step"),
                    counted(*calls, "call"),
                    tokens(*usage)
                ))
            }
        }
    }

    /// A line of talk, between other output.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.talk, "{}", visible(text))?;
        self.talk.flush()
    }

    /// Writes to the talk side without ending the line: a question.
    pub fn ask(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        write!(self.talk, "{text}")?;
        self.talk.flush()
    }

    fn stream(&mut self, text: &str) -> io::Result<()> {
        if !self.streaming || text.is_empty() {
            return Ok(());
        }
        self.streamed.push_str(text);
        write!(self.answer, "{}", visible(text))?;
        self.open_line = !text.ends_with('\n');
        self.answer.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.open_line {
            self.open_line = false;
            writeln!(self.answer)?;
            self.answer.flush()?;
        }
        Ok(())
    }

    fn finish(&mut self, status: TurnStatus, text: &str, reason: Option<&str>) -> io::Result<()> {
        self.end_line()?;
        if !text.is_empty() && self.streamed.trim() != text.trim() {
            writeln!(self.answer, "{}", visible(text.trim_end()))?;
            self.answer.flush()?;
        }
        match (status, reason) {
            (TurnStatus::Answered, None) | (_, None) => Ok(()),
            (TurnStatus::Failed, Some(reason)) => self.say(&format!("error: {reason}")),
            (_, Some(reason)) => self.say(reason),
        }
    }
}

/// How much of the arguments one line of talk holds; the approval card and `--json` have all of them.
const ARGUMENTS_SHOWN: usize = 160;

fn shorten(text: &str, most: usize) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn result_line(result: &ToolResult) -> String {
    if result.ok {
        return format!("  ok, {} ms", result.elapsed_ms);
    }
    let code = result
        .code
        .and_then(|code| serde_json::to_value(code).ok())
        .and_then(|code| code.as_str().map(str::to_owned))
        .unwrap_or_else(|| "failed".to_owned());
    let message = serde_json::from_str::<serde_json::Value>(&result.envelope)
        .ok()
        .and_then(|envelope| envelope.pointer("/error/message")?.as_str().map(str::to_owned))
        .unwrap_or_default();
    format!("  {code}: {}", shorten(&message, 2 * ARGUMENTS_SHOWN))
}

fn status_word(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Answered => "answered",
        TurnStatus::Failed => "failed",
        TurnStatus::Limit => "stopped by a limit",
        TurnStatus::Declined => "answered with a call declined",
        TurnStatus::Cancelled => "cancelled",
    }
}

fn counted(number: u32, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A vendor that does not report is "n/a": unknown is not zero.
fn tokens(usage: Usage) -> String {
    let shown = |count: Option<u64>| count.map_or_else(|| "n/a".to_owned(), |count| count.to_string());
    match usage {
        Usage { input_tokens: None, output_tokens: None, .. } => "tokens n/a".to_owned(),
        usage => format!("tokens {} in, {} out", shown(usage.input_tokens), shown(usage.output_tokens)),
    }
}

#[cfg(test)]
mod tests {
    use foehn_protocol::{CallId, Executed, Risk, SessionId, TurnId};

    use super::*;

    fn check(streaming: bool, bodies: Vec<EventBody>) -> String {
        let (mut answer, mut talk) = (Vec::new(), Vec::new());
        let mut drawer = Drawer::new(&mut answer, &mut talk, streaming);
        for body in bodies {
            drawer.draw(&Event::new(SessionId::from("s"), TurnId(1), body)).unwrap();
        }
        format!("answer:\n{}talk:\n{}", String::from_utf8(answer).unwrap(), String::from_utf8(talk).unwrap())
    }

    fn done(status: TurnStatus, text: &str, reason: Option<&str>) -> EventBody {
        EventBody::TurnDone {
            status,
            text: text.into(),
            reason: reason.map(Into::into),
            steps: 2,
            calls: 1,
            usage: Usage::default(),
            elapsed_ms: 1234,
        }
    }

    fn one_call() -> Vec<EventBody> {
        vec![
            EventBody::StepStarted { step: 1 },
            EventBody::TextDelta { text: "Let me look.".into() },
            EventBody::AssistantMessage { text: "Let me look.".into(), calls: 1, usage: Usage::default() },
            EventBody::CallStarted {
                call: CallId::from("c1"),
                tool: "scan".into(),
                plugin: "scan".into(),
                risk: Risk::ReadOnly,
                operations: vec![],
                arguments: r#"{"path":"src"}"#.into(),
                rule: "risk: read-only runs".into(),
            },
            EventBody::CallFinished(ToolResult {
                call: CallId::from("c1"),
                tool: "scan".into(),
                ok: false,
                code: Some(foehn_protocol::ErrorCode::Failed),
                executed: Executed::Yes,
                envelope: r#"{"ok":false,"error":{"message":"no such folder"}}"#.into(),
                elapsed_ms: 3,
            }),
            EventBody::StepStarted { step: 2 },
            EventBody::TextDelta { text: "There is no src\u{1b}[1A.".into() },
            done(TurnStatus::Answered, "There is no src\u{1b}[1A.", None),
        ]
    }

    #[test]
    fn a_terminal_sees_the_text_as_it_comes() {
        insta::assert_snapshot!(check(true, one_call()), @r#"
        answer:
        Let me look.
        There is no src\u{1b}[1A.
        talk:
        > scan {"path":"src"}
          failed: no such folder
        answered in 1.2 s: 2 steps, 1 call, tokens n/a
        "#);
    }

    #[test]
    fn a_pipe_gets_the_final_answer_only() {
        insta::assert_snapshot!(check(false, one_call()), @r#"
        answer:
        There is no src\u{1b}[1A.
        talk:
        > scan {"path":"src"}
          failed: no such folder
        answered in 1.2 s: 2 steps, 1 call, tokens n/a
        "#);
    }

    #[test]
    fn a_failed_turn_says_why() {
        insta::assert_snapshot!(
            check(true, vec![done(TurnStatus::Failed, "", Some("the server is gone"))]),
            @r"
        answer:
        talk:
        error: the server is gone
        failed in 1.2 s: 2 steps, 1 call, tokens n/a
        "
        );
    }
}
