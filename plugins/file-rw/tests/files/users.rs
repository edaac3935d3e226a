//! Being somebody else, and a file system that is not like others.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use foehn_plugin_testkit::TempWorkspace;
use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{set_thread_res_gid, set_thread_res_uid};

/// Runs as somebody who may not do everything: as we are, or as nobody when we are root.
pub(crate) fn as_ordinary_user(folder: &Path, work: impl FnOnce() + Send) {
    const NOBODY: u32 = 65_534;
    if !geteuid().is_root() {
        work();
        return;
    }
    give(folder, NOBODY);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
            work();
        });
        thread.join().unwrap();
    });
}

fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the test of this name once more where `mount` has prepared `$1`, in a mount namespace of its own: `work` gets that
/// folder there. `false` where no namespace can be had: nothing is tested then.
pub(crate) fn where_mounted(test: &str, mount: &str, work: impl FnOnce(&Path)) -> bool {
    const FOLDER: &str = "FOEHN_TEST_MOUNTED";
    const NO_MOUNT: i32 = 77;
    if let Some(folder) = std::env::var_os(FOLDER) {
        work(Path::new(&folder));
        return true;
    }
    let folder = TempWorkspace::empty();
    let script = format!("({mount}) || exit {NO_MOUNT}; {FOLDER}=\"$1\" exec \"$0\" --exact {test}");
    let status = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script])
        .args([std::env::current_exe().unwrap().as_path(), folder.path()])
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => true,
        // A system that gives nobody a namespace: 1 is what `unshare` says.
        Ok(Some(1 | NO_MOUNT)) | Err(_) => false,
        other => panic!("where `{mount}` is: {other:?}"),
    }
}
