//! Files that change while their plugins are in use.

use std::fs;
use std::io::Write;

use foehn_ports::Toolbox;

use crate::world::{World, built, call, cases};

cases![
    overwritten_in_place_hurts_nobody,
    a_better_file_is_used_from_the_next_call,
    untrusted_changes_do_not_replace,
    a_removed_file_goes_at_the_next_look,
    the_folder_is_watched,
    state_inside_the_workspace_is_told,
];

async fn overwritten_in_place_hurts_nobody() {
    let world = World::new(&[("upcalls", "plugin.so")]);
    let set = world.load().await;
    assert_eq!(call(&set, "fine").await, "Ok fine");
    // What a careless copy does: the mapped file itself is cut and written again.
    let mut file = fs::File::create(world.plugin("plugin.so")).unwrap();
    file.write_all(b"\x7fELF").unwrap();
    assert_eq!(call(&set, "fine").await, "Ok fine");
    let warnings = set.warnings();
    assert!(warnings[0].ends_with("copy it again; the version loaded before stays in use"), "{warnings:?}");
    assert_eq!(world.listing(&set), ["plugin: Ready"]);
    // A new worker of the old version too.
    let calls = tokio::join!(call(&set, "count"), call(&set, "fine"));
    assert_eq!(calls.1, "Ok fine");

    file.set_len(0).unwrap();
    drop(file);
    fs::write(world.plugin("plugin.so"), fs::read(built("hostile")).unwrap()).unwrap();
    assert_eq!(call(&set, "fine").await, "Ok fine");
    assert_eq!(call(&set, "print").await, "Ok printed");
    assert_eq!((set.find("count"), set.warnings()), (None, vec![]));
}

async fn a_better_file_is_used_from_the_next_call() {
    let world = World::new(&[("hostile", "plugin.so")]);
    let set = world.load().await;
    let mut changes = set.changes();
    assert_eq!(call(&set, "print").await, "Ok printed");
    world.add("upcalls", "plugin.so");
    assert_eq!(call(&set, "fine").await, "Ok fine");
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    assert!(call(&set, "count").await.starts_with("Ok 1"));
    assert!(!changes.has_changed().unwrap());
}

async fn untrusted_changes_do_not_replace() {
    let mut world = World::new(&[("upcalls", "plugin.so")]);
    world.settings.trust = foehn_plugin_host::TrustMode::Pinned;
    world.trust("plugin.so");
    let set = world.load().await;
    assert!(call(&set, "count").await.starts_with("Ok 1"));
    world.add("hostile", "plugin.so");
    assert!(call(&set, "count").await.starts_with("Ok 2"));
    let warnings = set.warnings();
    assert!(warnings[0].contains("is not trusted yet"), "{warnings:?}");
    world.trust("plugin.so");
    assert_eq!(set.reload().await.changed, ["plugin"]);
    assert_eq!(call(&set, "print").await, "Ok printed");
}

async fn a_removed_file_goes_at_the_next_look() {
    let world = World::new(&[("upcalls", "plugin.so")]);
    let set = world.load().await;
    assert_eq!(call(&set, "fine").await, "Ok fine");
    fs::remove_file(world.plugin("plugin.so")).unwrap();
    assert_eq!(call(&set, "fine").await, "Ok fine");
    assert_eq!(set.reload().await.removed, ["plugin"]);
    assert_eq!(set.tools(), []);
}

async fn the_folder_is_watched() {
    let world = World::new(&[]);
    let set = world.load().await;
    let (sender, mut changed) = tokio::sync::mpsc::unbounded_channel();
    let _watching = set.watch(move |reloaded| sender.send(reloaded).unwrap()).unwrap();
    let whole = fs::read(built("upcalls")).unwrap();
    // A slow copy: half a file first.
    let mut file = fs::File::create(world.plugin("plugin.so")).unwrap();
    for piece in whole.chunks(whole.len() / 3 + 1) {
        file.write_all(piece).unwrap();
        tokio::task::yield_now().await;
    }
    drop(file);
    assert_eq!(changed.recv().await.unwrap().added, ["plugin"]);
    assert_eq!(call(&set, "fine").await, "Ok fine");
    fs::remove_file(world.plugin("plugin.so")).unwrap();
    assert_eq!(changed.recv().await.unwrap().removed, ["plugin"]);
}

async fn state_inside_the_workspace_is_told() {
    let mut world = World::new(&[("upcalls", "plugin.so")]);
    world.settings.workspace = world.root().to_path_buf();
    let warnings = world.load().await.warnings();
    assert!(warnings[0].contains("lies in the workspace"), "{warnings:?}");
}
