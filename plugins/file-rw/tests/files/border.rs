//! No tool reads or changes anything outside of the workspace, whatever the path and whatever happens meanwhile.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, Value, json};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::{told, tool};

/// Each tool with arguments that would work on the path.
fn every_tool(path: &str) -> [(&'static str, Value); 5] {
    [
        ("read_file", json!({"path": path})),
        ("create_file", json!({"path": path, "content": "planted"})),
        ("write_file", json!({"path": path, "content": "planted"})),
        ("edit_file", json!({"path": path, "old_text": "secret", "new_text": "planted"})),
        ("delete_file", json!({"path": path})),
    ]
}

/// Every tool refuses the path with the same message; the neighbours of the workspace stay as they are.
#[track_caller]
fn check_refused(base: &TempWorkspace, path: &str, kind: ReplyKind, message: &str) {
    let before = base.list();
    for (name, arguments) in every_tool(path) {
        let reply = tool(name, arguments).workspace(base.join("ws")).run();
        assert_eq!(told(&reply), (kind, message.to_owned()), "{name}");
        assert_eq!(reply.executed, Some(false), "{name}");
    }
    assert_eq!(base.list(), before);
    assert_eq!(base.read("ws-evil/secret.txt"), "secret\n");
}

fn base() -> TempWorkspace {
    TempWorkspace::new([("ws/a.txt", "a\n"), ("ws-evil/secret.txt", "secret\n")])
}

#[test]
fn paths_that_lead_out() {
    let base = base();
    let absolute = base.join("ws-evil/secret.txt");
    for path in ["../ws-evil/secret.txt", "x/../../ws-evil/secret.txt", absolute.to_str().unwrap()] {
        check_refused(&base, path, Refused, &format!("`{path}` lies outside of the workspace"));
    }
}

#[test]
fn folders_that_are_links_out() {
    let base = base();
    symlink("../ws-evil", base.join("ws/d")).unwrap();
    symlink("../ws-evil/nodir", base.join("ws/e")).unwrap();
    for (path, link) in [("d/secret.txt", "d"), ("d/planted.txt", "d"), ("e/f.txt", "e")] {
        let before = base.list();
        for (name, arguments) in every_tool(path) {
            let reply = tool(name, arguments).workspace(base.join("ws")).run();
            let message = reply.message.clone();
            assert_eq!(reply.kind, Refused, "{name} {path}: {message}");
            assert!(message.contains(&format!("`{link}")), "{name} {path}: {message}");
        }
        assert_eq!(base.list(), before);
    }
    assert_eq!(base.read("ws-evil/secret.txt"), "secret\n");
}

#[test]
fn a_link_out_may_only_be_deleted_itself() {
    let base = base();
    symlink("../ws-evil/secret.txt", base.join("ws/leak")).unwrap();
    symlink("../ws-evil/planted.txt", base.join("ws/new.txt")).unwrap();
    for path in ["leak", "new.txt"] {
        for (name, arguments) in every_tool(path) {
            let reply = tool(name, arguments).workspace(base.join("ws")).run();
            let expected = if name == "delete_file" { Ok } else { Refused };
            assert_eq!(reply.kind, expected, "{name} {path}: {}", reply.message);
        }
    }
    assert_eq!(base.list(), ["ws-evil/", "ws-evil/secret.txt", "ws/", "ws/a.txt"]);
    assert_eq!(base.read("ws-evil/secret.txt"), "secret\n");
}

#[test]
fn a_link_to_nothing_inside_is_not_written_through() {
    let base = base();
    symlink("missing.txt", base.join("ws/dead")).unwrap();
    let reply = tool("create_file", json!({"path": "dead", "content": "x"})).workspace(base.join("ws")).run();
    let message = "`dead` is a link to something that does not exist; nothing is created through it";
    assert_eq!(told(&reply), (Refused, message.to_owned()));
    assert!(!base.join("ws/missing.txt").exists());
}

#[test]
fn names_that_no_file_can_have() {
    let base = base();
    let long = "n".repeat(256);
    let longer = "d/".repeat(2500);
    let cases = [
        ("a\0b", "invalid path `a\\0b`: it holds a NUL character".to_owned()),
        (
            long.as_str(),
            format!(
                "invalid path: the name `{}...` is 256 bytes long, at most 255 are allowed",
                "n".repeat(32)
            ),
        ),
        (longer.as_str(), "invalid path: it is 5000 bytes long, at most 4096 are allowed".to_owned()),
        ("", "the path is empty; write `.` for the workspace itself".to_owned()),
    ];
    for (path, message) in cases {
        check_refused(&base, path, Failed, &message);
    }
    let longest = "n".repeat(255);
    let reply =
        tool("create_file", json!({"path": longest, "content": "x"})).workspace(base.join("ws")).run();
    assert_eq!(reply.kind, Ok, "{}", reply.message);
}

#[test]
fn a_workspace_given_through_a_link_is_the_same() {
    let base = TempWorkspace::new([("real/a.txt", "a\n"), ("real/deep/x/y.txt", "y\n")]);
    symlink(base.join("real"), base.join("link")).unwrap();
    symlink("deep", base.join("real/l")).unwrap();
    let paths = [
        ("a.txt".to_owned(), "a"),
        (base.join("link/a.txt").display().to_string(), "a"),
        (base.join("real/a.txt").display().to_string(), "a"),
        ("l/x/y.txt".to_owned(), "y"),
    ];
    for (path, line) in paths {
        let reply = tool("read_file", json!({"path": path})).workspace(base.join("link")).run();
        assert_eq!(
            reply.text().lines().last(),
            Some(format!("1|{line}").as_str()),
            "{path}: {}",
            reply.message
        );
    }
}

#[test]
fn a_folder_exchanged_for_a_link_meanwhile_leads_nowhere() {
    const ROUNDS: usize = 500;
    let base = TempWorkspace::new([("ws/sub/f.txt", "inside\n"), ("out/f.txt", "outside\n")]);
    symlink("../out", base.join("ws/other")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let (sub, other) = (base.join("ws/sub"), base.join("ws/other"));
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for round in 0..ROUNDS {
            let read = tool("read_file", json!({"path": "sub/f.txt"})).workspace(base.join("ws")).run();
            assert!(!read.text().contains("outside"), "round {round}: {}", read.text());
            tool("write_file", json!({"path": "sub/f.txt", "content": "inside\n"}))
                .workspace(base.join("ws"))
                .run();
            tool("create_file", json!({"path": format!("sub/{round}"), "content": ""}))
                .workspace(base.join("ws"))
                .run();
        }
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
    let outside: Vec<String> = base.list().into_iter().filter(|name| name.starts_with("out/")).collect();
    assert_eq!(
        (outside, base.read("out/f.txt")),
        (vec!["out/".to_owned(), "out/f.txt".to_owned()], "outside\n".to_owned())
    );
}
