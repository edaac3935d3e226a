//! The one error type of a tool: a kind that decides the reply, and a text for whoever reads the result.
//!
//! It does not implement [`std::error::Error`], exactly so that `?` can turn every error that does into it.

use std::fmt;

use crate::wire::ReplyKind;

/// What a tool returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did not do what was asked.
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// fn parse(text: &str) -> Result<u32> {
///     if text.is_empty() { bail!("there is nothing to parse"); }
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    executed: Option<bool>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It was tried and did not work.
    Failed,
    /// The arguments make no sense; nothing was done.
    InvalidArguments,
    /// A hard limit forbids it; nothing was done.
    Refused,
    /// The call was cancelled.
    Cancelled,
    /// The time was up.
    TimedOut,
    /// This caller may not do it; nothing was done.
    Unauthorized,
    /// The plugin or the host does not know how to do this.
    Unsupported,
}

impl Error {
    /// An error of any kind. `executed` is `Some(false)` for the kinds that say that nothing was done, else unknown.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let executed = match kind {
            ErrorKind::InvalidArguments | ErrorKind::Refused | ErrorKind::Unauthorized => Some(false),
            ErrorKind::Failed | ErrorKind::Cancelled | ErrorKind::TimedOut | ErrorKind::Unsupported => None,
        };
        Self { kind, message: message.into(), executed }
    }

    /// It was tried and did not work.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// The arguments make no sense; nothing was done.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArguments, message)
    }

    /// A hard limit forbids it; nothing was done.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// The call was cancelled.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// The time was up.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TimedOut, message)
    }

    /// This caller may not do it; nothing was done.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unauthorized, message)
    }

    /// The plugin or the host does not know how to do this.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The same error, saying whether the call had effects. Say `false` only when it certainly had none.
    #[must_use]
    pub fn executed(mut self, executed: bool) -> Self {
        self.executed = Some(executed);
        self
    }

    /// The same error with what was being done before its text: `CONTEXT: MESSAGE`.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the call had effects; `None` when unknown.
    pub fn was_executed(&self) -> Option<bool> {
        self.executed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.kind, self.message)
    }
}

impl<E: std::error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let kind = kind_of(&error);
        Self::new(kind, join_sources(&error))
    }
}

impl From<ErrorKind> for ReplyKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Failed => Self::Failed,
            ErrorKind::InvalidArguments => Self::InvalidArguments,
            ErrorKind::Refused => Self::Refused,
            ErrorKind::Cancelled => Self::Cancelled,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Unauthorized => Self::Unauthorized,
            ErrorKind::Unsupported => Self::Unsupported,
        }
    }
}

/// Adds what was being done to an error on its way up.
pub trait ResultExt<T> {
    /// `CONTEXT: MESSAGE` on an error; nothing on a success.
    ///
    /// # Errors
    /// The same error with the longer text.
    fn context(self, context: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<Error>> ResultExt<T> for std::result::Result<T, E> {
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.map_err(|error| error.into().context(context))
    }
}

/// Returns [`Error::failed`] with a formatted text.
#[macro_export]
macro_rules! bail {
    ($($text:tt)+) => {
        return ::core::result::Result::Err($crate::Error::failed(::std::format!($($text)+)))
    };
}

#[cfg(feature = "workspace")]
fn kind_of(error: &(dyn std::error::Error + 'static)) -> ErrorKind {
    match error.downcast_ref::<crate::workspace::WorkspaceError>() {
        Some(error) if error.is_refusal() => ErrorKind::Refused,
        _ => ErrorKind::Failed,
    }
}

#[cfg(not(feature = "workspace"))]
fn kind_of(_error: &(dyn std::error::Error + 'static)) -> ErrorKind {
    ErrorKind::Failed
}

/// Many errors already print their source; a text that is there is not said twice.
fn join_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.0)
        }
    }

    impl std::error::Error for Layer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            self.1.as_deref().map(|layer| layer as _)
        }
    }

    #[track_caller]
    fn check(error: impl Into<Error>, kind: ErrorKind, text: &str, executed: Option<bool>) {
        let error = error.into();
        assert_eq!((error.kind(), error.message(), error.was_executed()), (kind, text, executed));
    }

    #[test]
    fn any_error_becomes_a_failed_one_with_its_sources() {
        let inner = || Some(Box::new(Layer("disk on fire", None)));
        check(Layer("cannot save", inner()), ErrorKind::Failed, "cannot save: disk on fire", None);
        check(Layer("no: disk on fire", inner()), ErrorKind::Failed, "no: disk on fire", None);
    }

    #[test]
    fn kinds_that_did_nothing_say_so() {
        check(Error::refused("no"), ErrorKind::Refused, "no", Some(false));
        check(Error::invalid_arguments("no"), ErrorKind::InvalidArguments, "no", Some(false));
        check(Error::failed("no").executed(false), ErrorKind::Failed, "no", Some(false));
        check(Error::cancelled(), ErrorKind::Cancelled, "the call was cancelled", None);
    }

    #[test]
    fn context_goes_in_front() {
        let result: Result<()> = Err::<(), _>(Layer("gone", None)).context("a.txt");
        check(result.unwrap_err(), ErrorKind::Failed, "a.txt: gone", None);
    }
}
