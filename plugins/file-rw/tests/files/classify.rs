//! What a call would do, told without doing it.

use std::os::unix::fs::symlink;

use foehn_plugin_sdk::wire::{Classification, Facts, Operation, Preview};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::tool;

fn expected(
    operation: &str,
    paths: &[&str],
    preview: Option<Preview>,
    refusal: Option<&str>,
) -> Classification {
    let target = paths.first().map(|&path| path.to_owned());
    Classification {
        operations: vec![Operation { name: operation.to_owned(), risk: None, target }],
        facts: Facts { paths: paths.iter().map(Into::into).collect(), ..Facts::default() },
        refusal: refusal.map(str::to_owned),
        preview,
    }
}

#[track_caller]
fn check(name: &str, arguments: Value, expected: &Classification) {
    let workspace = TempWorkspace::new([("a.txt", "one\ntwo\nthree\n"), ("bin", "\0")]);
    symlink("a.txt", workspace.join("link")).unwrap();
    let before = (workspace.list(), workspace.read("a.txt"));
    let classification = tool(name, arguments).workspace(&workspace).classify();
    assert_eq!(&classification, expected);
    assert_eq!((workspace.list(), workspace.read("a.txt")), before);
}

fn text(text: &str) -> Option<Preview> {
    Some(Preview::Text { text: text.to_owned() })
}

fn diff(path: &str, old: &str, new: &str) -> Option<Preview> {
    let diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-{old}\n+{new}\n three\n");
    Some(Preview::Diff { path: path.into(), diff })
}

#[test]
fn a_change_is_named_and_shown() {
    check(
        "create_file",
        json!({"path": "new/b.txt", "content": "x\n"}),
        &expected("create", &["new/b.txt"], text("x\n"), None),
    );
    check(
        "edit_file",
        json!({"path": "a.txt", "old_text": "two", "new_text": "2"}),
        &expected("edit", &["a.txt"], diff("a.txt", "two", "2"), None),
    );
    check(
        "write_file",
        json!({"path": "link", "content": "one\n2\nthree\n"}),
        &expected("overwrite", &["link", "a.txt"], diff("link", "two", "2"), None),
    );
    check(
        "write_file",
        json!({"path": "bin", "content": "x"}),
        &expected("overwrite", &["bin"], text("`bin` has 1 bytes and gets 1 others"), None),
    );
    check(
        "delete_file",
        json!({"path": "a.txt"}),
        &expected("delete", &["a.txt"], text("delete `a.txt` (14 bytes)"), None),
    );
    check(
        "delete_file",
        json!({"path": "link"}),
        &expected("delete", &["link"], text("delete the link `link`, not what it leads to"), None),
    );
}

#[test]
fn a_call_that_cannot_work_is_refused_before_anybody_is_asked() {
    check(
        "create_file",
        json!({"path": "../x", "content": ""}),
        &expected("create", &["../x"], None, Some("`../x` lies outside of the workspace")),
    );
    check(
        "edit_file",
        json!({"path": "a.txt", "old_text": "", "new_text": "x"}),
        &expected(
            "edit",
            &["a.txt"],
            None,
            Some(
                "`a.txt`: old_text is empty; give the text to replace, or use write_file to replace the whole file",
            ),
        ),
    );
    check(
        "delete_file",
        json!({"path": "b.txt"}),
        &expected("delete", &["b.txt"], None, Some("`b.txt` does not exist; there is `a.txt`")),
    );
}

/// What a reading call touches: rules about paths see it as they see a change.
#[track_caller]
fn check_look(name: &str, arguments: Value, paths: &[&str], target: &str, refusal: Option<&str>) {
    let mut expected = expected(name, paths, None, refusal);
    expected.operations[0].target = Some(target.to_owned());
    check(name, arguments, &expected);
}

#[test]
fn a_look_is_named_with_its_paths() {
    check_look("read_file", json!({"path": "./sub/../a.txt"}), &["a.txt"], "a.txt", None);
    check_look("read_file", json!({"path": "link"}), &["a.txt", "link"], "link", None);
    check_look("stat_file", json!({"path": "link"}), &["a.txt", "link"], "link", None);
    check_look("stat_file", json!({"path": "bin"}), &["bin"], "bin", None);
    check_look("search_files", json!({"path": "a.txt", "pattern": "x"}), &["a.txt"], "a.txt", None);
    for (name, arguments) in [
        ("search_files", json!({"pattern": "x"})),
        ("find_files", json!({"pattern": "*"})),
        ("list_directory", json!({})),
        ("read_many_files", json!({"folder": "."})),
    ] {
        check_look(name, arguments, &["."], ".", None);
    }
    check_look(
        "read_many_files",
        json!({"paths": ["link", "bin", "a.txt", "../x"]}),
        &["../x", "a.txt", "bin", "link"],
        "link and 3 more",
        None,
    );
}

#[test]
fn a_look_is_refused_beforehand_only_where_nobody_may_look() {
    for name in ["read_file", "stat_file", "list_directory"] {
        check_look(name, json!({"path": "gone.txt"}), &["gone.txt"], "gone.txt", None);
        let outside = Some("`../x` lies outside of the workspace");
        check_look(name, json!({"path": "../x"}), &["../x"], "../x", outside);
        let denied = Some("`.env` is denied by the configuration (`.env*`)");
        check_look(name, json!({"path": ".env"}), &[".env"], ".env", denied);
    }
    let outside = Some("`../x` lies outside of the workspace");
    check_look(
        "read_many_files",
        json!({"paths": ["../x", "../y"]}),
        &["../x", "../y"],
        "../x and 1 more",
        outside,
    );
}
