//! What a plugin answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Risk;

/// The answer to any op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// How it went.
    pub kind: ReplyKind,
    /// What went wrong, for the reader of the result; empty when nothing did.
    pub message: String,
    /// The result; may hold partial results of a failed call.
    pub parts: Vec<Part>,
    /// What the reader should know beside the result, for instance that output was cut.
    pub notes: Vec<String>,
    /// Whether the call had (or may have had) effects: `Some(false)` only when it certainly had none, `None` when nobody
    /// knows.
    pub executed: Option<bool>,
}

impl Reply {
    /// The answer of a call that went well.
    pub fn ok(parts: Vec<Part>) -> Self {
        Self { kind: ReplyKind::Ok, parts, executed: Some(true), ..Self::default() }
    }

    /// The answer of a call that did not; `executed` is left unknown.
    pub fn error(kind: ReplyKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), ..Self::default() }
    }

    /// The classification in an answer to [`op::CLASSIFY`](super::op::CLASSIFY), if it is one.
    pub fn classification(&self) -> Option<Classification> {
        match (self.kind, self.parts.as_slice()) {
            (ReplyKind::Ok, [Part::Json { value }]) => Classification::deserialize(value).ok(),
            _ => None,
        }
    }

    /// All text parts, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

/// How a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// It did what was asked.
    Ok,
    /// It could not.
    Failed,
    /// The arguments do not fit; nothing was done.
    InvalidArguments,
    /// A hard limit of the tool forbids it; nothing was done.
    Refused,
    /// The call was cancelled.
    Cancelled,
    /// The time was up.
    TimedOut,
    /// The plugin's code panicked.
    Panicked,
    /// The caller may not do this.
    Unauthorized,
    /// This plugin does not know the op.
    Unsupported,
    /// Answered by a newer SDK: treat like [`Failed`](ReplyKind::Failed).
    #[default]
    #[serde(other)]
    Unknown,
}

/// What came of taking a call back; the answer to [`op::UNDO`](super::op::UNDO) is one [`Json`](Part::Json) part of it, or
/// none when the call had left nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undone {
    /// One line for each thing that is as it was before.
    pub restored: Vec<String>,
    /// One line for each thing that was left as it is, with the reason.
    pub left: Vec<String>,
    /// What else to know, for instance about what nobody looked at.
    pub notes: Vec<String>,
}

/// What became of what was kept running for a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEnded {
    /// One line, for the operator, for each thing that ran and was ended.
    pub ended: Vec<String>,
    /// One line for each thing that runs on.
    pub kept: Vec<String>,
}

/// One part of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text; the common case.
    Text {
        /// The text.
        #[serde(default)]
        text: String,
    },
    /// Structured data.
    Json {
        /// The value.
        #[serde(default)]
        value: Value,
    },
    /// An image.
    Image {
        /// Such as `image/png`.
        #[serde(default)]
        media_type: String,
        /// The bytes in base64.
        #[serde(default)]
        data: String,
    },
    /// A file of the workspace, by name.
    File {
        /// Path relative to the workspace.
        #[serde(default)]
        path: PathBuf,
    },
    /// A kind of part that a newer SDK knows.
    #[serde(other)]
    Unknown,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// What one call would do, worked out from its arguments without doing it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classification {
    /// Everything the call does; several for, say, a command line of three programs. Any denied one denies the call.
    pub operations: Vec<Operation>,
    /// What rules can test.
    pub facts: Facts,
    /// Set when a hard limit of the tool is crossed: the call must not run, whatever the permissions say.
    pub refusal: Option<String>,
    /// What to show when a person is asked.
    pub preview: Option<Preview>,
}

impl Classification {
    /// A call that does one thing.
    pub fn operation(name: impl Into<String>) -> Self {
        Self { operations: vec![Operation { name: name.into(), ..Operation::default() }], ..Self::default() }
    }

    /// A call that must not run.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self { refusal: Some(reason.into()), ..Self::default() }
    }
}

/// One thing that a call does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// Name as permissions write it.
    pub name: String,
    /// Its risk; `None` = the tool's.
    pub risk: Option<Risk>,
    /// What it is done to, for the reader: a path, a table, a host.
    pub target: Option<String>,
}

/// What a call touches, for rules to test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Files and folders, relative to the workspace.
    pub paths: Vec<PathBuf>,
    /// Network hosts.
    pub hosts: Vec<String>,
    /// Database tables.
    pub tables: Vec<String>,
}

/// What to show a person before a call runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Preview {
    /// Plain text.
    Text {
        /// The text.
        #[serde(default)]
        text: String,
    },
    /// A change of one file.
    Diff {
        /// The file, relative to the workspace.
        #[serde(default)]
        path: PathBuf,
        /// The change as a unified diff.
        #[serde(default)]
        diff: String,
    },
    /// A command, whole.
    Command {
        /// The command line as it will run.
        #[serde(default)]
        command: String,
        /// The folder it runs in, relative to the workspace.
        #[serde(default)]
        directory: PathBuf,
    },
    /// A kind of preview that a newer SDK knows.
    #[serde(other)]
    Unknown,
}
