//! The contract that a host enforces between the model and the plugin.

use std::sync::Arc;

use foehn_contract::lint::lint;
use foehn_contract::{Coercion, Contract, names};
use foehn_plugin_sdk::Plugin;
use foehn_plugin_sdk::wire::ToolSpec;
use serde_json::Value;

pub use foehn_protocol::Problem;

/// Fails unless a host could offer every tool of a plugin to a model, and `foehn contract lint` finds nothing in it.
///
/// ```
/// # use foehn_plugin_sdk::prelude::*;
/// # struct Now;
/// # impl Tool for Now {
/// #     const NAME: &'static str = "now";
/// #     const DESCRIPTION: &'static str = "Tell the time.";
/// #     type Args = NoArgs;
/// #     type Out = &'static str;
/// #     type Config = ();
/// #     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<&'static str> { Ok("noon") }
/// # }
/// # export_plugin!(Now);
/// # fn main() {
/// foehn_plugin_testkit::assert_contract!(foehn_plugin());
/// # }
/// ```
#[macro_export]
macro_rules! assert_contract {
    ($plugin:expr) => {
        let problems = $crate::contract_problems(&$plugin);
        ::core::assert!(problems.is_empty(), "the plugin's contract has problems: {problems:#?}");
    };
}

/// Why a host could not offer the tools of a plugin; see [`assert_contract!`].
pub fn contract_problems(plugin: &Plugin) -> Vec<String> {
    let manifest = plugin.manifest();
    let mut problems = Vec::from_iter(manifest.error.clone());
    for tool in &manifest.tools {
        let names = std::iter::once(&tool.name).chain(&tool.aliases);
        problems
            .extend(names.filter_map(|name| names::check_name(name).err()).map(|error| error.to_string()));
        problems.extend(contract_of(&manifest.plugin, tool).usable().err().map(|error| error.to_string()));
    }
    let tools: Vec<foehn_protocol::ToolSpec> =
        manifest.tools.iter().map(|tool| spec_of(&manifest.plugin, tool)).collect();
    problems.extend(lint(&tools).into_iter().map(|finding| finding.to_string()));
    problems
}

/// What a host lets through to the tool of arguments as a model wrote them, or everything that is wrong with them.
///
/// # Errors
/// The problems that the model is told.
///
/// # Panics
/// When the plugin has no such tool.
#[track_caller]
pub fn accepted(plugin: &Plugin, tool: &str, arguments: &str) -> Result<Value, Vec<Problem>> {
    let manifest = plugin.manifest();
    let Some(spec) = manifest.tools.iter().find(|spec| spec.name == tool) else {
        panic!("plugin `{}` has no tool `{tool}`", manifest.plugin);
    };
    let contract = contract_of(&manifest.plugin, spec);
    contract.check(arguments, Coercion::default()).map(|accepted| accepted.value)
}

fn contract_of(plugin: &str, tool: &ToolSpec) -> Contract {
    Contract::new(Arc::new(spec_of(plugin, tool)))
}

/// A tool of a manifest as a host reads it.
fn spec_of(plugin: &str, tool: &ToolSpec) -> foehn_protocol::ToolSpec {
    let mut spec = serde_json::to_value(tool).expect("a tool has a JSON form");
    spec["plugin"] = plugin.into();
    serde_json::from_value(spec).expect("a manifest's tool is a tool of the host")
}
