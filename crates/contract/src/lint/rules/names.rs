//! Rules about names: of tools, of arguments, and of both beside their neighbours.

use std::collections::BTreeMap;

use foehn_protocol::ToolSpec;
use serde_json::Value;

use super::super::words::{folded, of_name, stem};
use super::super::{Found, Rule, Severity, Tool};
use crate::keywords;
use crate::names::check_name;
use crate::place::joined;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tool-name-invalid",
        severity: Severity::Error,
        title: "A tool's name is one that every vendor takes",
        reason: "A name outside of `^[a-zA-Z0-9_-]{1,64}$` fails the whole request at some vendors, with all other tools.",
        bad: r#"{"name": "read.note"}"#,
        good: r#"{"name": "read_note"}"#,
        check: tool_name_invalid,
    },
    Rule {
        id: "tool-name-generated",
        severity: Severity::Error,
        title: "A tool's name is chosen, not generated",
        reason: "Numbers, versions, namespaces and random endings change with a build; stored sessions and permissions \
                 refer to names.",
        bad: r#"{"name": "notes__Read_v2"}"#,
        good: r#"{"name": "read_note", "aliases": ["notes__Read_v2"]}"#,
        check: tool_name_generated,
    },
    Rule {
        id: "tool-name-vague",
        severity: Severity::Warning,
        title: "A tool's name says what it does to what",
        reason: "A model picks a tool by its name first; `process` fits every task and so none.",
        bad: r#"{"name": "process"}"#,
        good: r#"{"name": "read_note"}"#,
        check: tool_name_vague,
    },
    Rule {
        id: "tool-near-duplicate",
        severity: Severity::Warning,
        title: "No two tools of a plugin do the same under two names",
        reason: "A model cannot choose between two tools that sound alike, and chooses another one each time.",
        bad: r#"[{"name": "read_note"}, {"name": "get_notes", "description": "Fetch a stored note as plain text."}]"#,
        good: r#"[{"name": "read_note", "aliases": ["get_notes"]}]"#,
        check: tool_near_duplicate,
    },
    Rule {
        id: "alias-taken",
        severity: Severity::Error,
        title: "An alias is no name that is in use",
        reason: "A former name that is also a present one can mean two things.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title", "author"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "Title of the note.", "x-foehn-aliases": ["author"]},
                   "author": {"type": "string", "maxLength": 80, "description": "Who wrote the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "Title of the note.", "x-foehn-aliases": ["name"]}}}}"#,
        check: alias_taken,
    },
    Rule {
        id: "argument-name-invalid",
        severity: Severity::Error,
        title: "An argument's name is made of letters, digits, `_`, `-` and `.`",
        reason: "Some vendors refuse the whole request over a key that does not match `^[a-zA-Z0-9_.-]{1,64}$`.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["note title"], "properties": {
                   "note title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["note_title"], "properties": {
                   "note_title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        check: argument_name_invalid,
    },
    Rule {
        id: "argument-name-vague",
        severity: Severity::Warning,
        title: "An argument's name says what it is",
        reason: "`data` and `input` fit every value; models fill them with whatever is at hand.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["data"], "properties": {
                   "data": {"type": "string", "maxLength": 80, "description": "Title of the note to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        check: argument_name_vague,
    },
    Rule {
        id: "arguments-differ-by-case",
        severity: Severity::Error,
        title: "No two arguments differ only by case or separators",
        reason: "A model that mixes up `fileName` and `file_name` cannot be corrected: both are right.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["notetitle", "note_title"], "properties": {
                   "notetitle": {"type": "string", "maxLength": 80, "description": "As it stands above the text."},
                   "note_title": {"type": "string", "maxLength": 80, "description": "As a list shows it."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["heading", "list_title"], "properties": {
                   "heading": {"type": "string", "maxLength": 80, "description": "As it stands above the text."},
                   "list_title": {"type": "string", "maxLength": 80, "description": "As the overview shows it."}}}}"#,
        check: arguments_differ_by_case,
    },
    Rule {
        id: "naming-mixed",
        severity: Severity::Warning,
        title: "The arguments of a tool are spelt in one style",
        reason: "Where `start_line` stands beside `endLine`, models write both in either style.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["first_word", "lastWord"], "properties": {
                   "first_word": {"type": "string", "maxLength": 80, "description": "Where the quote begins."},
                   "lastWord": {"type": "string", "maxLength": 80, "description": "Where the quote ends."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["first_word", "last_word"], "properties": {
                   "first_word": {"type": "string", "maxLength": 80, "description": "Where the quote begins."},
                   "last_word": {"type": "string", "maxLength": 80, "description": "Where the quote ends."}}}}"#,
        check: naming_mixed,
    },
    Rule {
        id: "arguments-numbered",
        severity: Severity::Warning,
        title: "Several of a kind are a list",
        reason: "`tag1`, `tag2`, `tag3` cap the count, and leave open whether `tag3` may stand without `tag2`.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["tag1", "tag2"], "properties": {
                   "tag1": {"type": "string", "maxLength": 80, "description": "Word the note must have."},
                   "tag2": {"type": "string", "maxLength": 80, "description": "Further word the note must have."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["tags"], "properties": {
                   "tags": {"type": "array", "maxItems": 2, "description": "Words the note must have.",
                            "items": {"type": "string", "maxLength": 80}}}}}"#,
        check: arguments_numbered,
    },
];

fn tool_name_invalid(tool: &Tool<'_>, found: &mut Found) {
    for name in std::iter::once(&tool.spec.name).chain(&tool.spec.aliases) {
        if let Err(error) = check_name(name) {
            found.add("", error.to_string());
        }
    }
}

fn tool_name_generated(tool: &Tool<'_>, found: &mut Found) {
    let name = &tool.spec.name;
    let words = of_name(name);
    let Some(last) = words.last() else { return };
    let digits = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
    let is_hex = last.len() >= 6
        && last.chars().all(|letter| letter.is_ascii_hexdigit())
        && last.chars().any(|letter| letter.is_ascii_digit());
    const PLACEHOLDERS: &[&str] =
        &["tool", "function", "func", "fn", "method", "action", "endpoint", "command", "op"];
    let is_counted = PLACEHOLDERS
        .iter()
        .any(|placeholder| words.iter().any(|word| word.strip_prefix(placeholder).is_some_and(digits)));
    let why = if name.contains("__") {
        "holds a namespace (`__`)"
    } else if last.strip_prefix('v').is_some_and(digits) {
        "ends in a version"
    } else if words.len() > 1 && digits(last) {
        "ends in a number"
    } else if is_hex {
        "ends in what looks random"
    } else if is_counted {
        "is a numbered placeholder"
    } else {
        return;
    };
    found.add(
        "",
        format!("the name {why}; choose one that stays, such as VERB_THING, and keep this one as an alias"),
    );
}

fn tool_name_vague(tool: &Tool<'_>, found: &mut Found) {
    const VAGUE: &[&str] = &[
        "action", "call", "cmd", "do", "execute", "function", "get", "handle", "handler", "helper", "invoke",
        "it", "main", "misc", "perform", "process", "query", "request", "run", "stuff", "task", "test",
        "thing", "tool", "util", "utils",
    ];
    let words = of_name(&tool.spec.name);
    if !words.is_empty() && words.iter().all(|word| VAGUE.contains(&word.as_str())) {
        found.add(
            "",
            "the name does not say what the tool does to what; use a verb and a thing, such as `read_note`",
        );
    }
}

fn tool_near_duplicate(tool: &Tool<'_>, found: &mut Found) {
    for other in &tool.earlier {
        let same_words = alike(&tool.spec.name) == alike(&other.name);
        let same_text = !tool.spec.description.trim().is_empty()
            && folded(&tool.spec.description) == folded(&other.description);
        if same_words || same_text {
            let what = if same_words { "its name says the same" } else { "its description is the same" };
            found.add(
                "",
                format!("{what} as that of `{}`; make them one tool, or say how they differ", other.name),
            );
        }
    }
}

/// The words of a name without order, grammar and choice of the verb.
fn alike(name: &str) -> Vec<String> {
    const SYNONYMS: &[&[&str]] = &[
        &["get", "read", "fetch", "load", "retrieve", "show", "view"],
        &["delete", "remove", "erase"],
        &["create", "add", "make", "new"],
        &["update", "edit", "modify", "change"],
        &["find", "search", "query"],
        &["run", "execute", "exec"],
    ];
    let mut words: Vec<String> = of_name(name)
        .iter()
        .map(|word| {
            let verb =
                SYNONYMS.iter().find(|group| group.contains(&word.as_str())).and_then(|group| group.first());
            verb.map_or_else(|| stem(word).to_owned(), |verb| (*verb).to_owned())
        })
        .collect();
    words.sort();
    words
}

fn alias_taken(tool: &Tool<'_>, found: &mut Found) {
    let spec = tool.spec;
    let names_of = |other: &ToolSpec| other.aliases.iter().chain([&other.name]).cloned().collect::<Vec<_>>();
    for alias in &spec.aliases {
        if *alias == spec.name {
            found.add("", format!("the alias `{alias}` is the tool's own name; remove it"));
        } else if let Some(other) = tool.others.iter().find(|other| names_of(other).contains(alias)) {
            found.add(
                "",
                format!(
                    "the alias `{alias}` also stands for the tool `{}`; one of them has to give it up",
                    other.name
                ),
            );
        }
    }
    for object in &tool.objects {
        let mut taken: BTreeMap<String, &str> =
            object.keys.iter().map(|key| ((*key).to_owned(), *key)).collect();
        let arguments = tool.named().filter(|argument| parent(&argument.at) == object.at);
        for argument in arguments.filter(|argument| object.keys.contains(&argument.name)) {
            let aliases = argument.get(keywords::ALIASES).and_then(Value::as_array).into_iter().flatten();
            for alias in aliases.filter_map(Value::as_str) {
                if let Some(owner) = taken.insert(alias.to_owned(), argument.name) {
                    found.add(
                        &argument.at,
                        format!("the alias `{alias}` also stands for `{owner}`; remove one of the two"),
                    );
                }
            }
        }
    }
}

fn parent(at: &str) -> &str {
    at.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn argument_name_invalid(tool: &Tool<'_>, found: &mut Found) {
    for argument in tool.named() {
        let good = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        if argument.name.len() > crate::names::NAME_CHARACTERS || !argument.name.chars().all(good) {
            found.add(
                &argument.at,
                "some vendors refuse this name; use 1 to 64 letters A-Z, digits, `_`, `-` or `.`",
            );
        }
    }
}

fn argument_name_vague(tool: &Tool<'_>, found: &mut Found) {
    const VAGUE: &[&str] = &[
        "arg", "args", "data", "foo", "info", "input", "inputs", "obj", "object", "param", "params",
        "payload", "stuff", "thing", "val", "value", "values", "var",
    ];
    for argument in tool.named() {
        if VAGUE.contains(&argument.name.to_lowercase().as_str()) || argument.name.chars().count() == 1 {
            found.add(&argument.at, "the name does not say what the value is; name the thing");
        }
    }
}

fn arguments_differ_by_case(tool: &Tool<'_>, found: &mut Found) {
    for object in &tool.objects {
        for (index, key) in object.keys.iter().enumerate() {
            if let Some(twin) = object.keys[..index].iter().find(|other| folded(other) == folded(key)) {
                found.add(
                    &joined(&object.at, key),
                    format!("it differs from `{twin}` only by case or separators; rename one"),
                );
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Snake,
    Kebab,
    Camel,
}

fn style(name: &str) -> Option<Style> {
    if name.contains('_') {
        Some(Style::Snake)
    } else if name.contains('-') {
        Some(Style::Kebab)
    } else {
        name.chars().any(char::is_uppercase).then_some(Style::Camel)
    }
}

fn naming_mixed(tool: &Tool<'_>, found: &mut Found) {
    let mut first: Option<(Style, &str)> = None;
    for argument in tool.named() {
        let Some(style) = style(argument.name) else { continue };
        match first {
            None => first = Some((style, argument.name)),
            Some((known, name)) if known != style => {
                found.add(
                    &argument.at,
                    format!("it is spelt in another style than `{name}`; use one for all"),
                );
            }
            Some(_) => {}
        }
    }
}

fn arguments_numbered(tool: &Tool<'_>, found: &mut Found) {
    for object in &tool.objects {
        let mut series: BTreeMap<&str, usize> = BTreeMap::new();
        for key in &object.keys {
            let start = key.trim_end_matches(|letter: char| letter.is_ascii_digit());
            if start.len() < key.len() && !start.is_empty() {
                let count = series.entry(start).or_default();
                *count += 1;
                if *count == 2 {
                    found.add(
                        &joined(&object.at, key),
                        format!("`{start}` is numbered; make the arguments one list"),
                    );
                }
            }
        }
    }
}
