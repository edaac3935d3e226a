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
    insta::assert_snapshot!(listing(&world), @"
    PLUGIN    FILE         STATE
    circle    circle.so    refused  cannot be read: Too many levels of symbolic links (os error 40)
    dangling  dangling.so  refused  cannot be read: No such file or directory (os error 2)
    empty     empty.so     refused  is empty
    fifo      fifo.so      refused  is a named pipe, not a file
    folder    folder.so    refused  is a folder, not a file
    good      good.so      ready
    text      text.so      refused  is not a library: it does not begin like an ELF file
    ");
}

#[test]
fn a_file_without_permission() {
    let world = world();
    world.add_plugin("file_rw", "locked.so");
    let locked = world.path("plugins/locked.so");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("its owner may");
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
    // Where the reader stumbles depends on how this very library was laid out.
    let (before, place) = shown.split_once("invalid utf8 (").expect("the damage is told");
    let (place, after) = place.split_once(')').expect("with its place");
    assert!(place.parse::<usize>().is_ok(), "{place}");
    let shown = format!("{before}invalid utf8 ([PLACE]){after}");
    insta::assert_snapshot!(shown, @"
    PLUGIN         FILE              STATE
    cut-half       cut-half.so       refused  is incomplete: the section table ends at byte [SIZE], the file at [HALF]; copy it again
    cut-head       cut-head.so       refused  is incomplete: the header ends at byte 64, the file at 40; copy it again
    damaged        damaged.so        refused  is damaged: bad input invalid utf8 ([PLACE]); build or copy it again
    good           good.so           ready
    narrow         narrow.so         refused  is a 32-bit library; this host is 64-bit
    other-machine  other-machine.so  refused  is built for AARCH64; this host is x86_64
    ");
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
    insta::assert_snapshot!(listing(&world), @"
    PLUGIN   FILE        STATE
    good     good.so     ready
    no-root  no-root.so  refused  has no Foehn root module: it is not a plugin, or lacks `export_plugin!`
    sdk-two  sdk-two.so  refused  is built for SDK 2.x, this host speaks 1.x: rebuild it with foehn-plugin-sdk 1.x
    ");
}

#[test]
fn constructors_that_abort_or_hang() {
    let world = world();
    world.add_plugin("hostile", "ctor-abort.so");
    world.add_plugin("hostile", "ctor-hang.so");
    insta::assert_snapshot!(listing(&world), @"
    PLUGIN      FILE           STATE
    ctor-abort  ctor-abort.so  refused  crashed (signal 6, SIGABRT) while it was loaded
    ctor-hang   ctor-hang.so   refused  did not finish loading within 5 s and was killed
    good        good.so        ready
    ");
}

#[test]
fn a_run_tells_once_and_goes_on() {
    let world = world().script("[[turn]]\ntext = \"hello\"\n");
    world.write("plugins/text.so", "text");
    let run = world.foehn(&["run", "hi"]).expect_code(0);
    assert_eq!(run.stdout, "hello\n");
    insta::assert_snapshot!(run.talk(), @"
    warning: plugin text is refused: is not a library: it does not begin like an ELF file
    session [ID] with offline/script (an offline stand-in, not a real model)
    answered in [TIME] s: 1 step, 0 calls, tokens n/a
    ");
    let run = world.foehn(&["run", "--json", "hi"]).expect_code(0);
    assert_eq!(run.done()["text"], "hello");
}

#[test]
fn a_required_plugin_that_is_bad_is_fatal() {
    let world = world().user_config("[plugins.text]\nrequired = true\n");
    world.write("plugins/text.so", "text");
    let run = world.foehn(&["run", "List the files here."]);
    insta::assert_snapshot!(format!("{:?} {}", run.code, run.talk()), @"Some(1) error: the required plugin `text` is not ready: is not a library: it does not begin like an ELF file");
}

#[test]
fn a_disabled_plugin_is_listed_and_not_used() {
    let world = world().user_config("[plugins.hostile]\ndisabled = true\n");
    world.add_plugin("hostile", "hostile.so");
    insta::assert_snapshot!(listing(&world), @"
    PLUGIN   FILE        STATE
    good     good.so     ready
    hostile  hostile.so  disabled  is switched off in the configuration
    ");
    world.foehn(&["tools", "call", "fine"]).expect_code(1);
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
    insta::assert_snapshot!(facts.join("\n"), @r#"
    "good" "ready" null
    "text" "refused" "is not a library: it does not begin like an ELF file"
    "#);
}
