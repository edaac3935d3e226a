//! Real confinement of real threads: the rules hold for the thread that asks for them, so each case confines one of its
//! own and the test runner stays free.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use foehn_sandbox::{Enforcement, Profile, confine, support};
use tempfile::TempDir;

const ALLOWED: &str = "allowed";
const REFUSED: &str = "refused";

struct World {
    root: TempDir,
    /// A process outside of every sandbox of these tests.
    outsider: Child,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "elsewhere"] {
            fs::create_dir(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("file"), "text").unwrap();
        }
        Self { root, outsider: Command::new("sleep").arg("600").env("KEY", "secret").spawn().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.outsider.kill();
        let _ = self.outsider.wait();
    }
}

/// What a thread under this profile can do, in the order of the probes below.
fn check(profile: impl FnOnce(&World) -> Profile, expected: &[(&str, &str)]) {
    if support().landlock_abi < Some(6) || !support().seccomp {
        return;
    }
    let world = World::new();
    let profile = profile(&world);
    let (work, elsewhere) = (world.path("work"), world.path("elsewhere"));
    let outsider = world.outsider.id();
    let found = std::thread::spawn(move || {
        let confinement = confine(&profile).unwrap();
        assert_eq!(confinement.landlock, Enforcement::Fully);
        assert!(confinement.is_complete());
        probe(&work, &elsewhere, outsider)
    })
    .join()
    .unwrap();
    assert_eq!(found, expected);
}

fn probe(work: &Path, elsewhere: &Path, outsider: u32) -> Vec<(&'static str, &'static str)> {
    let environment = |pid: u32| fs::read(format!("/proc/{pid}/environ"));
    vec![
        ("read the workspace", word(fs::read(work.join("file")))),
        ("write the workspace", word(fs::write(work.join("file"), "new"))),
        ("move inside the workspace", word(fs::rename(work.join("file"), work.join("moved")))),
        ("read elsewhere", word(fs::read(elsewhere.join("file")))),
        ("write elsewhere", word(fs::write(elsewhere.join("file"), "new"))),
        ("start a program", word(Command::new("true").status())),
        ("start a thread", word(std::thread::Builder::new().spawn(|| {}))),
        ("read the environment of a process outside", word(environment(outsider))),
        ("signal a process outside", word(signal(outsider))),
        ("listen on TCP", word(TcpListener::bind("127.0.0.1:0"))),
        ("send UDP", word(UdpSocket::bind("127.0.0.1:0"))),
        ("make a named socket", word(UnixListener::bind(work.join("socket")))),
        ("make a pair of sockets", word(UnixStream::pair())),
        ("open the terminal", word(fs::OpenOptions::new().write(true).open("/dev/ptmx"))),
        ("write the null device", word(fs::write("/dev/null", "text"))),
    ]
}

fn word<T>(result: io::Result<T>) -> &'static str {
    match result {
        Ok(_) => ALLOWED,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => REFUSED,
        Err(error) => panic!("neither allowed nor refused: {error}"),
    }
}

fn signal(process: u32) -> io::Result<()> {
    let process = rustix::process::Pid::from_raw(process.try_into().unwrap()).unwrap();
    Ok(rustix::process::kill_process(process, rustix::process::Signal::CONT)?)
}

#[test]
fn reading_profile() {
    check(
        |world| Profile { read: vec![world.path("work")], ..Profile::default() },
        &[
            ("read the workspace", ALLOWED),
            ("write the workspace", REFUSED),
            ("move inside the workspace", REFUSED),
            ("read elsewhere", REFUSED),
            ("write elsewhere", REFUSED),
            ("start a program", REFUSED),
            ("start a thread", ALLOWED),
            ("read the environment of a process outside", REFUSED),
            ("signal a process outside", REFUSED),
            ("listen on TCP", REFUSED),
            ("send UDP", REFUSED),
            ("make a named socket", REFUSED),
            ("make a pair of sockets", ALLOWED),
            ("open the terminal", REFUSED),
            ("write the null device", ALLOWED),
        ],
    );
}

#[test]
fn writing_profile() {
    check(
        |world| Profile { write: vec![world.path("work")], ..Profile::default() },
        &[
            ("read the workspace", ALLOWED),
            ("write the workspace", ALLOWED),
            ("move inside the workspace", ALLOWED),
            ("read elsewhere", REFUSED),
            ("write elsewhere", REFUSED),
            ("start a program", REFUSED),
            ("start a thread", ALLOWED),
            ("read the environment of a process outside", REFUSED),
            ("signal a process outside", REFUSED),
            ("listen on TCP", REFUSED),
            ("send UDP", REFUSED),
            ("make a named socket", REFUSED),
            ("make a pair of sockets", ALLOWED),
            ("open the terminal", REFUSED),
            ("write the null device", ALLOWED),
        ],
    );
}

#[test]
fn programs_and_network() {
    check(
        |world| Profile {
            write: vec![world.path("work")],
            execute_programs: true,
            network: true,
            ..Profile::default()
        },
        &[
            ("read the workspace", ALLOWED),
            ("write the workspace", ALLOWED),
            ("move inside the workspace", ALLOWED),
            ("read elsewhere", REFUSED),
            ("write elsewhere", REFUSED),
            ("start a program", ALLOWED),
            ("start a thread", ALLOWED),
            ("read the environment of a process outside", REFUSED),
            ("signal a process outside", REFUSED),
            ("listen on TCP", ALLOWED),
            ("send UDP", ALLOWED),
            ("make a named socket", ALLOWED),
            ("make a pair of sockets", ALLOWED),
            ("open the terminal", REFUSED),
            ("write the null device", ALLOWED),
        ],
    );
}

#[test]
fn a_missing_folder_is_named() {
    let missing = PathBuf::from("/nowhere/at/all");
    let profile = Profile { read: vec![missing], ..Profile::default() };
    let error = std::thread::spawn(move || confine(&profile).unwrap_err()).join().unwrap();
    assert!(error.to_string().starts_with("cannot allow `/nowhere/at/all` in the sandbox: "), "{error}");
}
