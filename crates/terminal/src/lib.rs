//! Draws [`Event`](foehn_protocol::Event)s and sends [`Op`](foehn_protocol::Op)s: the front end of a terminal and of
//! pipes.
//!
//! It knows nothing of the engine behind the two queues, decides nothing, and is the only library that prints:
//! answers and `--json` lines go to stdout, all talk goes to stderr. What a model or a tool wrote is never sent to a
//! terminal raw, see [`visible`].

mod approval;
mod chat;
mod draw;
mod exit;
mod input;
mod json;
mod once;
mod visible;

pub use approval::{Reply, approval_card, parse_reply};
pub use chat::{Chat, ChatEnd};
pub use draw::Drawer;
pub use exit::{ExitCode, exit_code};
pub use input::Lines;
pub use once::{Once, Style};
pub use visible::visible;
