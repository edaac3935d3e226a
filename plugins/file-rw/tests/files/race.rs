//! A folder that is exchanged for a link out, over and over, while every kind of access goes on. The plugin is opened once,
//! as in a worker, so that the calls come fast.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use foehn_plugin_sdk::abi::{PluginBox, host_ref};
use foehn_plugin_sdk::wire::{CallHead, OpenConfig, Reply, ReplyKind, op};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, json};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::Done;

const ROUNDS: u64 = 20_000;
/// Each of these makes a tree and removes it.
const REMOVALS: u64 = 500;

struct Opened<'w> {
    plugin: PluginBox,
    host: TestHost,
    workspace: &'w TempWorkspace,
}

impl Opened<'_> {
    fn call(&self, name: &str, arguments: &Value) -> Reply {
        let head = CallHead {
            tool: name.to_owned(),
            session: "s".to_owned(),
            workspace: self.workspace.join("ws"),
            ..CallHead::default()
        };
        let (head, body) = (serde_json(&head), arguments.to_string());
        let answer = self.plugin.call(
            op::EXECUTE.into(),
            head.as_bytes().into(),
            body.as_bytes().into(),
            host_ref(&self.host),
        );
        foehn_plugin_sdk::serde_json::from_slice(&answer).unwrap()
    }
}

fn serde_json(head: &CallHead) -> String {
    foehn_plugin_sdk::serde_json::to_string(head).unwrap()
}

#[test]
fn a_folder_exchanged_for_a_link_meanwhile_leads_nowhere() {
    exchange_for("../out");
}

/// Inside, but where no rule lets a tool go.
#[test]
fn a_folder_exchanged_for_a_link_meanwhile_does_not_lead_to_what_is_denied() {
    exchange_for(".git");
}

/// Exchanges `sub` for a link over and over while all kinds of calls use it; nothing of what the link leads to is read, and it
/// stays as it was.
fn exchange_for(link: &str) {
    let forbidden = format!("ws/{link}");
    let base = TempWorkspace::new([("ws/sub/f.txt", "inside\n"), ("ws/keep/g.txt", "inside\n")]);
    std::fs::create_dir(base.join(&forbidden)).unwrap();
    std::fs::write(base.join(&forbidden).join("f.txt"), "outside\n").unwrap();
    symlink(link, base.join("ws/other")).unwrap();
    let opened = Opened {
        plugin: file_rw::foehn_plugin().open(OpenConfig::default()).unwrap(),
        host: TestHost::new(),
        workspace: &base,
    };
    let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut went_well: BTreeMap<&str, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let (sub, other) = (base.join("ws/sub"), base.join("ws/other"));
            while !done.load(Ordering::Relaxed) || swaps.load(Ordering::Relaxed) < ROUNDS {
                renameat_with(CWD, &sub, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let ends = Done(&done);
        for round in 0..ROUNDS {
            let new = format!("sub/{}", round % 3);
            let (name, arguments) = match round % 10 {
                0 | 5 => ("read_file", json!({"path": "sub/f.txt"})),
                1 => ("write_file", json!({"path": "sub/f.txt", "content": "inside\n"})),
                2 => ("edit_file", json!({"path": "sub/f.txt", "old_text": "side", "new_text": "side"})),
                3 => ("create_file", json!({"path": new, "content": "inside\n"})),
                4 => ("delete_file", json!({"path": new})),
                6 => ("search_files", json!({"path": "sub", "pattern": "side"})),
                7 => ("copy_file", json!({"source": "keep/g.txt", "destination": new})),
                8 => ("append_file", json!({"path": new, "content": "inside\n"})),
                _ => ("list_directory", json!({"path": "sub"})),
            };
            let reply = opened.call(name, &arguments);
            assert!(!reply.text().contains("outside"), "round {round}, {name}: {}", reply.text());
            if reply.kind == ReplyKind::Ok {
                *went_well.entry(name).or_default() += 1;
            }
        }
        drop(ends);
        swapper.join().unwrap();
    });
    let beyond = base.join(&forbidden);
    let names =
        std::fs::read_dir(&beyond).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(
        (names, std::fs::read_to_string(beyond.join("f.txt")).unwrap()),
        (vec!["f.txt".into()], "outside\n".to_owned())
    );
    // Both sides of the race were met: calls went well, and not all of them.
    let read = went_well.get("read_file").copied().unwrap_or_default();
    assert!(read > 0 && swaps.load(Ordering::Relaxed) >= ROUNDS, "{went_well:?}");
}

/// By its path a folder that is exchanged for a link would be emptied where the link leads, inside the workspace as well.
#[test]
fn a_removal_never_empties_a_folder_that_was_exchanged_for_its_own() {
    let base = TempWorkspace::new([("ws/keep/f.txt", "kept\n"), ("ws/keep/in/g.txt", "kept\n")]);
    let opened = Opened {
        plugin: file_rw::foehn_plugin().open(OpenConfig::default()).unwrap(),
        host: TestHost::new(),
        workspace: &base,
    };
    let (sub, other) = (base.join("ws/build/sub"), base.join("ws/other"));
    let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut removed = 0;
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // At times one of them is missing.
                let swapped = renameat_with(CWD, &sub, CWD, &other, RenameFlags::EXCHANGE);
                swaps.fetch_add(u64::from(swapped.is_ok()), Ordering::Relaxed);
            }
        });
        let ends = Done(&done);
        for round in 0..REMOVALS {
            let _ = std::fs::remove_dir_all(&other);
            let _ = std::fs::remove_file(&other);
            let _ = symlink("../keep", &other).or_else(|_| symlink("keep", &other));
            let _ = std::fs::create_dir_all(sub.join("in"));
            for file in ["f.txt", "in/g.txt"] {
                let _ = std::fs::write(base.join("ws/build").join(file), "gone\n");
                let _ = std::fs::write(sub.join(file), "gone\n");
            }
            // What is written by path may have gone through the link.
            for file in ["f.txt", "in/g.txt"] {
                std::fs::write(base.join("ws/keep").join(file), "kept\n").unwrap();
            }
            let reply = opened.call("remove_directory", &json!({"path": "build", "recursive": true}));
            removed += u64::from(reply.kind == ReplyKind::Ok);
            for file in ["f.txt", "in/g.txt"] {
                let kept = std::fs::read_to_string(base.join("ws/keep").join(file));
                assert_eq!(kept.ok().as_deref(), Some("kept\n"), "round {round}: {}", reply.message);
            }
        }
        drop(ends);
        swapper.join().unwrap();
    });
    assert!(removed > 0 && swaps.load(Ordering::Relaxed) > REMOVALS, "{removed} {swaps:?}");
}
