//! What each habit makes of one call.

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::{Draft, Habit};

/// Names of arguments that models like to add; the first one that the tool does not have is added.
const INVENTED: [&str; 3] = ["verbose", "reason", "extra"];

pub(super) fn spoil(habit: Habit, draft: &mut Draft, schema: &Value) {
    match habit {
        Habit::TruncateToolName => {
            let kept = draft.name.chars().count() * 2 / 3;
            draft.name = draft.name.chars().take(kept.max(1)).collect();
        }
        Habit::PrefixToolName => draft.name.insert_str(0, "functions."),
        Habit::MarkToolName => draft.name.push_str("<|channel|>commentary"),
        Habit::RecaseToolName => draft.name = recased(&draft.name),
        Habit::NumbersAsStrings => change(draft, |arguments| each(arguments, &number_as_string)),
        Habit::LowercaseEnums => change(draft, |arguments| lowercase_listed(arguments, schema)),
        Habit::TwelveHourTimes => change(draft, |arguments| each(arguments, &twelve_hours)),
        Habit::InventUserIds => add(draft, "user_id", Value::from("user_12345")),
        Habit::ExtraArguments => {
            let invented = INVENTED.iter().find(|name| !properties(schema).any(|(known, _)| known == *name));
            add(draft, invented.unwrap_or(&"extra_argument"), Value::Bool(true));
        }
        Habit::NullOptionals => change(draft, |arguments| null_optionals(arguments, schema)),
        Habit::JsonInStrings => change(draft, json_in_strings),
        Habit::ArgsEmpty => draft.arguments.clear(),
        Habit::ArgsNull => "null".clone_into(&mut draft.arguments),
        Habit::ArgsInvalid => {
            let cut = draft.arguments.char_indices().nth_back(0).map_or(0, |(position, _)| position);
            draft.arguments.truncate(cut);
        }
        Habit::DuplicateCalls
        | Habit::IgnoreHints
        | Habit::Apologise
        | Habit::ArgsObject
        | Habit::MissingId
        | Habit::MissingType
        | Habit::RepeatName
        | Habit::LateName
        | Habit::MissingIndex
        | Habit::IndexFromOne
        | Habit::HugeIndex
        | Habit::SameIndex
        | Habit::NullCalls
        | Habit::EmptyUsage
        | Habit::FinishStop
        | Habit::FinishUnknown
        | Habit::Noise
        | Habit::CarriageReturns
        | Habit::NoDone => {}
    }
}

/// `bookRoom` for `book_room`, `Scan` for `scan`.
fn recased(name: &str) -> String {
    let mut parts = name.split(['_', '-']).filter(|part| !part.is_empty()).peekable();
    let first = parts.next().unwrap_or_default();
    if parts.peek().is_none() {
        return capitalised(first);
    }
    parts.fold(first.to_owned(), |name, part| name + &capitalised(part))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn change(draft: &mut Draft, edit: impl FnOnce(&mut Value)) {
    if let Ok(mut arguments) = serde_json::from_str(&draft.arguments) {
        edit(&mut arguments);
        draft.arguments = arguments.to_string();
    }
}

fn add(draft: &mut Draft, name: &str, value: Value) {
    change(draft, |arguments| {
        if let Value::Object(object) = arguments {
            object.insert(name.to_owned(), value);
        }
    });
}

/// Edits every value that is neither array nor object.
fn each(value: &mut Value, edit: &dyn Fn(&mut Value)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| each(value, edit)),
        Value::Object(object) => object.values_mut().for_each(|value| each(value, edit)),
        plain => edit(plain),
    }
}

fn number_as_string(value: &mut Value) {
    if value.is_number() {
        *value = Value::String(value.to_string());
    }
}

fn twelve_hours(value: &mut Value) {
    let Value::String(text) = value else { return };
    let Ok(time) = Regex::new(r"\b([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?\b") else { return };
    let changed = time.replace_all(text, |found: &Captures<'_>| {
        let hour: u32 = found[1].parse().unwrap_or_default();
        let half = if hour < 12 { "AM" } else { "PM" };
        format!("{}:{} {half}", if hour.is_multiple_of(12) { 12 } else { hour % 12 }, &found[2])
    });
    *text = changed.into_owned();
}

fn null_optionals(arguments: &mut Value, schema: &Value) {
    let Value::Object(object) = arguments else { return };
    for (name, _) in properties(schema) {
        if !object.contains_key(name) {
            object.insert(name.clone(), Value::Null);
        }
    }
}

fn json_in_strings(arguments: &mut Value) {
    let Value::Object(object) = arguments else { return };
    for value in object.values_mut().filter(|value| value.is_array() || value.is_object()) {
        *value = Value::String(value.to_string());
    }
}

fn lowercase_listed(value: &mut Value, schema: &Value) {
    match value {
        Value::String(text) if is_listed(text, schema) => *text = text.to_lowercase(),
        Value::Object(object) => {
            for (name, value) in object.iter_mut() {
                for (_, property) in properties(schema).filter(|(known, _)| *known == name) {
                    lowercase_listed(value, property);
                }
            }
        }
        Value::Array(items) => {
            let item = schema.get("items").unwrap_or(&Value::Null);
            items.iter_mut().for_each(|value| lowercase_listed(value, item));
        }
        _ => {}
    }
}

/// Whether a schema lists this very text as a value, itself or in one of its alternatives.
fn is_listed(text: &str, schema: &Value) -> bool {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut values = listed.chain(schema.get("const"));
    values.any(|value| value == text) || alternatives(schema).any(|one| is_listed(text, one))
}

/// The properties of an object, also those of its alternatives.
fn properties<'a>(schema: &'a Value) -> Box<dyn Iterator<Item = (&'a String, &'a Value)> + 'a> {
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter);
    Box::new(own.chain(alternatives(schema).flat_map(properties)))
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    lists.flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: &str = r#"{"at":"15:30","n":[1],"size":"Large","word":"Large"}"#;

    fn spoiled(habit: Habit) -> Draft {
        let schema = json!({"properties":{
            "size":{"anyOf":[{"enum":["Large"]},{"type":"null"}]}, "word":{"type":"string"}, "verbose":{}, "n":{},
        }});
        Draft { name: "book_room".into(), arguments: PLAIN.into() }.spoiled(habit, &schema)
    }

    #[track_caller]
    fn check(habit: Habit, expected: &str) {
        let draft = spoiled(habit);
        assert_eq!((draft.name.as_str(), draft.arguments.as_str()), ("book_room", expected), "{habit:?}");
    }

    #[track_caller]
    fn check_name(habit: Habit, expected: &str) {
        let draft = spoiled(habit);
        assert_eq!((draft.name.as_str(), draft.arguments.as_str()), (expected, PLAIN), "{habit:?}");
    }

    #[test]
    fn each_habit_changes_what_it_says() {
        check_name(Habit::TruncateToolName, "book_r");
        check_name(Habit::PrefixToolName, "functions.book_room");
        check_name(Habit::MarkToolName, "book_room<|channel|>commentary");
        check_name(Habit::RecaseToolName, "bookRoom");
        check(Habit::NumbersAsStrings, r#"{"at":"15:30","n":["1"],"size":"Large","word":"Large"}"#);
        check(Habit::LowercaseEnums, r#"{"at":"15:30","n":[1],"size":"large","word":"Large"}"#);
        check(Habit::TwelveHourTimes, r#"{"at":"3:30 PM","n":[1],"size":"Large","word":"Large"}"#);
        check(
            Habit::InventUserIds,
            r#"{"at":"15:30","n":[1],"size":"Large","word":"Large","user_id":"user_12345"}"#,
        );
        check(Habit::ExtraArguments, r#"{"at":"15:30","n":[1],"size":"Large","word":"Large","reason":true}"#);
        check(Habit::NullOptionals, r#"{"at":"15:30","n":[1],"size":"Large","word":"Large","verbose":null}"#);
        check(Habit::JsonInStrings, r#"{"at":"15:30","n":"[1]","size":"Large","word":"Large"}"#);
        check(Habit::ArgsEmpty, "");
        check(Habit::ArgsNull, "null");
        check(Habit::ArgsInvalid, &PLAIN[..PLAIN.len() - 1]);
        check(Habit::FinishStop, PLAIN);
    }

    #[test]
    fn one_word_is_capitalised() {
        assert_eq!(["scan", "read-file", "__x__"].map(recased), ["Scan", "readFile", "X"]);
    }
}
