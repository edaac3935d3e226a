//! Contents of files, named by their hash, so that one that is kept a hundred times is there once.

use std::io::{self, Read, Seek, SeekFrom, Write};

use cap_std::fs::{Dir, File, MetadataExt};

use super::store::{folder, new_file};

pub(super) const FOLDER: &str = "contents";
/// What is being written; the lock of the store keeps it to one.
const NEW: &str = "new";

/// Whether a content is there.
pub(super) fn holds(backups: &Dir, hash: &str) -> io::Result<bool> {
    let (folder_name, name) = place(hash);
    match backups.open_dir(FOLDER)?.open_dir(folder_name) {
        Ok(contents) => Ok(contents.symlink_metadata(name).is_ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Holds what is in a file, shared with it where the file system can share, else copied. Its hash; `None` when it is larger
/// than `most`. The lock of the store has to be held.
pub(super) fn hold(backups: &Dir, file: &mut std::fs::File, most: u64) -> io::Result<Option<String>> {
    let contents = backups.open_dir(FOLDER)?;
    let _ = contents.remove_file(NEW);
    let held = hold_new(&contents, file, most);
    if !matches!(held, Ok(Some(_))) {
        let _ = contents.remove_file(NEW);
    }
    held
}

fn hold_new(contents: &Dir, file: &mut std::fs::File, most: u64) -> io::Result<Option<String>> {
    let mut new = new_file(contents, NEW)?;
    let hash = match shared(&mut new, file, most)? {
        Some(hash) => hash,
        None => match copied(&mut new, file, most)? {
            Some(hash) => hash,
            None => return Ok(None),
        },
    };
    let (folder_name, name) = place(&hash);
    contents.rename(NEW, &folder(contents, folder_name)?, name)?;
    Ok(Some(hash))
}

/// `None` where the file system cannot share, or the file is too large.
#[cfg(target_os = "linux")]
fn shared(new: &mut File, file: &std::fs::File, most: u64) -> io::Result<Option<String>> {
    if rustix::fs::ioctl_ficlone(&*new, file).is_err() || new.metadata()?.size() > most {
        return Ok(None);
    }
    // Of what is held, and not of the file, which may be changing.
    let mut hasher = blake3::Hasher::new();
    io::copy(new, &mut hasher)?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

#[cfg(not(target_os = "linux"))]
fn shared(_new: &mut File, _file: &std::fs::File, _most: u64) -> io::Result<Option<String>> {
    Ok(None)
}

/// `None` when there is more than `most`.
fn copied(new: &mut File, file: &mut std::fs::File, most: u64) -> io::Result<Option<String>> {
    new.set_len(0)?;
    new.seek(SeekFrom::Start(0))?;
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        let read = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let piece = piece.get(..read).unwrap_or_default();
        length += read as u64;
        if length > most {
            return Ok(None);
        }
        if read == 0 {
            return Ok(Some(hasher.finalize().to_hex().to_string()));
        }
        hasher.update(piece);
        new.write_all(piece)?;
    }
}

/// A content that is there whole and unchanged.
pub(super) fn read(backups: &Dir, hash: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let (folder, name) = place(hash);
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = backups.open_dir(FOLDER)?.open_dir(folder)?.open(name)?;
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok((blake3::hash(&bytes).to_hex().as_str() == hash).then_some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The hash and the size of each that is there.
pub(super) fn sizes(backups: &Dir) -> Vec<(String, u64)> {
    let Ok(contents) = backups.open_dir(FOLDER) else { return Vec::new() };
    let mut sizes = Vec::new();
    for folder in contents.entries().into_iter().flatten().flatten() {
        let Some(start) = folder.file_name().into_string().ok() else { continue };
        let Ok(folder) = folder.open_dir() else { continue };
        for file in folder.entries().into_iter().flatten().flatten() {
            if let (Some(name), Ok(metadata)) = (file.file_name().into_string().ok(), file.metadata()) {
                sizes.push((format!("{start}{name}"), metadata.size()));
            }
        }
    }
    sizes
}

/// Drops one; what cannot be dropped now is dropped later.
pub(super) fn drop(backups: &Dir, hash: &str) {
    let (folder, name) = place(hash);
    let _ = backups
        .open_dir(FOLDER)
        .and_then(|contents| contents.open_dir(folder))
        .and_then(|folder| folder.remove_file(name));
}

/// The folder and the name of a content; a hash that came from a record of somebody else's names nothing outside.
fn place(hash: &str) -> (&str, &str) {
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { hash.split_at(2) } else { ("none", "none") }
}
