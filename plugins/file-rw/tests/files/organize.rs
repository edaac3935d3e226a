//! `append_file`, `copy_file`, `move_file`, `make_directory` and `remove_directory`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use foehn_plugin_sdk::wire::ReplyKind::{Failed, InvalidArguments, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, json};

use crate::{check, told, tool};

fn append(path: &str, content: &str) -> (&'static str, Value) {
    ("append_file", json!({"path": path, "content": content}))
}

fn pair(name: &'static str, source: &str, destination: &str) -> (&'static str, Value) {
    (name, json!({"source": source, "destination": destination}))
}

#[test]
fn text_is_added_as_the_file_writes_it() {
    let workspace = TempWorkspace::new([
        ("lf", b"a\n".as_slice()),
        ("crlf", b"\xEF\xBB\xBFa\r\n"),
        ("open", b"a"),
        ("latin", b"Stra\xDFe\n"),
        ("wide", b"\xFF\xFEa\0"),
        ("empty", b""),
    ]);
    check(&workspace, append("lf", "b\n"), Ok, "added to `lf`: now 2 lines, 4 bytes", &[("lf", b"a\nb\n")]);
    check(
        &workspace,
        append("crlf", "\u{FEFF}b\nc\r\n"),
        Ok,
        "added to `crlf`: now 3 lines, 12 bytes",
        &[("crlf", b"\xEF\xBB\xBFa\r\nb\r\nc\r\n")],
    );
    check(
        &workspace,
        append("latin", "b\n"),
        Ok,
        "added to `latin`: now 2 lines, 9 bytes",
        &[("latin", b"Stra\xDFe\nb\n")],
    );
    check(
        &workspace,
        append("latin", "ß\n"),
        Refused,
        "`latin` is not UTF-8, and content has characters beyond ASCII that would be stored in another encoding than the rest",
        &[("latin", b"Stra\xDFe\nb\n")],
    );
    check(
        &workspace,
        append("wide", "b"),
        Refused,
        "`wide` is UTF-16 (little endian); text is not added to it",
        &[("wide", b"\xFF\xFEa\0")],
    );
    check(&workspace, append("empty", "b"), Ok, "added to `empty`: now 1 line, 1 byte", &[("empty", b"b")]);
    check(&workspace, append("lf", ""), InvalidArguments, "content is empty; there is nothing to add", &[]);
    check(&workspace, append("gone", "b"), Failed, "`gone` does not exist", &[]);
    let reply = tool("append_file", json!({"path": "open", "content": "b"})).workspace(&workspace).run();
    assert_eq!(reply.notes, ["the last line had no line end; the text goes on in it"]);
    assert_eq!(workspace.read("open"), "ab");
}

#[test]
fn a_copy_keeps_the_bytes_and_the_permissions() {
    let workspace = TempWorkspace::new([("run.sh", b"x\xFF\0\r\n".as_slice()), ("folder/", b"")]);
    for mode in [0o755, 0o640, 0o600, 0o444, 0o4755] {
        let path = workspace.join("run.sh");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let copy = pair("copy_file", "run.sh", "new/copy.sh");
        check(
            &workspace,
            copy,
            Ok,
            "copied `run.sh` to `new/copy.sh` (5 bytes)",
            &[("new/copy.sh", b"x\xFF\0\r\n"), ("run.sh", b"x\xFF\0\r\n")],
        );
        let copied = fs::metadata(workspace.join("new/copy.sh")).unwrap().mode() & 0o7777;
        // What the mask takes away is taken away; nothing is added, and nothing runs as somebody else.
        assert_eq!((copied & !mode, copied & 0o6000, copied & 0o700), (0, 0, mode & 0o700));
        fs::remove_dir_all(workspace.join("new")).unwrap();
    }
    let exists = "`folder` already exists; change a file with edit_file, or replace it with write_file";
    check(&workspace, pair("copy_file", "run.sh", "folder"), Failed, exists, &[]);
    check(&workspace, pair("copy_file", "folder", "other"), Failed, "`folder` is a directory", &[]);
    check(&workspace, pair("copy_file", "gone", "other"), Failed, "`gone` does not exist", &[]);
    check(
        &workspace,
        pair("copy_file", "run.sh", "run.sh/x"),
        Failed,
        "`run.sh/x` is not a directory, or a part of it is not",
        &[],
    );
    assert_eq!(workspace.list(), ["folder/", "run.sh"]);
}

#[test]
fn a_move_takes_files_folders_and_links_themselves() {
    let workspace = TempWorkspace::new([("a.txt", "a"), ("folder/b.txt", "b"), ("taken", "t")]);
    symlink("a.txt", workspace.join("link")).unwrap();
    symlink("missing", workspace.join("dead")).unwrap();
    let rename = |from: &str, to: &str| pair("move_file", from, to);
    check(
        &workspace,
        rename("link", "sub/link"),
        Ok,
        "moved the link `link` to `sub/link`",
        &[("a.txt", b"a")],
    );
    check(
        &workspace,
        rename("a.txt", "sub/c.txt"),
        Ok,
        "moved the file `a.txt` to `sub/c.txt`",
        &[("sub/c.txt", b"a")],
    );
    check(
        &workspace,
        rename("folder", "sub/d"),
        Ok,
        "moved the folder `folder` to `sub/d`",
        &[("sub/d/b.txt", b"b")],
    );
    let exists = |path: &str| {
        format!("`{path}` already exists; change a file with edit_file, or replace it with write_file")
    };
    check(&workspace, rename("taken", "sub/c.txt"), Failed, &exists("sub/c.txt"), &[("taken", b"t")]);
    check(&workspace, rename("taken", "sub"), Failed, &exists("sub"), &[("taken", b"t")]);
    check(
        &workspace,
        rename("taken", "dead"),
        Refused,
        "`dead` is a link to something that does not exist; nothing is created through it",
        &[("taken", b"t")],
    );
    check(&workspace, rename("sub", "sub/d/e"), Failed, "`sub` cannot be moved into itself, `sub/d/e`", &[]);
    check(&workspace, rename("gone", "x/y"), Failed, "`gone` does not exist", &[]);
    check(&workspace, rename(".", "x"), Failed, "this cannot be done to the workspace folder itself", &[]);
    assert_eq!(
        workspace.list(),
        ["dead -> missing", "sub/", "sub/c.txt", "sub/d/", "sub/d/b.txt", "sub/link -> a.txt", "taken"]
    );
}

#[test]
fn folders_are_made_with_those_above_them() {
    let workspace = TempWorkspace::new([("a.txt", "")]);
    let make = |path: &str| ("make_directory", json!({"path": path}));
    check(&workspace, make("x/y/z"), Ok, "made the folder `x/y/z`", &[]);
    check(&workspace, make("x/y/"), Ok, "the folder `x/y` is there already", &[]);
    check(&workspace, make("."), Ok, "the folder `.` is there already", &[]);
    check(&workspace, make("a.txt"), Failed, "`a.txt` is there already, and no folder", &[]);
    check(&workspace, make("a.txt/b"), Failed, "`a.txt/b` is not a directory, or a part of it is not", &[]);
    check(&workspace, make("../b"), Refused, "`../b` lies outside of the workspace", &[]);
    assert_eq!(workspace.list(), ["a.txt", "x/", "x/y/", "x/y/z/"]);
}

#[test]
fn a_folder_is_removed_when_it_is_empty_or_when_all_is_meant() {
    let outside = TempWorkspace::new([("keep.txt", "k")]);
    let workspace =
        TempWorkspace::new([("full/a.txt", "a"), ("full/deep/b.txt", "b"), ("empty/", ""), ("file", "")]);
    symlink(outside.path(), workspace.join("full/deep/out")).unwrap();
    symlink("full", workspace.join("link")).unwrap();
    let remove =
        |path: &str, recursive: bool| ("remove_directory", json!({"path": path, "recursive": recursive}));
    let not_empty = "`full` is not empty: it holds 3 files and 1 folder; recursive removes them too";
    check(&workspace, remove("full", false), Failed, not_empty, &[("full/a.txt", b"a")]);
    check(&workspace, remove("file", true), Failed, "`file` is not a directory, or a part of it is not", &[]);
    check(
        &workspace,
        remove("link", true),
        Failed,
        "`link` is a link, which delete_file deletes; what it leads to stays",
        &[],
    );
    check(&workspace, remove(".", true), Failed, "this cannot be done to the workspace folder itself", &[]);
    check(&workspace, remove("gone", true), Failed, "`gone` does not exist", &[]);
    check(&workspace, remove("empty", false), Ok, "removed the folder `empty`", &[]);
    check(
        &workspace,
        remove("full", true),
        Ok,
        "removed the folder `full` with 3 files and 1 folder in it",
        &[],
    );
    assert_eq!(
        (workspace.list(), outside.list()),
        (vec!["file".into(), "link -> full".into()], vec!["keep.txt".to_owned()])
    );
}

#[test]
fn a_deep_tree_is_removed_or_refused_whole() {
    let workspace = TempWorkspace::empty();
    let deep = vec!["d"; 1_500].join("/");
    workspace.write(&format!("top/{deep}/f"), "x");
    let reply =
        tool("remove_directory", json!({"path": "top", "recursive": true})).workspace(&workspace).run();
    assert_eq!(told(&reply), (Ok, "removed the folder `top` with 1 file and 1500 folders in it".to_owned()));
    assert_eq!(workspace.list(), Vec::<String>::new());
}

#[test]
fn a_cancelled_removal_has_removed_nothing() {
    let workspace = TempWorkspace::new([("full/a", ""), ("full/b", "")]);
    let host = TestHost::new();
    host.cancel();
    let arguments = json!({"path": "full", "recursive": true});
    let reply = tool("remove_directory", arguments).workspace(&workspace).run_on(&host);
    assert_eq!(reply.executed, Some(false));
    assert_eq!(workspace.list(), ["full/", "full/a", "full/b"]);
}

#[test]
fn a_batch_of_edits_is_made_whole_or_not_at_all() {
    let text = "one\r\ntwo\r\nthree\r\n";
    let workspace = TempWorkspace::new([("a.txt", text)]);
    let edits = |steps: &[(&str, &str)]| {
        let steps: Vec<Value> =
            steps.iter().map(|(old, new)| json!({"old_text": old, "new_text": new})).collect();
        ("edit_file", json!({"path": "a.txt", "edits": steps}))
    };
    check(
        &workspace,
        edits(&[("one", "1"), ("nine", "9"), ("three", "3")]),
        Failed,
        "`a.txt`: edit 2 of 3, and with it none was made: old_text is not in it. No line is like it; read \
         the file again.",
        &[("a.txt", text.as_bytes())],
    );
    check(
        &workspace,
        edits(&[("three", "3\n4"), ("one\n", "1\n"), ("1\ntwo", "$1")]),
        Ok,
        "edited `a.txt` in 3 places\n1|$1\n2|3\n3|4",
        &[("a.txt", b"$1\r\n3\r\n4\r\n")],
    );
    for (arguments, message) in [
        (json!({"path": "a.txt"}), "old_text is missing, the text to replace"),
        (json!({"path": "a.txt", "old_text": "3"}), "new_text is missing; an empty one deletes old_text"),
        (json!({"path": "a.txt", "edits": []}), "edits has 0 items; it may have 1 to 50"),
        (
            json!({"path": "a.txt", "old_text": "3", "new_text": "", "edits": [{"old_text": "3", "new_text": ""}]}),
            "give either old_text and new_text, or edits, not both",
        ),
    ] {
        check(
            &workspace,
            ("edit_file", arguments),
            InvalidArguments,
            message,
            &[("a.txt", b"$1\r\n3\r\n4\r\n")],
        );
    }
}

#[test]
fn stock_is_counted_only_where_it_is_switched_on() {
    let workspace = TempWorkspace::new([("stock.json", "{\n  \"bolt\": 7\n}\n")]);
    let arguments =
        |item: &str, quantity: i64| json!({"path": "stock.json", "item": item, "quantity": quantity});
    let off = tool("stock_add", arguments("bolt", 1)).workspace(&workspace).run();
    let message = "this tool is switched off; its configuration has to set enabled = true";
    assert_eq!(told(&off), (Refused, message.to_owned()));
    let add = |item: &str, quantity: i64| {
        told(
            &tool("stock_add", arguments(item, quantity))
                .config(json!({"enabled": true}))
                .workspace(&workspace)
                .run(),
        )
    };
    assert_eq!(add("bolt", -3), (Ok, "`bolt` in `stock.json`: 4 (before: 7)".to_owned()));
    assert_eq!(add("nut", 5), (Ok, "`nut` in `stock.json`: 5 (before: 0)".to_owned()));
    assert_eq!(add("bolt", -5), (Failed, "`stock.json`: `bolt` is 4; -5 more would be -1".to_owned()));
    assert_eq!(workspace.read("stock.json"), "{\n  \"bolt\": 4,\n  \"nut\": 5\n}\n");
}

#[test]
fn many_that_count_at_once_lose_nothing() {
    const CALLS: usize = 50;
    let workspace = TempWorkspace::new([("stock.json", "{\"bolt\":0}")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    let arguments = json!({"path": "stock.json", "item": "bolt", "quantity": 1});
                    let call = tool("stock_add", arguments).config(json!({"enabled": true}));
                    let reply = call.workspace(&workspace).run();
                    assert_eq!(reply.kind, Ok, "{}", reply.message);
                }
            });
        }
    });
    assert_eq!(workspace.read("stock.json"), format!("{{\"bolt\":{}}}", 4 * CALLS));
}
