//! Fills a tool's arguments from the text of a request, by the names, types and choices of its schema.

use serde_json::{Map, Value};

use foehn_ports::ToolDefinition;

use super::prompt::Prompt;
use super::words::stem;

/// What a source file is called, for requests that speak of source files.
pub(super) const SOURCE_ENDINGS: [&str; 26] = [
    "c", "cc", "cpp", "cs", "css", "dart", "ex", "go", "h", "hpp", "hs", "html", "java", "jl", "js", "kt",
    "lua", "ml", "php", "py", "rb", "rs", "sh", "swift", "ts", "zig",
];

/// What people call the files of a language.
const LANGUAGES: [(&str, &str); 10] = [
    ("rust", "rs"),
    ("python", "py"),
    ("javascript", "js"),
    ("typescript", "ts"),
    ("java", "java"),
    ("markdown", "md"),
    ("toml", "toml"),
    ("json", "json"),
    ("text", "txt"),
    ("html", "html"),
];

/// The calls that serve the request, none when a required argument is not in the text. A tool that takes one path is
/// called once for each path that the text names.
pub(super) fn calls(tool: &ToolDefinition, prompt: &Prompt) -> Vec<Map<String, Value>> {
    let properties = properties(&tool.parameters);
    let takes_paths = properties.iter().filter(|property| property.role == Role::Path).count();
    if takes_paths == 1 && prompt.paths.len() > 1 && content_mark(prompt).is_none() {
        let single = |path: &String| filled(&properties, prompt, std::slice::from_ref(path));
        return prompt.paths.iter().filter_map(single).collect();
    }
    filled(&properties, prompt, &prompt.paths).into_iter().collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Path,
    Folder,
    Pattern,
    Content,
    Old,
    New,
    Command,
    Recursive,
    Flag,
    Limit,
    FirstLine,
    LastLine,
    Number,
    Choice,
    Words,
    Other,
}

struct Property<'a> {
    name: &'a str,
    schema: &'a Value,
    role: Role,
    required: bool,
}

fn properties(schema: &Value) -> Vec<Property<'_>> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties
        .iter()
        .map(|(name, property)| {
            let resolved = resolved(schema, property);
            Property {
                name,
                schema: resolved,
                role: role(name, resolved),
                required: required.contains(&name.as_str()),
            }
        })
        .collect()
}

/// Follows a reference, and takes the one alternative that is not null.
fn resolved<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
        return reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).unwrap_or(property);
    }
    let alternatives = property.get("anyOf").or_else(|| property.get("oneOf")).and_then(Value::as_array);
    let real = |alternative: &&Value| alternative.get("type").and_then(Value::as_str) != Some("null");
    match alternatives.and_then(|alternatives| alternatives.iter().find(real)) {
        Some(alternative) if alternative.get("const").is_none() => resolved(root, alternative),
        _ => property,
    }
}

fn is_type(schema: &Value, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some(wanted)),
        _ => false,
    }
}

fn role(name: &str, schema: &Value) -> Role {
    let words: Vec<String> =
        name.split(|letter: char| !letter.is_alphanumeric()).map(|word| stem(&word.to_lowercase())).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    if !choices(schema).is_empty() {
        return Role::Choice;
    }
    if is_type(schema, "boolean") {
        return if has(&["recursive", "recurse", "deep"]) { Role::Recursive } else { Role::Flag };
    }
    if is_type(schema, "integer") || is_type(schema, "number") {
        return if has(&["limit", "max", "maximum", "count", "top"]) {
            Role::Limit
        } else if has(&["line"]) && has(&["start", "first", "from"]) {
            Role::FirstLine
        } else if has(&["line"]) && has(&["end", "last", "to"]) {
            Role::LastLine
        } else {
            Role::Number
        };
    }
    if is_type(schema, "array") {
        return Role::Words;
    }
    if has(&["old", "search"]) {
        Role::Old
    } else if has(&["new", "replacement"]) {
        Role::New
    } else if has(&["directory", "dir", "folder", "cwd", "root"]) {
        Role::Folder
    } else if has(&["path", "file", "filename"]) {
        Role::Path
    } else if has(&["pattern", "glob", "filter"]) {
        Role::Pattern
    } else if has(&["command", "cmd", "script"]) {
        Role::Command
    } else if has(&["content", "text", "body"]) {
        Role::Content
    } else {
        Role::Other
    }
}

fn choices(schema: &Value) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let constants = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    listed.chain(constants.filter_map(|choice| choice.get("const"))).filter_map(Value::as_str).collect()
}

fn filled(properties: &[Property<'_>], prompt: &Prompt, paths: &[String]) -> Option<Map<String, Value>> {
    let mut paths = paths.iter();
    let mut arguments = Map::new();
    for property in properties {
        match value(property, prompt, &mut paths) {
            Some(value) => {
                arguments.insert(property.name.to_owned(), value);
            }
            None if property.required => return None,
            None => {}
        }
    }
    Some(arguments)
}

fn value<'p>(
    property: &Property<'_>,
    prompt: &Prompt,
    paths: &mut impl Iterator<Item = &'p String>,
) -> Option<Value> {
    match property.role {
        Role::Path => paths.next().cloned().map(Value::String),
        Role::Folder => property.required.then(|| paths.next().cloned().map(Value::String)).flatten(),
        Role::Pattern => pattern(prompt).map(Value::String),
        Role::Content => Some(Value::String(content(prompt).unwrap_or_default())).filter(|content| {
            // An empty text is a real wish only where text is what the tool is about.
            property.required || content.as_str() != Some("")
        }),
        Role::Old => replacement(prompt).map(|(old, _)| Value::String(old)),
        Role::New => replacement(prompt).map(|(_, new)| Value::String(new)),
        Role::Command => prompt.after(&["run", "execute", "start", "command"]).map(Value::String),
        Role::Recursive => {
            let wide =
                prompt.order.is_some() || prompt.counts || prompt.about_source || prompt.has("recursive");
            (wide || property.required).then_some(Value::Bool(wide))
        }
        Role::Flag => property.required.then(|| Value::Bool(prompt.has(&stem(property.name)))),
        Role::Limit => {
            // To find the largest of all, all must be seen.
            let wide = prompt.order.is_some() || prompt.counts;
            let most = property.schema.get("maximum").filter(|_| wide).cloned();
            most.or_else(|| property.required.then(|| number(prompt, 0)).flatten())
        }
        Role::FirstLine => prompt.has("line").then(|| number(prompt, 0)).flatten(),
        Role::LastLine => prompt.has("line").then(|| number(prompt, 1)).flatten(),
        Role::Number => property.required.then(|| number(prompt, 0)).flatten(),
        Role::Choice => choice(property, prompt),
        Role::Words => words_after_choice(prompt),
        Role::Other => property.required.then(|| prompt.quoted.first().cloned().map(Value::String)).flatten(),
    }
}

fn number(prompt: &Prompt, position: usize) -> Option<Value> {
    prompt.numbers.get(position).copied().map(Value::from)
}

/// The text to write: after the word that announces it, else the last quotation that is no path.
fn content(prompt: &Prompt) -> Option<String> {
    content_mark(prompt)
        .or_else(|| prompt.quoted.iter().rfind(|quote| !prompt.paths.contains(quote)).cloned())
}

fn content_mark(prompt: &Prompt) -> Option<String> {
    prompt.after(&[
        "with the content",
        "with the text",
        "with content",
        "with text",
        "containing",
        "saying",
        "with",
    ])
}

fn replacement(prompt: &Prompt) -> Option<(String, String)> {
    let mut quoted = prompt.quoted.iter().filter(|quote| !prompt.paths.contains(quote));
    Some((quoted.next()?.clone(), quoted.next()?.clone()))
}

fn pattern(prompt: &Prompt) -> Option<String> {
    let is_glob = |word: &&str| word.contains('*') && !word.contains("**/**");
    let quoted = prompt.quoted.iter().map(String::as_str).find(is_glob);
    if let Some(glob) = quoted.or_else(|| prompt.text.split_whitespace().find(is_glob)) {
        return Some(glob.trim_end_matches(['?', ',', ';']).to_owned());
    }
    if let Some((_, ending)) = LANGUAGES.iter().find(|(language, _)| prompt.has(language)) {
        return Some(format!("*.{ending}"));
    }
    prompt.about_source.then(|| format!("*.{{{}}}", SOURCE_ENDINGS.join(",")))
}

fn choice(property: &Property<'_>, prompt: &Prompt) -> Option<Value> {
    let lower = prompt.text.to_lowercase();
    let named = |choice: &&str| {
        let plain = choice.trim_start_matches('-').to_lowercase();
        lower
            .split(|letter: char| letter.is_whitespace() || ",.?!`\"".contains(letter))
            .any(|word| word.trim_start_matches('-') == plain)
    };
    choices(property.schema).into_iter().find(named).map(Value::from)
}

/// What stands after a choice that was named, as a list of words: `dotnet build src --no-restore`.
fn words_after_choice(prompt: &Prompt) -> Option<Value> {
    let command = prompt.quoted.iter().find(|quote| quote.contains(' '))?;
    let words: Vec<Value> = command.split_whitespace().skip(2).map(Value::from).collect();
    (!words.is_empty()).then_some(Value::Array(words))
}
