//! Bad habits of real models and servers, as switches: each is a small change to the calls of an answer, or to how they
//! are written on the wire. They exist so that a test can show what the host makes of them.

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Habit {
    /// Loses the last third of each tool's name.
    TruncateToolName,
    /// `5` becomes `"5"`.
    NumbersAsStrings,
    /// A value of an enum in lower case.
    LowercaseEnums,
    /// `15:30` becomes `3:30 PM`.
    TwelveHourTimes,
    /// Adds a `user_id` that nobody gave.
    InventUserIds,
    /// After a failed call: the same calls again.
    IgnoreHints,
    /// Arguments are an empty string.
    ArgsEmpty,
    /// Arguments are an object instead of a string.
    ArgsObject,
    /// Arguments end in the middle.
    ArgsInvalid,
    MissingId,
    MissingIndex,
    IndexFromOne,
    /// All parallel calls under index 0.
    SameIndex,
    /// The finish says `stop` beside calls.
    FinishStop,
    /// The stream ends without `[DONE]`.
    NoDone,
}

/// One call on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayedCall {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// A tool as the request offers it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// The calls as a model with these habits writes them.
pub(crate) fn apply(habits: &[Habit], calls: &mut [PlayedCall], tools: &[OfferedTool]) {
    for call in calls.iter_mut() {
        let schema = tools.iter().find(|tool| tool.name == call.name).map(|tool| &tool.schema);
        for habit in habits {
            match habit {
                Habit::TruncateToolName => {
                    let kept = call.name.chars().count() * 2 / 3;
                    call.name = call.name.chars().take(kept.max(1)).collect();
                }
                Habit::NumbersAsStrings => change(call, |arguments| each(arguments, &number_as_string)),
                Habit::LowercaseEnums => change(call, |arguments| lowercase_enums(arguments, schema)),
                Habit::TwelveHourTimes => change(call, |arguments| each(arguments, &twelve_hours)),
                Habit::InventUserIds => change(call, |arguments| {
                    if let Value::Object(object) = arguments {
                        object.insert("user_id".to_owned(), Value::from("user_12345"));
                    }
                }),
                Habit::ArgsEmpty => call.arguments.clear(),
                Habit::ArgsInvalid => {
                    let cut = call.arguments.char_indices().nth_back(0).map_or(0, |(position, _)| position);
                    call.arguments.truncate(cut);
                }
                Habit::MissingId => call.id = None,
                Habit::IgnoreHints
                | Habit::ArgsObject
                | Habit::MissingIndex
                | Habit::IndexFromOne
                | Habit::SameIndex
                | Habit::FinishStop
                | Habit::NoDone => {}
            }
        }
    }
}

fn change(call: &mut PlayedCall, edit: impl FnOnce(&mut Value)) {
    if let Ok(mut arguments) = serde_json::from_str(&call.arguments) {
        edit(&mut arguments);
        call.arguments = arguments.to_string();
    }
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
    let Ok(time) = Regex::new(r"\b([01]?\d|2[0-3]):([0-5]\d)\b") else { return };
    let changed = time.replace_all(text, |found: &Captures<'_>| {
        let hour: u32 = found[1].parse().unwrap_or_default();
        let half = if hour < 12 { "AM" } else { "PM" };
        format!("{}:{} {half}", if hour.is_multiple_of(12) { 12 } else { hour % 12 }, &found[2])
    });
    *text = changed.into_owned();
}

fn lowercase_enums(arguments: &mut Value, schema: Option<&Value>) {
    let Some(properties) = schema.and_then(|schema| schema.get("properties")?.as_object()) else { return };
    let Value::Object(object) = arguments else { return };
    for (name, value) in object.iter_mut() {
        let is_enum = |property: &Map<String, Value>| property.contains_key("enum");
        if let Value::String(text) = value
            && properties.get(name).and_then(Value::as_object).is_some_and(is_enum)
        {
            *text = text.to_lowercase();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: &str = r#"{"at":"15:30","n":[1],"size":"Large","word":"Large"}"#;

    fn changed(habit: Habit) -> PlayedCall {
        let mut calls =
            [PlayedCall { id: Some("a".into()), name: "book_room".into(), arguments: PLAIN.into() }];
        let schema = json!({"properties":{"size":{"enum":["Large"]},"word":{"type":"string"}}});
        apply(&[habit], &mut calls, &[OfferedTool { name: "book_room".into(), schema }]);
        let [call] = calls;
        call
    }

    fn check(habit: Habit, expected: Value) {
        let arguments: Value = serde_json::from_str(&changed(habit).arguments).unwrap();
        assert_eq!(arguments, expected, "{habit:?}");
    }

    #[test]
    fn each_habit_changes_what_it_says() {
        let plain: Value = serde_json::from_str(PLAIN).unwrap();
        check(Habit::NumbersAsStrings, json!({"at":"15:30","n":["1"],"size":"Large","word":"Large"}));
        check(Habit::LowercaseEnums, json!({"at":"15:30","n":[1],"size":"large","word":"Large"}));
        check(Habit::TwelveHourTimes, json!({"at":"3:30 PM","n":[1],"size":"Large","word":"Large"}));
        let invented = json!({"at":"15:30","n":[1],"size":"Large","user_id":"user_12345","word":"Large"});
        check(Habit::InventUserIds, invented);
        check(Habit::FinishStop, plain);
        assert_eq!(changed(Habit::TruncateToolName).name, "book_r");
        assert_eq!(changed(Habit::MissingId).id, None);
        assert_eq!(changed(Habit::ArgsEmpty).arguments, "");
        assert_eq!(changed(Habit::ArgsInvalid).arguments, PLAIN[..PLAIN.len() - 1]);
    }
}
