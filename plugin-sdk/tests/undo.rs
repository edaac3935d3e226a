//! Taking calls back: whatever a call does to files, and whatever somebody else does then.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use foehn_plugin_sdk::undo::{Recorder, Undone, preview, undo};
use foehn_plugin_sdk::workspace::Workspace;
use proptest::prelude::*;

/// Each path below a folder with its kind, mode and content; without Foehn's own folder.
fn tree(root: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            if name == ".foehn" {
            } else if metadata.is_symlink() {
                found.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
            } else if metadata.is_dir() {
                found.insert(name, format!("{mode:o} folder"));
                walk(&path, root, found);
            } else {
                let bytes = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(name, format!("{mode:o} {bytes}"));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

struct Place {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.txt"), "old").unwrap();
        fs::write(at("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/b.txt"), "b").unwrap();
        symlink("a.txt", at("link")).unwrap();
        symlink("/nowhere", at("sub/dead")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        Self { folder, workspace }
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// A call that keeps `paths` and then does something.
    fn call(&self, key: &str, paths: &[&str], change: impl FnOnce(&Self)) {
        let mut recorder = Recorder::open(&self.workspace, key).unwrap();
        for path in paths {
            recorder.before(&self.workspace, &self.workspace.resolve(path).unwrap()).unwrap();
        }
        change(self);
        recorder.finish(&self.workspace).unwrap();
    }

    fn undo(&self, key: &str) -> Option<Undone> {
        let told = preview(&self.workspace, key).unwrap();
        let undone = undo(&self.workspace, key).unwrap();
        assert_eq!(told, undone, "a preview tells what is done");
        undone
    }
}

fn restored(lines: &[&str]) -> Option<Undone> {
    Some(Undone { restored: lines.iter().map(|line| (*line).to_owned()).collect(), ..Undone::default() })
}

/// One call and its undoing leave the tree as it was.
#[track_caller]
fn check(paths: &[&str], change: impl FnOnce(&Place), expected: &[&str]) {
    let place = Place::new();
    let before = tree(place.folder.path());
    place.call("s/1", paths, change);
    assert_ne!(tree(place.folder.path()), before);
    assert_eq!(place.undo("s/1"), restored(expected));
    assert_eq!(tree(place.folder.path()), before);
    assert_eq!(place.undo("s/1"), None, "a second time there is nothing to do");
}

#[test]
fn each_kind_of_change_is_taken_back() {
    check(
        &["a.txt"],
        |place| fs::write(place.at("a.txt"), "new").unwrap(),
        &["`a.txt`: has its old content again"],
    );
    check(
        &["new/deep/c.txt"],
        |place| {
            fs::create_dir_all(place.at("new/deep")).unwrap();
            fs::write(place.at("new/deep/c.txt"), "c").unwrap();
        },
        &[
            "`new/deep/c.txt`: the new file is gone",
            "`new/deep`: the new folder is gone",
            "`new`: the new folder is gone",
        ],
    );
    check(&["run.sh"], |place| fs::remove_file(place.at("run.sh")).unwrap(), &["`run.sh`: is there again"]);
    check(
        &["run.sh", "moved.sh"],
        |place| fs::rename(place.at("run.sh"), place.at("moved.sh")).unwrap(),
        &["`moved.sh`: the new file is gone", "`run.sh`: is there again"],
    );
    check(
        &["run.sh"],
        |place| fs::set_permissions(place.at("run.sh"), fs::Permissions::from_mode(0o600)).unwrap(),
        &["`run.sh`: has its old permissions again"],
    );
    check(
        &["link", "sub/dead"],
        |place| {
            fs::remove_file(place.at("link")).unwrap();
            fs::remove_file(place.at("sub/dead")).unwrap();
            fs::write(place.at("sub/dead"), "a file now").unwrap();
        },
        &["`sub/dead`: has its old content again", "`link`: is there again"],
    );
}

#[test]
fn a_whole_folder_comes_back() {
    let place = Place::new();
    fs::set_permissions(place.at("sub"), fs::Permissions::from_mode(0o2775)).unwrap();
    let before = tree(place.folder.path());
    let mut recorder = Recorder::open(&place.workspace, "s/1").unwrap();
    recorder.before_tree(&place.workspace, &place.workspace.resolve("sub").unwrap()).unwrap();
    fs::remove_dir_all(place.at("sub")).unwrap();
    recorder.finish(&place.workspace).unwrap();
    assert!(undo(&place.workspace, "s/1").unwrap().unwrap().left.is_empty());
    assert_eq!(tree(place.folder.path()), before);
}

#[test]
fn what_was_moved_moves_back_with_what_is_in_it_now() {
    let place = Place::new();
    let before = tree(place.folder.path());
    let path = |name: &str| place.workspace.resolve(name).unwrap();
    for (key, from, to) in [("s/1", "sub", "new/place"), ("s/2", "run.sh", "sub2/run.sh")] {
        let mut recorder = Recorder::open(&place.workspace, key).unwrap();
        recorder.before_move(&place.workspace, &path(from), &path(to)).unwrap();
        place.workspace.rename(&path(from), &path(to)).unwrap();
        recorder.finish(&place.workspace).unwrap();
    }
    place.call("s/3", &["new/place/b.txt"], |place| fs::write(place.at("new/place/b.txt"), "B").unwrap());
    fs::write(place.at("new/place/c.txt"), "the user's").unwrap();
    let told = preview(&place.workspace, "s/1").unwrap();
    assert_eq!(told, restored(&["`new/place`: is `sub` again", "`new`: the new folder is gone"]));
    for key in ["s/3", "s/2", "s/1"] {
        assert!(place.undo(key).unwrap().left.is_empty());
    }
    assert_eq!(fs::read_to_string(place.at("sub/c.txt")).unwrap(), "the user's");
    fs::remove_file(place.at("sub/c.txt")).unwrap();
    assert_eq!(tree(place.folder.path()), before);
}

#[test]
fn what_somebody_else_did_since_stays() {
    let place = Place::new();
    place.call("s/1", &["a.txt", "made", "sub/b.txt"], |place| {
        fs::write(place.at("a.txt"), "the call's").unwrap();
        fs::create_dir(place.at("made")).unwrap();
        fs::write(place.at("sub/b.txt"), "the call's").unwrap();
    });
    fs::write(place.at("a.txt"), "the user's").unwrap();
    fs::write(place.at("made/kept"), "the user's").unwrap();
    let undone = undo(&place.workspace, "s/1").unwrap().unwrap();
    assert_eq!(
        undone,
        Undone {
            restored: vec!["`sub/b.txt`: has its old content again".to_owned()],
            left: vec![
                "`made` was made by the call and holds something since; it stays".to_owned(),
                "`a.txt` was changed by somebody else since, and stays as it is".to_owned(),
            ],
            ..Undone::default()
        }
    );
    assert_eq!(fs::read_to_string(place.at("a.txt")).unwrap(), "the user's");
    assert_eq!(fs::read_to_string(place.at("made/kept")).unwrap(), "the user's");
}

#[test]
fn later_calls_of_the_same_file_count_as_taken_back_in_a_preview() {
    let place = Place::new();
    for (key, text) in [("s/1", "one"), ("s/2", "two"), ("s/3", "three")] {
        place.call(key, &["a.txt"], |place| fs::write(place.at("a.txt"), text).unwrap());
    }
    let told = preview(&place.workspace, "s/1").unwrap();
    assert_eq!(told, restored(&["`a.txt`: has its old content again"]));
    for key in ["s/3", "s/2", "s/1"] {
        assert_eq!(place.undo(key), told);
    }
    assert_eq!(fs::read_to_string(place.at("a.txt")).unwrap(), "old");
}

/// Records are ordered by time, and a clock can stand still or go back.
#[test]
fn a_later_call_is_later_whatever_the_clock_says() {
    let place = Place::new();
    let call = |key| place.call(key, &["a.txt"], |place| fs::write(place.at("a.txt"), key).unwrap());
    call("s/1");
    let calls = place.at(".foehn/backups/calls");
    let record = fs::read_dir(&calls).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let (_, rest) = record.split_once('-').unwrap();
    // The year 2100.
    fs::rename(calls.join(&record), calls.join(format!("4102444800000000000-{rest}"))).unwrap();
    call("s/2");
    let told = restored(&["`a.txt`: has its old content again"]);
    assert_eq!(preview(&place.workspace, "s/1").unwrap(), told);
    assert_eq!([place.undo("s/2"), place.undo("s/1")], [told.clone(), told]);
    assert_eq!(fs::read_to_string(place.at("a.txt")).unwrap(), "old");
}

#[test]
fn a_call_that_was_cut_off_is_told_and_left() {
    let place = Place::new();
    let mut recorder = Recorder::open(&place.workspace, "s/1").unwrap();
    recorder.before(&place.workspace, &place.workspace.resolve("a.txt").unwrap()).unwrap();
    recorder.before(&place.workspace, &place.workspace.resolve("run.sh").unwrap()).unwrap();
    fs::write(place.at("a.txt"), "half").unwrap();
    drop(recorder);
    let left = "`a.txt` was being changed when the call was cut off: whose change it is cannot be told, and it stays as it is";
    assert_eq!(
        place.undo("s/1"),
        Some(Undone { restored: Vec::new(), left: vec![left.to_owned()], ..Undone::default() })
    );
}

#[test]
fn the_backups_are_private_and_never_part_of_the_project() {
    let place = Place::new();
    assert_eq!(place.undo("s/none"), None);
    assert!(!place.at(".foehn").exists(), "asking makes nothing");
    place.call("s/1", &["a.txt"], |place| fs::write(place.at("a.txt"), "new").unwrap());
    assert_eq!(fs::read_to_string(place.at(".foehn/backups/.gitignore")).unwrap(), "*\n");
    let mode = fs::metadata(place.at(".foehn/backups")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn only_the_newest_calls_are_kept() {
    let place = Place::new();
    for number in 0..130 {
        place.call(&format!("s/{number}"), &["a.txt"], |place| {
            fs::write(place.at("a.txt"), number.to_string()).unwrap();
        });
    }
    let files = |folder: &str| fs::read_dir(place.at(folder)).unwrap().count();
    assert_eq!(files(".foehn/backups/calls"), 100);
    assert_eq!(place.undo("s/29"), None);
    assert_eq!(place.undo("s/129"), restored(&["`a.txt`: has its old content again"]));
}

#[test]
fn backups_that_lead_out_are_refused() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), place.at(".foehn")).unwrap();
    assert!(Recorder::open(&place.workspace, "s/1").is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[derive(Clone, Debug)]
enum Deed {
    Write(usize, String),
    Remove(usize),
    Move(usize, usize),
    Mode(usize, u32),
    Link(usize, String),
}

fn deed() -> impl Strategy<Value = Deed> {
    let path = 0..PATHS.len();
    prop_oneof![
        (path.clone(), "[a-z\r\n]{0,6}").prop_map(|(path, text)| Deed::Write(path, text)),
        path.clone().prop_map(Deed::Remove),
        (path.clone(), path.clone()).prop_map(|(from, to)| Deed::Move(from, to)),
        (path.clone(), prop_oneof![Just(0o600), Just(0o755), Just(0o444)])
            .prop_map(|(path, mode)| Deed::Mode(path, mode)),
        (path, "[a-z]{1,3}").prop_map(|(path, target)| Deed::Link(path, target)),
    ]
}

const PATHS: [&str; 6] = ["a.txt", "run.sh", "sub/b.txt", "sub/new.txt", "x/y/z.txt", "link"];

/// What cannot be done is not done; the record must be right all the same.
fn carry_out(place: &Place, deed: &Deed) {
    match deed {
        Deed::Write(path, text) => {
            let path = place.at(PATHS[*path]);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::remove_file(&path);
            let _ = fs::write(path, text);
        }
        Deed::Remove(path) => drop(fs::remove_file(place.at(PATHS[*path]))),
        Deed::Move(from, to) => {
            let to = place.at(PATHS[*to]);
            if place.at(PATHS[*from]).symlink_metadata().is_ok() {
                let _ = fs::create_dir_all(to.parent().unwrap());
                let _ = fs::rename(place.at(PATHS[*from]), to);
            }
        }
        Deed::Mode(path, mode) => {
            let path = place.at(PATHS[*path]);
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            }
        }
        Deed::Link(path, target) => {
            let path = place.at(PATHS[*path]);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::remove_file(&path);
            let _ = symlink(target, path);
        }
    }
}

fn paths_of(deed: &Deed) -> Vec<&'static str> {
    match deed {
        Deed::Move(from, to) => vec![PATHS[*from], PATHS[*to]],
        Deed::Write(path, _) | Deed::Remove(path) | Deed::Mode(path, _) | Deed::Link(path, _) => {
            vec![PATHS[*path]]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_taken_back_exactly(deeds in prop::collection::vec(deed(), 1..8)) {
        let place = Place::new();
        let before = tree(place.folder.path());
        for (number, deed) in deeds.iter().enumerate() {
            place.call(&format!("s/{number}"), &paths_of(deed), |place| carry_out(place, deed));
        }
        for number in (0..deeds.len()).rev() {
            let undone = undo(&place.workspace, &format!("s/{number}")).unwrap();
            prop_assert!(undone.is_none_or(|undone| undone.left.is_empty()));
        }
        prop_assert_eq!(tree(place.folder.path()), before);
    }
}
