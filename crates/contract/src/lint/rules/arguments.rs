//! Rules about how many arguments there are, of which types, and what a pair of them can say.

use serde_json::Value;

use super::super::words::of_name;
use super::super::{Found, Rule, Severity, Tool};
use crate::kinds::Kinds;

const MOST_ARGUMENTS: usize = 10;
const MOST_REQUIRED: usize = 5;
const DEEPEST: usize = 3;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "argument-untyped",
        severity: Severity::Error,
        title: "Every argument has a type",
        reason: "Where any value is accepted, any value comes; the tool then fails where the contract should have.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"description": "As it stands above the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        check: argument_untyped,
    },
    Rule {
        id: "object-free-form",
        severity: Severity::Warning,
        title: "An object declares its keys",
        reason: "An object without declared keys is a second, unwritten contract inside of the first.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["filter"], "properties": {
                   "filter": {"type": "object", "description": "Which notes to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["filter"], "properties": {
                   "filter": {"type": "object", "description": "Which notes to read.", "additionalProperties": false,
                              "required": ["title"], "properties": {
                     "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}}}"#,
        check: object_free_form,
    },
    Rule {
        id: "unknown-arguments-accepted",
        severity: Severity::Error,
        title: "Arguments that are not declared are refused",
        reason: "A misspelt key that is ignored runs something else than was asked for, and says that it worked.",
        bad: r#"{"schema": {"type": "object", "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}"#,
        check: unknown_arguments_accepted,
    },
    Rule {
        id: "types-mixed",
        severity: Severity::Warning,
        title: "An argument is of one type",
        reason: "Where text and number are both right, nothing that a model writes can be read otherwise, or corrected.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["year"], "properties": {
                   "year": {"type": ["string", "integer"], "minimum": 1, "maximum": 9999, "maxLength": 4,
                            "description": "When the note was written."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["year"], "properties": {
                   "year": {"type": "integer", "minimum": 1, "maximum": 9999, "description": "When the note was written."}}}}"#,
        check: types_mixed,
    },
    Rule {
        id: "too-many-arguments",
        severity: Severity::Warning,
        title: "A tool has at most 10 arguments",
        reason: "Each further one makes all others less likely to be right; two tools, or a preset, say it better.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "with_title": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_author": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_year": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_tags": {"type": "boolean", "default": true, "description": "Also answer with them."},
                   "with_links": {"type": "boolean", "default": true, "description": "Also answer with them."},
                   "with_place": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_weather": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_mood": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_paper": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_ink": {"type": "boolean", "default": true, "description": "Also answer with it."},
                   "with_colour": {"type": "boolean", "default": true, "description": "Also answer with it."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "detail": {"enum": ["text", "everything"], "default": "text", "description": "What to answer with."}}}}"#,
        check: too_many_arguments,
    },
    Rule {
        id: "too-many-required",
        severity: Severity::Warning,
        title: "A tool requires at most 5 arguments",
        reason: "What a model must give but does not know, it invents.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false,
                   "required": ["title", "author", "year", "place", "ink", "paper"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."},
                   "author": {"type": "string", "maxLength": 80, "description": "Who wrote the note."},
                   "year": {"type": "integer", "minimum": 1, "maximum": 9999, "description": "When it was written."},
                   "place": {"type": "string", "maxLength": 80, "description": "Where it was written."},
                   "ink": {"type": "string", "maxLength": 80, "description": "With what it was written."},
                   "paper": {"type": "string", "maxLength": 80, "description": "On what it was written."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                   "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."},
                   "author": {"type": "string", "maxLength": 80, "description": "Who wrote the note; anybody if left out."}}}}"#,
        check: too_many_required,
    },
    Rule {
        id: "nesting-deep",
        severity: Severity::Warning,
        title: "Arguments nest at most 3 objects deep",
        reason: "Models lose count of braces, and a wrong level makes every key below it unknown.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["shelf"], "properties": {
                   "shelf": {"type": "object", "description": "Where to look first.", "additionalProperties": false, "required": ["box"], "properties": {
                     "box": {"type": "object", "description": "Where on it.", "additionalProperties": false, "required": ["folder"], "properties": {
                       "folder": {"type": "object", "description": "Where in it.", "additionalProperties": false, "required": ["sheet"], "properties": {
                         "sheet": {"type": "object", "description": "Which one in there.", "additionalProperties": false, "required": ["title"], "properties": {
                           "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}}}}}}}}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["location"], "properties": {
                   "location": {"type": "string", "maxLength": 200, "description": "From the shelf down, such as `A/3/blue/7`."}}}}"#,
        check: nesting_deep,
    },
    Rule {
        id: "booleans-exclusive",
        severity: Severity::Warning,
        title: "Two booleans cannot contradict each other",
        reason: "`ascending` and `descending` both true is a state that means nothing; one enum has only states that do.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "include_old": {"type": "boolean", "default": true, "description": "Also those of past years."},
                   "exclude_old": {"type": "boolean", "default": false, "description": "Only those of this year."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "include_old": {"type": "boolean", "default": true, "description": "Also those of past years."}}}}"#,
        check: booleans_exclusive,
    },
    Rule {
        id: "boolean-negated",
        severity: Severity::Warning,
        title: "A boolean says what is so when it is true",
        reason: "`no_cache: false` is a double negation; models get it wrong, and so do people who approve.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "no_header": {"type": "boolean", "default": false, "description": "Leave out the first line."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "header": {"type": "boolean", "default": true, "description": "Begin with the line that names the note."}}}}"#,
        check: boolean_negated,
    },
];

fn argument_untyped(tool: &Tool<'_>, found: &mut Found) {
    for argument in
        tool.arguments.iter().filter(|argument| argument.kinds == Kinds::ALL && !remote(argument.get("$ref")))
    {
        found.add(&argument.at, "any value is accepted; give it a type");
    }
}

/// That a reference leads out of the schema is a finding of its own.
fn remote(reference: Option<&Value>) -> bool {
    reference.and_then(Value::as_str).is_some_and(|reference| !reference.starts_with('#'))
}

fn object_free_form(tool: &Tool<'_>, found: &mut Found) {
    for object in tool.objects.iter().filter(|object| !object.at.is_empty()) {
        let is_untyped =
            tool.arguments.iter().any(|argument| argument.at == object.at && argument.kinds == Kinds::ALL);
        if object.keys.is_empty() && !object.types_the_rest() && !object.is_closed() && !is_untyped {
            found.add(&object.at, "the object declares no keys; declare them, or the type of all values");
        }
    }
}

fn unknown_arguments_accepted(tool: &Tool<'_>, found: &mut Found) {
    for object in &tool.objects {
        let is_free = object.keys.is_empty() && !object.at.is_empty();
        if !is_free && !object.is_closed() && !object.types_the_rest() {
            found.add(
                &object.at,
                "keys that are not declared are accepted and ignored; set `additionalProperties` to false",
            );
        }
    }
}

fn types_mixed(tool: &Tool<'_>, found: &mut Found) {
    let scalars = Kinds::STRING.or(Kinds::INTEGER).or(Kinds::NUMBER).or(Kinds::BOOLEAN);
    for argument in tool.arguments.iter().filter(|argument| argument.kinds != Kinds::ALL) {
        let groups = [Kinds::STRING, Kinds::INTEGER.or(Kinds::NUMBER), Kinds::BOOLEAN];
        let taken = groups.iter().filter(|kind| argument.kinds.and(scalars).has(**kind)).count();
        if taken > 1 {
            found.add(&argument.at, "it takes text, numbers or booleans alike; decide for one");
        }
    }
}

fn too_many_arguments(tool: &Tool<'_>, found: &mut Found) {
    for object in tool.objects.iter().filter(|object| object.keys.len() > MOST_ARGUMENTS) {
        let count = object.keys.len();
        found.add(
            &object.at,
            format!(
                "there are {count} arguments, {MOST_ARGUMENTS} are enough; split the tool or join arguments"
            ),
        );
    }
}

fn too_many_required(tool: &Tool<'_>, found: &mut Found) {
    for object in tool.objects.iter().filter(|object| object.required.len() > MOST_REQUIRED) {
        let count = object.required.len();
        found.add(
            &object.at,
            format!("{count} arguments are required, {MOST_REQUIRED} are enough; give defaults"),
        );
    }
}

fn nesting_deep(tool: &Tool<'_>, found: &mut Found) {
    let first =
        tool.arguments.iter().find(|argument| argument.depth > DEEPEST && argument.kinds.has(Kinds::OBJECT));
    if let Some(argument) = first.filter(|argument| argument.kinds != Kinds::ALL) {
        let depth = argument.depth;
        found.add(
            &argument.at,
            format!("it is the {depth}th object inside of another; flatten the arguments to {DEEPEST}"),
        );
    }
}

fn booleans_exclusive(tool: &Tool<'_>, found: &mut Found) {
    const OPPOSITES: &[(&str, &str)] = &[
        ("include", "exclude"),
        ("ascending", "descending"),
        ("asc", "desc"),
        ("enable", "disable"),
        ("enabled", "disabled"),
        ("show", "hide"),
        ("allow", "deny"),
        ("allow", "forbid"),
        ("with", "without"),
        ("all", "none"),
        ("up", "down"),
        ("quiet", "verbose"),
        ("keep", "discard"),
    ];
    let booleans: Vec<_> = tool.named().filter(|argument| argument.only(Kinds::BOOLEAN)).collect();
    for (index, one) in booleans.iter().enumerate() {
        for other in &booleans[..index] {
            let (left, right) = (of_name(one.name), of_name(other.name));
            let opposed = |left: &[String], right: &[String]| {
                OPPOSITES.iter().any(|(yes, no)| {
                    let swapped: Vec<&str> =
                        left.iter().map(|word| if word == yes { *no } else { word.as_str() }).collect();
                    left.iter().any(|word| word == yes) && swapped == *right
                })
            };
            let denies = |left: &[String], right: &[String]| {
                left.split_first().is_some_and(|(first, rest)| {
                    matches!(first.as_str(), "no" | "not" | "without") && rest == right
                })
            };
            if opposed(&left, &right)
                || opposed(&right, &left)
                || denies(&left, &right)
                || denies(&right, &left)
            {
                found.add(
                    &one.at,
                    format!("it and `{}` can contradict each other; make them one", other.name),
                );
            }
        }
    }
}

fn boolean_negated(tool: &Tool<'_>, found: &mut Found) {
    const NEGATIONS: &[&str] =
        &["no", "not", "non", "dont", "never", "without", "disable", "disabled", "disallow", "exclude"];
    for argument in tool.named().filter(|argument| argument.only(Kinds::BOOLEAN)) {
        let words = argument.words();
        // A pair of opposites is a finding of its own.
        let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let has_twin = tool.named().any(|other| {
            let other = other.words();
            !rest.is_empty()
                && argument.words() != other
                && other.iter().skip(1).map(String::as_str).eq(rest.iter().copied())
        });
        if !has_twin && words.iter().any(|word| NEGATIONS.contains(&word.as_str())) {
            found.add(
                &argument.at,
                "it says what is not so; turn it round, so that true means that something is done",
            );
        }
    }
}
