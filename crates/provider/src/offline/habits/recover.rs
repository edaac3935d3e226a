//! A model that means well: it knows what it meant, but not what is wrong with how it said it. So it changes exactly what
//! the answer names, which makes the number of its attempts a measure of the answer: one when every problem was told at
//! once and in its place.

use serde_json::Value;

use super::Draft;

/// What comes after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The answer was not about how the call was written.
    GoOn,
    /// The next attempt.
    Correct(Draft),
    /// The answer names nothing that could be changed, or asks to stop.
    GiveUp,
}

pub(super) fn reaction(written: &Draft, meant: &Draft, envelope: &str) -> Reaction {
    let Some(error) = read(envelope).and_then(|envelope| envelope.get("error").cloned()) else {
        return Reaction::GoOn;
    };
    let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
    if !matches!(code, "unknown_tool" | "invalid_arguments") {
        return Reaction::GoOn;
    }
    if error.get("retryable") == Some(&Value::Bool(false)) {
        return Reaction::GiveUp;
    }
    if code == "unknown_tool" {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        let named = message.contains(&format!("`{}`", meant.name));
        let next = Draft { name: meant.name.clone(), ..written.clone() };
        return if named { Reaction::Correct(next) } else { Reaction::GiveUp };
    }
    let problems = error.get("problems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let arguments = corrected(&written.arguments, &meant.arguments, problems);
    Reaction::Correct(Draft { arguments, ..written.clone() })
}

/// The envelope, however many times a vendor's format has wrapped it.
fn read(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    match &value {
        Value::String(inner) => read(inner),
        Value::Object(object) if !object.contains_key("ok") => {
            object.values().find_map(|inner| read(inner.as_str()?))
        }
        _ => Some(value),
    }
}

/// The arguments with what the problems name as it was meant; all of it when they name no place.
fn corrected(written: &str, meant: &str, problems: &[Value]) -> String {
    let parsed = (serde_json::from_str::<Value>(written), serde_json::from_str::<Value>(meant));
    let (Ok(mut next), Ok(meant_value)) = parsed else { return meant.to_owned() };
    if problems.is_empty() {
        return meant.to_owned();
    }
    for problem in problems {
        let path = problem.get("path").and_then(Value::as_str).unwrap_or_default();
        repair(&mut next, &meant_value, path);
    }
    next.to_string()
}

/// Sets what is at a place to what was meant there, or takes it away when nothing was; where the place is not there,
/// the one above it.
fn repair(next: &mut Value, meant: &Value, pointer: &str) {
    let Some((above, key)) = pointer.rsplit_once('/') else {
        next.clone_from(meant);
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    match (next.pointer_mut(above), meant.pointer(pointer)) {
        (Some(Value::Object(object)), Some(value)) => drop(object.insert(key, value.clone())),
        (Some(Value::Object(object)), None) => drop(object.shift_remove(&key)),
        (Some(Value::Array(items)), Some(value)) => {
            match key.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                Some(item) => item.clone_from(value),
                None => repair(next, meant, above),
            }
        }
        _ => repair(next, meant, above),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MEANT: &str = r#"{"n":1,"list":["A",{"b":2}]}"#;

    fn draft(arguments: &str) -> Draft {
        Draft { name: "book_room".into(), arguments: arguments.into() }
    }

    #[track_caller]
    fn check(written: &str, paths: &[&str], expected: &str) {
        let problems: Vec<Value> = paths.iter().map(|path| json!({"path": path})).collect();
        let envelope =
            json!({"ok":false,"error":{"code":"invalid_arguments","retryable":true,"problems":problems}});
        let actual = draft(written).reaction(&draft(MEANT), &envelope.to_string());
        assert_eq!(actual, Reaction::Correct(draft(expected)));
    }

    #[test]
    fn only_what_was_named_is_changed() {
        check(
            r#"{"n":"1","list":["a",{"b":"2"}],"x":0}"#,
            &["/n"],
            r#"{"n":1,"list":["a",{"b":"2"}],"x":0}"#,
        );
        check(
            r#"{"n":"1","list":["a",{"b":"2"}],"x":0}"#,
            &["/n", "/x"],
            r#"{"n":1,"list":["a",{"b":"2"}]}"#,
        );
        check(r#"{"n":1,"list":["a",{"b":"2"}]}"#, &["/list/1/b"], r#"{"n":1,"list":["a",{"b":2}]}"#);
        check(r#"{"n":1,"list":["a"]}"#, &["/list/1"], MEANT);
        check(r#"{"n":1,"list":"[]"}"#, &["/list/0"], MEANT);
        check(r#"{"n":1"#, &[""], MEANT);
        check(r#"{"n":"1"}"#, &[], MEANT);
        check("{}", &["/n"], r#"{"n":1}"#);
    }

    #[test]
    fn a_model_gives_up_where_nothing_is_said_and_goes_on_where_nothing_was_wrong() {
        let check = |envelope: Value, expected: Reaction| {
            let written = Draft { name: "book_r".into(), arguments: "{}".into() };
            let meant = Draft { name: "book_room".into(), arguments: "{}".into() };
            for text in [envelope.to_string(), Value::from(envelope.to_string()).to_string()] {
                assert_eq!(written.reaction(&meant, &text), expected, "{text}");
            }
            let wrapped = json!({"output": envelope.to_string()});
            assert_eq!(written.reaction(&meant, &wrapped.to_string()), expected);
        };
        let unknown = |message: &str| json!({"ok":false,"error":{"code":"unknown_tool","message":message}});
        check(unknown("Did you mean `book_room`?"), Reaction::Correct(draft("{}")));
        check(unknown("There is no such tool."), Reaction::GiveUp);
        check(json!({"ok":false,"error":{"code":"invalid_arguments","retryable":false}}), Reaction::GiveUp);
        check(json!({"ok":false,"error":{"code":"failed"}}), Reaction::GoOn);
        check(json!({"ok":true,"result":"done"}), Reaction::GoOn);
    }
}
