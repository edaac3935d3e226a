//! What a running call may ask of the host, answered for exactly one call.

use std::time::{Duration, Instant};

use foehn_plugin_sdk::wire::upcall::{
    self, Log, Progress, StateCas, StateGet, StateKeys, StateList, StatePut, StateSwapped, StateValue,
    UNSUPPORTED,
};
use foehn_plugin_sdk::wire::{CallHead, LogLevel};
use foehn_ports::ProgressSink;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::log::{Line, PluginLog};
use crate::state::StateStore;

/// Log lines of one call that are kept; a plugin that logs in a loop must not fill the disk.
const MAX_LOG_LINES: u32 = 1_000;

/// Progress is for a person: after a first burst, so many a second.
const PROGRESS_BURST: u32 = 10;
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// The longest progress line, in characters.
const MAX_PROGRESS_CHARACTERS: usize = 500;

/// The host's side of one call.
pub(crate) struct Services<'a> {
    pub plugin: &'a str,
    pub log: &'static PluginLog,
    pub state: &'a dyn StateStore,
    /// Whether the call may change stored values; looking at a call may not.
    pub may_change: bool,
    pub head: &'a CallHead,
    pub progress: Option<ProgressSink<'a>>,
    pub budget: Budget,
}

/// What one call has left of what is limited.
pub(crate) struct Budget {
    log_lines: u32,
    progress: u32,
    refilled: Instant,
}

impl Default for Budget {
    fn default() -> Self {
        Self { log_lines: MAX_LOG_LINES, progress: PROGRESS_BURST, refilled: Instant::now() }
    }
}

impl Services<'_> {
    pub(crate) fn progress(&mut self, body: &[u8]) {
        let Some(sink) = self.progress else { return };
        let Ok(Progress { text }) = serde_json::from_slice(body) else { return };
        if self.budget.allows_progress() {
            sink(cut(text));
        }
    }

    pub(crate) fn log(&mut self, body: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Log>(body) else { return };
        match self.budget.log_lines.checked_sub(1) {
            None => return,
            Some(0) => {
                let message = "this call logs too much; its further lines are dropped";
                self.log.write(LogLevel::Warn, Line { message, ..self.line() });
            }
            Some(_) => {
                let fields = if line.fields.is_empty() {
                    String::new()
                } else {
                    serde_json::json!(line.fields).to_string()
                };
                let line_of_call = self.line();
                let text =
                    Line { message: &line.message, source: &line.target, fields: &fields, ..line_of_call };
                self.log.write(line.level, text);
            }
        }
        self.budget.log_lines -= 1;
    }

    pub(crate) fn answer(&mut self, op: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let text = |error: crate::StateError| error.to_string();
        match op {
            upcall::STATE_GET => {
                let StateGet { key } = parse(body)?;
                encode(&StateValue { value: self.state.get(self.plugin, &key).map_err(text)? })
            }
            upcall::STATE_LIST => {
                let StateList { prefix } = parse(body)?;
                encode(&StateKeys { keys: self.state.list(self.plugin, &prefix).map_err(text)? })
            }
            upcall::STATE_PUT | upcall::STATE_CAS if !self.may_change => {
                Err("stored values cannot be changed while a call is only looked at".to_owned())
            }
            upcall::STATE_PUT => {
                let StatePut { key, value } = parse(body)?;
                self.state.put(self.plugin, &key, value).map_err(text)?;
                Ok(Vec::new())
            }
            upcall::STATE_CAS => {
                let StateCas { key, expected, value } = parse(body)?;
                let swapped = self.state.swap(self.plugin, &key, expected.as_ref(), value).map_err(text)?;
                encode(&StateSwapped { swapped })
            }
            upcall::ASK_USER => {
                Err(format!("{UNSUPPORTED}: this host puts no questions of plugins to the user"))
            }
            upcall::COMPLETE => {
                Err(format!("{UNSUPPORTED}: this host puts no questions of plugins to a model"))
            }
            _ => Err(format!("{UNSUPPORTED}: this host does not know `{op}`")),
        }
    }

    fn line(&self) -> Line<'_> {
        Line {
            tool: &self.head.tool,
            agent: &self.head.agent,
            session: &self.head.session,
            call: &self.head.call_id,
            ..Line::default()
        }
    }
}

impl Budget {
    fn allows_progress(&mut self) -> bool {
        let refill = (self.refilled.elapsed().as_millis() / PROGRESS_PAUSE.as_millis()) as u32;
        if refill > 0 {
            self.progress = self.progress.saturating_add(refill).min(PROGRESS_BURST);
            self.refilled = Instant::now();
        }
        let allowed = self.progress > 0;
        self.progress = self.progress.saturating_sub(1);
        allowed
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the request cannot be read: {error}"))
}

fn encode(answer: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(answer).map_err(|error| format!("the answer cannot be written: {error}"))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_PROGRESS_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::state::MemoryState;

    fn with_services<T>(
        may_change: bool,
        progress: Option<ProgressSink<'_>>,
        act: impl FnOnce(&mut Services<'_>) -> T,
    ) -> T {
        let (state, head) = (MemoryState::default(), CallHead::default());
        act(&mut Services {
            plugin: "test",
            log: PluginLog::of("test"),
            state: &state,
            may_change,
            head: &head,
            progress,
            budget: Budget::default(),
        })
    }

    fn check(services: &mut Services<'_>, op: &str, body: &str, expected: Result<&str, &str>) {
        let answer = services.answer(op, body.as_bytes()).map(|answer| String::from_utf8(answer).unwrap());
        assert_eq!(answer.as_deref().map_err(String::as_str), expected, "{op}");
    }

    #[test]
    fn every_op() {
        with_services(true, None, |services| {
            check(services, "state.get", r#"{"key":"k"}"#, Ok(r#"{"value":null}"#));
            check(services, "state.put", r#"{"key":"k","value":7}"#, Ok(""));
            check(services, "state.get", r#"{"key":"k"}"#, Ok(r#"{"value":7}"#));
            check(services, "state.cas", r#"{"key":"k","expected":8,"value":9}"#, Ok(r#"{"swapped":false}"#));
            check(services, "state.cas", r#"{"key":"k","expected":7,"value":9}"#, Ok(r#"{"swapped":true}"#));
            check(services, "state.list", "{}", Ok(r#"{"keys":["k"]}"#));
            check(services, "fly", "{}", Err("unsupported: this host does not know `fly`"));
            for op in ["ask_user", "complete"] {
                assert!(services.answer(op, b"{}").unwrap_err().starts_with(UNSUPPORTED));
            }
            assert!(
                services
                    .answer("state.get", b"nonsense")
                    .unwrap_err()
                    .starts_with("the request cannot be read")
            );
        });
    }

    #[test]
    fn looking_changes_nothing() {
        with_services(false, None, |services| {
            for op in ["state.put", "state.cas"] {
                let refused = "stored values cannot be changed while a call is only looked at";
                check(services, op, r#"{"key":"k","value":7}"#, Err(refused));
            }
            check(services, "state.list", "{}", Ok(r#"{"keys":[]}"#));
        });
    }

    #[test]
    fn progress_is_bounded() {
        let seen = Mutex::new(Vec::new());
        let sink = |text: String| seen.lock().unwrap().push(text);
        with_services(true, Some(&sink), |services| {
            services.progress(b"not JSON");
            for _ in 0..1_000 {
                services.progress(r#"{"text":"half"}"#.as_bytes());
            }
        });
        let seen = seen.into_inner().unwrap();
        assert!(seen.len() >= PROGRESS_BURST as usize && seen.len() < 1_000, "{}", seen.len());
        assert_eq!(cut("é".repeat(600)).chars().count(), MAX_PROGRESS_CHARACTERS + 1);
    }
}
