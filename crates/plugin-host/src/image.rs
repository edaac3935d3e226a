//! The bytes of one plugin, read once: checked, hashed, and kept where nobody can change them.
//!
//! What was hashed is what is mapped, so there is no gap between check and use, and a file that is overwritten while its
//! plugin runs hurts nobody. Workers get the descriptor, not the path, and share its pages.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::preflight::{MAX_BYTES, Unfit, preflight};
use crate::scan::FileKey;
use crate::stats::Counters;

/// A plugin that passed [`preflight`].
#[derive(Debug)]
pub(crate) struct Image {
    pub hash: String,
    copy: OwnedFd,
}

/// The same before it is copied: most files that are hashed are not started.
#[derive(Debug)]
pub(crate) struct Checked {
    pub hash: String,
    pub key: FileKey,
    bytes: Vec<u8>,
}

impl Checked {
    /// Reads and checks a file. Blocks.
    pub(crate) fn read(path: &Path, counters: &Counters) -> Result<Self, Unfit> {
        let unreadable = |error: io::Error| Unfit::Unreadable(error.to_string());
        let mut file = open(path)?;
        let before = file.metadata().map_err(unreadable)?;
        if before.len() > MAX_BYTES {
            return Err(Unfit::TooLarge(before.len() >> 20));
        }
        let mut bytes = Vec::with_capacity(before.len() as usize);
        (&mut file).take(MAX_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
        let key = FileKey::from(&before);
        if FileKey::from(&file.metadata().map_err(unreadable)?) != key {
            return Err(Unfit::Changing);
        }
        preflight(&bytes)?;
        counters.hashed();
        Ok(Self { hash: blake3::hash(&bytes).to_hex().to_string(), key, bytes })
    }

    pub(crate) fn seal(self) -> io::Result<Image> {
        Ok(Image { copy: sealed(&self.bytes)?, hash: self.hash })
    }
}

impl Image {
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.copy.as_fd()
    }

    /// The name by which this process can map it.
    pub(crate) fn path(&self) -> PathBuf {
        descriptor_path(self.copy.as_fd())
    }
}

/// The name of an open descriptor for the dynamic loader.
pub(crate) fn descriptor_path(descriptor: BorrowedFd<'_>) -> PathBuf {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    Path::new(folder).join(descriptor.as_raw_fd().to_string())
}

/// A FIFO blocks whoever opens it and a device may act on being opened, so the kind is asked before and after.
fn open(path: &Path) -> Result<File, Unfit> {
    let metadata = std::fs::metadata(path).map_err(|error| Unfit::Unreadable(error.to_string()))?;
    regular(&metadata)?;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(|error| Unfit::Unreadable(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| Unfit::Unreadable(error.to_string()))?;
    regular(&metadata)?;
    Ok(file)
}

fn regular(metadata: &std::fs::Metadata) -> Result<(), Unfit> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    Err(Unfit::NotAFile(match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }))
}

#[cfg(target_os = "linux")]
fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;
    let copy = memfd_create("foehn-plugin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(copy);
    file.write_all(bytes)?;
    let size = SealFlags::SHRINK | SealFlags::GROW;
    // Nobody has mapped it to write yet, so forbidding it from now on is enough; forbidding it outright fails as busy while
    // the kernel itself still handles a page. Old systems know only that.
    match fcntl_add_seals(&file, size | SealFlags::FUTURE_WRITE | SealFlags::SEAL) {
        Err(Errno::INVAL) => fcntl_add_seals(&file, size | SealFlags::WRITE | SealFlags::SEAL)?,
        sealed => sealed?,
    }
    Ok(file.into())
}

/// Without anonymous files: a private one without a name.
#[cfg(not(target_os = "linux"))]
fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    Ok(file.into())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn check(path: &Path, expected: &str) {
        let refused = Checked::read(path, &Counters::default()).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo.so");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
        check(folder.path(), "is a folder, not a file");
        check(&fifo, "is a named pipe, not a file");
        check(Path::new("/dev/null"), "is a device, not a file");
        check(Path::new("/nowhere"), "cannot be read: No such file or directory (os error 2)");
    }

    #[test]
    fn a_sealed_copy_cannot_be_written() {
        let copy = sealed(b"bytes").unwrap();
        let mut file = File::options().read(true).write(true).open(descriptor_path(copy.as_fd())).unwrap();
        assert!(file.write_all(b"other").is_err());
        assert!(file.set_len(0).is_err());
        let mut bytes = String::new();
        file.read_to_string(&mut bytes).unwrap();
        assert_eq!(bytes, "bytes");
    }
}
