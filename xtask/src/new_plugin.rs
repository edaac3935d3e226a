//! `cargo xtask new-plugin NAME`: the example plugin under a new name, so that an author starts from something that
//! works and is tested. There is no second template to fall behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::PLUGIN_SOURCES;

/// The plugin that every new one begins as.
const EXAMPLE: &str = "plugin-sdk/examples/len";

/// A test of the example that is about the example itself.
const NOT_COPIED: &str = "#[test]\nfn the_readme_shows_this_very_plugin";

/// What was made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) folder: PathBuf,
    pub(crate) package: String,
}

/// Copies the example to `plugins/NAME` and makes it a member of the workspace at `root`.
pub(crate) fn create(root: &Path, name: &str) -> Result<Created> {
    check_name(name)?;
    let folder = root.join(PLUGIN_SOURCES).join(name);
    if folder.exists() {
        bail!("{} is already there; choose another name", folder.display());
    }
    let manifest = root.join("Cargo.toml");
    let members = with_member(&read(&manifest)?, &format!("{PLUGIN_SOURCES}/{name}"))
        .with_context(|| format!("cannot add a member to {}", manifest.display()))?;
    copy_folder(&root.join(EXAMPLE), &folder, name)?;
    write(&manifest, &members)?;
    Ok(Created { folder, package: package_name(name) })
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

fn copy_folder(source: &Path, target: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
    let context = || format!("cannot read {}", source.display());
    for entry in fs::read_dir(source).with_context(context)? {
        let entry = entry.with_context(context)?;
        let file = entry.file_name();
        let file = if file == "len.rs" { format!("{}.rs", tool_name(name)).into() } else { file };
        let (from, to) = (entry.path(), target.join(file));
        if from.is_dir() {
            copy_folder(&from, &to, name)?;
        } else {
            write(&to, &rename(&without_own_test(&read(&from)?), name))?;
        }
    }
    Ok(())
}

fn without_own_test(text: &str) -> String {
    let Some((before, rest)) = text.split_once(NOT_COPIED) else {
        return text.to_owned();
    };
    let after = rest.split_once("\n}\n").map_or("", |(_, after)| after);
    format!("{}\n{after}", before.trim_end())
}

/// The example's names, as words, in each of their spellings.
fn rename(text: &str, name: &str) -> String {
    let tool = tool_name(name);
    let kind: String = name.split('-').map(capitalised).collect();
    [
        ("foehn-plugin-len", package_name(name)),
        ("LenArgs", format!("{kind}Args")),
        ("Len", kind),
        ("\"len\"", format!("\"{tool}\"")),
        ("len::", format!("{tool}::")),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| replace_words(&text, from, to))
}

/// Also the library's name.
fn tool_name(name: &str) -> String {
    name.replace('-', "_")
}

fn package_name(name: &str) -> String {
    format!("foehn-plugin-{name}")
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn a_name_is_words_in_lower_case() {
        let accepted = |name: &&str| check_name(name).is_ok();
        let names = ["len", "word-count", "v2", "", "Word", "word_count", "-a", "a-", "a--b", "2d", "../x"];
        assert_eq!(
            names.into_iter().filter(|name| accepted(name)).collect::<Vec<_>>(),
            ["len", "word-count", "v2"]
        );
    }

    #[test]
    fn names_change_as_whole_words_only() {
        let text = "struct Len; LenArgs \"len\" len::plugin() text.len() Length foehn-plugin-len";
        assert_eq!(
            rename(text, "word-count"),
            "struct WordCount; WordCountArgs \"word_count\" word_count::plugin() text.len() Length \
             foehn-plugin-word-count"
        );
    }

    #[test]
    fn a_member_is_added_after_the_last_plugin() {
        let manifest = "members = [\n    \"plugins/a\",\n    \"plugins/b\",\n    \"xtask\",\n]\n";
        assert_eq!(
            with_member(manifest, "plugins/c").unwrap(),
            "members = [\n    \"plugins/a\",\n    \"plugins/b\",\n    \"plugins/c\",\n    \"xtask\",\n]\n"
        );
        assert!(with_member("members = []\n", "plugins/c").is_err());
    }

    /// A copy of what the new plugin needs, so that its own test runs as its author would run it.
    #[test]
    fn the_new_plugin_passes_its_own_test() {
        let workspace = Workspace::find().unwrap();
        let copy = tempfile::tempdir().unwrap();
        for folder in ["plugin-sdk", "crates/contract", "crates/policy", "crates/protocol"] {
            copy_sources(&workspace.root.join(folder), &copy.path().join(folder));
        }
        fs::copy(workspace.root.join("Cargo.lock"), copy.path().join("Cargo.lock")).unwrap();
        let manifest = read(&workspace.root.join("Cargo.toml")).unwrap();
        let kept = ["\"plugin-sdk", "\"crates/contract\"", "\"crates/policy\"", "\"crates/protocol\""];
        let lines = manifest.lines().filter(|line| {
            let member = line.trim();
            let is_member = member.starts_with('"') && member.ends_with("\",");
            (!is_member || kept.iter().any(|kept| member.starts_with(kept)))
                && !line.starts_with("default-members")
        });
        // The line of a plugin to add after, as the whole workspace has it.
        let manifest =
            lines.collect::<Vec<_>>().join("\n").replace("members = [", "members = [\n    \"plugins/none\",");
        write(&copy.path().join("Cargo.toml"), &manifest).unwrap();

        let created = create(copy.path(), "word-count").unwrap();
        assert_eq!(created.folder, copy.path().join("plugins/word-count"));
        write(
            &copy.path().join("Cargo.toml"),
            &read(&copy.path().join("Cargo.toml")).unwrap().replace("    \"plugins/none\",\n", ""),
        )
        .unwrap();
        let output = Command::new(env!("CARGO"))
            .current_dir(copy.path())
            .args(["test", "--quiet", "--offline", "--package", &created.package, "--target-dir"])
            .arg(workspace.target.join("new-plugin"))
            .output()
            .unwrap();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{talk}");
        assert!(create(copy.path(), "word-count").is_err());
    }

    fn copy_sources(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                copy_sources(&entry.path(), &to.join(entry.file_name()));
            } else {
                fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
}
