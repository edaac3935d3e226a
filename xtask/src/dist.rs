//! `cargo xtask dist`: one archive with all that a machine without Rust needs.
//!
//! The same inputs give the same bytes: names in order, one time, one owner, no trace of who packed it or when.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

use crate::build::Built;
use crate::workspace::{HOST_PACKAGE, Workspace};

/// What travels along: name in the archive, and place below the root.
const DOCUMENTS: [(&str, &str); 6] = [
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("README.md", "README.md"),
    ("foehn.md", "foehn.md"),
    ("foehn.toml", "crates/config/src/foehn.sample.toml"),
];

/// 1980-01-01: the oldest time that no unpacker warns about.
const MODIFIED: u64 = 315_532_800;

/// One file of the archive.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    /// Relative to the archive's one folder, with `/`.
    name: String,
    mode: u32,
    content: Vec<u8>,
}

/// Packs what was built into an archive in `folder`. Returns the archive's path.
pub(crate) fn dist(workspace: &Workspace, built: &Built, folder: &Path) -> Result<PathBuf> {
    let name = format!("foehn-{}-{}", version(workspace)?, target(workspace)?);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let archive = folder.join(format!("{name}.tar.gz"));
    let entries = entries(&workspace.root, built)?;
    let file = File::create(&archive).with_context(|| format!("cannot create {}", archive.display()))?;
    pack(&name, &entries, BufWriter::new(file))
        .with_context(|| format!("cannot write {}", archive.display()))?;
    Ok(archive)
}

fn entries(root: &Path, built: &Built) -> Result<Vec<Entry>> {
    let mut entries = vec![entry(HOST_PACKAGE, 0o755, &built.host)?];
    for plugin in &built.plugins {
        let file = plugin.file_name().unwrap_or_default().to_string_lossy();
        entries.push(entry(&format!(".plugins/{file}"), 0o755, plugin)?);
    }
    for (name, source) in DOCUMENTS {
        entries.push(entry(name, 0o644, &root.join(source))?);
    }
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    let sums = Entry { name: "SHA256SUMS".to_owned(), mode: 0o644, content: sums(&entries).into_bytes() };
    entries.push(sums);
    Ok(entries)
}

fn entry(name: &str, mode: u32, source: &Path) -> Result<Entry> {
    let content = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
    Ok(Entry { name: name.to_owned(), mode, content })
}

/// In the form that `sha256sum --check` reads.
fn sums(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        for byte in Sha256::digest(&entry.content) {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        let _ = writeln!(text, "  {}", entry.name);
    }
    text
}

fn pack(folder: &str, entries: &[Entry], output: impl Write) -> Result<()> {
    let compressed = GzBuilder::new().mtime(0).write(output, Compression::best());
    let mut archive = tar::Builder::new(compressed);
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.content.len() as u64);
        header.set_mode(entry.mode);
        header.set_mtime(MODIFIED);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, format!("{folder}/{}", entry.name), entry.content.as_slice())?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

fn version(workspace: &Workspace) -> Result<String> {
    let host = workspace.packages.iter().find(|package| package.name == HOST_PACKAGE);
    Ok(host.with_context(|| format!("the workspace has no package `{HOST_PACKAGE}`"))?.version.to_string())
}

/// The platform that cargo builds for.
fn target(workspace: &Workspace) -> Result<String> {
    let output = workspace.cargo().arg("-vV").output().context("cannot ask cargo for its platform")?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(target) => Ok(target.to_owned()),
        None => bail!("`cargo -vV` names no platform"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn packed(entries: &[Entry]) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack("foehn-1", entries, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_archive_holds_what_was_built_and_its_sums() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates/config/src")).unwrap();
        for source in DOCUMENTS.map(|(_, source)| source).into_iter().chain(["host", "libscan.so"]) {
            fs::write(root.path().join(source), source).unwrap();
        }
        let built = Built { host: root.path().join("host"), plugins: vec![root.path().join("libscan.so")] };
        let entries = entries(root.path(), &built).unwrap();
        let bytes = packed(&entries);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        archive.set_preserve_permissions(true);
        let listed: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let mut entry = entry.unwrap();
                let mut content = String::new();
                entry.read_to_string(&mut content).unwrap();
                let header = entry.header();
                let lines = content.lines().count();
                format!(
                    "{:o} {} {} {lines}",
                    header.mode().unwrap(),
                    header.mtime().unwrap(),
                    entry.path().unwrap().display()
                )
            })
            .collect();
        assert_eq!(
            listed,
            [
                "755 315532800 foehn-1/.plugins/libscan.so 1",
                "644 315532800 foehn-1/CHANGELOG.md 1",
                "644 315532800 foehn-1/LICENSE-APACHE 1",
                "644 315532800 foehn-1/LICENSE-MIT 1",
                "644 315532800 foehn-1/README.md 1",
                "755 315532800 foehn-1/foehn 1",
                "644 315532800 foehn-1/foehn.md 1",
                "644 315532800 foehn-1/foehn.toml 1",
                "644 315532800 foehn-1/SHA256SUMS 8",
            ]
        );
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let entries = [Entry { name: "a".to_owned(), mode: 0o644, content: b"abc".to_vec() }];
        assert_eq!(packed(&entries), packed(&entries));
        assert_eq!(sums(&entries), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n");
    }
}
