//! What an operator's lists make of a call: the host's own rules, over what the plugin says that the call would do.

use foehn_plugin_sdk::wire::Classification;
use foehn_policy::{Rules, decide};
use foehn_protocol::{Operation, ToolSpec};

pub use foehn_protocol::Outcome;

/// The lists of one tool in an operator's configuration; the default is none at all.
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// use foehn_plugin_testkit::{Lists, Outcome, json, run};
///
/// struct Tidy;
///
/// impl Tool for Tidy {
///     const NAME: &'static str = "tidy";
///     const DESCRIPTION: &'static str = "Tidy the room.";
///     const RISK: Risk = Risk::Write;
///     type Args = NoArgs;
///     type Out = ();
///     type Config = ();
///     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<()> { Ok(()) }
/// }
///
/// let verdict = |lists| run(Tidy, json!({})).verdict(&lists);
/// assert_eq!(verdict(Lists::default()), Outcome::Ask);
/// assert_eq!(verdict(Lists::default().allow(&["tidy"])), Outcome::Allow);
/// assert_eq!(verdict(Lists::default().allow(&["*"]).deny(&["tidy"])), Outcome::Deny);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lists(Rules);

impl Lists {
    /// With these operations that run unasked.
    #[must_use]
    pub fn allow(mut self, operations: &[&str]) -> Self {
        self.0.allow = Some(operations.iter().map(ToString::to_string).collect());
        self
    }

    /// With these operations that never run.
    #[must_use]
    pub fn deny(mut self, operations: &[&str]) -> Self {
        self.0.deny = operations.iter().map(ToString::to_string).collect();
        self
    }

    pub(crate) fn decide(&self, spec: &ToolSpec, classification: &Classification) -> Outcome {
        // The rest of a classification is for people.
        let operations =
            serde_json::to_value(&classification.operations).expect("operations have a JSON form");
        let operations: Vec<Operation> =
            serde_json::from_value(operations).expect("a plugin's operation is one of the host");
        let classification = foehn_protocol::Classification { operations, ..Default::default() };
        decide(&self.0, spec, &classification).verdict.outcome
    }
}
