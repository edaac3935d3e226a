//! `list_directory`, `find_files`, `stat_file` and `read_many_files`: looking without searching.

use std::fs::{File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use foehn_plugin_sdk::wire::ReplyKind::{self, Failed, InvalidArguments, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::{told, tool};

#[track_caller]
fn check(workspace: &TempWorkspace, name: &str, arguments: Value, kind: ReplyKind, lines: &[&str]) {
    let reply = tool(name, arguments).workspace(workspace).run();
    assert_eq!(told(&reply), (kind, lines.join("\n")));
    if kind != Ok {
        assert_eq!(reply.executed, Some(false));
    }
}

/// Sets the time of change, as seconds since 1970.
fn touched(workspace: &TempWorkspace, name: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let file = File::options().write(true).open(workspace.join(name)).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn tree() -> TempWorkspace {
    let workspace = TempWorkspace::new([
        ("x.rs", "1"),
        ("a/b/y.rs", "22"),
        ("a/z.tsx", ""),
        ("a/t.ts", ""),
        ("empty/", ""),
    ]);
    for (name, seconds) in [("x.rs", 100), ("a/b/y.rs", 300), ("a/z.tsx", 200), ("a/t.ts", 200)] {
        touched(&workspace, name, seconds);
    }
    workspace
}

#[test]
fn a_folder_lists_its_folders_first() {
    let workspace = TempWorkspace::new([
        ("b.txt", "12345"),
        ("a.txt", ""),
        ("z/x", ""),
        (".hidden", "h"),
        (".env", "secret"),
    ]);
    symlink("nowhere", workspace.join("dead")).unwrap();
    check(
        &workspace,
        "list_directory",
        json!({}),
        Ok,
        &[
            "`.`: 1 folder, 4 other entries",
            "left out: 1 that the configuration denies",
            "dir\tz/",
            "1\t.hidden",
            "0\ta.txt",
            "5\tb.txt",
            "link\tdead -> nowhere",
        ],
    );
    check(
        &workspace,
        "list_directory",
        json!({"path": "z"}),
        Ok,
        &["`z`: 0 folders, 1 other entry", "0\tz/x"],
    );
    check(
        &workspace,
        "list_directory",
        json!({"path": "no/where"}),
        Failed,
        &["`no/where` does not exist; the nearest folder that does is `.`"],
    );
    check(
        &workspace,
        "list_directory",
        json!({"path": "a.txt"}),
        Failed,
        &["`a.txt` is not a folder; the one it is in is `.`"],
    );
    check(
        &workspace,
        "list_directory",
        json!({"path": ".."}),
        Refused,
        &["`..` lies outside of the workspace"],
    );
    check(&tree(), "list_directory", json!({"path": "empty"}), Ok, &["`empty` is empty"]);
}

#[test]
fn files_are_found_newest_first_and_in_windows() {
    let workspace = tree();
    let find = |arguments: Value, lines: &[&str]| check(&workspace, "find_files", arguments, Ok, lines);
    for pattern in ["*.rs", "**/*.rs", "./**/*.rs", r"**\*.rs"] {
        find(
            json!({"pattern": pattern}),
            &[&format!("2 files in `.` for `{pattern}`, newest first"), "a/b/y.rs", "x.rs"],
        );
    }
    find(json!({"pattern": "**/b/*.rs"}), &["1 file in `.` for `**/b/*.rs`, newest first", "a/b/y.rs"]);
    find(
        json!({"pattern": "**/*.{ts,tsx}"}),
        &["2 files in `.` for `**/*.{ts,tsx}`, newest first", "a/t.ts", "a/z.tsx"],
    );
    find(json!({"pattern": "b/*", "path": "a"}), &["1 file in `a` for `b/*`, newest first", "a/b/y.rs"]);
    find(
        json!({"pattern": "*", "limit": 2}),
        &[
            "4 files in `.` for `*`, newest first; these are 1 to 2, for more set skip to 2",
            "a/b/y.rs",
            "a/t.ts",
        ],
    );
    find(
        json!({"pattern": "*", "limit": 2, "skip": 2}),
        &["4 files in `.` for `*`, newest first; these are 3 to 4, the last ones", "a/z.tsx", "x.rs"],
    );
    find(
        json!({"pattern": "*", "skip": 9}),
        &["4 files in `.` for `*`, newest first; none comes after the first 9"],
    );
}

/// More than are held at once.
#[test]
fn the_newest_of_many_files_are_found_wherever_they_come() {
    const FILES: u64 = 2_300;
    let workspace = TempWorkspace::empty();
    for number in 0..FILES {
        let name = format!("{number:04}");
        File::create(workspace.join(&name)).unwrap();
        // Each has a second of its own; the order has nothing to do with the names.
        touched(&workspace, &name, 1_000_000 + number * 7 % FILES);
    }
    let mut newest: Vec<u64> = (0..FILES).collect();
    newest.sort_by_key(|number| std::cmp::Reverse(number * 7 % FILES));
    for (skip, limit) in [(0, 1), (0, 100), (3, 2), (1_000, 300), (2_298, 2)] {
        let text = tool("find_files", json!({"pattern": "*", "skip": skip, "limit": limit}))
            .workspace(&workspace)
            .run()
            .text();
        let rows: Vec<&str> = text.lines().skip(1).collect();
        let expected: Vec<String> =
            newest[skip..skip + limit].iter().map(|number| format!("{number:04}")).collect();
        assert!(text.starts_with("2300 files"), "{skip} {limit}");
        assert_eq!(rows, expected, "{skip} {limit}");
    }
}

#[test]
fn what_is_not_found_says_why() {
    let workspace = tree();
    let find =
        |arguments: Value, kind, lines: &[&str]| check(&workspace, "find_files", arguments, kind, lines);
    find(
        json!({"pattern": "*.py", "path": "nodir"}),
        Failed,
        &["`nodir` does not exist; the nearest folder that does is `.`"],
    );
    find(json!({"pattern": "*.py"}), Ok, &["no file in `.` matches `*.py` (4 files looked at)"]);
    find(
        json!({"pattern": "y"}),
        Ok,
        &[
            "no file in `.` matches `y` (4 files looked at)",
            "a pattern is the whole name: `*y*` finds it as a part",
        ],
    );
    find(
        json!({"pattern": "*.{ts"}),
        InvalidArguments,
        &["bad pattern `*.{ts` at character 3: `{` is never closed; a literal one is `[{]`"],
    );
    find(json!({"pattern": "*", "limit": 0}), InvalidArguments, &["limit is 0; it may be 1 to 1000"]);
}

#[test]
fn hidden_ignored_and_skipped_are_told_and_can_be_had() {
    let workspace = TempWorkspace::new([
        (".gitignore", "*.log\n"),
        (".config/a.toml", ""),
        ("b.log", ""),
        ("target/c.toml", ""),
        ("d.toml", ""),
    ]);
    for (number, name) in
        ["d.toml", "target/c.toml", ".config/a.toml", "b.log", ".gitignore"].iter().enumerate()
    {
        touched(&workspace, name, 1000 - number as u64);
    }
    let find = |arguments: Value, lines: &[&str]| check(&workspace, "find_files", arguments, Ok, lines);
    find(
        json!({"pattern": "*"}),
        &[
            "1 file in `.` for `*`, newest first",
            "left out: 2 hidden, 1 ignored by .gitignore (include_hidden shows them)",
            "not entered: target (name one as path to find it)",
            "d.toml",
        ],
    );
    find(
        json!({"pattern": "*", "include_hidden": true}),
        &[
            "4 files in `.` for `*`, newest first",
            "not entered: target (name one as path to find it)",
            "d.toml",
            ".config/a.toml",
            "b.log",
            ".gitignore",
        ],
    );
    find(
        json!({"pattern": "*", "path": "target"}),
        &["1 file in `target` for `*`, newest first", "target/c.toml"],
    );
    find(
        json!({"pattern": "*", "path": ".config"}),
        &["1 file in `.config` for `*`, newest first", ".config/a.toml"],
    );
}

#[test]
fn links_are_found_once_and_never_followed() {
    let workspace = TempWorkspace::new([("a/one", ""), ("a/two", ""), ("three", "")]);
    for (target, name) in [(".", "a/loop"), ("q", "p"), ("p", "q"), ("missing", "dead"), ("..", "up")] {
        symlink(target, workspace.join(name)).unwrap();
    }
    let reply = tool("find_files", json!({"pattern": "*"})).workspace(&workspace).run();
    let mut found: Vec<String> = reply.text().lines().skip(1).map(str::to_owned).collect();
    found.sort();
    assert_eq!(found, ["a/loop", "a/one", "a/two", "dead", "p", "q", "three", "up"]);
    let reply = tool("search_files", json!({"pattern": "x"})).workspace(&workspace).run();
    assert_eq!(reply.text(), "`x` is not in any of the 3 files of `.` that were searched");
}

#[test]
fn a_path_tells_what_it_is() {
    let workspace = TempWorkspace::new([
        ("crlf.txt", "\u{FEFF}a\r\nb".as_bytes()),
        ("latin", b"Stra\xDFe\n"),
        ("wide", b"\xFF\xFEa\0\n\0"),
        ("bin", b"\x7FELF\0"),
        ("empty", b""),
        ("folder/x", b""),
    ]);
    for name in ["crlf.txt", "latin", "wide", "bin", "empty"] {
        touched(&workspace, name, 1_800_000_000);
    }
    let stat = |path: &str| {
        let reply = tool("stat_file", json!({"path": path})).workspace(&workspace).run();
        assert_eq!(reply.kind, Ok, "{}", reply.message);
        // The mode depends on the mask of whoever tests.
        let lines: Vec<String> =
            reply.text().lines().filter(|line| !line.starts_with("mode: ")).map(str::to_owned).collect();
        lines.join(" / ")
    };
    let end = "modified: 2027-01-15T08:00:00Z";
    assert_eq!(
        stat("crlf.txt"),
        format!(
            "`crlf.txt`: a file / size: 7 bytes / lines: 2 / encoding: UTF-8 with a byte order mark / line ends: \\r\\n, \
             the last line has none / {end}"
        )
    );
    assert_eq!(
        stat("latin"),
        format!(
            "`latin`: a file / size: 7 bytes / lines: 1 / encoding: unknown, 1 byte not UTF-8 / line ends: \\n / {end}"
        )
    );
    assert_eq!(
        stat("wide"),
        format!(
            "`wide`: a file / size: 6 bytes / lines: 1 / encoding: UTF-16 (little endian) / line ends: \\n / {end}"
        )
    );
    assert_eq!(stat("bin"), format!("`bin`: a file / size: 5 bytes / encoding: binary / {end}"));
    assert_eq!(
        stat("empty"),
        format!("`empty`: a file / size: 0 bytes / lines: 0 / encoding: UTF-8 / line ends: none / {end}")
    );
    symlink("bin", workspace.join("link")).unwrap();
    symlink("nothing", workspace.join("dead")).unwrap();
    symlink("../..", workspace.join("out")).unwrap();
    assert_eq!(
        stat("link"),
        format!(
            "`link`: a link to `bin`; it leads to a file `bin` / size: 5 bytes / encoding: binary / {end}"
        )
    );
    assert_eq!(stat("dead"), "`dead`: a link to `nothing`; `dead` does not exist");
    assert_eq!(stat("out"), "`out`: a link to `../..`; `out` is a link that leads out of the workspace");
    assert!(stat("folder").starts_with("`folder`: a folder"));
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap();
    assert!(stat("socket").starts_with("`socket`: a socket"));
    check(&workspace, "stat_file", json!({"path": "nothing"}), Failed, &["`nothing` does not exist"]);
}

#[test]
fn many_files_are_read_and_what_fails_is_one_of_them() {
    let workspace =
        TempWorkspace::new([("a.txt", "one\n"), ("b/c.txt", "two\n"), ("b/d.md", "three"), ("bin", "\0")]);
    check(
        &workspace,
        "read_many_files",
        json!({"paths": ["a.txt", "gone.txt", "../x", "bin", "b/c.txt"]}),
        Ok,
        &[
            "2 of 5 files read",
            "",
            "`a.txt`: 1 line",
            "1|one",
            "",
            "not read: `gone.txt` does not exist",
            "",
            "not read: `../x` lies outside of the workspace",
            "",
            "not read: `bin`: it is a binary file; only text can be read",
            "",
            "`b/c.txt`: 1 line",
            "1|two",
        ],
    );
    check(
        &workspace,
        "read_many_files",
        json!({"folder": "b", "pattern": "*.txt"}),
        Ok,
        &["1 of 1 file read", "", "`b/c.txt`: 1 line", "1|two"],
    );
    check(
        &workspace,
        "read_many_files",
        json!({"folder": "b", "pattern": "*.rs"}),
        Ok,
        &["no file in `b` matches `*.rs` (2 files looked at)"],
    );
    let either = "give either paths, or folder with or without pattern";
    for arguments in [json!({}), json!({"paths": []}), json!({"paths": ["a.txt"], "folder": "b"})] {
        check(&workspace, "read_many_files", arguments, InvalidArguments, &[either]);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let workspace = TempWorkspace::empty();
    for number in 0..60 {
        workspace.write(&format!("{number:02}.txt"), "x\n");
    }
    let reply = tool("read_many_files", json!({"folder": "."})).workspace(&workspace).run();
    let first = "50 of 60 files read; did not fit: 50.txt, 51.txt, 52.txt, 53.txt, 54.txt, 55.txt, 56.txt, 57.txt, 58.txt, 59.txt";
    assert_eq!(reply.text().lines().next(), Some(first));

    let workspace = TempWorkspace::empty();
    for name in ["a", "b", "c", "d", "e", "f"] {
        workspace.write(name, "0123456789\n".repeat(4_000));
    }
    let reply = tool("read_many_files", json!({"folder": "."})).workspace(&workspace).run();
    let text = reply.text();
    assert!(text.chars().count() < 201_000, "{}", text.chars().count());
    assert_eq!(text.lines().next(), Some("3 of 6 files read; did not fit: d, e, f"));
}

#[test]
fn a_name_that_looks_the_same_is_meant() {
    let workspace = TempWorkspace::new([
        ("Aufnahme a\u{308}.txt", "1"),
        ("Shot at 1.01\u{202F}AM.txt", "2"),
        ("d\u{2019}avril.txt", "3"),
        ("twin \u{2019}.txt", "4"),
        ("twin \u{2018}.txt", "5"),
    ]);
    for (asked, found) in [
        ("Aufnahme ä.txt", "Aufnahme a\u{308}.txt"),
        ("Shot at 1.01 AM.txt", "Shot at 1.01\u{202F}AM.txt"),
        ("d'avril.txt", "d\u{2019}avril.txt"),
    ] {
        let reply = tool("read_file", json!({"path": asked})).workspace(&workspace).run();
        assert_eq!(reply.notes, [format!("`{asked}` is not there; `{found}` is, which looks the same")]);
    }
    let reply = tool("read_file", json!({"path": "twin '.txt"})).workspace(&workspace).run();
    let both = "`twin '.txt` does not exist; looking the same are `\"twin ‘.txt\"`, `\"twin ’.txt\"`";
    assert_eq!(told(&reply), (Failed, both.to_owned()));
    // What is made or changed is never taken for another.
    let reply =
        tool("create_file", json!({"path": "d'avril.txt", "content": "n"})).workspace(&workspace).run();
    assert_eq!(reply.kind, Ok, "{}", reply.message);
    assert_eq!(
        (workspace.read("d'avril.txt"), workspace.read("d\u{2019}avril.txt")),
        ("n".into(), "3".into())
    );
}

#[test]
fn names_that_are_no_text_are_shown_as_escapes() {
    let workspace = TempWorkspace::new([("new\nline", "n")]);
    std::fs::write(workspace.path().join(std::ffi::OsStr::from_bytes(b"la\xDFtin")), "needle\n").unwrap();
    check(
        &workspace,
        "list_directory",
        json!({}),
        Ok,
        &["`.`: 0 folders, 2 other entries", "7\tla\\xDFtin", "1\tnew\\nline"],
    );
    check(
        &workspace,
        "search_files",
        json!({"pattern": "needle"}),
        Ok,
        &["1 line with `needle` in 1 file of 2", "la\\xDFtin", "1|needle"],
    );
}
