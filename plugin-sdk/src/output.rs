//! From what a tool returns to the parts of a reply.

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::wire::Part;

/// The result of a tool: parts, and notes beside them.
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// let output = Output::text("first 10 lines").note("cut after 10 of 4000 lines");
/// assert_eq!(output.notes, ["cut after 10 of 4000 lines"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The result itself.
    pub parts: Vec<Part>,
    /// What the reader should know beside it.
    pub notes: Vec<String>,
}

impl Output {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().part(Part::text(text))
    }

    /// The same result with one more part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// The same result with one more note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// A result that the reader gets as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a tool may return.
pub trait IntoOutput {
    /// The output.
    ///
    /// # Errors
    /// When the value has no JSON form, for instance a map whose keys are no strings.
    fn into_output(self) -> Result<Output>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output> {
        Ok(self)
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output> {
        Ok(Output::text(self))
    }
}

impl IntoOutput for &'static str {
    fn into_output(self) -> Result<Output> {
        Ok(Output::text(self))
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Result<Output> {
        Ok(Output::default())
    }
}

impl IntoOutput for Part {
    fn into_output(self) -> Result<Output> {
        Ok(Output::default().part(self))
    }
}

impl IntoOutput for Vec<Part> {
    fn into_output(self) -> Result<Output> {
        Ok(Output { parts: self, notes: Vec::new() })
    }
}

impl IntoOutput for Value {
    fn into_output(self) -> Result<Output> {
        Part::Json { value: self }.into_output()
    }
}

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output> {
        serde_json::to_value(self.0)?.into_output()
    }
}
