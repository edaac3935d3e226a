//! Taking calls back: whatever the tools did to a tree is undone exactly.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use foehn_plugin_sdk::wire::{Part, Reply, ReplyKind, Undone, op};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, json};
use proptest::prelude::*;

use crate::tool;

/// Each path with its kind, mode and bytes; without Foehn's own folder.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let metadata = path.symlink_metadata().unwrap();
            let mut told = format!("{:o} ", metadata.permissions().mode()).into_bytes();
            if name == ".foehn" {
                continue;
            }
            if metadata.is_symlink() {
                told.extend(fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if metadata.is_dir() {
                walk(&path, root, found);
            } else {
                told.extend(fs::read(&path).unwrap());
            }
            found.insert(name, told);
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

fn workspace() -> TempWorkspace {
    let workspace = TempWorkspace::new([("a.txt", "one\r\ntwo\r\nthree")]);
    fs::write(workspace.join("run.sh"), "#!/bin/sh\necho one\n").unwrap();
    fs::set_permissions(workspace.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::create_dir_all(workspace.join("sub/deep")).unwrap();
    fs::write(workspace.join("sub/b.txt"), b"\xef\xbb\xbfone\n").unwrap();
    fs::write(workspace.join("sub/deep/stock.json"), r#"{"bolt": 3}"#).unwrap();
    symlink("a.txt", workspace.join("link")).unwrap();
    workspace
}

fn made(workspace: &TempWorkspace, key: &str, name: &str, arguments: &Value) -> Reply {
    tool(name, arguments.clone()).workspace(workspace).head(|head| head.key = key.to_owned()).run()
}

fn taken_back(
    workspace: &TempWorkspace,
    key: &str,
    name: &str,
    arguments: &Value,
    op: &str,
) -> Option<Undone> {
    let reply = tool(name, arguments.clone())
        .workspace(workspace)
        .head(|head| head.key = key.to_owned())
        .op(op, &TestHost::new());
    assert_eq!(reply.kind, ReplyKind::Ok, "{reply:?}");
    let Some(Part::Json { value }) = reply.parts.into_iter().next() else { return None };
    Some(foehn_plugin_sdk::serde_json::from_value(value).unwrap())
}

#[track_caller]
fn check(name: &str, arguments: Value, expected: &[&str]) {
    let workspace = workspace();
    let before = tree(workspace.path());
    let reply = made(&workspace, "s/1", name, &arguments);
    assert_eq!(reply.kind, ReplyKind::Ok, "{reply:?}");
    assert_ne!(tree(workspace.path()), before);
    let told = taken_back(&workspace, "s/1", name, &arguments, op::UNDO_PREVIEW);
    let undone = taken_back(&workspace, "s/1", name, &arguments, op::UNDO);
    assert_eq!(told, undone);
    let lines: Vec<&str> = undone.iter().flat_map(|undone| &undone.restored).map(String::as_str).collect();
    assert_eq!(lines, expected);
    assert_eq!(tree(workspace.path()), before);
    assert_eq!(taken_back(&workspace, "s/1", name, &arguments, op::UNDO), None);
}

#[test]
fn each_tool_is_taken_back() {
    check(
        "create_file",
        json!({"path": "new/c.txt", "content": "c"}),
        &["`new/c.txt`: the new file is gone", "`new`: the new folder is gone"],
    );
    check(
        "append_file",
        json!({"path": "link", "content": "\nfour"}),
        &["`a.txt`: has its old content again"],
    );
    check(
        "edit_file",
        json!({"path": "a.txt", "old_text": "two", "new_text": "2"}),
        &["`a.txt`: has its old content again"],
    );
    check(
        "write_file",
        json!({"path": "sub/b.txt", "content": "b"}),
        &["`sub/b.txt`: has its old content again"],
    );
    check("delete_file", json!({"path": "run.sh"}), &["`run.sh`: is there again"]);
    check("delete_file", json!({"path": "link"}), &["`link`: is there again"]);
    check(
        "copy_file",
        json!({"source": "run.sh", "destination": "x/run.sh"}),
        &["`x/run.sh`: the new file is gone", "`x`: the new folder is gone"],
    );
    check(
        "move_file",
        json!({"source": "sub", "destination": "other/sub"}),
        &["`other/sub`: is `sub` again", "`other`: the new folder is gone"],
    );
    check(
        "make_directory",
        json!({"path": "m/n"}),
        &["`m/n`: the new folder is gone", "`m`: the new folder is gone"],
    );
    check(
        "remove_directory",
        json!({"path": "sub", "recursive": true}),
        &[
            "`sub`: is there again",
            "`sub/deep`: is there again",
            "`sub/deep/stock.json`: is there again",
            "`sub/b.txt`: is there again",
        ],
    );
}

#[test]
fn what_a_person_changed_since_is_left_and_named() {
    let workspace = workspace();
    let arguments = json!({"path": "a.txt", "old_text": "two", "new_text": "2"});
    made(&workspace, "s/1", "edit_file", &arguments);
    fs::write(workspace.join("a.txt"), "mine").unwrap();
    let left = "`a.txt` was changed by somebody else since, and stays as it is";
    assert_eq!(
        taken_back(&workspace, "s/1", "edit_file", &arguments, op::UNDO),
        Some(Undone { restored: Vec::new(), left: vec![left.to_owned()], ..Undone::default() })
    );
    assert_eq!(fs::read_to_string(workspace.join("a.txt")).unwrap(), "mine");
}

#[test]
fn what_the_call_never_made_stays() {
    let workspace = workspace();
    let create = json!({"path": "data/a.txt", "content": "a"});
    made(&workspace, "s/1", "create_file", &create);
    fs::write(workspace.join("data/out.bin"), "theirs").unwrap();
    let undone = taken_back(&workspace, "s/1", "create_file", &create, op::UNDO).unwrap();
    assert_eq!(undone.restored, ["`data/a.txt`: the new file is gone"]);
    assert_eq!(undone.left.len(), 1, "{undone:?}");
    assert_eq!(fs::read_to_string(workspace.join("data/out.bin")).unwrap(), "theirs");
    // What was made and is not the tool's any more is not deleted either.
    let create = json!({"path": "b.txt", "content": "b"});
    made(&workspace, "s/2", "create_file", &create);
    fs::write(workspace.join("b.txt"), "theirs").unwrap();
    let undone = taken_back(&workspace, "s/2", "create_file", &create, op::UNDO).unwrap();
    assert_eq!((undone.restored.len(), undone.left.len()), (0, 1), "{undone:?}");
    assert_eq!(fs::read_to_string(workspace.join("b.txt")).unwrap(), "theirs");
    // A folder that was removed comes back around what is there now.
    let remove = json!({"path": "sub", "recursive": true});
    made(&workspace, "s/3", "remove_directory", &remove);
    fs::create_dir(workspace.join("sub")).unwrap();
    fs::write(workspace.join("sub/b.txt"), "theirs").unwrap();
    taken_back(&workspace, "s/3", "remove_directory", &remove, op::UNDO).unwrap();
    assert_eq!(fs::read_to_string(workspace.join("sub/b.txt")).unwrap(), "theirs");
}

#[test]
fn backups_are_no_condition() {
    let workspace = workspace();
    symlink("/nowhere", workspace.join(".foehn")).unwrap();
    let reply = made(&workspace, "s/1", "delete_file", &json!({"path": "a.txt"}));
    assert_eq!(
        (reply.kind, reply.text().as_str()),
        (
            ReplyKind::Ok,
            "deleted `a.txt` (15 bytes) (cannot be taken back: `.foehn/backups` is a link that leads out of the workspace)"
        )
    );
    let off = tool("delete_file", json!({"path": "run.sh"}))
        .workspace(&workspace)
        .config(json!({"backups": false}))
        .run();
    assert_eq!(off.text(), "deleted `run.sh` (19 bytes)");
}

/// One call of any tool, often one that fails.
fn deed() -> impl Strategy<Value = (&'static str, Value)> {
    let paths = ["a.txt", "run.sh", "sub", "sub/b.txt", "sub/deep", "new.txt", "x/y.txt", "link"];
    let path = || prop::sample::select(paths.to_vec());
    let text = || "[a-z\r\n]{0,8}";
    prop_oneof![
        (path(), text())
            .prop_map(|(path, content)| ("create_file", json!({"path": path, "content": content}))),
        (path(), text())
            .prop_map(|(path, content)| ("append_file", json!({"path": path, "content": content}))),
        (path(), text())
            .prop_map(|(path, content)| ("write_file", json!({"path": path, "content": content}))),
        (path(), text()).prop_map(|(path, new)| {
            ("edit_file", json!({"path": path, "old_text": "one", "new_text": new, "replace_all": true}))
        }),
        path().prop_map(|path| ("delete_file", json!({"path": path}))),
        path().prop_map(|path| ("make_directory", json!({"path": path}))),
        path().prop_map(|path| ("remove_directory", json!({"path": path, "recursive": true}))),
        (path(), path()).prop_map(|(from, to)| ("move_file", json!({"source": from, "destination": to}))),
        (path(), path()).prop_map(|(from, to)| ("copy_file", json!({"source": from, "destination": to}))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_calls_is_taken_back_exactly(deeds in prop::collection::vec(deed(), 1..10)) {
        let workspace = workspace();
        let before = tree(workspace.path());
        for (number, (name, arguments)) in deeds.iter().enumerate() {
            made(&workspace, &format!("s/{number}"), name, arguments);
        }
        for (number, (name, arguments)) in deeds.iter().enumerate().rev() {
            let undone = taken_back(&workspace, &format!("s/{number}"), name, arguments, op::UNDO);
            prop_assert!(undone.as_ref().is_none_or(|undone| undone.left.is_empty()), "{name} {arguments}: {undone:?}");
        }
        prop_assert_eq!(tree(workspace.path()), before);
    }
}
