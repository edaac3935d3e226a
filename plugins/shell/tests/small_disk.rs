//! A disk that is too small for all of an output.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

use foehn_plugin_sdk::wire::ReplyKind;
use foehn_plugin_testkit::{TempWorkspace, json, run};
use shell::RunShell;

/// Set for this very test when it runs again on a disk of 256 KiB, in a mount namespace of its own.
const SMALL_DISK: &str = "FOEHN_TEST_SMALL_DISK";

#[test]
fn a_full_disk_costs_the_file_and_not_the_answer() {
    if let Some(folder) = std::env::var_os(SMALL_DISK) {
        return on_a_small_disk(Path::new(&folder));
    }
    const NO_MOUNT: i32 = 77;
    let folder = TempWorkspace::empty();
    let script = format!(
        "mount -t tmpfs -o size=256k small \"$1\" || exit {NO_MOUNT}; {SMALL_DISK}=\"$1\" exec \"$0\" --exact \
         a_full_disk_costs_the_file_and_not_the_answer"
    );
    let status = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script])
        .args([std::env::current_exe().unwrap().as_path(), folder.path()])
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => {}
        // A system that gives nobody a namespace: 1 is what `unshare` says.
        Ok(Some(1 | NO_MOUNT)) | Err(_) => eprintln!("not tested: no small disk can be had here"),
        other => panic!("on the small disk: {other:?}"),
    }
}

fn on_a_small_disk(folder: &Path) {
    let printed = |command: &str| {
        let call = run(RunShell, json!({"command": command})).workspace(folder);
        let reply = call.config(json!({"output_characters": 40})).run();
        assert_eq!(reply.kind, ReplyKind::Ok, "{reply:?}");
        reply.text()
    };
    let kept = || {
        let entries = fs::read_dir(folder.join(".foehn/output")).unwrap().flatten();
        entries.filter(|entry| entry.path().extension().is_some()).count()
    };
    assert!(printed("seq 1000").contains("bytes left out; all of it: `.foehn/output/shell-"));
    assert_eq!(kept(), 1);
    // It is full before the output has ended; what was written of it is taken away.
    let text = printed("seq 100000");
    assert!(text.contains("\n99999\n100000\n"), "{text}");
    assert!(text.contains("bytes left out; all of it could not be kept: `.foehn/output/shell-"), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert_eq!(kept(), 1);
    // It is full from the start.
    let rest = printed("head -c 1000000 /dev/zero > full 2>/dev/null; seq 1000");
    assert!(rest.contains("bytes left out; all of it could not be kept: the disk is full"), "{rest}");
    assert_eq!(kept(), 1);
}
