//! Values that a message about them must not repeat: those under a name that says so, and those that look like a key.
//!
//! A message of a problem goes into the journal, to the model's vendor and onto screens. This is the second line: a
//! secret that no name and no shape gives away is shown, shortened as every value is.

use serde_json::Value;

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// Words of a name that make its value a secret.
const WORDS: [&str; 17] = [
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "bearer",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "apikey",
    "apikeys",
    "otp",
];

/// Words that do so only in front of `key` or `keys`.
const KEYS_OF: [&str; 6] = ["api", "access", "private", "secret", "signing", "encryption"];

/// How vendors begin their keys.
const PREFIXES: [&str; 17] = [
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "hf_",
    "npm_",
    "eyJ",
];

/// Shorter words with such a beginning are words.
const SHORTEST_KEY: usize = 16;

const PRIVATE_KEY: &str = "-----BEGIN";

/// How much of a long text is searched for keys; more than is ever shown.
const SEARCHED_BYTES: usize = 4_096;

/// A value as JSON text for a message, without secrets; of a long one only the start. `pointer` is where it stands.
pub(crate) fn shown(value: &Value, pointer: &str, characters: usize) -> String {
    let mut text = String::new();
    let secret = pointer.split('/').any(is_secret_name);
    // A character takes four bytes at most, so what is left out here would not be shown.
    write(value, secret, characters.saturating_add(1).saturating_mul(4), &mut text);
    text
}

/// A name as a caller wrote it, unless it looks like a key.
pub(crate) fn shown_name(name: &str) -> &str {
    if holds_key(name) { MASK } else { name }
}

fn write(value: &Value, secret: bool, room: usize, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) => text.push_str(&value.to_string()),
        Value::Number(_) if !secret => text.push_str(&value.to_string()),
        Value::Number(_) => text.push_str(MASK),
        Value::String(string) if secret || holds_key(string) => {
            text.push('"');
            text.push_str(MASK);
            text.push('"');
        }
        Value::String(string) => {
            text.push_str(&Value::from(start(string, room)).to_string());
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if text.len() > room {
                    return;
                }
                if index > 0 {
                    text.push(',');
                }
                write(item, secret, room, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                if text.len() > room {
                    return;
                }
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(start(shown_name(key), room)).to_string());
                text.push(':');
                write(field, secret || is_secret_name(key), room, text);
            }
            text.push('}');
        }
    }
}

fn start(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// `accessToken`, `API_KEY` and `db-password` are; `max_tokens`, `secretary` and `key` are not.
fn is_secret_name(name: &str) -> bool {
    if name.len() > SEARCHED_BYTES {
        return false;
    }
    let words = words(name);
    let single = words.iter().any(|word| WORDS.contains(&word.as_str()));
    single
        || words.windows(2).any(|pair| {
            let [of, key] = pair else { return false };
            KEYS_OF.contains(&of.as_str()) && matches!(key.as_str(), "key" | "keys")
        })
}

/// The words of a name, lower-case: at signs that are no letters or digits, and where a capital follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for character in name.chars() {
        let breaks = !character.is_alphanumeric() || (small && character.is_uppercase());
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        small = character.is_lowercase();
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn holds_key(text: &str) -> bool {
    let searched = start(text, SEARCHED_BYTES);
    let part_of_word = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    searched.contains(PRIVATE_KEY)
        || searched
            .split(|character| !part_of_word(character))
            .any(|word| word.len() >= SHORTEST_KEY && PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_not_repeated() {
        let check = |pointer: &str, value: Value, expected: &str| {
            assert_eq!(shown(&value, pointer, 200), expected, "{pointer} {value}");
        };
        check("/path", json!("a.txt"), r#""a.txt""#);
        check("/dbPassword", json!("hunter2"), r#""[secret]""#);
        check("/login/API_KEY", json!(["a", 7, null]), r#"["[secret]",[secret],null]"#);
        check("/access-key", json!(1), "[secret]");
        check("/max_tokens", json!(4000), "4000");
        check("/secretary", json!("Ada"), r#""Ada""#);
        check("/key", json!("name"), r#""name""#);
        check(
            "",
            json!({"user": "ada", "authorization": {"value": "x"}}),
            r#"{"user":"ada","authorization":{"value":"[secret]"}}"#,
        );
        check("/text", json!("use sk-abcdefghijklmnop now"), r#""[secret]""#);
        check("/text", json!("sk-short"), r#""sk-short""#);
        check("/text", json!("-----BEGIN PRIVATE KEY-----"), r#""[secret]""#);
    }

    #[test]
    fn long_values_are_shown_from_their_start() {
        let long = json!(vec!["x".repeat(10); 100_000]);
        assert!(shown(&long, "", 80).len() < 500);
        assert!(shown(&json!("ä".repeat(1_000_000)), "", 80).len() < 500);
    }
}
