//! Rules about single values: their defaults, examples, formats, and where they come from.

use serde_json::{Value, json};

use super::super::tool::Argument;
use super::super::words::says;
use super::super::{Found, Rule, Severity, Tool};
use crate::formats;
use crate::kinds::Kinds;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "default-refused",
        severity: Severity::Error,
        title: "A default is a value that its own schema accepts",
        reason: "The host fills defaults in and checks them; one that is refused never holds, whatever the schema says.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "default": 0, "description": "Where the list ends."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "default": 20, "description": "Where the list ends."}}}}"#,
        check: default_refused,
    },
    Rule {
        id: "example-refused",
        severity: Severity::Error,
        title: "An example is a value that its own schema accepts",
        reason: "Models copy examples before they read rules.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["most_notes"], "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "examples": ["all"], "description": "Where the list ends."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["most_notes"], "properties": {
                   "most_notes": {"type": "integer", "minimum": 1, "maximum": 500, "examples": [100], "description": "Where the list ends."}}}}"#,
        check: example_refused,
    },
    Rule {
        id: "format-without-example",
        severity: Severity::Warning,
        title: "A text with a form of its own shows one",
        reason: "\"A date\" is written in a dozen ways; one example settles it better than a name of a standard.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["written"], "properties": {
                   "written": {"type": "string", "pattern": "^[0-9]{4}/[0-9]{2}$", "description": "Month of the note."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["written"], "properties": {
                   "written": {"type": "string", "pattern": "^[0-9]{4}/[0-9]{2}$", "description": "Month of the note, such as `2026/03`."}}}}"#,
        check: format_without_example,
    },
    Rule {
        id: "id-without-source",
        severity: Severity::Warning,
        title: "An id says where it comes from",
        reason: "A model that does not know which tool gives ids makes one up.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["note_id"], "properties": {
                   "note_id": {"type": "string", "maxLength": 36, "description": "Which text to read."}}}}"#,
        good: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["note_id"], "properties": {
                   "note_id": {"type": "string", "maxLength": 36, "description": "Which text to read, from list_notes."}}}}"#,
        check: id_without_source,
    },
];

fn default_refused(tool: &Tool<'_>, found: &mut Found) {
    for argument in &tool.arguments {
        if let Some(default) = argument.get("default")
            && refuses(tool.root, argument, default)
        {
            found.add(&argument.at, format!("its schema refuses the default {default}; change one of them"));
        }
    }
}

fn example_refused(tool: &Tool<'_>, found: &mut Found) {
    for argument in &tool.arguments {
        for example in argument.get("examples").and_then(Value::as_array).into_iter().flatten() {
            if refuses(tool.root, argument, example) {
                found.add(
                    &argument.at,
                    format!("its schema refuses the example {example}; change one of them"),
                );
            }
        }
    }
}

/// Whether the schema of an argument refuses a value. One that cannot be built refuses nothing; that is another finding.
fn refuses(root: &Value, argument: &Argument<'_>, value: &Value) -> bool {
    let Some(own) =
        argument.nodes.iter().find(|node| node.contains_key("default") || node.contains_key("examples"))
    else {
        return false;
    };
    let mut schema = json!({ "allOf": [Value::Object((*own).clone())] });
    for place in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(place) {
            schema[place] = definitions.clone();
        }
    }
    formats::asserted(jsonschema::options()).build(&schema).is_ok_and(|validator| !validator.is_valid(value))
}

fn format_without_example(tool: &Tool<'_>, found: &mut Found) {
    const FORMS: &[&str] = &[
        "cron",
        "date",
        "glob",
        "iso 8601",
        "jsonpath",
        "regex",
        "regexp",
        "regular expression",
        "rfc 3339",
        "timestamp",
        "xpath",
    ];
    let texts = tool.arguments.iter().filter(|argument| argument.only(Kinds::STRING) && !argument.listed());
    for argument in texts {
        let description = argument.description();
        let has_form = argument.has("pattern") || argument.has("format") || says(description, FORMS);
        let shows_one = description.contains(['`', '"'])
            || says(description, &["for example", "for instance", "such as", "e g", "like"])
            || argument.has("examples")
            || argument.get("default").is_some_and(|default| !default.is_null());
        if has_form && !shows_one {
            found.add(&argument.at, "the text has a form but no example; show one in the description");
        }
    }
}

fn id_without_source(tool: &Tool<'_>, found: &mut Found) {
    const SOURCES: &[&str] = &[
        "answered by",
        "as given by",
        "as listed",
        "comes from",
        "from",
        "given by",
        "listed by",
        "returned",
        "see",
        "shown by",
        "told by",
    ];
    let takes_ids = Kinds::STRING.or(Kinds::INTEGER);
    for argument in tool.named().filter(|argument| argument.only(takes_ids) && !argument.listed()) {
        let is_id = argument
            .words()
            .last()
            .is_some_and(|word| matches!(word.as_str(), "id" | "ids" | "uuid" | "guid" | "handle"));
        if is_id && !says(argument.description(), SOURCES) {
            found.add(&argument.at, "nothing says where the id comes from; name the tool that gives it");
        }
    }
}
