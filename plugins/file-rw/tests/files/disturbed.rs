//! Files that somebody else writes, makes and deletes while they are looked at.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use foehn_plugin_sdk::wire::ReplyKind::{Failed, Ok};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::{Done, tool};

const ROUNDS: usize = 60;

/// Does `disturb` over and over in another thread, while `work` runs.
fn meanwhile(disturb: impl Fn(usize) + Sync, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| (0..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(&disturb));
        let ends = Done(&done);
        work();
        drop(ends);
    });
}

#[test]
fn a_file_that_grows_is_read_up_to_where_it_was() {
    let workspace = TempWorkspace::new([("log", "line\n")]);
    let path = workspace.join("log");
    let log = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let piece = b"line\nhalf a line\n".repeat(4_000);
    meanwhile(
        // Faster than anything reads it, from the beginning again before the disk is full.
        |round| {
            (&log).write_all(&piece).unwrap();
            if round % 512 == 511 {
                log.set_len(5).unwrap();
            }
        },
        || {
            for round in 0..ROUNDS / 10 {
                for (name, arguments) in [
                    ("read_file", json!({"path": "log", "end_line": 2})),
                    ("stat_file", json!({"path": "log"})),
                    ("search_files", json!({"pattern": "^line$", "mode": "counts"})),
                    ("read_many_files", json!({"paths": ["log"]})),
                    ("copy_file", json!({"source": "log", "destination": format!("copy{round}")})),
                    ("list_directory", json!({})),
                    ("find_files", json!({"pattern": "log"})),
                ] {
                    let reply = tool(name, arguments).workspace(&workspace).run();
                    assert_eq!(reply.kind, Ok, "{name}: {}", reply.message);
                }
                let copy = workspace.join(&format!("copy{round}"));
                let part = fs::read(&copy).unwrap();
                assert!(part.len() <= 5 + 512 * piece.len(), "{} bytes", part.len());
                fs::remove_file(copy).unwrap();
            }
        },
    );
}

/// An edit may only be lost whole, with a word about it.
#[test]
fn a_file_that_grows_is_edited_with_all_that_was_added_or_not_at_all() {
    let workspace = TempWorkspace::new([("log", "first\n")]);
    let path = workspace.join("log");
    let added = std::sync::atomic::AtomicUsize::new(0);
    meanwhile(
        // As an editor saves: the whole file, put in place at once.
        |_| {
            let temporary = workspace.join("theirs");
            let text = fs::read_to_string(&path).unwrap();
            if fs::write(&temporary, format!("{text}theirs\n")).is_ok()
                && fs::read_to_string(&path).unwrap() == text
            {
                fs::rename(&temporary, &path).unwrap();
                added.fetch_add(1, Ordering::Relaxed);
            }
            std::thread::yield_now();
        },
        || {
            for round in 0..ROUNDS {
                let (old, new) = if round % 2 == 0 { ("first", "FIRST") } else { ("FIRST", "first") };
                let arguments = json!({"path": "log", "old_text": old, "new_text": new});
                let reply = tool("edit_file", arguments).workspace(&workspace).run();
                let is_told = reply.message.contains("changed by somebody else meanwhile")
                    || reply.message.contains("old_text is not in it");
                assert!(reply.kind == Ok || (is_told && reply.executed == Some(false)), "{}", reply.message);
            }
        },
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().skip(1).all(|line| line == "theirs"), "{text}");
    let left: Vec<String> = workspace.list().into_iter().filter(|name| name.contains(".foehn-")).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn what_comes_and_goes_is_found_or_not_and_breaks_nothing() {
    let workspace = TempWorkspace::new([("stays.txt", "needle\n"), ("sub/stays.txt", "needle\n")]);
    let places: Vec<PathBuf> = (0..8).map(|number| workspace.join(&format!("sub/{number}"))).collect();
    meanwhile(
        |round| {
            let place = &places[round % 8];
            // In turns a file, nothing, a folder with a file, nothing.
            let _ = fs::remove_dir_all(place).or_else(|_| fs::remove_file(place));
            if round / 8 % 4 == 0 {
                let _ = fs::write(place, "needle\n");
            } else if round / 8 % 4 == 2 {
                let _ = fs::create_dir(place).and_then(|()| fs::write(place.join("x.txt"), "needle\n"));
            }
        },
        || {
            for round in 0..ROUNDS {
                let path = format!("sub/{}", round % 8);
                let calls: [(&str, Value, &str); 5] = [
                    ("search_files", json!({"pattern": "needle"}), "lines with `needle`"),
                    ("find_files", json!({"pattern": "*"}), "`*`, newest first"),
                    ("list_directory", json!({"path": "sub"}), "sub/stays.txt"),
                    ("read_many_files", json!({"folder": ".", "pattern": "*.txt"}), "sub/stays.txt"),
                    ("read_file", json!({"path": path}), ""),
                ];
                for (name, arguments, always) in calls {
                    let reply = tool(name, arguments).workspace(&workspace).run();
                    let is_clear = ["does not exist", "is a directory", "is not a directory"];
                    let is_told = name == "read_file"
                        && reply.kind == Failed
                        && is_clear.iter().any(|text| reply.message.contains(text));
                    assert!(is_told || reply.kind == Ok, "{name}: {}", reply.message);
                    assert!(is_told || reply.text().contains(always), "{name}: {}", reply.text());
                }
            }
        },
    );
}
