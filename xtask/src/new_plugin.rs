//! `cargo xtask new-plugin NAME`: the example plugin under a new name, so that an author starts from something that
//! works and is tested. There is no second template to fall behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::PLUGIN_SOURCES;

/// The plugin that every new one begins as.
const EXAMPLE: &str = "plugin-sdk/examples/len";

/// What was made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) folder: PathBuf,
    pub(crate) package: String,
}

/// Copies the example to `plugins/NAME` and makes it a member of the workspace at `root`.
pub(crate) fn create(root: &Path, name: &str) -> Result<Created> {
    check_name(name)?;
    let example = root.join(EXAMPLE);
    let folder = root.join(PLUGIN_SOURCES).join(name);
    if folder.exists() {
        bail!("{} is already there; choose another name", folder.display());
    }
    let manifest = root.join("Cargo.toml");
    let members = with_member(&read(&manifest)?, &format!("{PLUGIN_SOURCES}/{name}"))
        .with_context(|| format!("cannot add a member to {}", manifest.display()))?;
    copy_folder(&example, &folder, &|text| rename(text, name))?;
    write(&manifest, &members)?;
    Ok(Created { folder, package: format!("foehn-plugin-{name}") })
}

/// A name that is a package, a library, a folder and a tool at once.
fn check_name(name: &str) -> Result<()> {
    let word = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    if name.split('-').all(word) {
        return Ok(());
    }
    bail!("`{name}` cannot name a plugin; use lower-case words joined by `-`, such as `word-count`")
}

fn copy_folder(source: &Path, target: &Path, change: &dyn Fn(&str) -> String) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
    let context = || format!("cannot read {}", source.display());
    for entry in fs::read_dir(source).with_context(context)? {
        let entry = entry.with_context(context)?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to, change)?;
        } else {
            write(&to, &change(&read(&from)?))?;
        }
    }
    Ok(())
}

/// The example's names, as words, in each of their spellings.
fn rename(text: &str, name: &str) -> String {
    let tool = name.replace('-', "_");
    let kind: String = name.split('-').map(capitalised).collect();
    let package = format!("foehn-plugin-{name}");
    let mut renamed =
        text.replace("foehn-plugin-example-len", &package).replace("foehn-plugin-len", &package);
    renamed = replace_words(&renamed, "LenArgs", &format!("{kind}Args"));
    renamed = replace_words(&renamed, "Len", &kind);
    renamed = replace_words(&renamed, "\"len\"", &format!("\"{tool}\""));
    replace_words(&renamed, "len::", &format!("{tool}::"))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Replaces `from` where it is not a part of a longer word.
fn replace_words(text: &str, from: &str, to: &str) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        result.push_str(before);
        let joined = result.ends_with(is_word) && from.starts_with(is_word)
            || after.starts_with(is_word) && from.ends_with(is_word);
        result.push_str(if joined { from } else { to });
        rest = after;
    }
    result + rest
}

/// The root manifest with one member more, after the last plugin.
fn with_member(manifest: &str, member: &str) -> Result<String> {
    let is_plugin = |line: &str| line.trim_start().starts_with(&format!("\"{PLUGIN_SOURCES}/"));
    let mut lines: Vec<&str> = manifest.lines().collect();
    let Some(last) = lines.iter().rposition(|line| is_plugin(line)) else {
        bail!("its list of members has no line of a plugin to add after");
    };
    let line = format!("    \"{member}\",");
    lines.insert(last + 1, &line);
    Ok(lines.join("\n") + "\n")
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
