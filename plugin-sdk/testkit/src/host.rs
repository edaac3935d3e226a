//! A host in memory: what a plugin tells it can be read afterwards, and what it answers can be set before.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foehn_plugin_sdk::__private::abi_stable::std_types::{RResult, RSlice, RStr, RString, RVec};
use foehn_plugin_sdk::abi::AbiHost;
use foehn_plugin_sdk::wire::upcall::{
    self, Answer, Completed, Completion, Log, Progress, Question, StateCas, StateGet, StateKeys, StateList,
    StatePut, StateSwapped, StateValue,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A host for one test. It may be shared with a thread, which then cancels a running call.
pub struct TestHost {
    seen: Mutex<Seen>,
    woken: Condvar,
    cancel: (PipeReader, PipeWriter),
}

#[derive(Default)]
struct Seen {
    cancelled: bool,
    cancel_at_progress: Option<String>,
    progress: Vec<String>,
    logs: Vec<Log>,
    state: BTreeMap<String, Value>,
    answers: VecDeque<String>,
    questions: Vec<Question>,
    completions: VecDeque<String>,
    completion_requests: Vec<Completion>,
}

impl TestHost {
    /// A host that keeps state and has nobody to ask.
    ///
    /// # Panics
    /// When the system has no more descriptors.
    pub fn new() -> Self {
        Self {
            seen: Mutex::default(),
            woken: Condvar::new(),
            cancel: pipe().expect("a pipe for the cancellation"),
        }
    }

    /// The user will answer the next open question with this.
    #[must_use]
    pub fn answer(self, text: &str) -> Self {
        self.seen().answers.push_back(text.to_owned());
        self
    }

    /// The model will answer the next open request with this.
    #[must_use]
    pub fn completion(self, text: &str) -> Self {
        self.seen().completions.push_back(text.to_owned());
        self
    }

    /// A stored value is there from the beginning.
    #[must_use]
    pub fn stored(self, key: &str, value: Value) -> Self {
        self.seen().state.insert(key.to_owned(), value);
        self
    }

    /// Cancels the call as soon as it reports this progress: the way to cancel at a certain place without any waiting.
    #[must_use]
    pub fn cancel_at_progress(self, text: &str) -> Self {
        self.seen().cancel_at_progress = Some(text.to_owned());
        self
    }

    /// Cancels the running call, and every later one on this host.
    pub fn cancel(&self) {
        let mut seen = self.seen();
        self.cancel_seen(&mut seen);
    }

    /// All progress reported so far.
    pub fn progress(&self) -> Vec<String> {
        self.seen().progress.clone()
    }

    /// All log lines so far.
    pub fn logs(&self) -> Vec<Log> {
        self.seen().logs.clone()
    }

    /// All stored values.
    pub fn state(&self) -> BTreeMap<String, Value> {
        self.seen().state.clone()
    }

    /// All questions to the user so far.
    pub fn questions(&self) -> Vec<Question> {
        self.seen().questions.clone()
    }

    /// All requests to a model so far.
    pub fn completion_requests(&self) -> Vec<Completion> {
        self.seen().completion_requests.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A test that has failed already may still look.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel_seen(&self, seen: &mut Seen) {
        if !seen.cancelled {
            seen.cancelled = true;
            (&self.cancel.1).write_all(b"x").expect("the reading end is ours");
            self.woken.notify_all();
        }
    }

    fn answer_to(&self, op: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let mut seen = self.seen();
        match op {
            upcall::PROGRESS => {
                let Progress { text } = read(body)?;
                if seen.cancel_at_progress.as_ref() == Some(&text) {
                    self.cancel_seen(&mut seen);
                }
                seen.progress.push(text);
                Ok(Vec::new())
            }
            upcall::LOG => {
                seen.logs.push(read(body)?);
                Ok(Vec::new())
            }
            upcall::STATE_GET => {
                let StateGet { key } = read(body)?;
                write(&StateValue { value: seen.state.get(&key).cloned() })
            }
            upcall::STATE_PUT => {
                let StatePut { key, value } = read(body)?;
                store(&mut seen.state, key, value);
                Ok(Vec::new())
            }
            upcall::STATE_CAS => {
                let StateCas { key, expected, value } = read(body)?;
                let swapped = seen.state.get(&key) == expected.as_ref();
                if swapped {
                    store(&mut seen.state, key, value);
                }
                write(&StateSwapped { swapped })
            }
            upcall::STATE_LIST => {
                let StateList { prefix } = read(body)?;
                let keys = seen.state.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
                write(&StateKeys { keys })
            }
            upcall::ASK_USER => {
                seen.questions.push(read(body)?);
                let text = seen.answers.pop_front().ok_or("unsupported: there is nobody to ask")?;
                write(&Answer { text })
            }
            upcall::COMPLETE => {
                seen.completion_requests.push(read(body)?);
                let text = seen.completions.pop_front().ok_or("unsupported: there is no model to ask")?;
                write(&Completed { text })
            }
            _ => Err(format!("unsupported: `{op}`")),
        }
    }
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TestHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TestHost").finish_non_exhaustive()
    }
}

impl AbiHost for TestHost {
    fn cancelled(&self) -> bool {
        self.seen().cancelled
    }

    fn wait_cancelled(&self, timeout_ms: u64) -> bool {
        let timeout = Duration::from_millis(timeout_ms);
        let waited = self.woken.wait_timeout_while(self.seen(), timeout, |seen| !seen.cancelled);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    fn cancel_fd(&self) -> i32 {
        self.cancel.0.as_raw_fd()
    }

    fn upcall(&self, op: RStr<'_>, body: RSlice<'_, u8>) -> RResult<RVec<u8>, RString> {
        self.answer_to(op.as_str(), body.as_slice()).map(RVec::from).map_err(RString::from).into()
    }
}

fn store(state: &mut BTreeMap<String, Value>, key: String, value: Option<Value>) {
    match value {
        Some(value) => drop(state.insert(key, value)),
        None => drop(state.remove(&key)),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

fn write(answer: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(answer).map_err(|error| error.to_string())
}
