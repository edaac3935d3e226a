//! What is in the way of a call: permissions, pipes, depth, size. Each has a clear answer, and nothing is lost by it.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use foehn_plugin_sdk::wire::ReplyKind::{Failed, Ok, Refused};
use foehn_plugin_sdk::workspace::cap_std::ambient_authority;
use foehn_plugin_sdk::workspace::cap_std::fs::Dir;
use foehn_plugin_testkit::{TempWorkspace, Value, json};
use rustix::fs::{FileType, Mode, mknodat};
use rustix::process::geteuid;

use crate::users::{as_ordinary_user, mode, where_mounted};
use crate::{told, tool};

fn answer(
    workspace: &TempWorkspace,
    name: &str,
    arguments: Value,
) -> (foehn_plugin_sdk::wire::ReplyKind, String) {
    told(&tool(name, arguments).workspace(workspace).run())
}

#[test]
fn permissions_of_an_ordinary_user() {
    let workspace = TempWorkspace::new([
        ("locked.txt", "needle\n"),
        ("fixed.txt", "old\n"),
        ("shut/a.txt", "x"),
        ("open.txt", "needle\n"),
    ]);
    as_ordinary_user(workspace.path(), || {
        let fixed = workspace.join("fixed.txt");
        mode(&workspace.join("locked.txt"), 0o000);
        mode(&fixed, 0o444);
        mode(&workspace.join("shut"), 0o000);
        let denied = |path: &str| (Failed, format!("no permission for `{path}`"));
        assert_eq!(answer(&workspace, "read_file", json!({"path": "locked.txt"})), denied("locked.txt"));
        let write = json!({"path": "fixed.txt", "content": "new\n"});
        assert_eq!(answer(&workspace, "write_file", write), denied("fixed.txt"));
        let create = json!({"path": "shut/b.txt", "content": "x"});
        assert_eq!(answer(&workspace, "create_file", create).0, Failed);
        let search = json!({"pattern": "needle"});
        assert_eq!(
            answer(&workspace, "search_files", search),
            (
                Ok,
                "1 line with `needle` in 1 file of 2\nnot readable: locked.txt\nnot readable: shut\nopen.txt\n1|needle".to_owned()
            )
        );
        for (name, arguments) in [
            ("list_directory", json!({"path": "shut"})),
            ("find_files", json!({"path": "shut", "pattern": "*"})),
            ("search_files", json!({"path": "shut", "pattern": "x"})),
            ("read_many_files", json!({"folder": "shut"})),
        ] {
            assert_eq!(answer(&workspace, name, arguments), denied("shut"), "{name}");
        }
        let remove = json!({"path": "shut", "recursive": true});
        assert_eq!(answer(&workspace, "remove_directory", remove), denied("shut"));
        // A folder that may not be written: nothing can stand beside the file while it is replaced.
        mode(workspace.path(), 0o555);
        let edit = json!({"path": "open.txt", "old_text": "needle", "new_text": "pin"});
        assert_eq!(answer(&workspace, "edit_file", edit).0, Failed);
        mode(workspace.path(), 0o755);
        mode(&workspace.join("shut"), 0o755);
        assert_eq!(
            (workspace.read("fixed.txt"), workspace.read("open.txt")),
            ("old\n".to_owned(), "needle\n".to_owned())
        );
        let left: Vec<String> =
            workspace.list().into_iter().filter(|name| name.starts_with(".foehn")).collect();
        assert_eq!(left, Vec::<String>::new());
    });
}

#[test]
fn pipes_and_sockets_are_waited_for_by_nobody() {
    let workspace = TempWorkspace::new([("a.txt", "needle\n")]);
    let folder = fs::File::open(workspace.path()).unwrap();
    mknodat(&folder, "pipe", FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap();
    for path in ["pipe", "socket"] {
        let not_a_file = (Failed, format!("`{path}` is not a regular file but a device, a pipe or a socket"));
        for (name, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("append_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"})),
            ("search_files", json!({"path": path, "pattern": "a"})),
            ("copy_file", json!({"source": path, "destination": "b"})),
        ] {
            assert_eq!(answer(&workspace, name, arguments), not_a_file, "{name}");
        }
    }
    let search = answer(&workspace, "search_files", json!({"pattern": "needle"}));
    assert_eq!(search, (Ok, "1 line with `needle` in 1 file of 1\na.txt\n1|needle".to_owned()));
    let list = answer(&workspace, "list_directory", json!({}));
    assert_eq!(
        list,
        (Ok, "`.`: 0 folders, 3 other entries\n7\ta.txt\nfifo\tpipe\nsocket\tsocket".to_owned())
    );
}

#[test]
fn a_tree_of_three_thousand_levels() {
    const LEVELS: usize = 3_000;
    let workspace = TempWorkspace::new([("a.txt", "needle\n")]);
    let mut dir = Dir::open_ambient_dir(workspace.path(), ambient_authority()).unwrap();
    for _ in 0..LEVELS {
        dir.create_dir("d").unwrap();
        dir = dir.open_dir("d").unwrap();
    }
    dir.write("deepest.txt", "needle\n").unwrap();
    let hundred = vec!["d"; 100].join("/");
    let too_deep = |verb: &str| {
        format!("deeper than 100 folders, not entered: {hundred} (name one as path to {verb} it)")
    };
    assert_eq!(
        answer(&workspace, "search_files", json!({"pattern": "needle"})),
        (Ok, format!("1 line with `needle` in 1 file of 1\n{}\na.txt\n1|needle", too_deep("search")))
    );
    assert_eq!(
        answer(&workspace, "find_files", json!({"pattern": "*.txt"})),
        (Ok, format!("1 file in `.` for `*.txt`, newest first\n{}\na.txt", too_deep("find")))
    );
    let remove =
        tool("remove_directory", json!({"path": "d", "recursive": true})).workspace(&workspace).run();
    assert_eq!((remove.kind, remove.executed), (Failed, Some(false)), "{}", remove.message);
}

#[test]
fn fifty_thousand_files_in_one_folder() {
    const FILES: usize = 50_000;
    let workspace = TempWorkspace::empty();
    for number in 0..FILES {
        fs::write(workspace.join(&format!("{number:05}")), "").unwrap();
    }
    fs::write(workspace.join("49999"), "needle\n").unwrap();
    let list = tool("list_directory", json!({})).workspace(&workspace).run().text();
    let header =
        "`.`: 0 folders, 50000 other entries; these are the first 1000, find_files finds the others by name";
    assert_eq!((list.lines().next(), list.lines().count()), (Some(header), 1_001));
    let find = tool("find_files", json!({"pattern": "*", "limit": 1, "skip": 49_999}))
        .workspace(&workspace)
        .run()
        .text();
    assert_eq!(
        find.lines().next(),
        Some("50000 files in `.` for `*`, newest first; these are 50000 to 50000, the last ones")
    );
    let search = answer(&workspace, "search_files", json!({"pattern": "needle"}));
    assert_eq!(search, (Ok, "1 line with `needle` in 1 file of 50000\n49999\n1|needle".to_owned()));
}

#[test]
fn a_file_for_a_folder_and_a_folder_for_a_file() {
    let workspace = TempWorkspace::new([("file", "x"), ("folder/x", "")]);
    for (name, arguments, expected) in [
        ("read_file", json!({"path": "folder"}), "`folder` is a directory"),
        ("edit_file", json!({"path": "folder", "old_text": "a", "new_text": "b"}), "`folder` is a directory"),
        ("append_file", json!({"path": "folder", "content": "b"}), "`folder` is a directory"),
        ("read_file", json!({"path": "file/x"}), "`file/x` is not a directory, or a part of it is not"),
        (
            "find_files",
            json!({"path": "file", "pattern": "*"}),
            "`file` is not a folder; the one it is in is `.`",
        ),
        (
            "find_files",
            json!({"path": "file/x", "pattern": "*"}),
            "`file/x` is not a directory, or a part of it is not",
        ),
        (
            "search_files",
            json!({"path": "file/x", "pattern": "a"}),
            "`file/x` is not a directory, or a part of it is not",
        ),
        ("read_many_files", json!({"folder": "file"}), "`file` is not a folder; the one it is in is `.`"),
    ] {
        assert_eq!(answer(&workspace, name, arguments), (Failed, expected.to_owned()), "{name}");
    }
    let refused = answer(&workspace, "create_file", json!({"path": "/", "content": ""}));
    assert_eq!(refused, (Refused, "`/` lies outside of the workspace".to_owned()));
}

#[test]
fn a_hard_link_is_broken_by_every_change() {
    let outside = TempWorkspace::new([("orig.txt", "original\n")]);
    let workspace = TempWorkspace::empty();
    for (name, arguments) in [
        ("write_file", json!({"path": "h.txt", "content": "changed\n"})),
        ("edit_file", json!({"path": "h.txt", "old_text": "original", "new_text": "changed"})),
        ("append_file", json!({"path": "h.txt", "content": "changed\n"})),
    ] {
        let _ = fs::remove_file(workspace.join("h.txt"));
        fs::hard_link(outside.join("orig.txt"), workspace.join("h.txt")).unwrap();
        assert_eq!(answer(&workspace, name, arguments).0, Ok);
        assert_eq!(outside.read("orig.txt"), "original\n", "{name}");
        assert!(workspace.read("h.txt").contains("changed"), "{name}");
    }
}

#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    let test = "bad_input::a_full_disk_leaves_everything_as_it_was";
    if !where_mounted(test, "mount -t tmpfs -o size=64k small \"$1\"", on_a_small_disk) {
        eprintln!("not tested: no small disk can be had here");
    }
}

fn on_a_small_disk(folder: &Path) {
    let large = "x".repeat(100 * 1024);
    fs::write(folder.join("old.txt"), "old\n").unwrap();
    fs::write(folder.join("half.txt"), "x".repeat(36 * 1024)).unwrap();
    let full =
        |path: &str| (Failed, format!("the disk is full or the quota used up; `{path}` was not written"));
    for (name, arguments, path) in [
        ("write_file", json!({"path": "old.txt", "content": large}), "old.txt"),
        ("append_file", json!({"path": "old.txt", "content": large}), "old.txt"),
        ("edit_file", json!({"path": "old.txt", "old_text": "old", "new_text": large}), "old.txt"),
        ("create_file", json!({"path": "new.txt", "content": large}), "new.txt"),
        ("copy_file", json!({"source": "half.txt", "destination": "new.txt"}), "new.txt"),
    ] {
        let reply = tool(name, arguments).workspace(folder).run();
        assert_eq!((told(&reply), reply.executed), (full(path), Some(false)), "{name}");
    }
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names.retain(|name| name != ".foehn");
    assert_eq!(
        (names, fs::read(folder.join("old.txt")).unwrap()),
        (vec!["half.txt".into(), "old.txt".into()], b"old\n".to_vec())
    );
}

/// Each changing tool, with arguments that would work on `old.txt` and `folder`.
fn changes() -> [(&'static str, Value); 9] {
    [
        ("write_file", json!({"path": "old.txt", "content": "new\n"})),
        ("append_file", json!({"path": "old.txt", "content": "new\n"})),
        ("edit_file", json!({"path": "old.txt", "old_text": "old", "new_text": "new"})),
        ("create_file", json!({"path": "new.txt", "content": "new\n"})),
        ("copy_file", json!({"source": "old.txt", "destination": "new.txt"})),
        ("move_file", json!({"source": "old.txt", "destination": "new.txt"})),
        ("delete_file", json!({"path": "old.txt"})),
        ("make_directory", json!({"path": "new"})),
        ("remove_directory", json!({"path": "folder", "recursive": true})),
    ]
}

#[test]
fn where_nothing_can_be_changed_everything_can_be_read() {
    let test = "bad_input::where_nothing_can_be_changed_everything_can_be_read";
    let mount = "mount -t tmpfs still \"$1\" && echo old >\"$1/old.txt\" && mkdir \"$1/folder\" && \
                 mount -o remount,ro \"$1\"";
    let is_tested = where_mounted(test, mount, |folder| {
        let read = told(&tool("read_file", json!({"path": "old.txt"})).workspace(folder).run());
        assert_eq!(read, (Ok, "`old.txt`: 1 line\n1|old".to_owned()));
        for (name, arguments) in changes() {
            let reply = tool(name, arguments).workspace(folder).run();
            let why = "lies on a file system where nothing can be changed (it is mounted read-only)";
            assert!(reply.kind == Failed && reply.message.ends_with(why), "{name}: {}", reply.message);
            assert_eq!(reply.executed, Some(false), "{name}");
        }
        assert_eq!(fs::read(folder.join("old.txt")).unwrap(), b"old\n");
    });
    if !is_tested {
        eprintln!("not tested: no disk to read only can be had here");
    }
}

#[test]
fn a_folder_that_may_not_be_written_keeps_all_that_is_in_it() {
    let workspace = TempWorkspace::new([("old.txt", "old\n"), ("folder/in.txt", "in\n")]);
    as_ordinary_user(workspace.path(), || {
        mode(workspace.path(), 0o555);
        mode(&workspace.join("folder"), 0o555);
        let before = workspace.list();
        for (name, arguments) in changes() {
            let reply = tool(name, arguments).workspace(&workspace).run();
            assert!(
                reply.kind == Failed && reply.message.starts_with("no permission for `"),
                "{name}: {}",
                reply.message
            );
            assert_eq!(reply.executed, Some(false), "{name}");
        }
        assert_eq!((workspace.list(), workspace.read("old.txt")), (before, "old\n".to_owned()));
        mode(workspace.path(), 0o755);
        mode(&workspace.join("folder"), 0o755);
    });
}

#[test]
fn a_device_is_no_file() {
    let workspace = TempWorkspace::new([("a.txt", "needle\n")]);
    // Only root may make one; what everybody has is reached through a link, and that leads out.
    let folder = fs::File::open(workspace.path()).unwrap();
    let null = rustix::fs::makedev(1, 5);
    if mknodat(&folder, "zero", FileType::CharacterDevice, Mode::from_raw_mode(0o666), null).is_err() {
        eprintln!("not tested: no device can be made here");
        return;
    }
    for (name, arguments) in [
        ("read_file", json!({"path": "zero"})),
        ("write_file", json!({"path": "zero", "content": "x"})),
        ("append_file", json!({"path": "zero", "content": "x"})),
        ("edit_file", json!({"path": "zero", "old_text": "a", "new_text": "b"})),
        ("search_files", json!({"path": "zero", "pattern": "a"})),
        ("copy_file", json!({"source": "zero", "destination": "b"})),
    ] {
        let not_a_file = "`zero` is not a regular file but a device, a pipe or a socket".to_owned();
        assert_eq!(answer(&workspace, name, arguments), (Failed, not_a_file), "{name}");
    }
    let search = answer(&workspace, "search_files", json!({"pattern": "needle"}));
    assert_eq!(search, (Ok, "1 line with `needle` in 1 file of 1\na.txt\n1|needle".to_owned()));
    let many = answer(&workspace, "read_many_files", json!({"folder": "."}));
    assert_eq!(many, (Ok, "1 of 1 file read\n\n`a.txt`: 1 line\n1|needle".to_owned()));
}

#[test]
fn a_folder_that_hands_on_its_group_keeps_doing_so() {
    let workspace = TempWorkspace::new([("shared/a.txt", "one\n")]);
    let shared = workspace.join("shared");
    let group = if geteuid().is_root() { 12 } else { fs::metadata(&shared).unwrap().gid() };
    chown(&shared, None, Some(group)).unwrap();
    chown(workspace.join("shared/a.txt"), None, Some(group)).unwrap();
    mode(&shared, 0o2775);
    mode(&workspace.join("shared/a.txt"), 0o664);
    for (name, arguments) in [
        ("write_file", json!({"path": "shared/a.txt", "content": "two\n"})),
        ("edit_file", json!({"path": "shared/a.txt", "old_text": "two", "new_text": "three"})),
        ("append_file", json!({"path": "shared/a.txt", "content": "four\n"})),
        ("create_file", json!({"path": "shared/b.txt", "content": ""})),
        ("copy_file", json!({"source": "shared/a.txt", "destination": "shared/c.txt"})),
        ("make_directory", json!({"path": "shared/d"})),
    ] {
        assert_eq!(answer(&workspace, name, arguments).0, Ok, "{name}");
    }
    for name in ["a.txt", "b.txt", "c.txt", "d"] {
        assert_eq!(fs::metadata(shared.join(name)).unwrap().gid(), group, "{name}");
    }
    let modes = ["a.txt", "d", "."].map(|name| fs::metadata(shared.join(name)).unwrap().mode() & 0o7777);
    assert_eq!((modes[0], modes[1] & 0o2000, modes[2]), (0o664, 0o2000, 0o2775));
}
