//! The offline stand-in: a model without a model, for the first minutes on a fresh machine and for tests.
//!
//! Without a script it serves plain requests ("read FILE", "which source files here are the largest?"): it picks a tool
//! by its words, fills the arguments from the text, reads the results and answers from them, and says in every answer
//! that it is a stand-in. It refuses to guess: what no tool fits is answered with what it can do.
//!
//! With a script it plays turns and faults, in this process or, by [`Server`], over HTTP to any client.
//!
//! # Scripts
//!
//! A TOML file (or the same as JSON). Each request is answered by the first turn, in the order of the file, that was
//! not played yet and whose conditions hold.
//!
//! ```toml
//! fragment = 8                    # letters per piece of a stream; without it, each text comes in one piece
//! habits = ["missing_id"]         # bad habits of all turns, see below
//! strict = ["paired_results"]     # what the server refuses with 400, see below
//!
//! [[turn]]
//! nth = 1                         # only as the answer to the nth request, counted from 1
//! user = "(?i)largest"            # only when this regular expression matches the last user text
//! tool_result = '"ok":true'       # only when the request ends in results and one of them matches
//! always = false                  # true: may be played again and again
//! reasoning = "let me look"
//! text = "Looking."
//! calls = [
//!     { name = "scan", arguments = { path = "." } },
//!     { name = "scan", arguments = '{"path": ".", "path": ".."}', id = "x" },  # a string is sent as it stands
//! ]
//! finish = "tool_calls"           # as written on the wire; without it, what fits
//! usage = { input = 10, output = 2, cached = 0 }   # without it, none is told
//! delay_ms = 0                    # silence before the answer
//! habits = ["args_empty"]         # further habits of this turn
//!
//! [[turn]]
//! fault = { status = 429, headers = { retry-after = "2" }, body = "slow down" }
//! ```
//!
//! `fault` is one of: `status` with optional `headers` and `body`; `close = true` (the connection ends without a
//! reply); or, after so many events of the answer: `cut_after` (the connection ends), `stall_after` (silence),
//! `error_after` with an `error` value (an error object in the stream), `malformed_after` (a line that is no JSON);
//! or `plain = true` (one JSON document though a stream was asked for); or `raw` (this text instead of the stream).
//!
//! Habits are the names of [`Habit`]. When the host refuses a call for how a habit wrote it, no turn is played: the model
//! corrects what the answer names, again and again if need be, and gives up when it is told nothing it can use. With
//! `ignore_hints` or `apologise` it repeats its calls instead.
//!
//! Strictness: `paired_results` (each call has exactly one result, right after it), `object_arguments` (arguments in
//! the history parse as an object), `nine_character_ids` (ids match `^[a-zA-Z0-9]{9}$`), `no_user_after_result`,
//! `no_stream_options`.

mod conduct;
mod demo;
mod habits;
mod play;
mod script;
mod serve;
mod stand_in;

pub use habits::{Draft, Habit, Reaction, Shows, UnknownHabit};
pub use script::{Call, Fault, Pattern, Script, ScriptError, Tokens, Turn};
pub use serve::{Recorded, Server, Strictness, serve};
pub(crate) use stand_in::Offline;
