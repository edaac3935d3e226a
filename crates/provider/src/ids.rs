//! Names of tool calls. Each call gets an id of ours in the strictest form any vendor asks for, nine lower-case letters
//! or digits; ids from elsewhere (an imported session, an older host) are spelled in that form when they are sent.
//!
//! Ids come from the conversation alone, never from a clock or a random source: the same request gives the same ids.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foehn_protocol::{CallId, Message};

const LENGTH: usize = 9;

/// Makes ids that no message of the request holds.
#[derive(Debug)]
pub(crate) struct Ids {
    taken: HashSet<String>,
    state: u64,
}

impl Ids {
    pub(crate) fn after(messages: &[Message]) -> Self {
        let mut taken = HashSet::new();
        let mut state = hash(hash(START, &messages.len().to_le_bytes()), b"call");
        for message in messages {
            match message {
                Message::Assistant(answer) => {
                    for call in &answer.calls {
                        state = hash(state, call.id.as_str().as_bytes());
                        taken.insert(call.id.0.clone());
                    }
                }
                Message::Tool { call, .. } => {
                    taken.insert(call.0.clone());
                }
                Message::User { .. } => {}
            }
        }
        // What was asked last parts one session from the next.
        match messages.last() {
            Some(Message::User { text }) => state = hash(state, text.as_bytes()),
            Some(Message::Tool { content, .. }) => state = hash(state, content.as_bytes()),
            _ => {}
        }
        Self { taken, state }
    }

    pub(crate) fn next(&mut self) -> CallId {
        loop {
            self.state = hash(self.state, b"next");
            let id = spell(self.state);
            if self.taken.insert(id.clone()) {
                return CallId(id);
            }
        }
    }
}

/// How the ids of one request are spelled on the wire.
#[derive(Debug, Default)]
pub(crate) struct WireIds {
    foreign: HashMap<CallId, String>,
}

impl WireIds {
    pub(crate) fn of(messages: &[Message]) -> Self {
        let calls = || {
            messages.iter().flat_map(|message| match message {
                Message::Assistant(answer) => answer.calls.iter().map(|call| &call.id).collect(),
                Message::Tool { call, .. } => vec![call],
                Message::User { .. } => Vec::new(),
            })
        };
        if calls().all(is_ours) {
            return Self::default();
        }
        let mut taken: HashSet<String> = calls().filter(|id| is_ours(id)).map(|id| id.0.clone()).collect();
        let mut foreign = HashMap::new();
        for id in calls().filter(|id| !is_ours(id)) {
            if foreign.contains_key(id) {
                continue;
            }
            let mut state = hash(START, id.as_str().as_bytes());
            let spelled = loop {
                let spelled = spell(state);
                if taken.insert(spelled.clone()) {
                    break spelled;
                }
                state = hash(state, b"next");
            };
            foreign.insert(id.clone(), spelled);
        }
        Self { foreign }
    }

    pub(crate) fn spell<'a>(&'a self, id: &'a CallId) -> Cow<'a, str> {
        Cow::Borrowed(self.foreign.get(id).map_or(id.as_str(), String::as_str))
    }
}

fn is_ours(id: &CallId) -> bool {
    id.0.len() == LENGTH && id.0.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn spell(mut state: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    (0..LENGTH)
        .map(|_| {
            let digit = DIGITS[(state % 36) as usize];
            state /= 36;
            char::from(digit)
        })
        .collect()
}

pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, closed by a mix so that neighbours do not look alike.
pub(crate) fn hash(state: u64, bytes: &[u8]) -> u64 {
    let mut state =
        bytes.iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    state ^= state >> 32;
    state = state.wrapping_mul(0xd6e8_feb8_6659_fd93);
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use foehn_protocol::{AssistantMessage, ToolCall};

    use super::*;

    fn history(ids: &[&str]) -> Vec<Message> {
        let call = |id: &&str| ToolCall {
            id: CallId::from(*id),
            provider_id: None,
            name: "t".into(),
            arguments: "{}".into(),
        };
        let results = ids.iter().map(|id| Message::Tool {
            call: CallId::from(*id),
            provider_id: None,
            tool: "t".into(),
            content: "{}".into(),
            is_error: false,
        });
        let answer = AssistantMessage { calls: ids.iter().map(call).collect(), ..Default::default() };
        [Message::User { text: "go".into() }, Message::Assistant(answer)].into_iter().chain(results).collect()
    }

    #[test]
    fn ids_are_strict_unique_and_the_same_for_the_same_request() {
        let messages = history(&["abc123xyz"]);
        let mut first = Ids::after(&messages);
        let made: Vec<CallId> = (0..500).map(|_| first.next()).collect();
        let mut second = Ids::after(&messages);
        assert_eq!(made, (0..500).map(|_| second.next()).collect::<Vec<_>>());
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), 500);
        assert!(made.iter().all(is_ours));
    }

    #[test]
    fn an_id_of_the_history_is_never_made_again() {
        let made = Ids::after(&[]).next();
        let mut ids = Ids { taken: HashSet::from([made.0.clone()]), ..Ids::after(&[]) };
        assert_ne!(ids.next(), made);
    }

    #[test]
    fn foreign_ids_are_mapped_stably_and_ours_are_left_alone() {
        let messages = history(&["toolu_01AbCdEfGh", "call_Zz99_1", "abc123xyz"]);
        let ids = WireIds::of(&messages);
        let spelled = |id: &str| ids.spell(&CallId::from(id)).into_owned();
        assert_eq!(spelled("abc123xyz"), "abc123xyz");
        let mapped = [spelled("toolu_01AbCdEfGh"), spelled("call_Zz99_1")];
        assert!(mapped.iter().all(|id| is_ours(&CallId(id.clone()))));
        assert_ne!(mapped[0], mapped[1]);
        assert_eq!(WireIds::of(&messages).spell(&CallId::from("call_Zz99_1")), mapped[1]);
    }
}
