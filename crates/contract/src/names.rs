//! Tool names: the rule they follow, and what to answer when a model calls one that does not exist.

use crate::cut;
use crate::nearest::nearest_few;

/// The longest name every vendor accepts.
pub const NAME_CHARACTERS: usize = 64;

/// Decorations that models put before a name.
const PREFIXES: [&str; 4] = ["functions.", "default_api:", "default_api.", "tools."];

/// Where a leaked control token begins.
const CONTROL_TOKEN: &str = "<|";

/// How many near names an answer lists.
const SUGGESTIONS: usize = 3;

/// How many names an answer lists when none is near.
const LISTED: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a tool name is empty; give it 1 to {NAME_CHARACTERS} letters, digits, `_` or `-`")]
    Empty,
    #[error("tool name `{0}` is longer than {NAME_CHARACTERS} characters")]
    TooLong(String),
    #[error("tool name `{name}` contains {character:?}; only letters A-Z, digits, `_` and `-` are allowed")]
    Character { name: String, character: char },
}

/// Whether a name matches `^[a-zA-Z0-9_-]{1,64}$`.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    let wrong = |character: &char| !(character.is_ascii_alphanumeric() || matches!(character, '_' | '-'));
    if let Some(character) = name.chars().find(wrong) {
        return Err(NameError::Character { name: cut::end(name, NAME_CHARACTERS), character });
    }
    if name.len() > NAME_CHARACTERS {
        return Err(NameError::TooLong(cut::end(name, NAME_CHARACTERS)));
    }
    Ok(())
}

/// The name without a leaked control token or an invented prefix; `None` when there was nothing to take off. The
/// caller may use it only if it is exactly the name of a tool.
pub fn clean_name(name: &str) -> Option<&str> {
    let mut clean = name.trim();
    if let Some((before, _)) = clean.split_once(CONTROL_TOKEN) {
        clean = before.trim_end();
    }
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| clean.strip_prefix(prefix)) {
        clean = rest;
    }
    (clean != name && !clean.is_empty()).then_some(clean)
}

/// What a model reads after it called a tool that does not exist.
pub fn unknown_tool<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let shown = cut::end(name, NAME_CHARACTERS);
    let hint = if known.is_empty() {
        "No tools are offered; answer in text.".to_owned()
    } else {
        let near = nearest_few(clean_name(name).unwrap_or(name), known.iter().copied(), SUGGESTIONS);
        if near.is_empty() {
            let more = known.len().saturating_sub(LISTED);
            let listed = listed(&known[..known.len() - more]);
            let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("The tools are: {listed}{rest}.")
        } else {
            format!("Did you mean {}?", listed(&near))
        }
    };
    format!("There is no tool `{shown}`; nothing was run. {hint}")
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_rule() {
        let check = |name: &str, expected: &str| {
            let actual = check_name(name).map_or_else(|error| error.to_string(), |()| "fine".to_owned());
            assert_eq!(actual, expected);
        };
        check("read_file", "fine");
        check("a-B_9", "fine");
        check("", "a tool name is empty; give it 1 to 64 letters, digits, `_` or `-`");
        check("a.b", "tool name `a.b` contains '.'; only letters A-Z, digits, `_` and `-` are allowed");
        let long = "x".repeat(65);
        check(&long, &format!("tool name `{}...` is longer than 64 characters", "x".repeat(64)));
    }

    #[test]
    fn decorations_come_off() {
        let check = |name: &str, expected: Option<&str>| assert_eq!(clean_name(name), expected, "{name}");
        check("read_file", None);
        check("read_file<|channel|>commentary", Some("read_file"));
        check("default_api:read_file", Some("read_file"));
        check("functions.read_file", Some("read_file"));
        check("<|channel|>", None);
    }

    #[test]
    fn unknown_tools_get_near_names() {
        let check = |name: &str, known: &[&str], expected: &str| {
            assert_eq!(unknown_tool(name, known.iter().copied()), expected);
        };
        check(
            "file_read",
            &["delete_file", "read_file"],
            "There is no tool `file_read`; nothing was run. Did you mean `read_file`?",
        );
        check(
            "generic_command",
            &["run_shell", "scan"],
            "There is no tool `generic_command`; nothing was run. The tools are: `run_shell`, `scan`.",
        );
        check("x", &[], "There is no tool `x`; nothing was run. No tools are offered; answer in text.");
    }
}
