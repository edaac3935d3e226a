//! `search_files`: what a model learns of a pattern, a path and a filter.

use foehn_plugin_sdk::wire::ReplyKind::{self, Cancelled, Failed, InvalidArguments, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, json};

use crate::{told, tool};

fn tree() -> TempWorkspace {
    TempWorkspace::new([
        ("a.rs", "fn main() {\n\tneedle();\n}\n"),
        ("b/c.rs", "// Needle\nlet x = needle;\nlast needle"),
        ("b/d.txt", "nothing here\n"),
    ])
}

#[track_caller]
fn check(workspace: &TempWorkspace, arguments: Value, kind: ReplyKind, lines: &[&str]) {
    let reply = tool("search_files", arguments).workspace(workspace).run();
    assert_eq!(told(&reply), (kind, lines.join("\n")));
    if kind != Ok {
        assert_eq!(reply.executed, Some(false));
    }
}

#[test]
fn four_situations_have_four_answers() {
    let workspace = tree();
    check(
        &workspace,
        json!({"pattern": "refused", "path": "hosts.json"}),
        Failed,
        &["`hosts.json` does not exist"],
    );
    check(
        &workspace,
        json!({"pattern": "needle", "include": "*.py"}),
        Ok,
        &["no file in `.` passes `*.py` (3 files looked at)"],
    );
    check(
        &workspace,
        json!({"pattern": "absent"}),
        Ok,
        &["`absent` is not in any of the 3 files of `.` that were searched"],
    );
    check(
        &workspace,
        json!({"pattern": "absent", "path": "b/d.txt"}),
        Ok,
        &["`absent` is not in the 1 file of `b/d.txt` that was searched"],
    );
    check(
        &workspace,
        json!({"pattern": "needle"}),
        Ok,
        &[
            "3 lines with `needle` in 2 files of 3",
            "a.rs",
            "2|\tneedle();",
            "b/c.rs",
            "2|let x = needle;",
            "3|last needle",
        ],
    );
    check(&TempWorkspace::empty(), json!({"pattern": "x"}), Ok, &["there is no file to search in `.`"]);
}

#[test]
fn modes_and_switches() {
    let workspace = tree();
    check(
        &workspace,
        json!({"pattern": "needle", "mode": "files"}),
        Ok,
        &["`needle` is in 2 files of 3", "a.rs", "b/c.rs"],
    );
    check(
        &workspace,
        json!({"pattern": "needle", "mode": "counts", "ignore_case": true}),
        Ok,
        &["`needle` is in 2 files of 3", "1\ta.rs", "3\tb/c.rs"],
    );
    check(
        &workspace,
        json!({"pattern": "main() {", "literal": true}),
        Ok,
        &["1 line with `main() {` in 1 file of 3", "a.rs", "1|fn main() {"],
    );
    check(
        &workspace,
        json!({"pattern": "x =", "context_lines": 1, "path": "b/c.rs"}),
        Ok,
        &["1 line with `x =` in 1 file of 1", "b/c.rs", "1-// Needle", "2|let x = needle;", "3-last needle"],
    );
    check(
        &workspace,
        json!({"pattern": "^last.*$", "path": "b", "include": "*.{rs,py}"}),
        Ok,
        &["1 line with `^last.*$` in 1 file of 1", "b/c.rs", "3|last needle"],
    );
}

#[test]
fn a_limit_ends_the_search_and_says_so() {
    let workspace = tree();
    let first = |what: &str| format!("the first {what}; there are more: narrow the search, or raise limit");
    check(
        &workspace,
        json!({"pattern": "needle", "limit": 2}),
        Ok,
        &[
            "the first 2 lines with `needle`, in 2 files; there are more: narrow the search, or raise limit",
            "a.rs",
            "2|\tneedle();",
            "b/c.rs",
            "2|let x = needle;",
        ],
    );
    check(
        &workspace,
        json!({"pattern": "needle", "limit": 1, "mode": "files"}),
        Ok,
        &[&first("1 file with `needle`"), "a.rs"],
    );
    for limit in [0, 1001] {
        check(
            &workspace,
            json!({"pattern": "x", "limit": limit}),
            InvalidArguments,
            &[&format!("limit is {limit}; it may be 1 to 1000")],
        );
    }
    // The same every time, whichever thread is faster.
    let many = TempWorkspace::empty();
    for number in 0..300 {
        many.write(&format!("{number:03}"), "hit\n".repeat(number % 3));
    }
    let answers: Vec<String> = (0..20)
        .map(|_| tool("search_files", json!({"pattern": "hit", "limit": 40})).workspace(&many).run().text())
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

#[test]
fn line_ends_and_marks_do_not_count() {
    let workspace = TempWorkspace::new([("crlf", "\u{FEFF}one\r\ntwo\r\n"), ("utf16", ""), ("lf", "one\n")]);
    let wide: Vec<u8> = "\u{FEFF}one\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    workspace.write("utf16", wide);
    check(
        &workspace,
        json!({"pattern": "^(one|two)$"}),
        Ok,
        &[
            "4 lines with `^(one|two)$` in 3 files of 3",
            "crlf",
            "1|one",
            "2|two",
            "lf",
            "1|one",
            "utf16",
            "1|one",
        ],
    );
}

#[test]
fn what_is_no_text_is_counted() {
    let workspace = TempWorkspace::new([
        ("bin", b"needle\0".as_slice()),
        ("latin", b"needle Stra\xDFe\n"),
        ("plain", b"needle\n"),
    ]);
    check(
        &workspace,
        json!({"pattern": "needle"}),
        Ok,
        &[
            "2 lines with `needle` in 2 files of 2",
            "not searched: 1 file that is binary",
            "latin",
            "1|needle Stra\u{FFFD}e",
            "plain",
            "1|needle",
            "(1 line is not UTF-8; what is not is shown as \u{FFFD})",
        ],
    );
}

/// A folder's small files are read at once, a file that is named is read bit by bit: both find the same.
#[test]
fn how_a_file_is_read_does_not_count() {
    const AT_ONCE: usize = 64 * 1024;
    let workspace = TempWorkspace::empty();
    let filled = |size: usize, end: &[u8]| {
        let mut text = b"needle at the beginning\n".to_vec();
        text.extend("a line\n".bytes().cycle().take(size.saturating_sub(text.len() + end.len())));
        text.extend(end);
        text
    };
    for size in [1_000, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
        workspace.write(&format!("text{size}"), filled(size, b"\nneedle"));
        // One that is larger is text as far as it is looked at.
        if size <= AT_ONCE + 1 {
            workspace.write(&format!("zero{size}"), filled(size, b"\0needle\n"));
        }
        let wide: Vec<u8> = String::from_utf8(filled(size / 2, b"\nneedle"))
            .unwrap()
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        workspace.write(&format!("wide{size}"), [b"\xFF\xFE".as_slice(), &wide].concat());
    }
    workspace.write("empty", "");
    let search = |arguments: Value| tool("search_files", arguments).workspace(&workspace).run().text();
    for mode in ["lines", "counts", "files"] {
        let whole = search(json!({"pattern": "needle", "mode": mode, "context_lines": 1}));
        for name in workspace.list() {
            let one = search(json!({"pattern": "needle", "mode": mode, "path": name, "context_lines": 1}));
            let rows: Vec<&str> =
                one.lines().skip(1).filter(|line| !line.starts_with("not searched")).collect();
            assert!(whole.contains(&rows.join("\n")), "{mode} {name}: {one}\n{whole}");
            assert_eq!(rows.is_empty(), name == "empty" || name.starts_with("zero"), "{mode} {name}: {one}");
        }
        assert!(whole.contains("not searched: 4 files that are binary"), "{mode}: {whole}");
    }
}

#[test]
fn a_line_without_end_costs_no_memory() {
    let workspace = TempWorkspace::new([("short", "needle\n")]);
    let mut long = "x".repeat(30 * 1024 * 1024);
    long.push_str("needle");
    workspace.write("long", long);
    check(
        &workspace,
        json!({"pattern": "needle"}),
        Ok,
        &["1 line with `needle` in 1 file of 1", "not searched, lines too long: long", "short", "1|needle"],
    );
    workspace.write("wide", format!("{}needle\n", "y".repeat(5_000)));
    let reply =
        tool("search_files", json!({"pattern": "needle", "path": "wide"})).workspace(&workspace).run();
    assert_eq!(reply.text().lines().last(), Some(format!("1|{}…", "y".repeat(2_000)).as_str()));
}

#[test]
fn patterns_that_are_none_say_where_and_what_to_do() {
    let workspace = tree();
    check(
        &workspace,
        json!({"pattern": "foo(?!bar)"}),
        InvalidArguments,
        &[
            "bad regular expression `foo(?!bar)` at character 4: look-around, including look-ahead and look-behind, is not \
           supported; to search for this very text set literal",
        ],
    );
    check(
        &workspace,
        json!({"pattern": "a{99999}"}),
        InvalidArguments,
        &["the regular expression `a{99999}` is too large: use smaller numbers of repetitions"],
    );
    check(
        &workspace,
        json!({"pattern": "x", "include": "*.{ts"}),
        InvalidArguments,
        &["include: bad pattern `*.{ts` at character 3: `{` is never closed; a literal one is `[{]`"],
    );
    check(
        &workspace,
        json!({"pattern": r"\\bneedle"}),
        Ok,
        &[
            r"`\\bneedle` is not in any of the 3 files of `.` that were searched",
            "the pattern has two backslashes in a row, which stand for one in the text; write one",
        ],
    );
}

#[test]
fn what_is_named_is_searched() {
    let workspace = TempWorkspace::new([
        (".gitignore", "gen/\n"),
        ("gen/code.rs", "needle\n"),
        (".config/a.toml", "needle\n"),
        ("target/x.rs", "needle\n"),
    ]);
    let hit = |path: &str| [format!("1 line with `needle` in 1 file of 1\n{path}\n1|needle")];
    for (path, file) in [
        ("gen", "gen/code.rs"),
        ("gen/code.rs", "gen/code.rs"),
        (".config", ".config/a.toml"),
        ("target", "target/x.rs"),
    ] {
        check(
            &workspace,
            json!({"pattern": "needle", "path": path}),
            Ok,
            &hit(file).each_ref().map(String::as_str),
        );
    }
    check(
        &workspace,
        json!({"pattern": "needle"}),
        Ok,
        &[
            "there is no file to search in `.`",
            "left out: 2 hidden, 1 ignored by .gitignore (include_hidden shows them)",
            "not entered: target (name one as path to search it)",
        ],
    );
    check(
        &workspace,
        json!({"pattern": "needle", "include_hidden": true, "mode": "files"}),
        Ok,
        &[
            "`needle` is in 2 files of 3",
            "not entered: target (name one as path to search it)",
            ".config/a.toml",
            "gen/code.rs",
        ],
    );
}

#[test]
fn a_search_outside_or_of_no_file_is_refused() {
    let workspace = tree();
    check(
        &workspace,
        json!({"pattern": "x", "path": "../"}),
        Refused,
        &["`../` lies outside of the workspace"],
    );
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap();
    check(
        &workspace,
        json!({"pattern": "x", "path": "socket"}),
        Failed,
        &["`socket` is not a regular file but a device, a pipe or a socket"],
    );
    let host = TestHost::new();
    host.cancel();
    let reply = tool("search_files", json!({"pattern": "x"})).workspace(&workspace).run_on(&host);
    assert_eq!(reply.kind, Cancelled);
}

/// One meaning of a glob, whichever tool takes it.
#[test]
fn a_glob_means_the_same_to_every_tool() {
    let workspace = TempWorkspace::empty();
    let all = ["x.rs", "a/b/y.rs", "a/x.ts", "src/a/one.ts", "src/b/two.tsx", "c.ts", "docs/a.md"];
    for path in all {
        workspace.write(path, "hit\n");
    }
    for (pattern, expected) in [
        ("*.rs", vec!["a/b/y.rs", "x.rs"]),
        ("**/*.rs", vec!["a/b/y.rs", "x.rs"]),
        ("./**/*.rs", vec!["a/b/y.rs", "x.rs"]),
        ("**/b/*.rs", vec!["a/b/y.rs"]),
        (r"a\b\*.rs", vec!["a/b/y.rs"]),
        ("**/*.{ts,tsx}", vec!["a/x.ts", "c.ts", "src/a/one.ts", "src/b/two.tsx"]),
        ("src/{a,b}/**", vec!["src/a/one.ts", "src/b/two.tsx"]),
        ("{x,{c,one}}.{rs,ts}", vec!["a/x.ts", "c.ts", "src/a/one.ts", "x.rs"]),
        ("docs/**/*.md", vec!["docs/a.md"]),
    ] {
        let text = |name: &str, arguments: Value| tool(name, arguments).workspace(&workspace).run().text();
        let found = text("find_files", json!({"pattern": pattern}));
        let searched = text("search_files", json!({"pattern": "hit", "include": pattern, "mode": "files"}));
        let read = text("read_many_files", json!({"folder": ".", "pattern": pattern}));
        let paths = |text: String| {
            let mut paths: Vec<String> =
                text.split(['\n', '`']).filter(|part| all.contains(part)).map(str::to_owned).collect();
            paths.sort();
            paths
        };
        assert_eq!(
            [paths(found), paths(searched), paths(read)],
            [(); 3].map(|()| expected.clone()),
            "{pattern}"
        );
    }
    for name in ["find_files", "read_many_files"] {
        let reply = tool(name, json!({"folder": ".", "pattern": "*.{ts"})).workspace(&workspace).run();
        assert_eq!(reply.kind, InvalidArguments, "{name}");
    }
}

#[test]
fn ignore_files_above_the_workspace_do_not_hold() {
    let base = TempWorkspace::new([
        (".gitignore", "*\n"),
        (".git/info/exclude", "*\n"),
        ("ws/a.txt", "needle\n"),
        ("ws/.ignore", "a.txt\n"),
    ]);
    let reply = tool("search_files", json!({"pattern": "needle"})).workspace(base.join("ws")).run();
    let expected = "1 line with `needle` in 1 file of 1\nleft out: 1 hidden (include_hidden shows them)\na.txt\n1|needle";
    assert_eq!(reply.text(), expected);
}
