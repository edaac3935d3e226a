//! What an operator's lists make of a call: the host's own rules, over what the plugin says that the call would do.

use foehn_plugin_sdk::wire::{self, Classification};
use foehn_policy::{Rules, decide};
use foehn_protocol::{Operation, Risk, ToolSpec};

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
        let operation = |found: &wire::Operation| {
            let declared = spec.operations.iter().find(|operation| operation.name == found.name);
            let declared = declared.and_then(|operation| operation.risk).unwrap_or(spec.risk);
            Operation {
                name: found.name.clone(),
                risk: found.risk.map_or(declared, risk),
                target: found.target.clone(),
            }
        };
        let operations = classification.operations.iter().map(operation).collect();
        let classification = foehn_protocol::Classification { operations, ..Default::default() };
        decide(&self.0, spec, &classification).verdict.outcome
    }
}

/// A risk of the plugin's in the words of the host, which are the same.
fn risk(from: wire::Risk) -> Risk {
    let word = serde_json::to_value(from).expect("a risk has a JSON form");
    serde_json::from_value(word).expect("a plugin's risk is one of the host")
}
