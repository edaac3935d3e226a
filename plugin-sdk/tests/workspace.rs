//! The border of a workspace under attack, and what has to keep working inside.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a failure is reported by a panic")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use foehn_plugin_sdk::workspace::{Entry, EntryKind, Result, Workspace};
use foehn_plugin_testkit::TempWorkspace;

const LIMIT: u64 = 1024;

/// A base folder with a workspace `proj`, a neighbour `proj-evil` and a folder `out`, each with a file.
fn base() -> TempWorkspace {
    TempWorkspace::new([
        ("proj/a.txt", "inside"),
        ("proj/deep/x/y.txt", "deep"),
        ("proj-evil/x.txt", "evil"),
        ("out/secret.txt", "secret"),
    ])
}

fn proj(base: &TempWorkspace) -> Workspace {
    Workspace::open(base.join("proj")).unwrap()
}

fn read(workspace: &Workspace, path: &str) -> Result<String> {
    let bytes = workspace.read(&workspace.resolve(path)?, LIMIT)?;
    Ok(String::from_utf8(bytes).unwrap())
}

fn write(workspace: &Workspace, path: &str, text: &str) -> Result<()> {
    workspace.write_atomic(&workspace.resolve(path)?, text.as_bytes())
}

fn create(workspace: &Workspace, path: &str, text: &str) -> Result<()> {
    workspace.create_new(&workspace.resolve(path)?, text.as_bytes())
}

#[track_caller]
fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn paths_as_text() {
    let base = base();
    let workspace = proj(&base);
    let root = base.join("proj");
    let outside = |path: &str| format!("`{path}` lies outside of the workspace");
    let check = |path: &str, expected: std::result::Result<&str, String>| {
        let resolved =
            workspace.resolve(path).map(|path| path.to_string()).map_err(|error| error.to_string());
        assert_eq!(resolved, expected.map(str::to_owned), "{path}");
    };
    check("a.txt", Ok("a.txt"));
    check("./deep//x/../x/y.txt", Ok("deep/x/y.txt"));
    check(".", Ok("."));
    check("deep/..", Ok("."));
    check(root.join("deep").to_str().unwrap(), Ok("deep"));
    check(root.to_str().unwrap(), Ok("."));
    check("..", Err(outside("..")));
    check("deep/../../out/secret.txt", Err(outside("deep/../../out/secret.txt")));
    check("../proj-evil/x.txt", Err(outside("../proj-evil/x.txt")));
    let neighbour = base.join("proj-evil/x.txt");
    check(neighbour.to_str().unwrap(), Err(outside(neighbour.to_str().unwrap())));
    check("/etc/passwd", Err(outside("/etc/passwd")));
    check("", Err("the path is empty; write `.` for the workspace itself".to_owned()));
    check("a\0b", Err("invalid path `a\\0b`: it holds a NUL character".to_owned()));
    let name = "n".repeat(256);
    let start = "n".repeat(32);
    let too_long = "is 256 bytes long, at most 255 are allowed";
    check(&format!("deep/{name}"), Err(format!("invalid path: the name `{start}...` {too_long}")));
    check(&name[1..], Ok(&name[1..]));
    let long = "d/".repeat(2500);
    check(&long, Err("invalid path: it is 5000 bytes long, at most 4096 are allowed".to_owned()));
}

#[test]
fn the_longest_name_can_be_written() {
    let base = base();
    let name = "n".repeat(255);
    write(&proj(&base), &name, "x").unwrap();
    assert_eq!(base.read(&format!("proj/{name}")), "x");
}

#[test]
fn a_root_may_be_reached_through_links_and_named_either_way() {
    let base = base();
    let link = base.join("link");
    symlink(base.join("proj"), &link).unwrap();
    symlink("deep", base.join("proj/relative")).unwrap();
    symlink(base.join("proj/deep"), base.join("proj/absolute")).unwrap();
    symlink(link.join("deep/x"), base.join("proj/deep/by-link")).unwrap();
    let workspace = Workspace::open(&link).unwrap();
    let check = |path: PathBuf, expected: &str| {
        assert_eq!(read(&workspace, path.to_str().unwrap()).unwrap(), expected, "{}", path.display());
    };
    check(link.join("a.txt"), "inside");
    check(base.join("proj/a.txt"), "inside");
    check("a.txt".into(), "inside");
    check("relative/x/y.txt".into(), "deep");
    check("absolute/x/y.txt".into(), "deep");
    check("absolute/by-link/y.txt".into(), "deep");
    assert_eq!(workspace.root(), base.join("proj").canonicalize().unwrap());
}

#[test]
fn a_link_that_leads_out_is_never_followed() {
    let base = base();
    let out = base.join("out");
    symlink(out.join("secret.txt"), base.join("proj/leak")).unwrap();
    symlink("../out/secret.txt", base.join("proj/relative-leak")).unwrap();
    symlink(&out, base.join("proj/folder")).unwrap();
    symlink("leak", base.join("proj/twice")).unwrap();
    let workspace = proj(&base);
    for (path, link) in [
        ("leak", "leak"),
        ("relative-leak", "relative-leak"),
        ("folder/secret.txt", "folder"),
        ("twice", "leak"),
    ] {
        let path = workspace.resolve(path).unwrap();
        let refusal = format!("`{link}` is a link that leads out of the workspace");
        let results = [
            message(workspace.read(&path, LIMIT)),
            message(workspace.metadata(&path)),
            message(workspace.exists(&path)),
            message(workspace.write_atomic(&path, b"x")),
            message(workspace.real(&path)),
        ];
        assert_eq!(results, [const { &() }; 5].map(|()| refusal.clone()), "{path}");
    }
    assert_eq!(
        message(workspace.read_dir(&workspace.resolve("folder").unwrap())),
        "`folder` is a link that leads out of the workspace"
    );
    assert_eq!(message(create(&workspace, "leak", "x")), "`leak` already exists");
    assert_eq!(
        message(create(&workspace, "folder/new.txt", "x")),
        "`folder` is a link that leads out of the workspace"
    );
    assert_eq!(base.read("out/secret.txt"), "secret");

    // The link itself is inside: it may be moved and removed.
    let leak = workspace.resolve("leak").unwrap();
    let moved = workspace.resolve("moved").unwrap();
    assert!(workspace.symlink_metadata(&leak).unwrap().is_symlink());
    workspace.rename(&leak, &moved).unwrap();
    workspace.remove_file(&moved).unwrap();
    assert_eq!(base.read("out/secret.txt"), "secret");
}

#[test]
fn nothing_is_created_through_a_link_to_nothing() {
    let base = base();
    symlink(base.join("out/planted.txt"), base.join("proj/new.txt")).unwrap();
    symlink(base.join("out/nodir"), base.join("proj/d")).unwrap();
    symlink("missing.txt", base.join("proj/inner")).unwrap();
    symlink("missing", base.join("proj/inner-dir")).unwrap();
    let workspace = proj(&base);
    let before = base.list();
    let check = |result: Result<()>, expected: &str| assert_eq!(message(result), expected);
    check(write(&workspace, "new.txt", "x"), "`new.txt` is a link that leads out of the workspace");
    check(create(&workspace, "new.txt", "x"), "`new.txt` already exists");
    check(write(&workspace, "d/f.txt", "x"), "`d` is a link that leads out of the workspace");
    check(create(&workspace, "d/f.txt", "x"), "`d` is a link that leads out of the workspace");
    let dangling = "is a link to something that does not exist; nothing is created through it";
    check(write(&workspace, "inner", "x"), &format!("`inner` {dangling}"));
    check(write(&workspace, "inner-dir/f.txt", "x"), &format!("`inner-dir/f.txt` {dangling}"));
    check(create(&workspace, "inner-dir/f.txt", "x"), &format!("`inner-dir` {dangling}"));
    assert_eq!(base.list(), before);
}

#[test]
fn a_link_in_a_circle_is_told() {
    let base = base();
    symlink("two", base.join("proj/one")).unwrap();
    symlink("one", base.join("proj/two")).unwrap();
    let workspace = proj(&base);
    assert_eq!(message(read(&workspace, "one")), "`one` leads through too many links");
    assert_eq!(message(write(&workspace, "one", "x")), "`one` leads through too many links");
}

#[test]
fn an_inner_link_stays_a_link_when_it_is_written() {
    let base = base();
    base.write("proj/real/cfg.toml", "old");
    symlink(base.join("proj/real/cfg.toml"), base.join("proj/cfg")).unwrap();
    let workspace = proj(&base);
    write(&workspace, "cfg", "new").unwrap();
    assert_eq!(base.read("proj/real/cfg.toml"), "new");
    assert!(fs::symlink_metadata(base.join("proj/cfg")).unwrap().is_symlink());
    assert_eq!(workspace.real(&workspace.resolve("cfg").unwrap()).unwrap().to_string(), "real/cfg.toml");
}

#[test]
fn another_name_of_a_file_keeps_its_bytes() {
    let base = base();
    fs::hard_link(base.join("out/secret.txt"), base.join("proj/h.txt")).unwrap();
    let workspace = proj(&base);
    assert_eq!(read(&workspace, "h.txt").unwrap(), "secret");
    write(&workspace, "h.txt", "mine").unwrap();
    assert_eq!((base.read("proj/h.txt").as_str(), base.read("out/secret.txt").as_str()), ("mine", "secret"));
}

#[test]
fn permissions_are_kept_and_new_files_follow_the_mask() {
    let base = base();
    let workspace = proj(&base);
    for bits in [0o755, 0o640, 0o600, 0o4755] {
        let path = base.join("proj/run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(bits)).unwrap();
        write(&workspace, "run.sh", "new").unwrap();
        assert_eq!((mode(&path), base.read("proj/run.sh").as_str()), (bits, "new"));
    }
    let plain = base.join("proj/plain");
    fs::write(&plain, "").unwrap();
    write(&workspace, "written", "").unwrap();
    create(&workspace, "created", "").unwrap();
    assert_eq!(
        (mode(&base.join("proj/written")), mode(&base.join("proj/created"))),
        (mode(&plain), mode(&plain))
    );
}

#[test]
fn parents_are_made_and_nothing_temporary_stays() {
    let base = base();
    let workspace = proj(&base);
    create(&workspace, "new/deep/one.txt", "1").unwrap();
    write(&workspace, "other/two.txt", "2").unwrap();
    assert_eq!(message(create(&workspace, "a.txt", "x")), "`a.txt` already exists");
    assert_eq!(message(write(&workspace, "deep", "x")), "`deep` is a directory");
    assert_eq!(
        message(write(&workspace, "a.txt/b", "x")),
        "`a.txt/b` is not a directory, or a part of it is not"
    );
    assert_eq!(message(write(&workspace, ".", "x")), "this cannot be done to the workspace folder itself");
    let inside = base.list().into_iter().filter(|name| name.starts_with("proj/")).collect::<Vec<_>>();
    assert_eq!(
        inside,
        [
            "proj/",
            "proj/a.txt",
            "proj/deep/",
            "proj/deep/x/",
            "proj/deep/x/y.txt",
            "proj/new/",
            "proj/new/deep/",
            "proj/new/deep/one.txt",
            "proj/other/",
            "proj/other/two.txt",
        ]
    );
}

#[test]
fn faults_are_told_apart() {
    let base = base();
    let workspace = proj(&base);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        base.join("proj/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(message(read(&workspace, "none.txt")), "`none.txt` does not exist");
    assert_eq!(message(read(&workspace, "deep")), "`deep` is a directory");
    assert_eq!(
        message(read(&workspace, "pipe")),
        "`pipe` is not a regular file but a device, a pipe or a socket"
    );
    assert_eq!(
        message(write(&workspace, "pipe", "x")),
        "`pipe` is not a regular file but a device, a pipe or a socket"
    );
    assert_eq!(
        message(workspace.read(&workspace.resolve("a.txt").unwrap(), 3)),
        "`a.txt` is longer than 3 bytes"
    );
    assert_eq!(
        message(workspace.remove_dir(&workspace.resolve("deep").unwrap())),
        "directory `deep` is not empty"
    );
    assert_eq!(message(workspace.remove_file(&workspace.resolve("deep").unwrap())), "`deep` is a directory");
    let missing = base.join("nowhere");
    assert_eq!(
        message(Workspace::open(&missing)),
        format!(
            "workspace folder `{}` cannot be opened: No such file or directory (os error 2)",
            missing.display()
        )
    );
}

#[test]
fn files_are_listed_made_moved_and_removed() {
    let base = base();
    let workspace = proj(&base);
    let path = |text: &str| workspace.resolve(text).unwrap();
    symlink("a.txt", base.join("proj/link")).unwrap();
    workspace.create_dir_all(&path("empty/inner")).unwrap();
    workspace.create_dir_all(&path("empty/inner")).unwrap();
    workspace.rename(&path("a.txt"), &path("moved/b.txt")).unwrap();
    assert_eq!(
        message(workspace.rename(&path("moved/b.txt"), &path("deep/x/y.txt"))),
        "`deep/x/y.txt` already exists"
    );
    assert_eq!(message(workspace.rename(&path("none"), &path("never/made"))), "`none` does not exist");
    workspace.remove_dir(&path("empty/inner")).unwrap();
    let entries = workspace.read_dir(&path(".")).unwrap();
    let expected = [
        ("deep", EntryKind::Directory),
        ("empty", EntryKind::Directory),
        ("link", EntryKind::Link),
        ("moved", EntryKind::Directory),
    ];
    assert_eq!(entries, expected.map(|(name, kind)| Entry { path: path(name), kind }));
    assert!(!workspace.exists(&path("link")).unwrap());
    assert!(workspace.exists(&path("moved/b.txt")).unwrap());
    assert_eq!(workspace.absolute(&path("moved/b.txt")), workspace.root().join("moved/b.txt"));
    assert_eq!(path("moved/b.txt").parent(), Some(path("moved")));
}

/// One thread exchanges a real folder and a link that leads out, the other reads and writes beneath it.
#[test]
fn a_folder_exchanged_for_a_link_lets_nothing_through() {
    const ROUNDS: usize = 2000;
    let base = base();
    base.write("proj/sub/f.txt", "inside");
    base.write("out/f.txt", "secret");
    symlink(base.join("out"), base.join("proj/trap")).unwrap();
    let workspace = proj(&base);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let dir = fs::File::open(base.join("proj")).unwrap();
            while !done.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(&dir, "sub", &dir, "trap", exchange).unwrap();
            }
        });
        for round in 0..ROUNDS {
            if let Ok(text) = read(&workspace, "sub/f.txt") {
                assert_ne!(text, "secret");
            }
            // Errors are fine.
            let _ = write(&workspace, "sub/f.txt", "inside");
            let _ = create(&workspace, &format!("sub/new-{round}.txt"), "inside");
        }
        done.store(true, Ordering::Relaxed);
    });
    let out = base.list().into_iter().filter(|name| name.starts_with("out/")).collect::<Vec<_>>();
    assert_eq!(out, ["out/", "out/f.txt", "out/secret.txt"]);
    assert_eq!(base.read("out/f.txt"), "secret");
}

#[test]
fn a_known_folder_is_opened_as_that_or_not_at_all() {
    let base = TempWorkspace::new([("ws/a/b/f.txt", "f"), ("ws/keep/f.txt", "kept"), ("ws/c/", "")]);
    let workspace = Workspace::open(base.join("ws")).unwrap();
    let path = workspace.resolve("a/b").unwrap();
    let (known, entries) = workspace.look_into(&path).unwrap();
    assert_eq!(entries.len(), 1);
    let name = std::ffi::OsStr::new("f.txt");
    // Whatever has its path: another folder, a link to one, a link above it.
    fs::rename(base.join("ws/a/b"), base.join("ws/moved")).unwrap();
    fs::rename(base.join("ws/keep"), base.join("ws/a/b")).unwrap();
    let changed = "`a/b` was changed by somebody else meanwhile and is as they left it; read it again";
    assert_eq!(workspace.open_known(&known).unwrap_err().to_string(), changed);
    fs::rename(base.join("ws/a/b"), base.join("ws/keep")).unwrap();
    symlink("../keep", base.join("ws/a/b")).unwrap();
    assert_eq!(workspace.open_known(&known).unwrap_err().to_string(), changed);
    assert_eq!(workspace.look_into(&path).unwrap_err().to_string(), changed);
    fs::remove_file(base.join("ws/a/b")).unwrap();
    assert_eq!(workspace.open_known(&known).unwrap_err().to_string(), "`a/b` does not exist");
    fs::rename(base.join("ws/moved"), base.join("ws/c/b")).unwrap();
    fs::remove_dir(base.join("ws/a")).unwrap();
    symlink("c", base.join("ws/a")).unwrap();
    assert_eq!(workspace.open_known(&known).unwrap_err().to_string(), changed);
    // Back where it was, and then held open: what is removed is removed there, wherever it moves.
    fs::remove_file(base.join("ws/a")).unwrap();
    fs::create_dir(base.join("ws/a")).unwrap();
    fs::rename(base.join("ws/c/b"), base.join("ws/a/b")).unwrap();
    let opened = workspace.open_known(&known).unwrap();
    fs::rename(base.join("ws/a/b"), base.join("ws/moved")).unwrap();
    symlink("../keep", base.join("ws/a/b")).unwrap();
    opened.remove(name, false).unwrap();
    assert_eq!(
        (base.join("ws/moved/f.txt").exists(), base.read("ws/keep/f.txt")),
        (false, "kept".to_owned())
    );
    assert!(opened.remove(name, false).is_err() && opened.remove(std::ffi::OsStr::new("x"), true).is_err());
}
