//! What an operator's configuration allows, and what no message tells.

use std::os::unix::fs::symlink;

use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::{told, tool};

fn base() -> TempWorkspace {
    TempWorkspace::new([
        ("ws/a.txt", "a\n"),
        ("ws/sub/b.md", "b\n"),
        ("data/d.txt", "d\n"),
        ("notes/n.txt", "n\n"),
        ("private/p.txt", "p\n"),
    ])
}

#[track_caller]
fn check(base: &TempWorkspace, config: &Value, name: &str, arguments: Value, expected: (ReplyKind, &str)) {
    let reply = tool(name, arguments).config(config.clone()).workspace(base.join("ws")).run();
    assert_eq!(told(&reply), (expected.0, expected.1.to_owned()), "{name}");
}

/// Every tool that takes a path, on that path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("stat_file", json!({"path": path})),
        ("search_files", json!({"path": path, "pattern": "x"})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("create_file", json!({"path": path, "content": "x"})),
        ("append_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old_text": "a", "new_text": "x"})),
        ("delete_file", json!({"path": path})),
        ("copy_file", json!({"source": path, "destination": "copied"})),
        ("copy_file", json!({"source": "a.txt", "destination": path})),
        ("move_file", json!({"source": path, "destination": "moved"})),
        ("move_file", json!({"source": "a.txt", "destination": path})),
        ("make_directory", json!({"path": path})),
        ("remove_directory", json!({"path": path, "recursive": true})),
    ]
}

#[test]
fn what_is_denied_is_denied_to_every_tool() {
    let base = base();
    base.write("ws/.env", "SECRET\n");
    base.write("ws/.git/config", "[core]\n");
    base.write("ws/sub/server.pem", "KEY\n");
    symlink(".env", base.join("ws/innocent.txt")).unwrap();
    let before = base.list();
    for (path, glob) in [
        (".env", ".env*"),
        (".Env", ".env*"),
        ("sub/.ENV.local", ".env*"),
        (".GIT/config", ".git/**"),
        ("sub/.gIt/hooks/pre-commit", ".git/**"),
        (".git", ".git/**"),
        ("sub/server.pem", "*.pem"),
        (".foehn/state.db", ".foehn/**"),
        ("foehn.toml", "foehn.toml"),
    ] {
        for (name, arguments) in calls(path) {
            let message = format!("`{path}` is denied by the configuration (`{glob}`)");
            check(&base, &json!({}), name, arguments, (Refused, &message));
        }
    }
    let message = "`innocent.txt` is denied by the configuration (`.env*`)";
    check(&base, &json!({}), "read_file", json!({"path": "innocent.txt"}), (Refused, message));
    assert_eq!((base.list(), base.read("ws/a.txt")), (before, "a\n".to_owned()));
}

#[test]
fn what_is_denied_is_not_reached_through_its_folder() {
    let base = base();
    base.write("ws/sub/.env", "SECRET\n");
    let message = "`sub` holds `sub/.env`, which is denied by the configuration (`.env*`)";
    for (name, arguments) in [
        ("move_file", json!({"source": "sub", "destination": "other"})),
        ("remove_directory", json!({"path": "sub", "recursive": true})),
    ] {
        check(&base, &json!({}), name, arguments, (Refused, message));
    }
    let search = json!({"pattern": "SECRET", "include_hidden": true});
    check(
        &base,
        &json!({}),
        "search_files",
        search,
        (
            Ok,
            "`SECRET` is not in any of the 2 files of `.` that were searched\nleft out: 1 that the configuration denies",
        ),
    );
    let own = json!({"denied": ["sub/*.md"]});
    check(&base, &own, "read_file", json!({"path": "sub/.env"}), (Ok, "`sub/.env`: 1 line\n1|SECRET"));
    check(
        &base,
        &own,
        "read_file",
        json!({"path": "sub/b.md"}),
        (Refused, "`sub/b.md` is denied by the configuration (`sub/*.md`)"),
    );
    let bad = json!({"denied": ["a{"]});
    check(
        &base,
        &bad,
        "read_file",
        json!({"path": "a.txt"}),
        (
            Failed,
            "configuration, `denied`: bad pattern `a{` at character 2: `{` is never closed; a literal one is `[{]`",
        ),
    );
}

#[test]
fn names_that_only_begin_alike_are_free() {
    let base = base();
    for path in [".gitignore", ".github/ci.yml", "environment", "x.pem.txt"] {
        let reply =
            tool("create_file", json!({"path": path, "content": "x"})).workspace(base.join("ws")).run();
        assert_eq!(reply.kind, Ok, "{path}: {}", reply.message);
    }
}

#[test]
fn further_roots_are_reached_by_absolute_paths() {
    let base = base();
    let root = |name: &str| base.join(name).display().to_string();
    let (data, notes, private) = (root("data"), root("notes"), root("private"));
    let config = json!({"extra_roots": [{"path": data}, {"path": "../notes", "access": "write"}]});
    let read = |path: &str, expected: (ReplyKind, &str)| {
        check(&base, &config, "read_file", json!({"path": path}), expected);
    };
    read(&format!("{data}/d.txt"), (Ok, &format!("`{data}/d.txt`: 1 line\n1|d")));
    read(
        "../data/d.txt",
        (
            Refused,
            &format!(
                "`../data/d.txt` lies in another folder that may be used, `{data}`; give the path as `{data}/d.txt`"
            ),
        ),
    );
    let outside = |path: &str| format!("`{path}` lies outside of the workspace");
    for path in ["../private/p.txt", &format!("{private}/p.txt"), "../nothing/x"] {
        read(path, (Refused, &outside(path)));
    }
    read(&format!("{data}/gone"), (Failed, &format!("in `{data}`: `gone` does not exist")));
    symlink(base.join("data/d.txt"), base.join("ws/link")).unwrap();
    symlink(base.join("private/p.txt"), base.join("ws/secret")).unwrap();
    read(
        "link",
        (
            Refused,
            &format!(
                "`link` lies in another folder that may be used, `{data}`; give the path as `{data}/d.txt`"
            ),
        ),
    );
    read("secret", (Refused, "`secret` is a link that leads out of the workspace"));
    for (name, arguments) in calls(&format!("{data}/d.txt")).into_iter().skip(3) {
        if name != "copy_file" || arguments["source"] == "a.txt" {
            let message = format!("`{data}/d.txt` lies in `{data}`, where this agent may only read");
            check(&base, &config, name, arguments, (Refused, &message));
        }
    }
    let copy = json!({"source": format!("{data}/d.txt"), "destination": format!("{notes}/new/e.txt")});
    let copied = format!("copied `{data}/d.txt` to `{notes}/new/e.txt` (2 bytes)");
    check(&base, &config, "copy_file", copy, (Ok, &copied));
    assert_eq!(base.read("notes/new/e.txt"), "d\n");
    let moved = json!({"source": format!("{notes}/n.txt"), "destination": "n.txt"});
    let apart = format!(
        "`{notes}/n.txt` and `n.txt` lie in different folders of the configuration; copy the file and delete the old one"
    );
    check(&base, &config, "move_file", moved, (Failed, &apart));
}

#[test]
fn a_root_that_cannot_be_opened_is_in_nobodys_way() {
    let base = base();
    let config = json!({"extra_roots": [{"path": "/no/such/folder"}]});
    check(&base, &config, "read_file", json!({"path": "a.txt"}), (Ok, "`a.txt`: 1 line\n1|a"));
    check(
        &base,
        &config,
        "read_file",
        json!({"path": "/no/such/folder/x"}),
        (
            Failed,
            "the folder `/no/such/folder` of the configuration cannot be opened: No such file or directory (os error 2); one \
             outside of the workspace must also be listed under `[sandbox] read` or `write`",
        ),
    );
}

#[test]
fn the_root_may_be_another_folder() {
    let base = base();
    let config = json!({"root": "sub"});
    check(&base, &config, "read_file", json!({"path": "b.md"}), (Ok, "`b.md`: 1 line\n1|b"));
    check(
        &base,
        &config,
        "read_file",
        json!({"path": "../a.txt"}),
        (Refused, "`../a.txt` lies outside of the workspace"),
    );
    symlink("../private", base.join("ws/out")).unwrap();
    check(
        &base,
        &json!({"root": "out"}),
        "read_file",
        json!({"path": "p.txt"}),
        (Refused, "`out` is a link that leads out of the workspace"),
    );
    let absolute = json!({"root": base.join("notes").to_str()});
    check(&base, &absolute, "read_file", json!({"path": "n.txt"}), (Ok, "`n.txt`: 1 line\n1|n"));
}

#[test]
fn writing_and_endings_can_be_switched_off() {
    let base = base();
    let before = base.list();
    let config = json!({"allow_write": false});
    for (name, arguments) in calls("a.txt").into_iter().skip(3) {
        check(
            &base,
            &config,
            name,
            arguments,
            (Refused, "this agent may not change files (allow_write = false)"),
        );
    }
    check(&base, &config, "read_file", json!({"path": "a.txt"}), (Ok, "`a.txt`: 1 line\n1|a"));
    let config = json!({"allowed_extensions": [".MD", "rst"]});
    let message = "`a.txt`: this agent may only use files that end in `.md`, `.rst`";
    for name in ["read_file", "stat_file", "delete_file"] {
        check(&base, &config, name, json!({"path": "a.txt"}), (Refused, message));
    }
    check(&base, &config, "read_file", json!({"path": "sub/b.md"}), (Ok, "`sub/b.md`: 1 line\n1|b"));
    let rename = json!({"source": "sub/b.md", "destination": "sub/b.sh"});
    let message = "`sub/b.sh`: this agent may only use files that end in `.md`, `.rst`";
    check(&base, &config, "move_file", rename, (Refused, message));
    let off = json!({"enabled": false});
    let message = "this tool is switched off; its configuration has to set enabled = true";
    check(&base, &off, "read_file", json!({"path": "a.txt"}), (Refused, message));
    assert_eq!(base.list(), before);
}

#[test]
fn every_tool_takes_the_same_keys() {
    let tools = file_rw::foehn_plugin().manifest().tools;
    let schemas: Vec<_> = tools.iter().map(|tool| tool.config_schema.clone()).collect();
    assert!(schemas.iter().all(|schema| *schema == schemas[0]));
    let keys: Vec<String> =
        schemas[0].as_ref().unwrap()["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "enabled",
            "root",
            "extra_roots",
            "skipped_directories",
            "respect_gitignore",
            "denied",
            "allow_write",
            "backups",
            "allowed_extensions",
            "max_read_characters",
            "max_line_characters"
        ]
    );
}
