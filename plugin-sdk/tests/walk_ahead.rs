//! A walk of a large tree looks ahead in a second thread. Nothing of that may be seen: not in what is shown, not in the order,
//! not where it ends, and not in what stays open.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::thread::ThreadId;

use foehn_plugin_sdk::Error;
use foehn_plugin_sdk::walk::{Rules, Skipped, Start, walk};
use foehn_plugin_sdk::workspace::Workspace;
use foehn_plugin_testkit::TempWorkspace;

/// More folders than are ever ready ahead, wide at two levels and deep at one.
fn tree() -> TempWorkspace {
    let tree = TempWorkspace::new([(".gitignore", "*.log\n"), ("z.txt", "")]);
    for outer in 0..30 {
        for inner in 0..10 {
            let folder = tree.join(&format!("wide{outer}/in{inner}"));
            fs::create_dir_all(&folder).unwrap();
            for file in ["a.txt", "b.log", ".hidden", "secret"] {
                fs::write(folder.join(file), "").unwrap();
            }
            if inner % 3 == 0 {
                fs::write(folder.join(".gitignore"), "a.txt\n!b.log\n").unwrap();
            }
        }
        fs::create_dir_all(tree.join(&format!("wide{outer}/target/out"))).unwrap();
        symlink("..", tree.join(&format!("wide{outer}/up"))).unwrap();
    }
    fs::create_dir_all(tree.join(&["down"; 110].join("/"))).unwrap();
    tree
}

fn denies_secrets(path: &Path) -> bool {
    path.ends_with("secret")
}

fn rules(denied: &(dyn Fn(&Path) -> bool + Sync)) -> Rules<'_> {
    Rules {
        recursive: true,
        include_hidden: false,
        skipped_directories: ["target".into()].into(),
        respect_gitignore: true,
        denied: Some(denied),
    }
}

/// What a walk shows until it has shown so many.
fn shown(tree: &TempWorkspace, rules: &Rules<'_>, most: usize) -> (Vec<String>, Skipped) {
    let workspace = Workspace::open(tree).unwrap();
    let start = Start::open(&workspace, workspace.resolve(".").unwrap()).unwrap();
    let mut paths = Vec::new();
    let skipped = walk(&workspace, &start, rules, &|| Ok(()), &mut |item| {
        assert_eq!(item.below, item.path.as_path());
        assert_eq!(Some(item.name), item.path.file_name());
        paths.push(item.path.to_string());
        Ok(if paths.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    (paths, skipped.unwrap())
}

/// Handles of this process that lie in a tree.
fn open_in(tree: &TempWorkspace) -> usize {
    let tree = fs::canonicalize(tree).unwrap();
    let handles = fs::read_dir("/proc/self/fd").unwrap().flatten();
    handles.filter(|handle| fs::read_link(handle.path()).is_ok_and(|path| path.starts_with(&tree))).count()
}

#[test]
fn two_threads_show_what_one_shows_every_time() {
    let tree = tree();
    // What the rules say of each place is told here without the walk.
    let mut expected = Vec::new();
    for outer in 0..30 {
        expected.extend([format!("wide{outer}"), format!("wide{outer}/up")]);
        for inner in 0..10 {
            let file = if inner % 3 == 0 { "b.log" } else { "a.txt" };
            expected.extend([format!("wide{outer}/in{inner}"), format!("wide{outer}/in{inner}/{file}")]);
        }
    }
    expected.extend((1..=100).map(|depth| ["down"].repeat(depth).join("/")));
    expected.push("z.txt".to_owned());
    expected.sort_by(|one, other| Path::new(one).cmp(Path::new(other)));
    for _ in 0..20 {
        let (paths, skipped) = shown(&tree, &rules(&denies_secrets), usize::MAX);
        assert_eq!(paths, expected);
        assert_eq!((skipped.hidden, skipped.ignored, skipped.denied), (421, 300, 300));
        let named: Vec<String> =
            skipped.not_entered.first.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(named, [0, 1, 10, 11, 12].map(|outer| format!("wide{outer}/target")));
        assert_eq!((skipped.not_entered.count, skipped.too_deep.count), (30, 1));
    }
}

#[test]
fn a_second_thread_helps() {
    let tree = tree();
    let threads: Mutex<Vec<ThreadId>> = Mutex::default();
    let denied = |path: &Path| {
        threads.lock().unwrap().push(std::thread::current().id());
        // Long enough that the other thread gets its turn on one processor too.
        std::thread::yield_now();
        denies_secrets(path)
    };
    shown(&tree, &rules(&denied), usize::MAX);
    let mut threads = threads.into_inner().unwrap();
    threads.sort_by_key(|thread| format!("{thread:?}"));
    threads.dedup();
    assert_eq!(threads.len(), 2);
}

#[test]
fn a_walk_that_is_broken_off_has_shown_the_beginning() {
    let tree = tree();
    let (all, _) = shown(&tree, &rules(&denies_secrets), usize::MAX);
    for most in [1, 17, 150, 400, 640] {
        let (paths, _) = shown(&tree, &rules(&denies_secrets), most);
        assert_eq!(paths, all[..most]);
        assert_eq!(open_in(&tree), 0);
    }
}

#[test]
fn a_walk_that_is_cancelled_ends_in_both_threads() {
    let tree = tree();
    let workspace = Workspace::open(&tree).unwrap();
    let start = Start::open(&workspace, workspace.resolve(".").unwrap()).unwrap();
    for most in [0, 20, 200] {
        let mut folders = 0;
        let count = Mutex::new(&mut folders);
        let check = || {
            let mut count = count.lock().unwrap();
            **count += 1;
            if **count > most { Err(Error::cancelled()) } else { Ok(()) }
        };
        let result =
            walk(&workspace, &start, &rules(&denies_secrets), &check, &mut |_| Ok(ControlFlow::Continue(())));
        assert_eq!(result.unwrap_err().message(), "the call was cancelled");
        assert_eq!(folders, most + 1);
    }
}

/// Whichever thread it happens in, it reaches the caller, and nobody waits for a thread that is no more.
#[test]
fn a_panic_ends_the_walk_in_both_threads() {
    let tree = tree();
    let early = |path: &Path| path.ends_with("wide2/in3/b.log") && panic!("in a rule");
    let late = |path: &Path| path.ends_with("wide9/in8/a.txt") && panic!("in a rule");
    for _ in 0..10 {
        for denied in [&early as &(dyn Fn(&Path) -> bool + Sync), &late] {
            let outcome =
                catch_unwind(AssertUnwindSafe(|| shown(&tree, &rules(denied), usize::MAX))).unwrap_err();
            assert_eq!(outcome.downcast_ref::<&str>(), Some(&"in a rule"));
        }
        let workspace = Workspace::open(&tree).unwrap();
        let start = Start::open(&workspace, workspace.resolve(".").unwrap()).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            walk(&workspace, &start, &rules(&denies_secrets), &|| Ok(()), &mut |item| {
                assert!(!item.path.as_path().ends_with("wide9"), "in a visit");
                Ok(ControlFlow::Continue(()))
            })
        }));
        assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"in a visit"));
    }
}

/// Nobody is told of what the walk has not come to.
#[test]
fn a_panic_ahead_of_the_end_is_no_fault() {
    let tree = tree();
    let ahead =
        |path: &Path| denies_secrets(path) || (path.ends_with("wide1/in1/secret") && panic!("in a rule"));
    let most = 125;
    let (all, _) = shown(&tree, &rules(&denies_secrets), most);
    assert!(Path::new(all.last().unwrap()) < Path::new("wide1/in1"));
    for _ in 0..20 {
        assert_eq!(shown(&tree, &rules(&ahead), most).0, all);
    }
}

#[test]
fn what_is_ready_ahead_is_bounded() {
    let tree = tree();
    let workspace = Workspace::open(&tree).unwrap();
    let start = Start::open(&workspace, workspace.resolve(".").unwrap()).unwrap();
    let before = open_in(&tree);
    let mut most = 0;
    walk(&workspace, &start, &rules(&denies_secrets), &|| Ok(()), &mut |item| {
        if item.path.as_path().starts_with("wide20") {
            // The other thread goes as far as it may meanwhile.
            for _ in 0..5 {
                most = most.max(open_in(&tree));
                std::thread::yield_now();
            }
        }
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    // What is ready, the two folders that are being looked into, and those on the way to the walk's place.
    assert!(most - before <= 64 + 2 + 3, "{most} open");
    assert!(most - before > 10, "{most} open: nobody looked ahead");
    assert_eq!(open_in(&tree), before);
}
