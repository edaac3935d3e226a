//! An engine between scripted ports, and everything that happened as text.

// Each test file uses its own part of this module, and all of it is test code.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

mod ports;
mod render;

use std::mem::take;
use std::sync::{Arc, Mutex};

use foehn_engine::{AgentProfile, Engine};
use foehn_policy::Rules;
use foehn_ports::ModelRequest;
use foehn_protocol::{Entry, Event, EventBody, Op};
use tokio::sync::mpsc;

pub use ports::{Act, Gatekeeper, Say, Tool, call, calls, text};
use ports::{Ledger, Script, Shelf};

/// What the front end does when it sees an event: send something, or with `None` go away.
pub type Reaction = (fn(&Event) -> bool, Option<Op>);

/// One run: what the model says, which tools there are, and who is there to answer.
pub struct Run {
    pub profile: AgentProfile,
    pub prompts: Vec<&'static str>,
    pub says: Vec<Say>,
    pub tools: Vec<Tool>,
    pub gate: Gatekeeper,
    pub caller: Option<String>,
    pub reactions: Vec<Reaction>,
    /// A stored session to go on with.
    pub stored: Option<Vec<Entry>>,
    /// The number of the first commit of the journal that fails, as do all after it.
    pub journal_fails_at: Option<usize>,
}

struct Wired {
    engine: Engine,
    script: Arc<Script>,
    ledger: Arc<Ledger>,
    ran: Arc<Mutex<Vec<String>>>,
}

/// What came of it.
pub struct Outcome {
    /// The events, one a line.
    pub events: String,
    /// The journal's entries, one a line.
    pub journal: String,
    pub entries: Vec<Entry>,
    /// What was sent to the model, step by step.
    pub requests: Vec<ModelRequest>,
    /// The calls that reached a plugin, in order: `name arguments`.
    pub ran: Vec<String>,
}

impl Run {
    pub fn new(says: Vec<Say>) -> Self {
        Self {
            profile: AgentProfile {
                name: "default".to_owned(),
                system: "Be brief.".to_owned(),
                ..AgentProfile::default()
            },
            prompts: vec!["go"],
            says,
            tools: vec![Tool::reader("read"), Tool::reader("list"), Tool::writer("write")],
            gate: Gatekeeper::default(),
            caller: None,
            reactions: Vec::new(),
            stored: None,
            journal_fails_at: None,
        }
    }

    pub fn rules(mut self, tool: &str, allow: Option<&[&str]>, deny: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let rules = Rules { allow: allow.map(owned), deny: owned(deny), default: None };
        self.profile.rules.insert(tool.to_owned(), rules);
        self
    }

    pub fn on(mut self, when: fn(&Event) -> bool, op: Op) -> Self {
        self.reactions.push((when, Some(op)));
        self
    }

    pub fn leave_on(mut self, when: fn(&Event) -> bool) -> Self {
        self.reactions.push((when, None));
        self
    }

    /// Runs all prompts to their end, with time that passes only when everything waits.
    pub fn done(self) -> Outcome {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(self.played())
    }

    fn wired(self) -> Wired {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Script::new(self.says));
        let resume = self.stored.is_some();
        let ledger = Arc::new(Ledger::new(self.stored.unwrap_or_default(), self.journal_fails_at));
        let engine = Engine {
            model: script.clone(),
            toolbox: Arc::new(Shelf::new(self.tools, ran.clone())),
            journal: ledger.clone(),
            gate: Arc::new(self.gate),
            profile: self.profile,
            caller: self.caller,
            resume,
        };
        Wired { engine, script, ledger, ran }
    }

    async fn played(mut self) -> Outcome {
        let (mut reactions, texts) = (take(&mut self.reactions), take(&mut self.prompts));
        let Wired { engine, script, ledger, ran } = self.wired();
        let (ops, ops_in) = mpsc::unbounded_channel();
        let (events_out, mut events) = mpsc::unbounded_channel();
        let prompts = texts.len();
        for prompt in texts {
            ops.send(Op::Prompt { text: prompt.to_owned() }).unwrap();
        }
        let front = async move {
            let mut ops = Some(ops);
            let mut seen = Vec::new();
            let mut turns = 0;
            while let Some(event) = events.recv().await {
                if let Some(at) = reactions.iter().position(|(when, _)| when(&event)) {
                    match (reactions.remove(at).1, &ops) {
                        (Some(op), Some(ops)) => ops.send(op).unwrap(),
                        _ => ops = None,
                    }
                }
                turns += usize::from(matches!(event.body, EventBody::TurnDone { .. }));
                seen.push(event);
                if turns == prompts {
                    ops = None;
                }
            }
            seen
        };
        let (ended, seen) = tokio::join!(engine.run(ops_in, events_out), front);
        ended.unwrap();
        let entries = ledger.entries();
        let ran = ran.lock().unwrap().clone();
        Outcome {
            events: render::events(&seen),
            journal: render::journal(&entries),
            entries,
            requests: script.requests(),
            ran,
        }
    }
}

impl Outcome {
    /// The messages of the last request, one a line.
    pub fn last_request(&self) -> String {
        render::messages(&self.requests.last().unwrap().messages)
    }
}
