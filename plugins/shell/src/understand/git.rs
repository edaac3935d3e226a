//! `git config`: some of its keys name programs that later commands run.

use super::effects::Effect;
use super::words::Word;

/// Options that a value follows.
const VALUES: &[&str] = &["--type", "--default", "--comment", "--value", "--url", "-f", "--file", "--blob"];
/// They name another file than the repository's.
const ELSEWHERE: &[&str] = &["-f", "--file", "--blob", "--global", "--system", "--worktree"];
const READING: &[&str] =
    &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--list", "-l"];
const ADDING: &[&str] = &["--add", "--replace-all"];
const REMOVING: &[&str] = &["--unset", "--unset-all", "--remove-section", "--rename-section"];

/// Keys without a say in what runs: a section, or a whole key. All others can be written only by being asked about.
const HARMLESS: &[&str] = &[
    "advice.",
    "color.",
    "commit.gpgsign",
    "core.abbrev",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.quotepath",
    "core.safecrlf",
    "diff.algorithm",
    "diff.renames",
    "fetch.prune",
    "init.defaultbranch",
    "log.",
    "merge.conflictstyle",
    "merge.ff",
    "pull.",
    "push.",
    "rerere.",
    "status.",
    "tag.gpgsign",
    "user.",
];

/// What a call of `git config` with these arguments does.
pub(super) fn config(arguments: &[Word]) -> Effect {
    let mut options = Vec::new();
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.exact() else { return Effect::Unknown };
        if let Some(name) = text.starts_with('-').then(|| text.split('=').next().unwrap_or(text)) {
            options.push(name);
            if VALUES.contains(&name) && name.len() == text.len() {
                rest.next();
            }
        } else {
            operands.push(text);
        }
    }
    let given = |listed: &[&str]| options.iter().any(|option| listed.contains(option));
    let (verb, operands) = match operands.as_slice() {
        [
            verb @ ("get" | "list" | "set" | "unset" | "edit" | "rename-section" | "remove-section"),
            rest @ ..,
        ] => (*verb, rest),
        rest if given(READING) => ("get", rest),
        rest if given(REMOVING) => ("unset", rest),
        [key] if !given(ADDING) => ("get", std::slice::from_ref(key)),
        rest => ("set", rest),
    };
    match (verb, operands) {
        ("get" | "list", _) => Effect::ReadOnly,
        ("set", [key, ..]) if !given(ELSEWHERE) && is_harmless(key) => Effect::Other,
        ("unset", [key, ..]) if !given(ELSEWHERE) && is_harmless(key) => Effect::Other,
        _ => Effect::Unknown,
    }
}

fn is_harmless(key: &str) -> bool {
    let key = key.to_lowercase();
    let of_a_branch = key.starts_with("branch.")
        && [".remote", ".merge", ".rebase", ".description"].iter().any(|end| key.ends_with(end));
    of_a_branch
        || HARMLESS
            .iter()
            .any(|known| if known.ends_with('.') { key.starts_with(known) } else { key == *known })
}
