//! No tool reads or changes anything outside of the workspace, whatever the path and whatever happens meanwhile.

use std::os::unix::fs::symlink;

use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::{told, tool};

/// Each tool with arguments that would work on the path.
fn every_tool(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("create_file", json!({"path": path, "content": "planted"})),
        ("write_file", json!({"path": path, "content": "planted"})),
        ("append_file", json!({"path": path, "content": "planted"})),
        ("edit_file", json!({"path": path, "old_text": "secret", "new_text": "planted"})),
        ("copy_file", json!({"source": path, "destination": "copied"})),
        ("copy_file", json!({"source": "a.txt", "destination": path})),
        ("move_file", json!({"source": "a.txt", "destination": path})),
        ("search_files", json!({"path": path, "pattern": "secret"})),
        ("delete_file", json!({"path": path})),
    ]
}

/// Every tool refuses the path with the same message; the neighbours of the workspace stay as they are.
#[track_caller]
fn check_refused(base: &TempWorkspace, path: &str, kind: ReplyKind, message: &str) {
    let before = base.list();
    // To the tools that look through a folder, no path at all is the workspace.
    let calls = every_tool(path).into_iter().filter(|(name, _)| !path.is_empty() || *name != "search_files");
    for (name, arguments) in calls {
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
fn a_link_out_may_only_be_moved_or_deleted_itself() {
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
    symlink("../ws-evil/secret.txt", base.join("ws/leak")).unwrap();
    let reply =
        tool("move_file", json!({"source": "leak", "destination": "moved"})).workspace(base.join("ws")).run();
    assert_eq!(told(&reply), (Ok, "moved the link `leak` to `moved`".to_owned()));
    let many = tool("read_many_files", json!({"paths": ["moved"]})).workspace(base.join("ws")).run();
    assert_eq!(
        many.text(),
        "0 of 1 file read\n\nnot read: `moved` is a link that leads out of the workspace"
    );
    let expected = ["ws-evil/", "ws-evil/secret.txt", "ws/", "ws/a.txt", "ws/moved -> ../ws-evil/secret.txt"];
    assert_eq!(
        (base.list(), base.read("ws-evil/secret.txt")),
        (expected.map(str::to_owned).into(), "secret\n".into())
    );
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

/// The tools whose arguments are of another kind than those above.
#[test]
fn a_link_out_shows_nothing_to_any_tool_that_looks() {
    let base = base();
    symlink("../ws-evil/secret.txt", base.join("ws/leak")).unwrap();
    symlink("../ws-evil", base.join("ws/leaks")).unwrap();
    let before = base.list();
    for (name, arguments, kind) in [
        ("read_many_files", json!({"paths": ["leak", "leaks/secret.txt"]}), Ok),
        ("read_many_files", json!({"folder": "leaks"}), Refused),
        ("read_many_files", json!({"folder": "."}), Ok),
        ("stat_file", json!({"path": "leak"}), Ok),
        ("stat_file", json!({"path": "leaks/secret.txt"}), Refused),
        ("list_directory", json!({"path": "leaks"}), Refused),
        ("list_directory", json!({}), Ok),
        ("find_files", json!({"path": "leaks", "pattern": "*"}), Refused),
        ("find_files", json!({"pattern": "*"}), Ok),
        ("search_files", json!({"path": "leaks", "pattern": "secret"}), Refused),
        ("search_files", json!({"pattern": "sec[r]et"}), Ok),
        ("make_directory", json!({"path": "leaks/made"}), Refused),
        ("remove_directory", json!({"path": "leaks", "recursive": true}), Failed),
        ("move_file", json!({"source": "leaks/secret.txt", "destination": "mine"}), Refused),
        ("move_file", json!({"source": "a.txt", "destination": "leaks/mine"}), Refused),
    ] {
        let reply = tool(name, arguments.clone()).workspace(base.join("ws")).run();
        assert_eq!(reply.kind, kind, "{name} {arguments}: {}{}", reply.message, reply.text());
        assert!(!reply.text().contains("1|secret"), "{name} {arguments}: {}", reply.text());
    }
    assert_eq!((base.list(), base.read("ws-evil/secret.txt")), (before, "secret\n".to_owned()));
}

#[test]
fn a_text_for_a_path_is_told_and_makes_nothing() {
    let base = base();
    let paragraph = "Please write a summary of this project.\nIt should have three parts. ".repeat(8);
    for name in ["read_file", "create_file"] {
        let reply = tool(name, json!({"path": paragraph, "content": "x"})).workspace(base.join("ws")).run();
        let start = "invalid path: the name `Please write a summary of this p...` is";
        assert!(reply.kind == Failed || reply.kind == ReplyKind::InvalidArguments, "{}", reply.message);
        assert!(reply.kind != Failed || reply.message.starts_with(start), "{}", reply.message);
    }
    assert_eq!(base.list(), ["ws-evil/", "ws-evil/secret.txt", "ws/", "ws/a.txt"]);
}
