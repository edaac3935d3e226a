//! Who may depend on whom. A new arrow is a decision about the architecture, so it is made in this table, in review.

use cargo_metadata::{DependencyKind, Package};

use super::{FIXTURES, Problem, TextFile};
use crate::workspace::{PLUGIN_SOURCES, Workspace};

/// Package, and those of ours that it may link.
const ARROWS: &[(&str, &[&str])] = &[
    ("foehn-plugin-sdk", &["foehn-plugin-sdk-macros"]),
    ("foehn-plugin-sdk-macros", &[]),
    ("foehn-plugin-testkit", &["foehn-plugin-sdk", "foehn-contract", "foehn-policy", "foehn-protocol"]),
    ("foehn-protocol", &[]),
    ("foehn-contract", &["foehn-protocol"]),
    ("foehn-policy", &["foehn-protocol"]),
    ("foehn-context", &["foehn-protocol"]),
    ("foehn-ports", &["foehn-protocol"]),
    ("foehn-engine", &["foehn-protocol", "foehn-ports", "foehn-contract", "foehn-policy", "foehn-context"]),
    ("foehn-provider", &["foehn-protocol", "foehn-ports"]),
    ("foehn-sandbox", &[]),
    ("foehn-plugin-host", &["foehn-plugin-sdk", "foehn-protocol", "foehn-ports", "foehn-sandbox"]),
    ("foehn-store", &["foehn-protocol", "foehn-ports"]),
    ("foehn-config", &["foehn-protocol"]),
    ("foehn-terminal", &["foehn-protocol"]),
    (
        "foehn",
        &[
            "foehn-protocol",
            "foehn-contract",
            "foehn-policy",
            "foehn-context",
            "foehn-ports",
            "foehn-engine",
            "foehn-provider",
            "foehn-sandbox",
            "foehn-plugin-host",
            "foehn-store",
            "foehn-config",
            "foehn-terminal",
        ],
    ),
    ("foehn-tests", &[]),
    ("foehn-bench", &["foehn-contract", "foehn-plugin-host", "foehn-ports", "foehn-protocol"]),
    ("xtask", &[]),
];

/// What the tests of a package may link on top.
const TEST_ARROWS: &[(&str, &[&str])] = &[
    ("foehn-plugin-sdk", &["foehn-plugin-testkit"]),
    ("foehn-tests", &["foehn"]),
    ("xtask", &["foehn-tests"]),
];

/// All of ours that any plugin may link: one row for every package below `plugins/`, for examples and for fixtures.
const PLUGIN_ARROWS: &[&str] = &["foehn-plugin-sdk"];
const PLUGIN_TEST_ARROWS: &[&str] = &["foehn-plugin-testkit"];

/// Folders, relative to the root, in which every package is a plugin.
const PLUGIN_FOLDERS: [&str; 3] = [PLUGIN_SOURCES, "plugin-sdk/examples", FIXTURES];

/// Foreign crates that one or a few packages hide from all others: replacing the crate is then a change in one place.
const KEPT_BY: &[(&str, &[&str])] = &[
    ("abi_stable", &["foehn-plugin-sdk", "foehn-plugin-host"]),
    ("anyhow", &["foehn", "foehn-bench", "foehn-tests", "xtask"]),
    ("clap", &["foehn", "foehn-bench", "xtask"]),
    ("config", &["foehn-config"]),
    ("goblin", &["foehn-plugin-host"]),
    ("jsonschema", &["foehn-contract"]),
    ("landlock", &["foehn-sandbox"]),
    ("libloading", &["foehn-plugin-host"]),
    ("rig-core", &["foehn-provider"]),
    ("rig-reqwest", &["foehn-provider"]),
    ("seccompiler", &["foehn-sandbox"]),
    ("sqlx", &["foehn-store"]),
    ("tiktoken-rs", &["foehn"]),
];

const ROOT_MANIFEST: &str = "Cargo.toml";

/// Packages that everything compiles after: their foreign crates are counted.
const LEAN: &[(&str, &[&str])] =
    &[("foehn-protocol", &["serde", "serde_json"]), ("foehn-plugin-sdk-macros", &[])];

pub(super) fn problems(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let ours: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let mut problems: Vec<_> =
        workspace.packages.iter().flat_map(|package| package_problems(workspace, package, &ours)).collect();
    let used: Vec<&str> = workspace
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let root = files.iter().find(|file| file.path == ROOT_MANIFEST).map_or("", |file| file.text.as_str());
    problems.extend(
        shared_dependencies(root).filter(|name| !used.contains(name) && !ours.contains(name)).map(|name| {
            Problem::new(ROOT_MANIFEST, format!("offers `{name}`, which no package takes: remove the line"))
        }),
    );
    problems
}

/// The names below `[workspace.dependencies]`.
fn shared_dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest.split("[workspace.dependencies]\n").nth(1).unwrap_or_default();
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| !name.starts_with('#'))
}

fn package_problems(workspace: &Workspace, package: &Package, ours: &[&str]) -> Vec<Problem> {
    let name = package.name.as_str();
    let is_plugin = is_plugin(workspace, package);
    let linked = if is_plugin { Some(PLUGIN_ARROWS) } else { row(ARROWS, name) };
    let Some(linked) = linked else {
        return vec![Problem::new(name, "is in no table of arrows: say in xtask what it may depend on")];
    };
    let tested = if is_plugin { PLUGIN_TEST_ARROWS } else { row(TEST_ARROWS, name).unwrap_or_default() };
    let mut problems = Vec::new();
    for dependency in &package.dependencies {
        let on = dependency.name.as_str();
        let for_tests = dependency.kind == DependencyKind::Development;
        if ours.contains(&on) {
            let allowed = linked.contains(&on) || for_tests && (on == name || tested.contains(&on));
            if !allowed {
                problems.push(Problem::new(
                    name,
                    format!("may not depend on `{on}`: no such arrow in the house"),
                ));
            }
            continue;
        }
        // What only tests use ships nowhere, and a fixture may be a plugin as nobody should write one.
        if for_tests || is_fixture(workspace, package) {
            continue;
        }
        if row(KEPT_BY, on).is_some_and(|keepers| !keepers.contains(&name)) {
            problems.push(Problem::new(name, format!("may not depend on `{on}`: another package hides it")));
        }
        if row(LEAN, name).is_some_and(|allowed| !allowed.contains(&on)) {
            problems.push(Problem::new(name, format!("stays lean: `{on}` is not among its few crates")));
        }
    }
    problems
}

fn is_plugin(workspace: &Workspace, package: &Package) -> bool {
    PLUGIN_FOLDERS.iter().any(|folder| is_below(workspace, package, folder))
}

fn is_fixture(workspace: &Workspace, package: &Package) -> bool {
    is_below(workspace, package, FIXTURES)
}

fn is_below(workspace: &Workspace, package: &Package, folder: &str) -> bool {
    package.manifest_path.as_std_path().starts_with(workspace.root.join(folder))
}

fn row<'table>(table: &'table [(&str, &'table [&'table str])], name: &str) -> Option<&'table [&'table str]> {
    table.iter().find(|(row, _)| *row == name).map(|(_, values)| *values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_dependencies_are_the_names_of_their_table() {
        let manifest = "[workspace]\na = 1\n\n[workspace.dependencies]\n# b = the old one\nc = \"1\"\n\nd-e = { path = \"d\" }\n\n\
                        [workspace.lints.rust]\nf = \"warn\"\n";
        assert_eq!(shared_dependencies(manifest).collect::<Vec<_>>(), ["c", "d-e"]);
    }
}
