//! Turns what the validator found into problems. It adds nothing of its own: whether a value is accepted is the
//! validator's word, this module only says it so that the caller can do better.

use foehn_protocol::Problem;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::cut;
use crate::formats;
use crate::nearest::nearest;
use crate::place::push_key;
use crate::problems::{EXPECTED_CHARACTERS, Problems, code, got, got_name, hint, problem};
use crate::schema;

/// All that one finding of the validator means.
pub(crate) fn explain(root: &Value, error: &ValidationError<'_>, found: &mut Problems) {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_keys(root, error);
            let place = error.instance_path().as_str();
            unexpected.iter().for_each(|key| found.add(|| unknown(place, key, &known)));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            explain_branches(root, error, context, found);
        }
        _ => found.add(|| one(root, error)),
    }
}

fn one(root: &Value, error: &ValidationError<'_>) -> Problem {
    let path = error.instance_path().as_str().to_owned();
    let value = error.instance();
    let wrong = |code, expected: String| Problem {
        expected: Some(cut::end(&expected, EXPECTED_CHARACTERS)),
        got: Some(got(&path, value)),
        ..problem(path.clone(), code)
    };
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let node = keyword_owner(root, error).map(|owner| schema::property(&[owner], name));
            let expected = node.unwrap_or_default().first().map(|node| described(root, node));
            missing(&path, name, expected)
        }
        Kind::Type { kind } => {
            Problem { suggestion: other_type(kind, value), ..wrong(code::WRONG_TYPE, kinds_in_words(kind)) }
        }
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
        Kind::Pattern { pattern } => {
            wrong(code::BAD_FORMAT, with_example(format!("text that matches {pattern}"), root, error))
        }
        Kind::Format { format } => wrong(code::BAD_FORMAT, formats::expected(format)),
        Kind::FalseSchema => wrong(code::NOT_ALLOWED, "nothing here".to_owned()),
        Kind::OneOfMultipleValid { .. } => {
            wrong(code::AMBIGUOUS, "exactly one of the forms that the schema lists".to_owned())
        }
        _ => wrong(code::NOT_ALLOWED, error.masked().to_string()),
    }
}

/// A value fits none of several forms. The findings of the one form it was meant as say most; when that cannot be
/// told, the values that would have told it are named.
fn explain_branches(
    root: &Value,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    found: &mut Problems,
) {
    let place = error.instance_path().as_str();
    let possible: Vec<_> =
        branches.iter().filter(|findings| !findings.iter().any(|one| is_another_form(one, place))).collect();
    let complete: Vec<_> = possible
        .iter()
        .copied()
        .filter(|findings| !findings.iter().any(|one| missing_key(one, place).is_some()))
        .collect();
    if let ([meant], _) | (_, [meant]) = (possible.as_slice(), complete.as_slice()) {
        meant.iter().for_each(|finding| explain(root, finding, found));
        return;
    }
    let tags: Vec<(&str, Vec<&Value>)> =
        possible.iter().filter_map(|findings| missing_tag(root, findings, place)).collect();
    if let Some((tag, _)) = tags.first()
        && tags.len() == possible.len()
        && tags.iter().all(|(other, _)| other == tag)
    {
        let options: Vec<&Value> = tags.iter().flat_map(|(_, options)| options.iter().copied()).collect();
        found.add(|| missing(place, tag, Some(cut::end(&listed(&options), EXPECTED_CHARACTERS))));
        return;
    }
    found.add(|| no_form(error, branches));
}

fn no_form(error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>]) -> Problem {
    let place = error.instance_path().as_str();
    let mut listing = branches.iter().flatten().filter(|finding| lists(finding).is_some()).peekable();
    let Some(first) = listing.peek() else {
        let forms: Vec<String> = branches
            .iter()
            .filter_map(|findings| findings.first())
            .map(|finding| cut::end(&finding.masked().to_string(), EXPECTED_CHARACTERS))
            .collect();
        let expected = format!("one of the forms of the schema; none fits: {}", forms.join("; "));
        return Problem {
            expected: Some(cut::end(&expected, EXPECTED_CHARACTERS)),
            got: Some(got(place, error.instance())),
            ..problem(place.to_owned(), code::WRONG_TYPE)
        };
    };
    let (path, value) = (first.instance_path().as_str().to_owned(), first.instance().as_ref());
    let options: Vec<&Value> = listing
        .filter(|finding| finding.instance_path().as_str() == path)
        .filter_map(lists)
        .flatten()
        .collect();
    let one = Problem {
        expected: Some(cut::end(&listed(&options), EXPECTED_CHARACTERS)),
        got: Some(got(&path, value)),
        ..problem(path.clone(), code::NOT_IN_ENUM)
    };
    not_listed(&options, value, one)
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

/// The name of a property that a form requires and the object lacks.
fn missing_key<'a>(finding: &'a ValidationError<'_>, place: &str) -> Option<&'a str> {
    match finding.kind() {
        ValidationErrorKind::Required { property } if finding.instance_path().as_str() == place => {
            property.as_str()
        }
        _ => None,
    }
}

/// The property that would have told a form from the others, and the values that it has there.
fn missing_tag<'a>(
    root: &'a Value,
    findings: &'a [ValidationError<'static>],
    place: &str,
) -> Option<(&'a str, Vec<&'a Value>)> {
    findings.iter().find_map(|finding| {
        let name = missing_key(finding, place)?;
        let owner = keyword_owner(root, finding)?;
        let options = schema::property(&[owner], name).into_iter().find_map(schema::options)?;
        Some((name, options))
    })
}

/// The values that a finding would have taken.
fn lists<'a>(finding: &'a ValidationError<'static>) -> Option<Vec<&'a Value>> {
    match finding.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(vec![expected_value]),
        ValidationErrorKind::Enum { options } => Some(options.as_array().into_iter().flatten().collect()),
        _ => None,
    }
}

fn missing(parent: &str, name: &str, expected: Option<String>) -> Problem {
    let mut place = parent.to_owned();
    push_key(&mut place, name);
    Problem { expected, ..problem(place, code::MISSING) }
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
        got: Some(got_name(key)),
        suggestion: nearest(key, known.iter().copied()).map(|name| format!("did you mean `{name}`?")),
        ..problem(path, code::UNKNOWN)
    }
}

fn not_listed(options: &[&Value], value: &Value, one: Problem) -> Problem {
    let suggestion = match value.as_str() {
        Some(text) => nearest(text, options.iter().filter_map(|option| option.as_str()))
            .map(|name| format!("did you mean `{name}`?")),
        None => options.iter().all(|option| option.is_string()).then(|| hint::LISTED_TEXT.to_owned()),
    };
    Problem { suggestion, ..one }
}

/// What to do about a value of the wrong type, where one thing would help.
fn other_type(kind: &TypeKind, value: &Value) -> Option<String> {
    let wanted = kinds_in_words(kind);
    let wants = |name: &str| wanted.split(" or ").any(|one| one == name);
    let hint = match value {
        Value::Null => hint::NULL,
        Value::String(_) if wants("array") || wants("object") => hint::STRUCTURE,
        Value::String(_) if wants("integer") || wants("number") => hint::DIGITS,
        Value::String(_) if wants("boolean") => hint::BOOLEAN,
        Value::Number(_) if wants("integer") => hint::WHOLE,
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) if wants("string") => {
            hint::AS_TEXT
        }
        _ => return None,
    };
    Some(hint.to_owned())
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
    if let Some(format) =
        node.get("format").and_then(Value::as_str).filter(|format| formats::is_known(format))
    {
        return formats::expected(format);
    }
    match node.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "a value".to_owned(),
    }
}

/// With an example that the schema itself gives of the place.
fn with_example(expected: String, root: &Value, error: &ValidationError<'_>) -> String {
    let examples = keyword_owner(root, error).and_then(|owner| owner.get("examples"));
    match examples.and_then(|examples| examples.get(0)) {
        Some(example) => format!("{expected}, such as {example}"),
        None => expected,
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
