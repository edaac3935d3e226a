//! Rules about source files: how long, how they open, where `unsafe` may be, and that nothing is left for later.

use std::collections::BTreeMap;
use std::path::Path;

use super::{FIXTURES, Problem, TextFile, relative};
use crate::workspace::Workspace;

/// A file is read as a whole or not at all.
const FILE_LINES: usize = 600;

/// Tables that are long because what they list is long.
const LONG_FILES: &[&str] = &[];

/// The centre has a ceiling: what is new lands beside it.
const LINE_BUDGETS: &[(&str, usize)] = &[("crates/engine/src/", 2_500)];

/// No package holds more than one part in this of the code, once there is enough code to speak of parts.
const LARGEST_SHARE: usize = 4;
const SHARE_COUNTS_FROM: usize = 20_000;

/// Where the lint against `unsafe` may be lifted.
const UNSAFE_PLACES: [&str; 5] =
    ["crates/plugin-host/", "crates/sandbox/", "plugin-sdk/src/", FIXTURES, "xtask/src/tidy/"];

/// Words of a comment that promise work instead of doing it. In halves, so that this file does not hold them.
const PROMISES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn problems(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let mut problems: Vec<_> = files.iter().filter(|file| is_rust(file)).flat_map(file_problems).collect();
    problems
        .extend(files.iter().filter(|file| file.path.ends_with("Cargo.toml")).filter_map(manifest_problem));
    problems.extend(LINE_BUDGETS.iter().filter_map(|budget| budget_problem(*budget, files)));
    problems.extend(share_problems(workspace, files));
    problems
}

fn file_problems(file: &TextFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES && !LONG_FILES.contains(&file.path.as_str()) {
        problems.push(Problem::new(
            &file.path,
            format!("has {lines} lines, more than {FILE_LINES}: split it where a reader would"),
        ));
    }
    if is_module(&file.path) && !opens_with_words(&file.text) {
        problems.push(Problem::new(
            &file.path,
            "does not open with `//!`: say why it exists and what it refuses",
        ));
    }
    if file.text.contains("unsafe_code") && !UNSAFE_PLACES.iter().any(|place| file.path.starts_with(place)) {
        problems
            .push(Problem::new(&file.path, "lifts the lint against `unsafe`, which is not for this place"));
    }
    for (index, line) in file.text.lines().enumerate() {
        let comment = line.split_once("//").map_or("", |(_, comment)| comment);
        let mut words = comment.split(|letter: char| !letter.is_alphanumeric());
        if words.any(|word| PROMISES.contains(&word)) {
            let place = format!("{}:{}", file.path, index + 1);
            problems.push(Problem::new(place, "promises work: do it, or leave the line out"));
        }
    }
    problems
}

fn is_rust(file: &TextFile) -> bool {
    file.path.ends_with(".rs")
}

/// Sources of a package; tests explain themselves by what they check.
fn is_module(path: &str) -> bool {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    path.contains("src/") && !is_test && !path.starts_with(FIXTURES)
}

fn opens_with_words(text: &str) -> bool {
    text.starts_with("//!") || text.starts_with("#![doc = include_str!")
}

/// A package of tests may have lints of its own, as long as they say the same about `unsafe`.
fn manifest_problem(file: &TextFile) -> Option<Problem> {
    let is_package = file.text.lines().any(|line| line == "[package]") && !file.path.starts_with(FIXTURES);
    let strict = ["[lints]\nworkspace = true", "unsafe_code = \"deny\""];
    (is_package && !strict.iter().any(|lints| file.text.contains(lints))).then(|| {
        Problem::new(&file.path, "does not take the lints of the workspace: `[lints] workspace = true`")
    })
}

fn budget_problem((place, budget): (&str, usize), files: &[TextFile]) -> Option<Problem> {
    let lines: usize =
        files.iter().filter(|file| is_rust(file) && file.path.starts_with(place)).map(lines).sum();
    (lines > budget).then(|| {
        Problem::new(place, format!("has {lines} lines of its budget of {budget}: put what is new beside it"))
    })
}

fn share_problems(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let folders: Vec<(String, &str)> = workspace
        .packages
        .iter()
        .map(|package| {
            let folder = package.manifest_path.as_std_path().parent().unwrap_or(Path::new(""));
            (format!("{}/", relative(&workspace.root, folder)), package.name.as_str())
        })
        .collect();
    let mut sizes = BTreeMap::new();
    for file in files.iter().filter(|file| is_rust(file)) {
        // Packages lie inside others: a file belongs to the nearest.
        let owner =
            folders.iter().filter(|(folder, _)| file.path.starts_with(folder)).max_by_key(|(f, _)| f.len());
        if let Some((_, name)) = owner {
            *sizes.entry(*name).or_insert(0) += lines(file);
        }
    }
    too_large(&sizes)
}

fn too_large(sizes: &BTreeMap<&str, usize>) -> Vec<Problem> {
    let total: usize = sizes.values().sum();
    if total < SHARE_COUNTS_FROM {
        return Vec::new();
    }
    let over = sizes.iter().filter(|(_, size)| **size * LARGEST_SHARE > total);
    over.map(|(name, size)| {
        Problem::new(
            *name,
            format!("holds {size} of {total} lines, more than 1 in {LARGEST_SHARE}: split it"),
        )
    })
    .collect()
}

fn lines(file: &TextFile) -> usize {
    file.text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        let found: Vec<_> = file_problems(&file).iter().map(Problem::to_string).collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_file_is_short_explained_safe_and_finished() {
        check("crates/a/src/lib.rs", "//! Why.\n", &[]);
        check("crates/a/tests/a.rs", "fn main() {}\n", &[]);
        check(
            "crates/a/src/b.rs",
            "fn b() {}\n",
            &["crates/a/src/b.rs: does not open with `//!`: say why it exists and what it refuses"],
        );
        check(
            "crates/a/src/b.rs",
            "//! Why.\n#![allow(unsafe_code)]\n",
            &["crates/a/src/b.rs: lifts the lint against `unsafe`, which is not for this place"],
        );
        check("crates/sandbox/src/b.rs", "//! Why.\n#![allow(unsafe_code)]\n", &[]);
        let promise =
            format!("//! Why.\nfn b() {{}} // {}: later\nlet text = \"{}\";\n", PROMISES[0], PROMISES[0]);
        check(
            "crates/a/src/b.rs",
            &promise,
            &["crates/a/src/b.rs:2: promises work: do it, or leave the line out"],
        );
        let long = format!("//! Why.\n{}", "\n".repeat(FILE_LINES));
        check(
            "crates/a/src/b.rs",
            &long,
            &["crates/a/src/b.rs: has 601 lines, more than 600: split it where a reader would"],
        );
    }

    #[test]
    fn no_package_outgrows_the_house() {
        assert_eq!(too_large(&BTreeMap::from([("small", 1), ("all", 19_000)])), []);
        assert_eq!(
            too_large(&BTreeMap::from([("a", 6_000), ("b", 5_000), ("c", 5_000), ("d", 5_000)])),
            [Problem::new("a", "holds 6000 of 21000 lines, more than 1 in 4: split it")]
        );
    }
}
