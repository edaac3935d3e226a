//! Rules about choosing: between listed values, and between forms of a value.

use serde_json::Value;

use super::super::tool::{Argument, Object};
use super::super::words::{any_word, folded, says, stem};
use super::super::{Found, Rule, Severity, Tool};
use crate::kinds::Kinds;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "enum-in-words",
        severity: Severity::Warning,
        title: "Values that a description lists are an enum",
        reason: "A list in words is not enforced: `csv` comes as `CSV`, `.csv` and `text/csv`, and fails inside of the tool.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["order"], "properties": {
                   "order": {"type": "string", "maxLength": 10, "description": "How to sort: one of newest, oldest, title."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["order"], "properties": {
                   "order": {"enum": ["newest", "oldest", "title"], "description": "How to sort."}}}}"#,
        check: enum_in_words,
    },
    Rule {
        id: "enum-near-equal",
        severity: Severity::Warning,
        title: "Listed values are easily told apart",
        reason: "Between `note` and `notes` a model tosses a coin.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["scope"], "properties": {
                   "scope": {"enum": ["note", "notes", "shelf"], "description": "What to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["scope"], "properties": {
                   "scope": {"enum": ["one", "page", "shelf"], "description": "What to read."}}}}"#,
        check: enum_near_equal,
    },
    Rule {
        id: "constant-argument",
        severity: Severity::Warning,
        title: "An argument has more than one possible value",
        reason: "A value that is always the same tells nothing, costs characters, and can be got wrong.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["scope"], "properties": {
                   "scope": {"enum": ["one"], "description": "What to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["scope"], "properties": {
                   "scope": {"enum": ["one", "page"], "description": "What to read."}}}}"#,
        check: constant_argument,
    },
    Rule {
        id: "forms-ambiguous",
        severity: Severity::Error,
        title: "A constant tells the forms of an object apart",
        reason: "Without one a problem cannot be told for the form that was meant, and nothing in it can be coerced.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["where"], "properties": {
                   "where": {"description": "What to read.", "oneOf": [
                     {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
                       "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}},
                     {"type": "object", "additionalProperties": false, "required": ["year"], "properties": {
                       "year": {"type": "integer", "minimum": 1, "maximum": 9999, "description": "When it was written."}}}]}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["where"], "properties": {
                   "where": {"description": "What to read.", "oneOf": [
                     {"type": "object", "additionalProperties": false, "required": ["by", "title"], "properties": {
                       "by": {"const": "title"},
                       "title": {"type": "string", "maxLength": 80, "description": "As it stands above the note."}}},
                     {"type": "object", "additionalProperties": false, "required": ["by", "year"], "properties": {
                       "by": {"const": "year"},
                       "year": {"type": "integer", "minimum": 1, "maximum": 9999, "description": "When it was written."}}}]}}}}"#,
        check: forms_ambiguous,
    },
];

fn enum_in_words(tool: &Tool<'_>, found: &mut Found) {
    const OPENINGS: &[&str] =
        &["one of", "allowed values", "possible values", "valid values", "can be one of"];
    for argument in
        tool.arguments.iter().filter(|argument| argument.kinds.has(Kinds::STRING) && !argument.listed())
    {
        let text = argument.description();
        let lower = text.to_lowercase();
        let listed = OPENINGS.iter().any(|opening| {
            lower.match_indices(opening).any(|(start, _)| {
                let whole_word = !lower[..start].ends_with(char::is_alphanumeric);
                let rest = lower[start + opening.len()..].trim_start_matches([':', ' ']);
                let rest = rest.split(['.', ';', ')']).next().unwrap_or_default();
                whole_word && (is_list(rest, ", ") || is_list(&rest.replace(" or ", ", "), ", "))
            })
        });
        if argument.kinds != Kinds::ALL && (listed || has_bars(text)) && !is_pattern(argument) {
            found.add(&argument.at, "the description lists the values; make them an enum");
        }
    }
}

/// Whether it is a text in which bars and commas have a meaning of their own.
fn is_pattern(argument: &Argument<'_>) -> bool {
    const PATTERNS: &[&str] = &["expression", "filter", "glob", "pattern", "query", "regex", "regexp"];
    argument.has("pattern")
        || argument.has("format")
        || any_word(argument.name, PATTERNS).is_some()
        || says(argument.description(), PATTERNS)
}

/// Whether a text is several single words.
fn is_list(text: &str, separator: &str) -> bool {
    let items: Vec<&str> = text
        .split(separator)
        .map(|item| item.trim().trim_start_matches("or ").trim_start_matches("and "))
        .collect();
    items.len() > 1 && items.iter().all(|item| is_value(item))
}

fn is_value(item: &str) -> bool {
    let item = item.trim_matches(['`', '"', '\'']);
    !item.is_empty() && item.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

/// `(a|b|c)`, also without parentheses.
fn has_bars(text: &str) -> bool {
    let spread = text.replace(" | ", "|");
    spread.split_whitespace().any(|word| {
        let items: Vec<&str> =
            word.trim_matches(['(', ')', '[', ']', '`', ',', '.', ';']).split('|').collect();
        items.len() > 1 && items.iter().all(|item| is_value(item) && item.chars().any(char::is_lowercase))
    })
}

fn enum_near_equal(tool: &Tool<'_>, found: &mut Found) {
    for argument in &tool.arguments {
        let options: Vec<&str> = argument.options().into_iter().filter_map(Value::as_str).collect();
        for (index, option) in options.iter().enumerate() {
            let same = |other: &&&str| {
                *option != **other
                    && (folded(option) == folded(other)
                        || stem(&option.to_lowercase()) == stem(&other.to_lowercase()))
            };
            if !folded(option).is_empty()
                && let Some(twin) = options[..index].iter().find(same)
            {
                found.add(&argument.at, format!("`{twin}` and `{option}` are easily mixed up; rename one"));
            }
        }
    }
}

fn constant_argument(tool: &Tool<'_>, found: &mut Found) {
    for argument in tool.named().filter(|argument| !argument.is_tag && argument.required) {
        if argument.listed() && argument.options().len() == 1 {
            found.add(&argument.at, "only one value is possible; leave the argument out");
        }
    }
}

fn forms_ambiguous(tool: &Tool<'_>, found: &mut Found) {
    for object in tool.objects.iter().filter(|object| object.forms > 1) {
        let forms: Vec<&Object<'_>> = tool.objects.iter().filter(|other| other.at == object.at).collect();
        let told_apart = object.required.iter().any(|key| {
            let constants: Vec<Option<&Value>> = forms.iter().map(|form| constant(form, key)).collect();
            let mut seen: Vec<&Value> = Vec::new();
            constants.iter().all(|constant| {
                constant.is_some_and(|constant| {
                    let is_new = !seen.contains(&constant);
                    seen.push(constant);
                    is_new
                })
            })
        });
        if !told_apart {
            found.add(
                &object.at,
                "several objects may stand here and no required constant tells them apart; add one",
            );
        }
    }
}

fn constant<'s>(form: &Object<'s>, key: &str) -> Option<&'s Value> {
    let schema = form.nodes.iter().find_map(|node| node.get("properties")?.get(key))?;
    let single = schema.get("enum").and_then(Value::as_array).filter(|options| options.len() == 1);
    schema.get("const").or_else(|| single?.first())
}
