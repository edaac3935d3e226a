//! `read_file`: numbered lines, and a header that tells what they do not show.

use foehn_plugin_sdk::wire::ReplyKind::{Failed, InvalidArguments, Ok};
use foehn_plugin_testkit::{TempWorkspace, Value, json};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{check, told, tool};

#[track_caller]
fn check_read(content: impl AsRef<[u8]>, arguments: Value, expected: &str) {
    let workspace = TempWorkspace::new([("a.txt", content)]);
    let mut arguments = arguments;
    arguments["path"] = "a.txt".into();
    check(&workspace, ("read_file", arguments), Ok, expected, &[]);
}

#[test]
fn lines_are_numbered_and_exact() {
    check_read("one\n\ttwo\n", json!({}), "`a.txt`: 2 lines\n1|one\n2|\ttwo");
    check_read("", json!({}), "`a.txt`: empty");
    check_read("a", json!({}), "`a.txt`: 1 line; the last line has no line end\n1|a");
    check_read("a\nb\nc\n", json!({"start_line": 2}), "`a.txt`: lines 2 to 3 of 3, the last ones\n2|b\n3|c");
    check_read(
        "a\nb\nc\nd\n",
        json!({"start_line": 2, "end_line": 3}),
        "`a.txt`: lines 2 to 3 of 4, go on with start_line 4\n2|b\n3|c",
    );
    check_read("a\nb\n", json!({"end_line": 99}), "`a.txt`: 2 lines\n1|a\n2|b");
}

#[test]
fn what_is_not_shown_is_said() {
    check_read("a\r\nb\r\n", json!({}), "`a.txt`: 2 lines; lines end in \\r\\n\n1|a\n2|b");
    check_read("a\r\nb\n", json!({}), "`a.txt`: 2 lines; 1 lines end in \\r\\n and 1 in \\n\n1|a\n2|b");
    check_read(
        "\u{FEFF}alpha\n",
        json!({}),
        "`a.txt`: 1 line; UTF-8 with a byte order mark, which is not shown\n1|alpha",
    );
    check_read(
        b"rate: 5\n# Stra\xDFe\n",
        json!({}),
        "`a.txt`: 2 lines; not UTF-8, 1 byte shown as \u{FFFD}; edit_file keeps them\n1|rate: 5\n2|# Stra\u{FFFD}e",
    );
    check_read(
        b"\xFF\xFEa\0\n\0",
        json!({}),
        "`a.txt`: 1 line; UTF-16 (little endian), shown as UTF-8; it cannot be edited\n1|a",
    );
}

#[test]
fn results_are_bounded() {
    let line = "x".repeat(99);
    let workspace = TempWorkspace::new([
        ("many.txt", format!("{line}\n").repeat(1000)),
        ("long.txt", format!("{}\nb\n", "é".repeat(3_000_000))),
    ]);
    let many = tool("read_file", json!({"path": "many.txt"})).workspace(&workspace).run().text();
    assert_eq!(many.lines().next(), Some("`many.txt`: lines 1 to 512 of 1000, go on with start_line 513"));
    assert_eq!(many.lines().last(), Some(format!("512|{line}").as_str()));
    let cut = format!("1|{}… [cut: the line has 3000000 characters, 2000 are shown]", "é".repeat(2000));
    let long = tool("read_file", json!({"path": "long.txt"})).workspace(&workspace).run().text();
    assert_eq!(long, format!("`long.txt`: 2 lines\n{cut}\n2|b"));
    let config = json!({"max_read_characters": 250, "max_line_characters": 10});
    let small = tool("read_file", json!({"path": "many.txt", "end_line": 2}))
        .config(config)
        .workspace(&workspace)
        .run();
    let cut = "xxxxxxxxxx… [cut: the line has 99 characters, 10 are shown]";
    assert_eq!(
        small.text(),
        format!("`many.txt`: lines 1 to 2 of 1000, go on with start_line 3\n1|{cut}\n2|{cut}")
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    let workspace =
        TempWorkspace::new([("a.txt", "a\nb\n".as_bytes()), ("x.bin", b"\x7FELF\0"), ("folder/", b"")]);
    mknodat(CWD, workspace.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let cases = [
        (json!({"path": "A.TXT"}), Failed, "`A.TXT` does not exist; there is `a.txt`"),
        (json!({"path": "zzz"}), Failed, "`zzz` does not exist"),
        (json!({"path": "folder"}), Failed, "`folder` is a directory"),
        (json!({"path": "folder/"}), Failed, "`folder/` names a folder, not a file"),
        (json!({"path": "pipe"}), Failed, "`pipe` is not a regular file but a device, a pipe or a socket"),
        (json!({"path": "x.bin"}), Failed, "`x.bin`: it is a binary file; only text can be read"),
        (json!({"path": "a.txt", "start_line": 3}), Failed, "`a.txt`: it has 2 lines, so there is no line 3"),
        (
            json!({"path": "a.txt", "start_line": 0}),
            InvalidArguments,
            "start_line is 0; lines are counted from 1",
        ),
        (
            json!({"path": "a.txt", "start_line": 2, "end_line": 1}),
            InvalidArguments,
            "end_line 1 comes before start_line 2",
        ),
    ];
    for (arguments, kind, message) in cases {
        check(&workspace, ("read_file", arguments), kind, message, &[]);
    }
}

#[test]
fn a_replaced_character_in_the_file_itself_is_no_wrong_byte() {
    let workspace = TempWorkspace::new([("a.txt", "a \u{FFFD}\n")]);
    let reply = tool("read_file", json!({"path": "a.txt"})).workspace(&workspace).run();
    assert_eq!(told(&reply), (Ok, "`a.txt`: 1 line\n1|a \u{FFFD}".to_owned()));
}
