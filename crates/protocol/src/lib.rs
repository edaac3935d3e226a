//! Plain data of a conversation: what goes in ([`Op`]), what comes out ([`Event`]), what is kept ([`Entry`]), and the
//! messages, calls and ids they are made of.
//!
//! This crate refuses behaviour: no IO, no clients, no policy. Everything here may be written to a store or printed
//! by `--json`, so a field is only ever added, and enums that cross a version boundary keep their spelling.

mod call;
mod entry;
mod event;
mod ids;
mod message;
mod op;
mod tool;
mod verdict;

pub use call::{ErrorCode, Executed, Problem, ToolCall, ToolResult, Undone};
pub use entry::Entry;
pub use event::{EVENT_VERSION, Event, EventBody, NoticeLevel, TurnStatus};
pub use ids::{ApprovalId, CallId, SessionId, TurnId};
pub use message::{AssistantMessage, Finish, Message, Part, Usage};
pub use op::{Decision, Op};
pub use tool::{Capabilities, FileAccess, LintException, NetworkAccess, OperationSpec, Risk, ToolSpec};
pub use verdict::{Approval, Classification, Facts, Operation, Outcome, Preview, Verdict};
