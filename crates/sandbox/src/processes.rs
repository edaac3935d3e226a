//! A bound on how many processes a confined process and all below it may be, so that a program that starts others without end
//! takes neither the host nor the machine with it.
//!
//! The kernel has no such limit for one tree of processes. It counts those of a user within a user namespace, which is exact,
//! and never those of root, for whom there are control groups. Where both are refused an ordinary user's are counted together,
//! and root's by nobody: [`ProcessBound`] says which it is, and guesses nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What keeps the number of processes down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessBound {
    /// No bound of its own was asked for.
    #[default]
    Unasked,
    /// The user of a namespace of its own, whose processes the kernel counts apart.
    OwnUser,
    /// A control group of its own, in this folder. Whoever ends the process [releases](Self::release) it.
    Group(PathBuf),
    /// A control group that everything here is in, bounded by whoever runs this system.
    Outer(u64),
    /// All processes of the user together, by as many as there were and the bound more.
    WholeUser,
    /// Nothing, for this reason.
    Nothing(String),
}

/// Where Linux mounts control groups.
const MOUNT: &str = "/sys/fs/cgroup";
const PREFIX: &str = "foehn-";

impl ProcessBound {
    /// Removes what was made for the bound, once the process and all below it are gone. What cannot be removed yet goes with a
    /// later one.
    pub fn release(&self) {
        if let Self::Group(folder) = self {
            // Somebody in it still dies: see above.
            let _ = fs::remove_dir(folder);
        }
    }

    /// For a process that no namespace counts apart. Moves it to a control group where it may.
    pub(crate) fn impose(most: u64) -> Self {
        let own = own_groups();
        let mut refusal = "there is no control group for processes".to_owned();
        for place in own.iter().flat_map(Place::candidates) {
            match join(&place, most) {
                Ok(Some(group)) => return Self::Group(group),
                Ok(None) => {}
                Err(error) => refusal = format!("`{}`: {error}", place.display()),
            }
        }
        match own.iter().filter_map(Place::bound).min() {
            Some(bound) => Self::Outer(bound),
            None if rustix::process::geteuid().is_root() => Self::Nothing(refusal),
            None => Self::WholeUser,
        }
    }
}

/// Tasks of this user that are there now.
pub(crate) fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == user))
        // The folder of each thread, beside `.` and `..` and itself.
        .map(|entry| {
            fs::metadata(entry.path().join("task")).map_or(1, |tasks| tasks.nlink().saturating_sub(2))
        })
        .sum()
}

/// A hierarchy of control groups, and where in it this process is.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    mount: PathBuf,
    path: PathBuf,
}

impl Place {
    /// The tightest bound of the groups that we are in. In a container the path may be that of the system outside.
    fn bound(&self) -> Option<u64> {
        let own = Some(self.mount.join(&self.path)).filter(|folder| folder.is_dir());
        let own = own.unwrap_or_else(|| self.mount.clone());
        own.ancestors().take_while(|folder| folder.starts_with(&self.mount)).filter_map(bound_of).min()
    }

    /// Where a group of our own may lie: below the one that we are in, so that its limits hold on and whoever ends it ends us.
    fn candidates(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.mount.join(&self.path), self.mount.clone()];
        folders.dedup();
        folders.retain(|folder| folder.is_dir());
        folders
    }
}

fn own_groups() -> Vec<Place> {
    parse(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
}

/// Lines of `HIERARCHY:CONTROLLERS:PATH`; the hierarchy of the second version names no controllers.
fn parse(text: &str) -> Vec<Place> {
    let place = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let mount = match controllers {
            "" => PathBuf::from(MOUNT),
            _ if controllers.split(',').any(|controller| controller == "pids") => {
                Path::new(MOUNT).join("pids")
            }
            _ => return None,
        };
        Some(Place { mount, path: PathBuf::from(path.trim_start_matches('/')) })
    };
    text.lines().filter_map(place).collect()
}

/// Makes a group in a folder and moves this process there; `None` where the folder's groups do not count processes.
fn join(folder: &Path, most: u64) -> io::Result<Option<PathBuf>> {
    sweep(folder);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Processes of another container may have our number.
    let group = folder.join(format!("{PREFIX}{}-{:x}", std::process::id(), now.as_nanos()));
    fs::create_dir(&group)?;
    let entered = enter(folder, &group, most);
    if !matches!(entered, Ok(true)) {
        let _ = fs::remove_dir(&group);
    }
    Ok(entered?.then_some(group))
}

fn enter(folder: &Path, group: &Path, most: u64) -> io::Result<bool> {
    let bound = group.join("pids.max");
    // The second version divides a group with processes in it only among groups of threads, which are counted as well. The
    // topmost group, also the one that a container sees, stays as it is: others may want to divide it in their way.
    if !bound.exists() && folder != Path::new(MOUNT) && folder.join("cgroup.type").exists() {
        fs::write(group.join("cgroup.type"), "threaded")?;
        fs::write(folder.join("cgroup.subtree_control"), "+pids")?;
    }
    if !bound.exists() {
        return Ok(false);
    }
    fs::write(bound, most.to_string())?;
    fs::write(group.join("cgroup.procs"), "0")?;
    Ok(true)
}

/// Groups whose process is gone: those of a host that was killed. One that is in use cannot be removed.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')).map(|(id, _)| id);
        if process.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The bound of a group; `None` for `max`.
fn bound_of(folder: &Path) -> Option<u64> {
    fs::read_to_string(folder.join("pids.max")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_places() {
        let place = |mount: &str, path: &str| Place { mount: mount.into(), path: path.into() };
        let first = "9:name=systemd:/x\n8:pids:/a/b\n7:cpu,pids:/\n4:memory:/m\n";
        assert_eq!(parse(first), [place("/sys/fs/cgroup/pids", "a/b"), place("/sys/fs/cgroup/pids", "")]);
        assert_eq!(
            parse("0::/user.slice/user-0.slice\n"),
            [place("/sys/fs/cgroup", "user.slice/user-0.slice")]
        );
        assert_eq!(parse("garbage\n\n"), []);
    }
}
