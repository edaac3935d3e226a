//! What is no plugin, or no plugin for this host, has one line that says why; all others work.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use foehn_tests::{World, built};

/// A good plugin, under a name that sorts between the bad ones.
fn world() -> World {
    let world = World::with_plugins(&[]);
    world.add_plugin("scan", "good.so");
    world
}

fn library() -> Vec<u8> {
    fs::read(built().plugin("scan")).expect("the plugin is built")
}

/// The listing, and that the good plugin works beside the bad one.
#[track_caller]
fn listing(world: &World) -> String {
    let listing = world.foehn(&["plugins", "list"]).expect_code(0).answer();
    let run = world.foehn(&["tools", "call", "scan"]).expect_code(0);
    assert_eq!(run.envelope()["ok"], true, "{run:?}");
    assert_eq!(world.left_running(), [""; 0]);
    listing
}

#[test]
fn files_that_are_no_library() {
    let world = world();
    world.write("plugins/empty.so", "");
    world.write("plugins/text.so", "#!/bin/sh\necho no\n");
    world.write("plugins/notes.txt", "not meant as one");
    fs::create_dir(world.path("plugins/folder.so")).expect("a folder");
    let status = Command::new("mkfifo").arg(world.path("plugins/fifo.so")).status();
    assert!(status.is_ok_and(|status| status.success()));
    symlink("/nowhere", world.path("plugins/dangling.so")).expect("a link");
    symlink("circle.so", world.path("plugins/circle.so")).expect("a link");
    insta::assert_snapshot!(listing(&world), @"");
}

#[test]
fn a_file_without_permission() {
    let world = world();
    world.write("plugins/locked.so", library());
    let locked = world.path("plugins/locked.so");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0)).expect("its owner may");
    let can_read_everything = fs::read(&locked).is_ok();
    let listing = listing(&world);
    let row = listing.lines().find(|line| line.contains("locked")).unwrap_or_default();
    // Root reads it all the same.
    assert!(row.contains(if can_read_everything { "ready" } else { "ermission denied" }), "{listing}");
}

#[test]
fn libraries_that_are_cut_damaged_or_for_another_machine() {
    let world = world();
    let whole = library();
    world.write("plugins/cut-half.so", &whole[..whole.len() / 2]);
    world.write("plugins/cut-head.so", &whole[..40]);
    let mut other_machine = whole.clone();
    other_machine[18..20].copy_from_slice(&183_u16.to_le_bytes());
    world.write("plugins/other-machine.so", other_machine);
    let mut narrow = whole.clone();
    narrow[4] = 1;
    world.write("plugins/narrow.so", narrow);
    let mut damaged = whole.clone();
    // The program header table: what the loader maps where.
    damaged[64..400].fill(0xff);
    world.write("plugins/damaged.so", damaged);
    let listing = listing(&world);
    let size = whole.len().to_string();
    let half = (whole.len() / 2).to_string();
    let shown = listing.replace(&size, "[SIZE]").replace(&half, "[HALF]");
    insta::assert_snapshot!(shown, @"");
}

/// Damage in the middle of the file, which no look at the headers can find, ends a worker and not the host.
#[test]
fn damage_inside_costs_the_plugin_only() {
    let world = world();
    let whole = library();
    let mut damaged = whole.clone();
    let middle = whole.len() / 3;
    for place in (middle..whole.len() - 8192).step_by(64) {
        damaged[place] ^= 0xff;
    }
    world.write("plugins/damaged.so", damaged);
    let listing = listing(&world);
    assert!(listing.lines().any(|line| line.contains("damaged") && line.contains("refused")), "{listing}");
}

#[test]
fn libraries_of_another_kind() {
    let world = world();
    world.add_plugin("no_root", "no-root.so");
    world.add_plugin("sdk_two", "sdk-two.so");
    insta::assert_snapshot!(listing(&world), @"");
}

#[test]
fn constructors_that_abort_or_hang() {
    let world = world();
    world.add_plugin("hostile", "ctor-abort.so");
    world.add_plugin("hostile", "ctor-hang.so");
    insta::assert_snapshot!(listing(&world), @"");
}

#[test]
fn a_run_tells_once_and_goes_on() {
    let world = world().script("[[turn]]\ntext = \"hello\"\n");
    world.write("plugins/text.so", "text");
    let run = world.foehn(&["run", "hi"]).expect_code(0);
    assert_eq!(run.stdout, "hello\n");
    insta::assert_snapshot!(run.talk(), @"");
    let run = world.foehn(&["run", "--json", "hi"]).expect_code(0);
    assert_eq!(run.done()["text"], "hello");
}

#[test]
fn a_required_plugin_that_is_bad_is_fatal() {
    let world = world().user_config("[plugins.text]\nrequired = true\n");
    world.write("plugins/text.so", "text");
    let run = world.foehn(&["run", "List the files here."]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"");
}

#[test]
fn the_listing_for_programs() {
    let world = world();
    world.write("plugins/text.so", "text");
    let listed = world.foehn(&["plugins", "list", "--json"]).expect_code(0);
    let facts: Vec<_> = listed
        .events()
        .iter()
        .map(|one| format!("{} {} {}", one["name"], one["state"], one["reason"]))
        .collect();
    insta::assert_snapshot!(facts.join("\n"), @"");
}
