//! `create_file`, `write_file` and `delete_file`: what becomes of bytes, modes and links.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Barrier;

use foehn_plugin_sdk::wire::ReplyKind::{Failed, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, json};

use crate::{check, tool};

#[test]
fn create_makes_parents_and_never_replaces() {
    let workspace = TempWorkspace::new([("a.txt", "old")]);
    let create = |path: &str| ("create_file", json!({"path": path, "content": "x\ny"}));
    check(
        &workspace,
        create("new/deep/b.txt"),
        Ok,
        "created `new/deep/b.txt`: 2 lines, 3 bytes",
        &[("new/deep/b.txt", b"x\ny")],
    );
    let exists = "`a.txt` already exists; change a file with edit_file, or replace it with write_file";
    check(&workspace, create("a.txt"), Failed, exists, &[("a.txt", b"old")]);
    check(&workspace, create("a.txt/b"), Failed, "`a.txt/b` is not a directory, or a part of it is not", &[]);
    check(&workspace, create("c/"), Failed, "`c/` names a folder, not a file", &[]);
    assert_eq!(workspace.list(), ["a.txt", "new/", "new/deep/", "new/deep/b.txt"]);
}

#[test]
fn of_many_that_create_one_wins() {
    let workspace = TempWorkspace::empty();
    let start = Barrier::new(8);
    let created: Vec<String> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let (workspace, start) = (&workspace, &start);
                scope.spawn(move || {
                    let content = number.to_string();
                    let call =
                        tool("create_file", json!({"path": "one", "content": content})).workspace(workspace);
                    start.wait();
                    (call.run().kind == Ok).then_some(content)
                })
            })
            .collect();
        calls.into_iter().filter_map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(created, [workspace.read("one")]);
}

#[test]
fn write_replaces_the_whole_and_needs_a_file() {
    let workspace = TempWorkspace::new([("a.txt", "old\nold\n")]);
    let write = |path: &str, content: &str| ("write_file", json!({"path": path, "content": content}));
    check(
        &workspace,
        write("a.txt", "new\n"),
        Ok,
        "wrote `a.txt`: 1 line, 4 bytes (before: 2 lines, 8 bytes)",
        &[("a.txt", b"new\n")],
    );
    check(
        &workspace,
        write("a.txt", ""),
        Ok,
        "wrote `a.txt`: 0 lines, 0 bytes (before: 1 line, 4 bytes)",
        &[("a.txt", b"")],
    );
    check(
        &workspace,
        write("b.txt", "x"),
        Failed,
        "`b.txt` does not exist; there is `a.txt`; a new file is made with create_file",
        &[],
    );
    check(
        &workspace,
        write("folder/b", "x"),
        Failed,
        "`folder/b` does not exist; a new file is made with create_file",
        &[],
    );
    check(&workspace, write(".", "x"), Failed, "`.` is a directory", &[]);
    assert_eq!(workspace.list(), ["a.txt"]);
}

#[test]
fn write_keeps_the_byte_order_mark_and_the_line_ends() {
    let workspace = TempWorkspace::new([
        ("bom.ps1", "\u{FEFF}alpha\r\nbeta\r\n".as_bytes()),
        ("wide.txt", b"\xFF\xFEa\0"),
        ("mixed.txt", b"a\r\nb\n"),
    ]);
    for content in ["x\ny\n", "\u{FEFF}x\ny\n", "x\r\ny\r\n"] {
        let text = "wrote `bom.ps1`: 2 lines, 9 bytes";
        let reply =
            tool("write_file", json!({"path": "bom.ps1", "content": content})).workspace(&workspace).run();
        assert_eq!(reply.text().split(" (before").next(), Some(text));
        assert_eq!(workspace.read("bom.ps1"), "\u{FEFF}x\r\ny\r\n");
    }
    let reply = tool("write_file", json!({"path": "bom.ps1", "content": "z\n"})).workspace(&workspace).run();
    assert_eq!(reply.notes, ["the file keeps its byte order mark", "the file keeps its line ends, \\r\\n"]);
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x\n"}));
    check(
        &workspace,
        write("wide.txt"),
        Refused,
        "`wide.txt` is UTF-16 (little endian); it is not rewritten as UTF-8",
        &[("wide.txt", b"\xFF\xFEa\0")],
    );
    check(
        &workspace,
        write("mixed.txt"),
        Ok,
        "wrote `mixed.txt`: 1 line, 2 bytes (before: 2 lines, 5 bytes)",
        &[("mixed.txt", b"x\n")],
    );
}

#[test]
fn the_mode_is_kept() {
    for mode in [0o755, 0o640, 0o600, 0o444] {
        let workspace = TempWorkspace::new([("run.sh", "one\n")]);
        let path = workspace.join("run.sh");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        tool("write_file", json!({"path": "run.sh", "content": "two\n"})).workspace(&workspace).run();
        tool("edit_file", json!({"path": "run.sh", "old_text": "two", "new_text": "three"}))
            .workspace(&workspace)
            .run();
        tool("append_file", json!({"path": "run.sh", "content": "four\n"})).workspace(&workspace).run();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
}

#[test]
fn a_link_inside_stays_a_link() {
    let workspace = TempWorkspace::new([("real/cfg.toml", "rate = 5\n")]);
    symlink("real/cfg.toml", workspace.join("cfg")).unwrap();
    symlink(workspace.join("real"), workspace.join("absolute")).unwrap();
    let edit = json!({"path": "cfg", "old_text": "5", "new_text": "6"});
    check(
        &workspace,
        ("edit_file", edit),
        Ok,
        "edited `cfg` in 1 place\n1|rate = 6",
        &[("real/cfg.toml", b"rate = 6\n")],
    );
    let write = json!({"path": "absolute/cfg.toml", "content": "rate = 7\n"});
    check(
        &workspace,
        ("write_file", write),
        Ok,
        "wrote `absolute/cfg.toml`: 1 line, 9 bytes (before: 1 line, 9 bytes)",
        &[("real/cfg.toml", b"rate = 7\n")],
    );
    let root = workspace.path().display();
    assert_eq!(
        workspace.list(),
        [
            format!("absolute -> {root}/real"),
            "cfg -> real/cfg.toml".into(),
            "real/".into(),
            "real/cfg.toml".into()
        ]
    );
}

#[test]
fn a_write_breaks_a_hard_link() {
    let outside = TempWorkspace::new([("orig.txt", "original\n")]);
    let workspace = TempWorkspace::empty();
    let link = workspace.join("h.txt");
    for (name, arguments) in [
        ("write_file", json!({"path": "h.txt", "content": "changed\n"})),
        ("edit_file", json!({"path": "h.txt", "old_text": "original", "new_text": "changed"})),
    ] {
        let _ = fs::remove_file(&link);
        fs::hard_link(outside.join("orig.txt"), &link).unwrap();
        let read = tool("read_file", json!({"path": "h.txt"})).workspace(&workspace).run();
        assert_eq!(read.text(), "`h.txt`: 1 line\n1|original");
        assert_eq!(tool(name, arguments).workspace(&workspace).run().kind, Ok);
        assert_eq!([workspace.read("h.txt"), outside.read("orig.txt")], ["changed\n", "original\n"]);
    }
}

#[test]
fn delete_takes_files_and_links_themselves() {
    let workspace = TempWorkspace::new([("a.txt", "abc"), ("keep.txt", "k"), ("folder/", "")]);
    symlink("keep.txt", workspace.join("link")).unwrap();
    symlink("missing", workspace.join("dead")).unwrap();
    let delete = |path: &str| ("delete_file", json!({"path": path}));
    check(&workspace, delete("a.txt"), Ok, "deleted `a.txt` (3 bytes)", &[]);
    check(
        &workspace,
        delete("link"),
        Ok,
        "deleted the link `link`; what it leads to is as it was",
        &[("keep.txt", b"k")],
    );
    check(&workspace, delete("dead"), Ok, "deleted the link `dead`; what it leads to is as it was", &[]);
    check(&workspace, delete("folder"), Failed, "`folder` is a directory", &[]);
    check(&workspace, delete("a.txt"), Failed, "`a.txt` does not exist", &[]);
    check(&workspace, delete("."), Failed, "`.` is a directory", &[]);
    assert_eq!(workspace.list(), ["folder/", "keep.txt"]);
}
