//! What a script may say. Everything is checked when it is read, so that a mistake is told with its place and not met in
//! the middle of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::habits::Habit;
use super::serve::Strictness;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Letters per piece of a stream; `None`: each text in one piece.
    pub fragment: Option<usize>,
    pub habits: Vec<Habit>,
    pub strict: Vec<Strictness>,
    #[serde(rename = "turn", alias = "turns")]
    pub turns: Vec<Turn>,
}

/// One answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    pub nth: Option<u32>,
    pub user: Option<Pattern>,
    pub tool_result: Option<Pattern>,
    pub always: bool,
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub finish: Option<String>,
    pub usage: Option<Tokens>,
    pub delay_ms: u64,
    pub fragment: Option<usize>,
    pub habits: Vec<Habit>,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    /// A string is sent as it stands, anything else as its JSON text. Without it, `{}`.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// The vendor's id; without it, one that fits.
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub cached: Option<u64>,
}

/// How an answer goes wrong; see the module's page for which fields go together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    pub status: Option<u16>,
    pub headers: BTreeMap<String, String>,
    pub body: String,
    pub close: bool,
    pub cut_after: Option<usize>,
    pub stall_after: Option<usize>,
    pub error_after: Option<usize>,
    pub error: Option<Value>,
    pub malformed_after: Option<usize>,
    pub plain: bool,
    pub raw: Option<String>,
}

/// A regular expression that was compiled when the script was read.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("the script {} has a mistake in line {line}: {message}", path.display())]
    Mistake { path: PathBuf, line: usize, message: String },
    #[error("the script {}: turn {turn} {message}", path.display())]
    Turn { path: PathBuf, turn: usize, message: String },
    #[error("the script has no turn left for request {request} (last user text: {user:?})")]
    NoTurn { request: u32, user: String },
}

impl Script {
    /// Reads a script; a name that ends in `.json` is JSON, everything else TOML.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// The same from text; `path` decides the format and stands in messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let mistake =
            |line: usize, message: String| ScriptError::Mistake { path: path.to_owned(), line, message };
        let script: Self = if is_json {
            serde_json::from_str(text).map_err(|error| mistake(error.line(), error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| {
                let start = error.span().map_or(0, |span| span.start);
                let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
                mistake(line, error.message().to_owned())
            })?
        };
        for (position, turn) in script.turns.iter().enumerate() {
            if let Err(message) = turn.check() {
                return Err(ScriptError::Turn { path: path.to_owned(), turn: position + 1, message });
            }
        }
        Ok(script)
    }
}

impl Turn {
    fn check(&self) -> Result<(), String> {
        if self.nth == Some(0) {
            return Err("has `nth = 0`; requests are counted from 1".to_owned());
        }
        let Some(fault) = &self.fault else { return Ok(()) };
        let kinds = [
            fault.status.is_some(),
            fault.close,
            fault.cut_after.is_some(),
            fault.stall_after.is_some(),
            fault.error_after.is_some(),
            fault.malformed_after.is_some(),
            fault.plain,
            fault.raw.is_some(),
        ];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            return Err(
                "has a `fault` that is not exactly one of `status`, `close`, `cut_after`, `stall_after`, \
                        `error_after`, `malformed_after`, `plain`, `raw`"
                    .to_owned(),
            );
        }
        if fault.status.is_none() && !(fault.headers.is_empty() && fault.body.is_empty()) {
            return Err("has a `fault` with `headers` or `body` but without `status`".to_owned());
        }
        match fault.status {
            Some(status) if !(200..600).contains(&status) => {
                Err(format!("has the `status` {status}, which is none"))
            }
            _ => Ok(()),
        }
    }
}

impl Call {
    /// The arguments as they are sent.
    pub(crate) fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Regex::new(&text).map(Self).map_err(|error| format!("`{text}` is no regular expression: {error}"))
    }
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, expected: &str) {
        let error = Script::parse(text, Path::new(name)).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        check("s.toml", "[[turn]]\ntext = 1\n", "s.toml has a mistake in line 2");
        check("s.toml", "[[turn]]\n\ntekst = \"a\"\n", "line 3: unknown field `tekst`");
        check("s.toml", "[[turn]]\nuser = \"(\"\n", "line 2: `(` is no regular expression");
        check("s.toml", "habits = [\"naughty\"]", "there is no habit `naughty`");
        check("s.json", "{\"turns\": [\n{\"calls\": [{}]}]}", "line 2: missing field `name`");
        check("s.toml", "[[turn]]\nnth = 0\n", "turn 1 has `nth = 0`");
        check(
            "s.toml",
            "[[turn]]\n[[turn]]\nfault = { close = true, cut_after = 1 }\n",
            "turn 2 has a `fault`",
        );
        check(
            "s.toml",
            "[[turn]]\nfault = { body = \"x\" }\n",
            "turn 1 has a `fault` that is not exactly one",
        );
        let missing = Script::load(Path::new("/nowhere/s.toml")).unwrap_err().to_string();
        assert!(missing.starts_with("the script /nowhere/s.toml cannot be read"), "{missing}");
    }

    #[test]
    fn arguments_are_text_or_json() {
        let text = "[[turn]]\ncalls = [{ name = \"a\", arguments = '{\"x\": 1, \"x\": 2}' }, { name = \"b\", arguments = \
                    { y = [1, true] } }, { name = \"c\" }]\n";
        let script = Script::parse(text, Path::new("s")).unwrap();
        let sent: Vec<String> = script.turns[0].calls.iter().map(Call::arguments_text).collect();
        assert_eq!(sent, [r#"{"x": 1, "x": 2}"#, r#"{"y":[1,true]}"#, "{}"]);
    }
}
