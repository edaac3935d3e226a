//! Trees that are deep, wide, odd, or change while they are scanned.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::sync::atomic::{AtomicBool, Ordering};

use foehn_plugin_sdk::wire::ReplyKind;
use foehn_plugin_sdk::workspace::cap_std::ambient_authority;
use foehn_plugin_sdk::workspace::cap_std::fs::Dir;
use foehn_plugin_testkit::{TempWorkspace, json, run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use scan::Scan;

#[track_caller]
fn check(workspace: &TempWorkspace, arguments: foehn_plugin_testkit::Value, kind: ReplyKind, expected: &str) {
    let reply = run(Scan, arguments).workspace(workspace).run();
    let told = if reply.kind == ReplyKind::Ok { reply.text() } else { reply.message.clone() };
    assert_eq!((reply.kind, told.as_str()), (kind, expected));
}

#[test]
fn depth_is_bounded() {
    let workspace = TempWorkspace::empty();
    let deep = vec!["d"; 150].join("/");
    workspace.write(&format!("{deep}/"), "");
    let reply = run(Scan, json!({"pattern": "nothing*"})).workspace(&workspace).run();
    let limit = vec!["d"; 100].join("/");
    assert_eq!(
        reply.text(),
        format!(
            "nothing in `.` matches `nothing*` (100 entries looked at)\n\
             deeper than 100 folders, not entered: {limit} (name one as path to list it)"
        )
    );
}

#[test]
fn three_thousand_levels_and_fifty_thousand_files() {
    const FILES: usize = 50_000;
    let workspace = TempWorkspace::new([("many/", "")]);
    let mut dir = Dir::open_ambient_dir(workspace.path(), ambient_authority()).unwrap();
    for _ in 0..3_000 {
        dir.create_dir("d").unwrap();
        dir = dir.open_dir("d").unwrap();
    }
    for number in 0..FILES {
        std::fs::write(workspace.join(&format!("many/{number:05}")), "").unwrap();
    }
    let reply = run(Scan, json!({"limit": 1})).workspace(&workspace).run().text();
    let limit = vec!["d"; 100].join("/");
    let expected = format!(
        "50101 entries in `.`; these are 1 to 1, for more set after to \"d\"\n\
         deeper than 100 folders, not entered: {limit} (name one as path to list it)\ndir\td/"
    );
    assert_eq!(reply, expected);
    // What lies below the limit is reached by its name, as deep as a name can be.
    let deep = vec!["d"; 1_990].join("/");
    let reply = run(Scan, json!({"path": deep, "recursive": false})).workspace(&workspace).run().text();
    assert_eq!(reply, format!("1 entry in `{deep}`\ndir\t{deep}/d/"));
    let beyond = vec!["d"; 3_000].join("/");
    let message = "invalid path: it is 5999 bytes long, at most 4096 are allowed";
    check(&workspace, json!({"path": beyond}), ReplyKind::Failed, message);
}

#[test]
fn pipes_are_waited_for_by_nobody() {
    let workspace = TempWorkspace::new([("a", "a"), ("sub/b", "b")]);
    for pipe in ["pipe", "sub/.gitignore"] {
        mknodat(CWD, workspace.join(pipe), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    }
    check(
        &workspace,
        json!({}),
        ReplyKind::Ok,
        "4 entries in `.`\nleft out: 1 hidden (include_hidden shows them)\n1\ta\nfifo\tpipe\ndir\tsub/\n1\tsub/b",
    );
    let pipe = "`pipe` is not a folder; the one it is in is `.`";
    check(&workspace, json!({"path": "pipe"}), ReplyKind::Failed, pipe);
}

#[test]
fn what_comes_and_goes_breaks_nothing() {
    let workspace = TempWorkspace::new([("stays", "s"), ("sub/stays", "s")]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in (0_usize..).take_while(|_| !done.load(Ordering::Relaxed)) {
                let place = workspace.join(&format!("sub/{}", round % 8));
                let _ = std::fs::remove_dir_all(&place).or_else(|_| std::fs::remove_file(&place));
                let _ =
                    if round / 8 % 2 == 0 { std::fs::write(place, "x") } else { std::fs::create_dir(place) };
            }
        });
        // Looked at afterwards: a failure in here would leave the other thread running.
        let replies: Vec<_> = (0..300).map(|_| run(Scan, json!({})).workspace(&workspace).run()).collect();
        done.store(true, Ordering::Relaxed);
        for reply in replies {
            assert!(reply.text().contains("1\tsub/stays"), "{}{}", reply.message, reply.text());
        }
    });
}
