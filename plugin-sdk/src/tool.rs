//! What a plugin author implements: tools, background jobs, and texts for the model's context.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::output::IntoOutput;
use crate::wire::{
    Capabilities, Classification, ContextKind, OperationSpec, Risk, SessionEnd, SessionEnded, Undone,
};

/// One tool that a model can call.
///
/// Its value is made once per opened plugin and serves all calls, several at a time. What a call needs comes from its
/// arguments and from [`Cx`]; a tool that keeps something between calls keeps it in [`Cx::state`], because the process it
/// runs in may be replaced after any call.
pub trait Tool: Send + Sync + 'static {
    /// Name the model uses, `^[a-zA-Z0-9_-]{1,64}$`. It does not change; a renamed tool keeps the old name in
    /// [`ALIASES`](Tool::ALIASES).
    const NAME: &'static str;

    /// What the tool does, for the model: one to three sentences.
    const DESCRIPTION: &'static str;

    /// How much harm a call can do at most. Left out, it counts as [`Risk::Destructive`]: forgetting it is safe.
    const RISK: Risk = Risk::Undefined;

    /// What a call may touch at all. Whatever is not named here fails in the sandbox.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// Former names that still work.
    const ALIASES: &'static [&'static str] = &[];

    /// Whether the tool refuses to run when the host cannot say who calls.
    const REQUIRES_CALLER: bool = false;

    /// Whether [`classify`](Tool::classify) is implemented. Without it every call counts as what the manifest says.
    const CLASSIFIES: bool = false;

    /// Whether asking again with equal arguments is its use, as for the state of a job: the host then does not take equal
    /// calls for a loop.
    const POLLING: bool = false;

    /// Whether only an agent gets it that asks for it by name: in its `enabled_tools`, or by a section of its own. For what
    /// few need, since every tool that is offered is paid for with every request.
    const ON_DEMAND: bool = false;

    /// Whether its calls, and those of the plugin's other lasting tools, have to meet in one process that stays as long as the
    /// host does: for what lives longer than a call and cannot be stored, such as a running program. Such calls run one after
    /// another, and what a crash takes along is lost all the same.
    const LASTING: bool = false;

    /// Findings of `foehn contract lint` that are meant to be, each with the reason.
    const LINT_EXCEPTIONS: &'static [LintException] = &[];

    /// The arguments: a struct or enum under [`#[args]`](crate::args).
    type Args: DeserializeOwned + JsonSchema;

    /// What it returns: text, [`Json`](crate::Json), parts, [`Output`](crate::Output), or nothing.
    type Out: IntoOutput;

    /// Its own config section: a struct under [`#[config]`](crate::config), or `()` for a tool that takes none.
    type Config: DeserializeOwned + JsonSchema + Default + Send + Sync + 'static;

    /// Does the work. Blocks; it should look at [`Cx::check`] between steps so that a cancelled call ends soon.
    ///
    /// # Errors
    /// Whatever went wrong. `?` works on any error.
    fn run(&self, args: Self::Args, cx: &Cx<'_, Self::Config>) -> Result<Self::Out>;

    /// What a call can be: the names that permissions refer to. Empty = one operation, named as the tool.
    fn operations() -> Vec<OperationSpec> {
        Vec::new()
    }

    /// Says what this call would do, from its arguments and without doing it: it runs without network and may only read.
    /// Never take the answer from an argument that the model chose as a label.
    ///
    /// # Errors
    /// When that cannot be told; the host then asks as if for the worst.
    fn classify(&self, args: &Self::Args, cx: &Cx<'_, Self::Config>) -> Result<Classification> {
        let (_, _) = (args, cx);
        Ok(Classification::operation(Self::NAME))
    }

    /// Takes back the earlier call of [`Cx::key`], whose arguments come along; `None` when that call left nothing to take
    /// back.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) unless implemented.
    fn undo(&self, args: Self::Args, cx: &Cx<'_, Self::Config>) -> Result<Option<Undone>> {
        let (_, _) = (args, cx);
        Err(cannot_undo::<Self>())
    }

    /// Tells what [`undo`](Tool::undo) would do. It runs where nothing can be written.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) unless implemented.
    fn undo_preview(&self, args: Self::Args, cx: &Cx<'_, Self::Config>) -> Result<Option<Undone>> {
        let (_, _) = (args, cx);
        Err(cannot_undo::<Self>())
    }

    /// Ends what the tool keeps running for [`Cx::session`], which is over; for every session when the host ends too. Only
    /// a plugin with a [lasting](Tool::LASTING) tool whose process is there is asked. It has a few seconds, after which the
    /// whole process is ended.
    ///
    /// # Errors
    /// When that did not work. The host then ends the process.
    fn end_session(&self, end: SessionEnd, cx: &Cx<'_, Self::Config>) -> Result<SessionEnded> {
        let (_, _) = (end, cx);
        Ok(SessionEnded::default())
    }
}

fn cannot_undo<T: Tool + ?Sized>() -> Error {
    Error::unsupported(format!("`{}` cannot take a call back", T::NAME))
}

/// A finding of the contract's lint that is meant to be, with the reason.
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// const MEANT: &[LintException] =
///     &[LintException::new("unbounded-text", "A note may have any length.").at("/note")];
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintException {
    pub(crate) rule: &'static str,
    pub(crate) at: &'static str,
    pub(crate) reason: &'static str,
}

impl LintException {
    /// An exception for the whole tool, by the id that `foehn contract lint` prints.
    pub const fn new(rule: &'static str, reason: &'static str) -> Self {
        Self { rule, at: "", reason }
    }

    /// The same exception for one argument only: its JSON pointer, for instance `/filter/name`.
    #[must_use]
    pub const fn at(mut self, pointer: &'static str) -> Self {
        self.at = pointer;
        self
    }
}

/// Work that a plugin does in the background, when its time comes or when it is asked.
pub trait Job: Send + Sync + 'static {
    /// Name of the job.
    const NAME: &'static str;

    /// What it does, for the operator.
    const DESCRIPTION: &'static str;

    /// How often it wants to run, in seconds; `None` = only when asked.
    const EVERY_SECONDS: Option<u64> = None;

    /// Its arguments: a type under [`#[args]`](crate::args).
    type Args: DeserializeOwned + JsonSchema;

    /// What it returns.
    type Out: IntoOutput;

    /// Does the work.
    ///
    /// # Errors
    /// Whatever went wrong.
    fn run(&self, args: Self::Args, cx: &Cx<'_>) -> Result<Self::Out>;
}

/// A text that goes into the model's context before each request.
pub trait Context: Send + Sync + 'static {
    /// Name of the context.
    const NAME: &'static str;

    /// How often the text changes. Only a dynamic one costs a call before each request.
    const KIND: ContextKind = ContextKind::Dynamic;

    /// The text of a static or clock context; see [`ContextKind`] for the placeholders.
    const TEXT: Option<&'static str> = None;

    /// The current text of a dynamic context.
    ///
    /// # Errors
    /// When there is none; the host then leaves it out.
    fn text(&self, cx: &Cx<'_>) -> Result<String> {
        let _ = cx;
        Self::TEXT
            .map(str::to_owned)
            .ok_or_else(|| Error::unsupported(format!("context `{}` has no text", Self::NAME)))
    }
}

/// The arguments of a tool or job that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArgs {}
