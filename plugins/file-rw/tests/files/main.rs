//! The tools of `file-rw` as a model calls them: arguments in, reply and files out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod bad_input;
mod border;
mod change;
mod classify;
mod config;
mod disturbed;
mod edit;
mod large;
mod look;
mod organize;
mod property;
mod race;
mod read;
mod search;
mod stale;
mod undo;
mod users;

use std::sync::atomic::{AtomicBool, Ordering};

use foehn_plugin_sdk::wire::{Reply, ReplyKind};
use foehn_plugin_testkit::{Call, TempWorkspace, Value, assert_contract, call};

/// Most characters of the definitions of all tools of this plugin. An agent pays for those that it has with every request.
const DEFINITION_CHARACTERS: usize = 8_150;

fn tool(name: &str, arguments: Value) -> Call {
    call(file_rw::foehn_plugin(), name, arguments)
}

/// Ends what goes on meanwhile, also when a test fails: it would go on for ever else.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The reply in short: its kind and what a model reads.
fn told(reply: &Reply) -> (ReplyKind, String) {
    (reply.kind, if reply.kind == ReplyKind::Ok { reply.text() } else { reply.message.clone() })
}

/// One call in `workspace`, what it answers, and the files that are there afterwards.
#[track_caller]
fn check(
    workspace: &TempWorkspace,
    (name, arguments): (&str, Value),
    kind: ReplyKind,
    text: &str,
    files: &[(&str, &[u8])],
) {
    let reply = tool(name, arguments).workspace(workspace).run();
    assert_eq!(told(&reply), (kind, text.to_owned()));
    if kind != ReplyKind::Ok {
        assert_eq!(reply.executed, Some(false), "a failed call changes nothing, and says so");
    }
    for (file, bytes) in files {
        let found = std::fs::read(workspace.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(
            (found.as_slice(), String::from_utf8_lossy(&found)),
            (*bytes, String::from_utf8_lossy(bytes)),
            "{file}"
        );
    }
    let left: Vec<String> = workspace.list().into_iter().filter(|name| name.contains(".foehn-")).collect();
    assert_eq!(left, Vec::<String>::new(), "no temporary file stays behind");
}

#[test]
fn the_definitions_are_sound_and_short() {
    assert_contract!(file_rw::foehn_plugin(), DEFINITION_CHARACTERS);
}
