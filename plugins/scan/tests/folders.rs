//! What an operator's configuration lets a scan see, and what no message tells.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::os::unix::fs::symlink;

use foehn_plugin_sdk::wire::ReplyKind;
use foehn_plugin_testkit::{TempWorkspace, Value, json, run};
use scan::Scan;

/// A workspace, two folders that its agent may use, and one that it may not.
fn base() -> TempWorkspace {
    TempWorkspace::new([
        ("ws/a.txt", "a\n"),
        ("ws/.env.local", "SECRET"),
        ("ws/sub/keys/Server.PEM", "KEY"),
        ("ws/sub/b.md", "b\n"),
        ("data/one.txt", "1"),
        ("data/target/two.txt", "2"),
        ("data/three.txt", "3"),
        ("private/p.txt", "p"),
    ])
}

#[track_caller]
fn check_configured(base: &TempWorkspace, config: &Value, arguments: Value, kind: ReplyKind, expected: &str) {
    let reply = run(Scan, arguments).config(config.clone()).workspace(base.join("ws")).run();
    let told = if reply.kind == ReplyKind::Ok { reply.text() } else { reply.message.clone() };
    assert_eq!((reply.kind, told.as_str()), (kind, expected));
    assert!(kind == ReplyKind::Ok || reply.executed == Some(false));
}

#[test]
fn what_is_denied_is_neither_listed_nor_entered() {
    let base = base();
    let config = json!({});
    check_configured(
        &base,
        &config,
        json!({"include_hidden": true}),
        ReplyKind::Ok,
        "4 entries in `.`\nleft out: 2 that the configuration denies\n2\ta.txt\ndir\tsub/\n2\tsub/b.md\ndir\tsub/keys/",
    );
    let config = json!({"denied": ["keys/**"]});
    check_configured(
        &base,
        &config,
        json!({"path": "sub"}),
        ReplyKind::Ok,
        "1 entry in `sub`\nleft out: 1 that the configuration denies\n2\tsub/b.md",
    );
    symlink("sub/keys", base.join("ws/innocent")).unwrap();
    for path in ["sub/keys", "SUB/../sub/KEYS", "sub/keys/deeper", "innocent"] {
        let shown = if path.starts_with("SUB") { "sub/KEYS" } else { path };
        let message = format!("`{shown}` is denied by the configuration (`keys/**`)");
        check_configured(&base, &config, json!({"path": path}), ReplyKind::Refused, &message);
    }
}

#[test]
fn the_root_may_be_another_folder() {
    let base = base();
    let config = json!({"root": "sub"});
    check_configured(
        &base,
        &config,
        json!({"recursive": false}),
        ReplyKind::Ok,
        "2 entries in `.`\n2\tb.md\ndir\tkeys/",
    );
    let outside = "`../a.txt` lies outside of the workspace";
    check_configured(&base, &config, json!({"path": "../a.txt"}), ReplyKind::Refused, outside);
}

#[test]
fn further_roots_are_named_and_no_other_folder_is() {
    let base = base();
    let data = base.join("data").display().to_string();
    let config = json!({"extra_roots": [{"path": "../data"}, {"path": "/no/such/folder"}]});
    let check = |arguments, kind, expected: &str| check_configured(&base, &config, arguments, kind, expected);
    let header = format!("2 entries in `{data}`");
    let not_entered = format!("not entered: {data}/target (name one as path to list it)");
    check(
        json!({"path": data}),
        ReplyKind::Ok,
        &format!("{header}\n{not_entered}\n1\t{data}/one.txt\n1\t{data}/three.txt"),
    );
    check(
        json!({"path": data, "limit": 1}),
        ReplyKind::Ok,
        &format!(
            "{header}; these are 1 to 1, for more set after to \"{data}/one.txt\"\n{not_entered}\n1\t{data}/one.txt"
        ),
    );
    check(
        json!({"path": data, "limit": 1, "after": format!("{data}/one.txt")}),
        ReplyKind::Ok,
        &format!("{header}; these are 2 to 2, the last ones\n{not_entered}\n1\t{data}/three.txt"),
    );
    let other =
        format!("`../data` lies in another folder that may be used, `{data}`; give the path as `{data}`");
    check(json!({"path": "../data"}), ReplyKind::Refused, &other);
    symlink(&data, base.join("ws/link")).unwrap();
    let other =
        format!("`link` lies in another folder that may be used, `{data}`; give the path as `{data}`");
    check(json!({"path": "link"}), ReplyKind::Refused, &other);
    for path in ["../private", "../nothing", base.join("private").to_str().unwrap()] {
        let outside = format!("`{path}` lies outside of the workspace");
        check(json!({"path": path}), ReplyKind::Refused, &outside);
    }
    check(
        json!({"path": format!("{data}/gone/x")}),
        ReplyKind::Failed,
        &format!("in `{data}`: `gone/x` does not exist; the nearest folder that does is `.`"),
    );
    check(
        json!({"path": "/no/such/folder"}),
        ReplyKind::Failed,
        "the folder `/no/such/folder` of the configuration cannot be opened: No such file or directory (os error 2); one \
         outside of the workspace must also be listed under `[sandbox] read` or `write`",
    );
}

#[test]
fn a_scan_is_classified_with_its_folder() {
    let base = base();
    symlink("sub", base.join("ws/link")).unwrap();
    for (path, paths, refusal) in [
        (".", vec!["."], None),
        ("link", vec!["link", "sub"], None),
        ("gone", vec!["gone"], None),
        ("../private", vec!["../private"], Some("`../private` lies outside of the workspace")),
    ] {
        let found = run(Scan, json!({"path": path})).workspace(base.join("ws")).classify();
        let named: Vec<String> = found.facts.paths.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(
            (named, found.refusal.as_deref()),
            (paths.into_iter().map(str::to_owned).collect(), refusal)
        );
        assert_eq!(
            (found.operations[0].name.as_str(), found.operations[0].target.as_deref()),
            ("scan", Some(path))
        );
    }
}
