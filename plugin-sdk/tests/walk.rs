//! What a walk shows and what it says of the rest; and what only one of several writers may do.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a failure is reported by a panic")]

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use foehn_plugin_sdk::walk::{Pattern, PatternSet, Rules, Start, open_file, walk};
use foehn_plugin_sdk::workspace::{Workspace, WorkspaceError};
use foehn_plugin_testkit::TempWorkspace;

fn tree() -> TempWorkspace {
    let tree = TempWorkspace::new([
        (".gitignore", "*.log\n"),
        ("a.txt", "a"),
        ("b.log", ""),
        ("sub/c.txt", "c"),
        ("sub/secret.txt", ""),
        ("target/d.txt", ""),
    ]);
    symlink("..", tree.join("sub/up")).unwrap();
    tree
}

#[track_caller]
fn check(rules: &Rules<'_>, start: &str, shown: &[&str], left_out: &[&str]) {
    let tree = tree();
    let workspace = Workspace::open(&tree).unwrap();
    let start = Start::open(&workspace, workspace.resolve(start).unwrap()).unwrap();
    let mut paths = Vec::new();
    let skipped = walk(&workspace, &start, rules, &|| Ok(()), &mut |item| {
        paths.push(item.path.to_string());
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!((paths, skipped.lines("all", "list")), (shown.map_to_owned(), left_out.map_to_owned()));
}

trait MapToOwned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl MapToOwned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|&text| text.to_owned()).collect()
    }
}

#[test]
fn rules_decide_what_is_shown_and_the_rest_is_counted() {
    let all = [
        ".gitignore",
        "a.txt",
        "b.log",
        "sub",
        "sub/c.txt",
        "sub/secret.txt",
        "sub/up",
        "target",
        "target/d.txt",
    ];
    let everything = Rules { recursive: true, include_hidden: true, ..Rules::default() };
    check(&everything, ".", &all, &[]);
    check(
        &Rules { recursive: false, ..everything.clone() },
        "sub",
        &["sub/c.txt", "sub/secret.txt", "sub/up"],
        &[],
    );
    let denied = |path: &Path| path.ends_with("secret.txt");
    let strict = Rules {
        recursive: true,
        include_hidden: false,
        skipped_directories: [std::ffi::OsString::from("target")].into(),
        respect_gitignore: true,
        denied: Some(&denied),
    };
    check(
        &strict,
        ".",
        &["a.txt", "sub", "sub/c.txt", "sub/up"],
        &[
            "left out: 1 hidden, 1 ignored by .gitignore (all shows them)",
            "left out: 1 that the configuration denies",
            "not entered: target (name one as path to list it)",
        ],
    );
    check(&strict, "target", &["target/d.txt"], &[]);
}

#[test]
fn a_walk_ends_when_it_is_told_to() {
    let tree = tree();
    let workspace = Workspace::open(&tree).unwrap();
    let start = Start::open(&workspace, workspace.resolve(".").unwrap()).unwrap();
    let rules = Rules { recursive: true, ..Rules::default() };
    let mut count = 0;
    walk(&workspace, &start, &rules, &|| Ok(()), &mut |_| {
        count += 1;
        Ok(ControlFlow::Break(()))
    })
    .unwrap();
    assert_eq!(count, 1);
    let error = walk(&workspace, &start, &rules, &|| Err(foehn_plugin_sdk::Error::cancelled()), &mut |_| {
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(error.unwrap_err().message(), "the call was cancelled");
}

#[test]
fn a_file_is_opened_by_its_name_and_never_through_a_link() {
    let tree = tree();
    symlink("a.txt", tree.join("link")).unwrap();
    let workspace = Workspace::open(&tree).unwrap();
    let opens =
        ["a.txt", "link", "sub", "gone"].map(|name| open_file(workspace.dir(), name.as_ref()).is_ok());
    assert_eq!(opens, [true, false, false, false]);
}

#[test]
fn a_set_names_the_first_of_its_patterns() {
    let set = PatternSet::new(["*.pem", "**/.git", "**/.git/**"]).unwrap();
    let found = ["a/b.pem", "x/.git", "x/.git/config", "x/git"].map(|path| set.first_match(Path::new(path)));
    assert_eq!(found, [Some(0), Some(1), Some(2), None]);
    assert_eq!(
        (PatternSet::new(["a", "b["]).unwrap_err().to_string(), Pattern::new("b[").is_err()),
        ("bad pattern `b[` at character 2: `[` is never closed; a literal one is `[[]`".to_owned(), true)
    );
}

#[test]
fn a_replacement_needs_the_bytes_that_it_was_planned_on() {
    let tree = tree();
    let workspace = Workspace::open(&tree).unwrap();
    let path = workspace.resolve("a.txt").unwrap();
    workspace.replace(&path, b"a", b"new").unwrap();
    for stale in [b"a".as_slice(), b"neu", b"new and more", b""] {
        let error = workspace.replace(&path, stale, b"x").unwrap_err();
        assert!(matches!(error, WorkspaceError::Changed { .. }), "{error}");
    }
    fs::remove_file(tree.join("a.txt")).unwrap();
    let error = workspace.replace(&path, b"new", b"x").unwrap_err();
    assert!(matches!(error, WorkspaceError::Changed { .. }), "{error}");
    let left: Vec<String> = tree.list().into_iter().filter(|name| name.contains(".foehn-")).collect();
    assert_eq!((left, tree.join("a.txt").exists()), (Vec::new(), false));
}

#[test]
fn a_copy_is_a_file_of_its_own_where_nothing_was() {
    let (from, to) = (tree(), TempWorkspace::new([("taken", "t")]));
    let (source, target) = (Workspace::open(&from).unwrap(), Workspace::open(&to).unwrap());
    let path = source.resolve("a.txt").unwrap();
    let copied = source.copy_new(&path, &target, &target.resolve("new/copy").unwrap()).unwrap();
    assert_eq!((copied, to.read("new/copy").as_str()), (1, "a"));
    assert_eq!(fs::metadata(to.join("new/copy")).unwrap().nlink(), 1);
    let error = source.copy_new(&path, &target, &target.resolve("taken").unwrap()).unwrap_err();
    assert_eq!((error.to_string(), to.read("taken")), ("`taken` already exists".to_owned(), "t".to_owned()));
}
