//! Taking back what commands changed: whatever they do to files, and whatever somebody else does then.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;

use foehn_plugin_sdk::undo::{MOST_ENTRIES, Undone};
use foehn_plugin_sdk::wire::{Part, Reply, ReplyKind, op};
use foehn_plugin_testkit::{Call, TempWorkspace, TestHost, json, run};
use proptest::prelude::*;
use shell::RunShell;

fn workspace() -> TempWorkspace {
    let workspace = TempWorkspace::new([
        ("a.txt", "a\r\n"),
        ("run.sh", "#!/bin/sh\n"),
        ("sub/deep/b.txt", "b"),
        ("empty/", ""),
    ]);
    sh(&workspace, "0", "chmod 750 run.sh; ln -s a.txt link; ln -s /nowhere sub/dead; chmod 711 empty");
    workspace
}

fn call(workspace: &TempWorkspace, key: &str, command: &str) -> Call {
    let key = format!("s/{key}");
    run(RunShell, json!({"command": command})).workspace(workspace).head(|head| {
        head.key = key;
        head.take_back_programs = true;
    })
}

#[track_caller]
fn sh(workspace: &TempWorkspace, key: &str, command: &str) -> Reply {
    let reply = call(workspace, key, command).run();
    assert_eq!(reply.kind, ReplyKind::Ok, "{command}: {}", reply.message);
    reply
}

fn answered(workspace: &TempWorkspace, key: &str, op: &str) -> Undone {
    let reply = call(workspace, key, "true").op(op, &TestHost::new());
    assert_eq!((reply.kind, reply.message.as_str()), (ReplyKind::Ok, ""));
    match reply.parts.into_iter().next() {
        Some(Part::Json { value }) => serde_json_of(value),
        _ => panic!("no answer"),
    }
}

fn serde_json_of(value: foehn_plugin_testkit::Value) -> Undone {
    let lines = |key: &str| {
        let lines = value[key].as_array().unwrap();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    Undone { restored: lines("restored"), left: lines("left"), notes: lines("notes") }
}

/// Takes back as it was told before.
fn undo(workspace: &TempWorkspace, key: &str) -> Undone {
    let told = answered(workspace, key, op::UNDO_PREVIEW);
    let undone = answered(workspace, key, op::UNDO);
    assert_eq!(told, undone, "a preview tells what is done");
    undone
}

/// A command and its undoing leave everything as it was.
#[track_caller]
fn check(command: &str, restored: &[&str]) {
    let workspace = workspace();
    let before = workspace.tree();
    sh(&workspace, "1", command);
    assert_ne!(workspace.tree(), before, "{command}");
    let expected =
        Undone { restored: restored.iter().map(|line| (*line).to_owned()).collect(), ..Undone::default() };
    assert_eq!(undo(&workspace, "1"), expected, "{command}");
    assert_eq!(workspace.tree(), before, "{command}");
}

#[test]
fn whatever_a_command_does_is_taken_back() {
    check("printf new > a.txt", &["`a.txt`: has its old content again"]);
    check("printf b >> a.txt; touch -d @0 a.txt", &["`a.txt`: has its old content again"]);
    check("sed -i s/a/x/ a.txt", &["`a.txt`: has its old content again"]);
    check("rm a.txt", &["`a.txt`: is there again"]);
    check("mv a.txt z.txt", &["`z.txt`: the new file is gone", "`a.txt`: is there again"]);
    check("chmod 600 run.sh", &["`run.sh`: has its old permissions again"]);
    check("chmod 500 empty", &["`empty`: has its old permissions again"]);
    check("ln -sf run.sh link", &["`link`: has its old content again"]);
    check("rm link; echo x > link", &["`link`: has its old content again"]);
    check("rmdir empty", &["`empty`: is there again"]);
    check(
        "rm -r sub",
        &[
            "`sub`: is there again",
            "`sub/dead`: is there again",
            "`sub/deep`: is there again",
            "`sub/deep/b.txt`: is there again",
        ],
    );
    check(
        "mkdir -p new/er; echo x > new/er/file",
        &[
            "`new/er/file`: the new file is gone",
            "`new/er`: the new folder is gone",
            "`new`: the new folder is gone",
        ],
    );
    check(
        "rm -r sub/deep; echo file > sub/deep",
        &["`sub/deep`: is a folder again", "`sub/deep/b.txt`: is there again"],
    );
    check(
        "rm a.txt; mkdir a.txt; echo x > a.txt/in",
        &["`a.txt/in`: the new file is gone", "`a.txt`: has its old content again"],
    );
    check(
        "rm sub/deep/b.txt; chmod 555 sub/deep",
        &["`sub/deep`: has its old permissions again", "`sub/deep/b.txt`: is there again"],
    );
}

#[test]
fn what_somebody_else_did_since_stays() {
    let workspace = workspace();
    sh(&workspace, "1", "echo command > a.txt; echo command > new.txt; echo command > run.sh");
    fs::write(workspace.join("a.txt"), "the user's").unwrap();
    fs::write(workspace.join("new.txt"), "the user's").unwrap();
    let somebody = |name: &str| format!("`{name}` was changed by somebody else since, and stays as it is");
    let expected = Undone {
        restored: vec!["`run.sh`: has its old content again".to_owned()],
        left: vec![somebody("new.txt"), somebody("a.txt")],
        ..Undone::default()
    };
    assert_eq!(undo(&workspace, "1"), expected);
    assert_eq!(workspace.read("a.txt"), "the user's");
}

#[test]
fn what_changed_between_two_commands_is_nobody_s_of_them() {
    let workspace = workspace();
    sh(&workspace, "1", "echo one > one.txt");
    fs::write(workspace.join("a.txt"), "the user's").unwrap();
    sh(&workspace, "2", "echo two > two.txt");
    let restored = |line: &str| Undone { restored: vec![line.to_owned()], ..Undone::default() };
    assert_eq!(undo(&workspace, "2"), restored("`two.txt`: the new file is gone"));
    assert_eq!(undo(&workspace, "1"), restored("`one.txt`: the new file is gone"));
    assert_eq!(workspace.read("a.txt"), "the user's");
}

#[test]
fn what_is_not_looked_at_is_said() {
    let workspace = workspace();
    workspace.write("target/built", "");
    workspace.write("sub/.git/HEAD", "");
    sh(&workspace, "1", "echo x > target/built");
    let note = "what a command changed in `sub/.git`, `target` is not known, and stays";
    assert_eq!(undo(&workspace, "1"), Undone { notes: vec![note.to_owned()], ..Undone::default() });
    assert_eq!(workspace.read("target/built"), "x\n");
}

#[test]
fn a_file_that_is_too_large_to_be_held_is_named_with_the_result() {
    let workspace = workspace();
    let large = fs::File::create(workspace.join("large")).unwrap();
    large.set_len(foehn_plugin_sdk::undo::LARGEST_KEPT + 1).unwrap();
    let reply = sh(&workspace, "1", "echo x >> large; echo y > a.txt");
    let note = "what the command did cannot be taken back whole: `large` was changed, and is too large to be held or could \
                not be read";
    assert_eq!(reply.notes, [note]);
    let left = "`large` cannot be brought back: its old content was not kept";
    let expected = Undone {
        restored: vec!["`a.txt`: has its old content again".to_owned()],
        left: vec![left.to_owned()],
        ..Undone::default()
    };
    assert_eq!(undo(&workspace, "1"), expected);
}

/// In memory: making so many on a disk takes long.
struct InMemory(std::path::PathBuf);

impl Drop for InMemory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_workspace_with_too_many_files_is_told_and_the_command_runs() {
    let folder = InMemory(format!("/dev/shm/foehn-test-{}", std::process::id()).into());
    if fs::create_dir(&folder.0).is_err() {
        eprintln!("not tested: no file system in memory");
        return;
    }
    for number in 0..=MOST_ENTRIES {
        std::os::unix::fs::symlink("x", folder.0.join(number.to_string())).unwrap();
    }
    let other = workspace();
    let call = |command: &str, op| {
        let call = call(&other, "1", command).head(|head| head.workspace.clone_from(&folder.0));
        call.op(op, &TestHost::new())
    };
    let reply = call("echo new > made", op::EXECUTE);
    let note = format!(
        "what the command did cannot be taken back whole: the workspace holds more than {MOST_ENTRIES} files and folders"
    );
    assert_eq!((reply.kind, reply.notes), (ReplyKind::Ok, vec![note]));
    assert_eq!(fs::read_to_string(folder.0.join("made")).unwrap(), "new\n");
    let undone = call("true", op::UNDO);
    let told = "`run_shell` left no record from which it could be taken back; its result says why";
    assert_eq!((undone.kind, undone.message.as_str()), (ReplyKind::Unsupported, told));
}

#[test]
fn where_nobody_asked_for_it_nothing_is_kept_and_that_is_said() {
    let workspace = TempWorkspace::new([("a.txt", "a")]);
    let call = |op| {
        let call = run(RunShell, json!({"command": "echo b > a.txt"})).workspace(&workspace);
        call.head(|head| head.key = "s/1".to_owned()).op(op, &TestHost::new())
    };
    assert_eq!(call(op::EXECUTE).kind, ReplyKind::Ok);
    assert_eq!(workspace.list_all(), ["a.txt"]);
    let reply = call(op::UNDO);
    let told = "`run_shell` can be taken back only when it runs with `[undo] shell = true` in your settings";
    assert_eq!((reply.kind, reply.message.as_str()), (ReplyKind::Unsupported, told));
}

/// Bits of commands; what cannot be done is not done.
fn deed() -> impl Strategy<Value = String> {
    let path = || {
        prop::sample::select(vec![
            "a.txt",
            "run.sh",
            "sub/deep/b.txt",
            "sub/new",
            "x/y",
            "link",
            "empty",
            "sub/deep",
        ])
    };
    prop_oneof![
        (path(), "[a-z]{0,3}").prop_map(|(path, text)| format!("printf '{text}' > {path}")),
        path().prop_map(|path| format!("rm -rf {path}")),
        (path(), path()).prop_map(|(from, to)| format!("mv {from} {to}")),
        (path(), path()).prop_map(|(from, to)| format!("cp -a {from} {to}")),
        path().prop_map(|path| format!("mkdir -p {path}")),
        (path(), prop::sample::select(vec!["600", "755", "444", "700"]))
            .prop_map(|(path, mode)| format!("chmod {mode} {path}")),
        (path(), "[a-z]{1,2}").prop_map(|(path, target)| format!("ln -sfn {target} {path}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_commands_is_taken_back_exactly(
        commands in prop::collection::vec(prop::collection::vec(deed(), 1..5), 1..4),
    ) {
        let workspace = workspace();
        let before = workspace.tree();
        for (number, deeds) in commands.iter().enumerate() {
            sh(&workspace, &format!("{number}x"), &format!("({}) 2>&-; true", deeds.join("; ")));
        }
        for number in (0..commands.len()).rev() {
            let undone = undo(&workspace, &format!("{number}x"));
            prop_assert!(undone.left.is_empty(), "{:?}", undone);
        }
        prop_assert_eq!(workspace.tree(), before);
    }
}
