//! The archive is all that a machine without Rust needs: unpacked, checked, and started from an empty folder.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use foehn_tests::built;
use sha2::{Digest, Sha256};

#[test]
fn the_archive_runs_from_an_empty_folder() {
    let machine = tempfile::tempdir().unwrap();
    let unpacked = unpack(&pack(machine.path()), machine.path());
    check_sums(&unpacked);

    let empty = machine.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let foehn = |arguments: &[&str]| {
        let output = Command::new(unpacked.join("foehn"))
            .current_dir(&empty)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", machine.path())
            .env("FOEHN_STATE_DIR", machine.path().join("state"))
            .arg("--plugins")
            .arg(unpacked.join(".plugins"))
            .args(arguments)
            .output()
            .unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {talk}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    foehn(&["plugins", "trust", "dotnet", "file-rw", "scan", "shell"]);
    let listed = foehn(&["tools", "list"]);
    for tool in ["dotnet", "read_file", "run_shell", "scan"] {
        assert!(listed.contains(tool), "no {tool} in {listed}");
    }
    fs::write(empty.join("only.txt"), "content").unwrap();
    let answer = foehn(&["run", "List the files here."]);
    assert!(answer.contains("only.txt") && answer.contains("stand-in"), "{answer}");
}

fn pack(to: &Path) -> PathBuf {
    let host = built().foehn();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["dist", "--from"])
        .arg(host.parent().unwrap())
        .arg("--to")
        .arg(to)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archives: Vec<_> =
        entries(to).into_iter().filter(|path| path.extension().is_some_and(|e| e == "gz")).collect();
    let [archive] = archives.as_slice() else { panic!("not one archive: {archives:?}") };
    archive.clone()
}

/// The archive's one folder.
fn unpack(archive: &Path, machine: &Path) -> PathBuf {
    let to = machine.join("unpacked");
    tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(archive).unwrap())).unpack(&to).unwrap();
    let folders = entries(&to);
    let [folder] = folders.as_slice() else { panic!("not one folder: {folders:?}") };
    folder.clone()
}

/// Every file is named in SHA256SUMS and is what it says.
fn check_sums(folder: &Path) {
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let mut named: Vec<&str> = Vec::new();
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let digest = Sha256::digest(fs::read(folder.join(name)).unwrap());
        assert_eq!(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), sum, "{name}");
        named.push(name);
    }
    let mut present: Vec<_> = [folder.to_owned(), folder.join(".plugins")]
        .iter()
        .flat_map(|folder| entries(folder))
        .filter(|path| path.is_file() && !path.ends_with("SHA256SUMS"))
        .map(|path| path.strip_prefix(folder).unwrap().to_string_lossy().into_owned())
        .collect();
    present.sort();
    assert_eq!(named, present);
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
