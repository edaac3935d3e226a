//! What a model reads for a folder, a pattern and a limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use foehn_plugin_sdk::wire::ReplyKind;
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, assert_contract, call, json, run};
use scan::{Scan, foehn_plugin};

/// Most characters of this plugin's definitions; those of all standard plugins together may have 8,000.
const DEFINITION_CHARACTERS: usize = 1_200;

fn tree() -> TempWorkspace {
    TempWorkspace::new([
        ("README.md", "hello\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/er/lib.rs", ""),
        ("src/view.ts", "x"),
        ("src/view.tsx", "xy"),
        ("empty/", ""),
    ])
}

#[track_caller]
fn check(workspace: &TempWorkspace, arguments: Value, expected: &[&str]) {
    let reply = run(Scan, arguments).workspace(workspace).run();
    assert_eq!((reply.kind, reply.text().as_str()), (ReplyKind::Ok, expected.join("\n").as_str()));
}

#[track_caller]
fn check_error(workspace: &TempWorkspace, arguments: Value, kind: ReplyKind, expected: &str) {
    let reply = run(Scan, arguments).workspace(workspace).run();
    assert_eq!((reply.kind, reply.message.as_str()), (kind, expected));
}

#[test]
fn a_tree_with_sizes() {
    check(
        &tree(),
        json!({}),
        &[
            "9 entries in `.`",
            "6\tREADME.md",
            "dir\tempty/",
            "dir\tsrc/",
            "dir\tsrc/deep/",
            "dir\tsrc/deep/er/",
            "0\tsrc/deep/er/lib.rs",
            "13\tsrc/main.rs",
            "1\tsrc/view.ts",
            "2\tsrc/view.tsx",
        ],
    );
    check(
        &tree(),
        json!({"recursive": false}),
        &["3 entries in `.`", "6\tREADME.md", "dir\tempty/", "dir\tsrc/"],
    );
    check(
        &tree(),
        json!({"path": "src/deep", "recursive": true}),
        &["2 entries in `src/deep`", "dir\tsrc/deep/er/", "0\tsrc/deep/er/lib.rs"],
    );
}

#[test]
fn four_situations_have_four_answers() {
    let workspace = tree();
    check_error(
        &workspace,
        json!({"path": "src/nodir/x"}),
        ReplyKind::Failed,
        "`src/nodir/x` does not exist; the nearest folder that does is `src`",
    );
    check_error(
        &workspace,
        json!({"path": "src/main.rs"}),
        ReplyKind::Failed,
        "`src/main.rs` is not a folder; the one it is in is `src`",
    );
    check(&workspace, json!({"path": "empty"}), &["`empty` is empty"]);
    check(&workspace, json!({"pattern": "*.py"}), &["nothing in `.` matches `*.py` (9 entries looked at)"]);
    check(
        &workspace,
        json!({"pattern": "view"}),
        &[
            "nothing in `.` matches `view` (9 entries looked at)",
            "a pattern is the whole name: `*view*` finds it as a part",
        ],
    );
    check(&workspace, json!({"pattern": "*.md"}), &["1 entry matching `*.md` in `.`", "6\tREADME.md"]);
}

#[test]
fn patterns_go_by_name_or_by_path() {
    let workspace = tree();
    let rust = ["0\tsrc/deep/er/lib.rs", "13\tsrc/main.rs"];
    for pattern in ["*.rs", "**/*.rs", "./**/*.rs", r"src\**\*.rs"] {
        check(
            &workspace,
            json!({"pattern": pattern}),
            &[&format!("2 entries matching `{pattern}` in `.`"), rust[0], rust[1]],
        );
    }
    check(
        &workspace,
        json!({"path": "src", "pattern": "*.{ts,tsx}"}),
        &["2 entries matching `*.{ts,tsx}` in `src`", "1\tsrc/view.ts", "2\tsrc/view.tsx"],
    );
    check(
        &workspace,
        json!({"pattern": "e*/"}),
        &["2 entries matching `e*/` in `.`", "dir\tempty/", "dir\tsrc/deep/er/"],
    );
    check_error(
        &workspace,
        json!({"pattern": "*.{ts"}),
        ReplyKind::InvalidArguments,
        "bad pattern `*.{ts` at character 3: `{` is never closed; a literal one is `[{]`",
    );
}

#[test]
fn a_long_list_comes_in_windows() {
    let workspace = tree();
    check(
        &workspace,
        json!({"limit": 2}),
        &[
            "9 entries in `.`; these are 1 to 2, for more set after to \"empty\"",
            "6\tREADME.md",
            "dir\tempty/",
        ],
    );
    check(
        &workspace,
        json!({"limit": 4, "after": "src/deep"}),
        &[
            "9 entries in `.`; these are 5 to 8, for more set after to \"src/view.ts\"",
            "dir\tsrc/deep/er/",
            "0\tsrc/deep/er/lib.rs",
            "13\tsrc/main.rs",
            "1\tsrc/view.ts",
        ],
    );
    check(
        &workspace,
        json!({"limit": 4, "after": "src/view.ts"}),
        &["9 entries in `.`; these are 9 to 9, the last ones", "2\tsrc/view.tsx"],
    );
    check(&workspace, json!({"after": "z"}), &["9 entries in `.`; none comes after the path given as after"]);
    for limit in [0, 5001] {
        check_error(
            &workspace,
            json!({"limit": limit}),
            ReplyKind::InvalidArguments,
            &format!("limit is {limit}; it may be 1 to 5000"),
        );
    }
}

#[test]
fn hidden_and_ignored_are_left_out_unless_named() {
    let workspace = TempWorkspace::new([
        (".gitignore", "/gen/\n*.log\n!keep.log\n"),
        (".config/app.toml", "a"),
        ("gen/code.rs", "b"),
        ("a.log", "c"),
        ("keep.log", "d"),
        ("sub/.gitignore", "local.txt\n"),
        ("sub/local.txt", "e"),
        ("sub/plain.txt", "f"),
        ("target/debug/x", "g"),
    ]);
    check(
        &workspace,
        json!({}),
        &[
            "3 entries in `.`",
            "left out: 3 hidden, 3 ignored by .gitignore (include_hidden shows them)",
            "not entered: target (name one as path to list it)",
            "1\tkeep.log",
            "dir\tsub/",
            "1\tsub/plain.txt",
        ],
    );
    check(&workspace, json!({"path": ".config"}), &["1 entry in `.config`", "1\t.config/app.toml"]);
    check(&workspace, json!({"path": "gen"}), &["1 entry in `gen`", "1\tgen/code.rs"]);
    check(
        &workspace,
        json!({"path": "target"}),
        &["2 entries in `target`", "dir\ttarget/debug/", "1\ttarget/debug/x"],
    );
    check(
        &workspace,
        json!({"path": "sub", "include_hidden": true}),
        &["3 entries in `sub`", "10\tsub/.gitignore", "1\tsub/local.txt", "1\tsub/plain.txt"],
    );
    check(
        &workspace,
        json!({"pattern": ".config/*"}),
        &[
            "1 entry matching `.config/*` in `.`",
            "left out: 3 ignored by .gitignore (include_hidden shows them)",
            "not entered: target (name one as path to list it)",
            "1\t.config/app.toml",
        ],
    );
    let config = json!({"respect_gitignore": false, "skipped_directories": ["sub"]});
    let reply = run(Scan, json!({"pattern": "*.{log,txt,rs}"})).config(config).workspace(&workspace).run();
    assert_eq!(
        reply.text(),
        "3 entries matching `*.{log,txt,rs}` in `.`\n\
         left out: 2 hidden (include_hidden shows them)\n\
         not entered: sub (name one as path to list it)\n\
         1\ta.log\n1\tgen/code.rs\n1\tkeep.log"
    );
}

#[test]
fn links_are_listed_and_never_followed() {
    let outside = TempWorkspace::new([("secret.txt", "s")]);
    let workspace = TempWorkspace::new([("a/one", "1"), ("a/two", "2"), ("three", "3")]);
    let link = |target: &str, name: &str| symlink(target, workspace.join(name)).unwrap();
    link(".", "a/loop");
    link("q", "p");
    link("p", "q");
    link("missing", "dead");
    link("..", "up");
    link(outside.path().to_str().unwrap(), "out");
    link("a", "inside");
    let out = format!("link\tout -> {} (leads out of the workspace)", outside.path().display());
    check(
        &workspace,
        json!({}),
        &[
            "11 entries in `.`",
            "dir\ta/",
            "link\ta/loop -> .",
            "1\ta/one",
            "1\ta/two",
            "link\tdead -> missing (leads to nothing)",
            "link\tinside -> a",
            &out,
            "link\tp -> q (leads in a circle)",
            "link\tq -> p (leads in a circle)",
            "1\tthree",
            "link\tup -> .. (leads out of the workspace)",
        ],
    );
    check(
        &workspace,
        json!({"path": "inside", "pattern": "o*"}),
        &["1 entry matching `o*` in `inside`", "1\tinside/one"],
    );
    check_error(
        &workspace,
        json!({"path": "up"}),
        ReplyKind::Refused,
        "`up` is a link that leads out of the workspace",
    );
}

#[test]
fn what_lies_outside_is_refused() {
    let base = TempWorkspace::new([("proj/a.txt", "a"), ("proj-evil/x.txt", "x")]);
    symlink(base.join("proj"), base.join("link")).unwrap();
    let evil = base.join("proj-evil");
    let evil = evil.to_str().unwrap();
    for path in ["..", "../proj-evil", evil] {
        let reply = run(Scan, json!({"path": path})).workspace(base.join("proj")).run();
        assert_eq!(
            (reply.kind, reply.message),
            (ReplyKind::Refused, format!("`{path}` lies outside of the workspace"))
        );
    }
    // The workspace may be given through a link, and a path in either form.
    for path in [base.join("link"), base.join("proj")] {
        let reply = run(Scan, json!({"path": path})).workspace(base.join("link")).run();
        assert_eq!(reply.text(), "1 entry in `.`\n1\ta.txt");
    }
}

#[test]
fn odd_names_and_kinds_stay_on_one_line() {
    let workspace = TempWorkspace::new([("new\nline", "n"), ("tab\there", "t")]);
    std::fs::write(workspace.path().join(std::ffi::OsStr::from_bytes(b"la\xDFtin")), "l").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap();
    check(
        &workspace,
        json!({}),
        &["4 entries in `.`", "1\tla\\xDFtin", "1\tnew\\nline", "socket\tsocket", "1\ttab\\there"],
    );
}

#[test]
fn a_cancelled_scan_ends() {
    let host = TestHost::new();
    host.cancel();
    let workspace = tree();
    let reply = run(Scan, json!({})).workspace(&workspace).run_on(&host);
    assert_eq!(reply.kind, ReplyKind::Cancelled);
}

#[test]
fn unknown_arguments_and_settings_are_refused() {
    let workspace = tree();
    let reply = run(Scan, json!({"patern": "*"})).workspace(&workspace).run();
    assert_eq!(
        (reply.kind, reply.message.split(", expected").next()),
        (ReplyKind::InvalidArguments, Some("`patern`: unknown field `patern`"))
    );
    let error = call(foehn_plugin(), "scan", json!({})).config(json!({"skip": []})).open_error().unwrap();
    assert_eq!(
        error,
        "configuration of tool `scan`: unknown field `skip`, expected one of `root`, `extra_roots`, `skipped_directories`, \
         `respect_gitignore`, `denied`"
    );
}

#[test]
fn the_definition_is_sound_and_short() {
    assert_contract!(foehn_plugin(), DEFINITION_CHARACTERS);
}
