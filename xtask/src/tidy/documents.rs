//! Documents that can be wrong without anybody noticing: links, commands, the shown example, the list of events.

use std::path::Path;

use clap::CommandFactory;

use super::{Problem, TextFile};
use crate::Cli;

/// Read by people first.
const README: &str = "README.md";

/// Shown whole in [`README`]: an example that is compiled and tested cannot be out of date.
const EXAMPLE: &str = "plugin-sdk/examples/len/src/lib.rs";

/// The events' definition, and the page that must name each of them.
const EVENTS: &str = "crates/protocol/src/event.rs";
const EVENTS_PAGE: &str = "docs/events.md";

pub(super) fn problems(root: &Path, files: &[TextFile]) -> Vec<Problem> {
    let tasks: Vec<_> = Cli::command().get_subcommands().map(|task| task.get_name().to_owned()).collect();
    let mut problems = Vec::new();
    for document in files.iter().filter(|file| file.path.ends_with(".md")) {
        problems.extend(link_problems(root, document));
        problems.extend(command_problems(&tasks, document));
    }
    let text = |path| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    if let (Some(readme), Some(example)) = (text(README), text(EXAMPLE)) {
        if !readme.contains(example) {
            problems.push(Problem::new(README, format!("does not show `{EXAMPLE}` as it is")));
        }
    } else {
        problems.push(Problem::new(README, format!("must be there and show `{EXAMPLE}`")));
    }
    let page = text(EVENTS_PAGE).unwrap_or_default();
    for event in text(EVENTS).into_iter().flat_map(event_names) {
        if !page.contains(&format!("`{event}`")) {
            problems.push(Problem::new(EVENTS_PAGE, format!("does not tell about the event `{event}`")));
        }
    }
    problems
}

/// Every relative link leads to a file.
fn link_problems(root: &Path, document: &TextFile) -> Vec<Problem> {
    let folder = root.join(&document.path);
    let folder = folder.parent().unwrap_or(root);
    let mut problems = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        for target in
            line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !target.contains("://") && !folder.join(file).exists() {
                problems.push(Problem::new(
                    format!("{}:{}", document.path, index + 1),
                    format!("links to `{file}`, which is not there"),
                ));
            }
        }
    }
    problems
}

/// Every `cargo xtask` command that a document tells exists.
fn command_problems(tasks: &[String], document: &TextFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        for rest in line.split("cargo xtask ").skip(1) {
            let task = rest.split(|letter: char| letter != '-' && !letter.is_ascii_alphanumeric()).next();
            let task = task.unwrap_or_default();
            if !tasks.iter().any(|known| known == task) {
                problems.push(Problem::new(
                    format!("{}:{}", document.path, index + 1),
                    format!("tells of `cargo xtask {task}`, which does not exist"),
                ));
            }
        }
    }
    problems
}

/// The variants of `EventBody`, spelt as in JSON.
fn event_names(source: &str) -> Vec<String> {
    let body = source.split("pub enum EventBody {").nth(1).and_then(|rest| rest.split("\n}").next());
    let variants = body.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("    "));
    variants
        .filter(|line| line.starts_with(|letter: char| letter.is_ascii_uppercase()))
        .map(|line| {
            snake_case(line.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default())
        })
        .collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_tells_only_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("there.md"), "").unwrap();
        let text = "[a](there.md) [b](there.md#part) [c](https://example.org) [d](#part)\n\n[e](gone.md)\n\
                    `cargo xtask run -- x`, then cargo xtask jump.";
        let document = TextFile { path: "a.md".to_owned(), text: text.to_owned() };
        let found =
            [link_problems(folder.path(), &document), command_problems(&["run".to_owned()], &document)];
        assert_eq!(
            found.concat(),
            [
                Problem::new("a.md:3", "links to `gone.md`, which is not there"),
                Problem::new("a.md:4", "tells of `cargo xtask jump`, which does not exist"),
            ]
        );
    }

    #[test]
    fn events_are_named_as_in_json() {
        let source = "pub enum EventBody {\n    /// Words.\n    TurnDone {\n        text: String,\n    },\n    Notice(A),\n}\nB";
        assert_eq!(event_names(source), ["turn_done", "notice"]);
    }
}
