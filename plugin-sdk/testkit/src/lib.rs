//! Run a Foehn tool in a unit test, without a host.
//!
//! A call goes the very way it goes in the product: the configuration is opened and the arguments are sent as JSON through
//! the ABI's own objects, and a [`Reply`](foehn_plugin_sdk::wire::Reply) comes back. What is missing is the host around it: no
//! sandbox and no permissions. What the host makes of arguments before the plugin sees them is in [`accepted`], what an operator's
//! lists make of a call in [`Call::verdict`].
//!
//! ```
//! use foehn_plugin_sdk::prelude::*;
//! use foehn_plugin_testkit::{TempWorkspace, TestHost, json, run};
//!
//! struct Shout;
//!
//! #[args]
//! struct ShoutArgs { path: String }
//!
//! impl Tool for Shout {
//!     const NAME: &'static str = "shout";
//!     const DESCRIPTION: &'static str = "Read a file aloud.";
//!     type Args = ShoutArgs;
//!     type Out = String;
//!     type Config = ();
//!     fn run(&self, args: ShoutArgs, cx: &Cx<'_>) -> Result<String> {
//!         let workspace = cx.workspace()?;
//!         let bytes = workspace.read(&workspace.resolve(&args.path)?, 1024)?;
//!         cx.progress("shouting");
//!         Ok(String::from_utf8(bytes)?.to_uppercase())
//!     }
//! }
//!
//! let workspace = TempWorkspace::new([("a.txt", "hello")]);
//! let host = TestHost::new();
//! let reply = run(Shout, json!({"path": "a.txt"})).workspace(&workspace).run_on(&host);
//! assert_eq!(reply.text(), "HELLO");
//! assert_eq!(host.progress(), ["shouting"]);
//! ```
#![deny(missing_docs)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "everything here runs in tests, where a failure is reported by a panic"
)]

mod call;
mod contract;
mod host;
mod verdict;
mod workspace;

pub use call::{Call, call, run};
pub use contract::{DEFAULT_CHARACTERS, Problem, accepted, contract_problems};
pub use host::TestHost;
pub use serde_json::{Value, json};
pub use verdict::{Lists, Outcome};
pub use workspace::TempWorkspace;
