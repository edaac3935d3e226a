//! Turns what the validator found into problems a model can act on: where, what was expected, what was given, and
//! what it most likely meant.

use foehn_protocol::Problem;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::cut;
use crate::nearest::nearest;
use crate::place::push_key;
use crate::schema::{self, Range};

/// How much of a wrong value is shown.
const GOT_CHARACTERS: usize = 80;

/// How much of a list of options is shown.
const EXPECTED_CHARACTERS: usize = 400;

/// Keys come from the caller and may be of any length.
const PATH_CHARACTERS: usize = 200;

/// How many problems one answer lists.
const LISTED: usize = 20;

/// The codes of problems, each written once.
pub(crate) mod code {
    pub(crate) const AMBIGUOUS: &str = "ambiguous";
    pub(crate) const BAD_FORMAT: &str = "bad_format";
    pub(crate) const BAD_LENGTH: &str = "bad_length";
    pub(crate) const BAD_SCHEMA: &str = "bad_schema";
    pub(crate) const CUT_OFF: &str = "cut_off";
    pub(crate) const DUPLICATE: &str = "duplicate_argument";
    pub(crate) const MISSING: &str = "missing_argument";
    pub(crate) const MORE: &str = "more_problems";
    pub(crate) const NOT_ALLOWED: &str = "not_allowed";
    pub(crate) const NOT_IN_ENUM: &str = "not_in_enum";
    pub(crate) const NOT_JSON: &str = "not_json";
    pub(crate) const OUT_OF_RANGE: &str = "out_of_range";
    pub(crate) const UNKNOWN: &str = "unknown_argument";
    pub(crate) const WRONG_TYPE: &str = "wrong_type";
}

/// Sorted by place, each once, and bounded.
pub(crate) fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by(|left, right| left.path.cmp(&right.path).then_with(|| left.code.cmp(&right.code)));
    problems.dedup();
    if problems.len() > LISTED {
        let more = problems.len() - LISTED;
        problems.truncate(LISTED);
        problems.push(Problem {
            expected: Some(format!("{more} more problems are not listed")),
            ..problem(String::new(), code::MORE)
        });
    }
    problems
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Problem {
    if error.is_eof() {
        return Problem {
            expected: Some("a complete JSON object".to_owned()),
            got: Some(error.to_string()),
            suggestion: Some("send the content in smaller pieces".to_owned()),
            ..problem(String::new(), code::CUT_OFF)
        };
    }
    Problem {
        expected: Some("one JSON object".to_owned()),
        got: Some(error.to_string()),
        ..problem(String::new(), code::NOT_JSON)
    }
}

pub(crate) fn duplicate(pointer: String) -> Problem {
    Problem {
        expected: Some("each argument once".to_owned()),
        suggestion: Some("keep the one that is meant".to_owned()),
        ..problem(pointer, code::DUPLICATE)
    }
}

pub(crate) fn bad_schema(message: &str) -> Problem {
    Problem {
        expected: Some("a tool whose schema is valid".to_owned()),
        got: Some(cut::end(message, EXPECTED_CHARACTERS)),
        suggestion: Some("use another tool; this one is broken".to_owned()),
        ..problem(String::new(), code::BAD_SCHEMA)
    }
}

pub(crate) fn outside(pointer: String, value: &Value, range: &Range) -> Problem {
    Problem {
        expected: Some(format!("an integer from {} to {}", range.from, range.to)),
        got: Some(got(value)),
        ..problem(pointer, code::OUT_OF_RANGE)
    }
}

/// All that one finding of the validator means.
pub(crate) fn explain(root: &Value, error: &ValidationError<'_>, found: &mut Vec<Problem>) {
    let path = error.instance_path().as_str().to_owned();
    let value = error.instance();
    let wrong = |code, expected: String| Problem {
        expected: Some(cut::end(&expected, EXPECTED_CHARACTERS)),
        got: Some(got(value)),
        ..problem(path.clone(), code)
    };
    use ValidationErrorKind as Kind;
    let one = match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_keys(root, error);
            found.extend(unexpected.iter().map(|key| unknown(&path, key, &known)));
            return;
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let mut place = path.clone();
            push_key(&mut place, name);
            let node = keyword_owner(root, error).map(|owner| schema::property(&[owner], name));
            let expected = node.unwrap_or_default().first().map(|node| described(root, node));
            Problem { expected, ..problem(place, code::MISSING) }
        }
        Kind::Type { kind } => Problem {
            suggestion: quoted_structure(kind, value),
            ..wrong(code::WRONG_TYPE, kinds_in_words(kind))
        },
        Kind::Enum { options } => {
            let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
            not_listed(&options, value, wrong(code::NOT_IN_ENUM, listed(&options)))
        }
        Kind::Constant { expected_value } => {
            not_listed(&[expected_value], value, wrong(code::NOT_IN_ENUM, listed(&[expected_value])))
        }
        Kind::Minimum { limit } => wrong(code::OUT_OF_RANGE, format!("at least {limit}")),
        Kind::Maximum { limit } => wrong(code::OUT_OF_RANGE, format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => wrong(code::OUT_OF_RANGE, format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => wrong(code::OUT_OF_RANGE, format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => wrong(code::OUT_OF_RANGE, format!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => wrong(code::BAD_LENGTH, format!("at least {limit} characters")),
        Kind::MaxLength { limit } => wrong(code::BAD_LENGTH, format!("at most {limit} characters")),
        Kind::MinItems { limit } => wrong(code::BAD_LENGTH, format!("at least {limit} items")),
        Kind::MaxItems { limit } => wrong(code::BAD_LENGTH, format!("at most {limit} items")),
        Kind::AdditionalItems { limit } => wrong(code::BAD_LENGTH, format!("at most {limit} items")),
        Kind::MinProperties { limit } => wrong(code::BAD_LENGTH, format!("at least {limit} properties")),
        Kind::MaxProperties { limit } => wrong(code::BAD_LENGTH, format!("at most {limit} properties")),
        Kind::UniqueItems => wrong(code::NOT_ALLOWED, "items that all differ".to_owned()),
        Kind::Pattern { pattern } => wrong(code::BAD_FORMAT, format!("text that matches {pattern}")),
        Kind::Format { format } => wrong(code::BAD_FORMAT, format!("text in the format {format}")),
        Kind::FalseSchema => wrong(code::NOT_ALLOWED, "nothing here".to_owned()),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return explain_branches(root, error, context, found);
        }
        Kind::OneOfMultipleValid { .. } => {
            wrong(code::AMBIGUOUS, "exactly one of the forms that the schema lists".to_owned())
        }
        _ => wrong(code::NOT_ALLOWED, error.masked().to_string()),
    };
    found.push(one);
}

/// A value fits none of several forms. The findings of the one form it was meant as say most; when that cannot be
/// told, the values that would have told it are named.
fn explain_branches(
    root: &Value,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    found: &mut Vec<Problem>,
) {
    let place = error.instance_path().as_str();
    let mut meant =
        branches.iter().filter(|findings| !findings.iter().any(|finding| is_another_form(finding, place)));
    if let (Some(findings), None) = (meant.next(), meant.next()) {
        for finding in findings {
            explain(root, finding, found);
        }
        return;
    }
    let mut listing = branches.iter().flatten().filter(|finding| lists(finding).is_some()).peekable();
    let Some(first) = listing.peek() else {
        let forms: Vec<String> = branches
            .iter()
            .filter_map(|findings| findings.first())
            .map(|finding| finding.masked().to_string())
            .collect();
        let expected = format!("one of the forms of the schema; none fits: {}", forms.join("; "));
        found.push(Problem {
            expected: Some(cut::end(&expected, EXPECTED_CHARACTERS)),
            got: Some(got(error.instance())),
            ..problem(place.to_owned(), code::WRONG_TYPE)
        });
        return;
    };
    let (path, value) = (first.instance_path().as_str().to_owned(), first.instance().as_ref());
    let options: Vec<&Value> = listing
        .filter(|finding| finding.instance_path().as_str() == path)
        .filter_map(lists)
        .flatten()
        .collect();
    let one = Problem {
        expected: Some(cut::end(&listed(&options), EXPECTED_CHARACTERS)),
        got: Some(got(value)),
        ..problem(path.clone(), code::NOT_IN_ENUM)
    };
    found.push(not_listed(&options, value, one));
}

/// Whether a finding shows that a form was not meant: the value itself is of another kind or not listed, or its tag
/// (a constant right below) is another one.
fn is_another_form(finding: &ValidationError<'_>, place: &str) -> bool {
    let path = finding.instance_path().as_str();
    match finding.kind() {
        ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. } => path == place,
        ValidationErrorKind::Constant { .. } => {
            path == place || path.rsplit_once('/').is_some_and(|(parent, _)| parent == place)
        }
        _ => false,
    }
}

/// The values that a finding would have taken.
fn lists<'a>(finding: &'a ValidationError<'static>) -> Option<Vec<&'a Value>> {
    match finding.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(vec![expected_value]),
        ValidationErrorKind::Enum { options } => Some(options.as_array().into_iter().flatten().collect()),
        _ => None,
    }
}

fn unknown(parent: &str, key: &str, known: &[&str]) -> Problem {
    let mut path = parent.to_owned();
    push_key(&mut path, key);
    let expected = if known.is_empty() {
        "no arguments".to_owned()
    } else {
        format!("only {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
    };
    Problem {
        expected: Some(cut::end(&expected, EXPECTED_CHARACTERS)),
        got: Some(cut::end(&format!("`{key}`"), GOT_CHARACTERS)),
        suggestion: nearest(key, known.iter().copied()).map(|name| format!("did you mean `{name}`?")),
        ..problem(path, code::UNKNOWN)
    }
}

fn not_listed(options: &[&Value], value: &Value, one: Problem) -> Problem {
    let texts = options.iter().filter_map(|option| option.as_str());
    let near = value.as_str().and_then(|text| nearest(text, texts));
    Problem { suggestion: near.map(|name| format!("did you mean `{name}`?")), ..one }
}

fn quoted_structure(kind: &TypeKind, value: &Value) -> Option<String> {
    let wanted = kinds_in_words(kind);
    let structure = wanted.contains("array") || wanted.contains("object");
    (value.is_string() && structure).then(|| "write the JSON value itself, not text in quotes".to_owned())
}

fn kinds_in_words(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn listed(options: &[&Value]) -> String {
    let texts: Vec<String> = options.iter().map(|option| option.to_string()).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

/// What a property is, in few words.
fn described(root: &Value, node: &Value) -> String {
    let target =
        node.get("$ref").and_then(Value::as_str).and_then(|reference| schema::resolve(root, reference));
    let node = target.unwrap_or(node);
    if let Some(options) = schema::options(node) {
        return cut::end(&listed(&options), EXPECTED_CHARACTERS);
    }
    match node.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "a value".to_owned(),
    }
}

/// The schema node whose keyword failed.
fn keyword_owner<'s>(root: &'s Value, error: &ValidationError<'_>) -> Option<&'s Value> {
    let (owner, _) = error.schema_path().as_str().rsplit_once('/')?;
    root.pointer(owner)
}

fn known_keys<'s>(root: &'s Value, error: &ValidationError<'_>) -> Vec<&'s str> {
    let owner =
        keyword_owner(root, error).and_then(|owner| owner.get("properties")).and_then(Value::as_object);
    owner.into_iter().flat_map(serde_json::Map::keys).map(String::as_str).collect()
}

fn got(value: &Value) -> String {
    cut::end(&value.to_string(), GOT_CHARACTERS)
}

fn problem(path: String, code: &str) -> Problem {
    let path = if cut::exceeds(&path, PATH_CHARACTERS) { cut::end(&path, PATH_CHARACTERS) } else { path };
    Problem { path, code: code.to_owned(), expected: None, got: None, suggestion: None }
}
