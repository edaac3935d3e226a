//! Files that are no plugins of this host: each has its line, and the good plugin beside them works.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::world::{World, built, call, cases, left_running};

cases![
    not_libraries,
    broken_libraries,
    damage_that_no_header_shows,
    other_libraries,
    bad_constructors,
    nothing_runs_before_it_is_trusted,
    same_plugin_name_twice,
    same_tool_name_twice,
    a_folder_that_is_not_there,
];

fn world() -> World {
    World::new(&[("upcalls", "good.so")])
}

/// The bad files' lines, sorted by name, and that the good one works.
async fn check(world: &World, expected: &[&str]) {
    let set = world.load().await;
    let listing = world.listing(&set);
    let mut all: Vec<_> =
        expected.iter().map(ToString::to_string).chain(["good: Ready".to_owned()]).collect();
    all.sort();
    assert_eq!(listing, all);
    assert_eq!(call(&set, "fine").await, "Ok fine");
    set.shutdown().await;
    assert_eq!(left_running(world), [""; 0]);
}

async fn not_libraries() {
    let world = world();
    fs::write(world.plugin("empty.so"), "").unwrap();
    fs::write(world.plugin("text.so"), "hello").unwrap();
    fs::create_dir(world.plugin("folder.so")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, world.plugin("pipe.so"), rustix::fs::Mode::RUSR).unwrap();
    std::os::unix::fs::symlink("/nowhere", world.plugin("dangling.so")).unwrap();
    check(
        &world,
        &[
            r#"empty: Refused { reason: "is empty" }"#,
            r#"text: Refused { reason: "is not a library: it does not begin like an ELF file" }"#,
            r#"folder: Refused { reason: "is a folder, not a file" }"#,
            r#"pipe: Refused { reason: "is a named pipe, not a file" }"#,
            r#"dangling: Refused { reason: "cannot be read: No such file or directory (os error 2)" }"#,
        ],
    )
    .await;
}

async fn broken_libraries() {
    let world = world();
    let whole = fs::read(built("upcalls")).unwrap();
    let with = |file: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(world.plugin(file), bytes).unwrap();
    };
    with("cut.so", &|bytes| bytes.truncate(1_000));
    with("machine.so", &|bytes| bytes[18] = 183);
    with("narrow.so", &|bytes| bytes[4] = 1);
    let listing = world.listing(&world.load().await);
    let cut = listing.iter().find(|line| line.starts_with("cut: ")).unwrap();
    assert!(cut.contains("is incomplete: the section table ends at byte"), "{cut}");
    let host = std::env::consts::ARCH;
    fs::remove_file(world.plugin("cut.so")).unwrap();
    check(
        &world,
        &[
            &format!(r#"machine: Refused {{ reason: "is built for AARCH64; this host is {host}" }}"#),
            r#"narrow: Refused { reason: "is a 32-bit library; this host is 64-bit" }"#,
        ],
    )
    .await;
}

/// It passes every check of the headers and ends the process that maps it: a worker.
async fn damage_that_no_header_shows() {
    let world = world();
    let mut bytes = fs::read(built("upcalls")).unwrap();
    let (from, to) = (bytes.len() / 4, bytes.len() / 2);
    bytes[from..to].fill(0xff);
    fs::write(world.plugin("damaged.so"), bytes).unwrap();
    let set = world.load().await;
    let listing = world.listing(&set);
    assert!(listing[0].starts_with("damaged: Refused"), "{listing:?}");
    assert_eq!(listing[1], "good: Ready");
    assert_eq!(call(&set, "fine").await, "Ok fine");
}

async fn other_libraries() {
    let world = world();
    world.add("no_root", "no-root.so");
    world.add("sdk_two", "sdk-two.so");
    check(
        &world,
        &[
            r#"no-root: Refused { reason: "has no Foehn root module: it is not a plugin, or lacks `export_plugin!`" }"#,
            "sdk-two: Refused { reason: \"is built for SDK 2.x, this host speaks 1.x: rebuild it with foehn-plugin-sdk 1.x\" }",
        ],
    )
    .await;
}

async fn bad_constructors() {
    let mut world = world();
    world.settings.timeouts.start = Duration::from_secs(3);
    world.add("hostile", "ctor-abort.so");
    world.add("hostile", "ctor-hang.so");
    check(
        &world,
        &[
            r#"ctor-abort: Refused { reason: "crashed (signal 6, SIGABRT) while it was loaded" }"#,
            r#"ctor-hang: Refused { reason: "did not finish loading within 3 s and was killed" }"#,
        ],
    )
    .await;
}

async fn nothing_runs_before_it_is_trusted() {
    let mut world = World::new(&[("hostile", "ctor-abort.so"), ("upcalls", "good.so")]);
    world.settings.trust = foehn_plugin_host::TrustMode::Pinned;
    let set = world.load().await;
    let listing = world.listing(&set);
    assert!(listing.iter().all(|line| line.contains(": NotTrusted { hash: \"")), "{listing:?}");
    assert_eq!(set.stats().workers_spawned, 0);

    world.trust("good.so");
    assert_eq!(set.reload().await.added, ["good"]);
    assert_eq!(call(&set, "fine").await, "Ok fine");
    assert_eq!(set.stats().workers_spawned, 2);
}

async fn same_plugin_name_twice() {
    let world = World::new(&[("upcalls", "good.so"), ("upcalls", "libgood.so")]);
    let set = world.load().await;
    assert_eq!(
        world.listing(&set),
        [
            "good: Ready",
            r#"good: Refused { reason: "has the same name as `plugins/good.so`; rename or remove one of them" }"#
        ]
    );
    assert_eq!(call(&set, "fine").await, "Ok fine");
}

async fn same_tool_name_twice() {
    use foehn_ports::Toolbox as _;
    let world = World::new(&[("upcalls", "one.so"), ("hostile", "two.so")]);
    let set = world.load().await;
    let plugins = world.path("plugins").display().to_string();
    assert_eq!(
        set.warnings(),
        [format!(
            "tool `fine` is not offered: `{plugins}/one.so` and `{plugins}/two.so` both bring it; rename or remove one of them"
        )]
    );
    assert_eq!(set.find("fine"), None);
    assert!(call(&set, "whoami").await.starts_with("Ok "));
    assert!(call(&set, "print").await.starts_with("Ok "));
}

async fn a_folder_that_is_not_there() {
    let mut world = World::new(&[]);
    world.settings.plugins_dir = PathBuf::from("/nowhere/at/all");
    let set = world.load().await;
    assert_eq!((set.listing().len(), set.warnings()), (0, vec![]));
    assert!(
        set.watch(|_| {})
            .unwrap_err()
            .to_string()
            .starts_with("changes of `/nowhere/at/all` cannot be noticed")
    );
}
