//! The contract that a host enforces between the model and the plugin.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use foehn_contract::change::{Change, Class, changes};
use foehn_contract::lint::lint;
use foehn_contract::snapshot::{Acceptance, Snapshot};
use foehn_contract::{Coercion, Contract, budget, names};
use foehn_plugin_sdk::Plugin;
use foehn_plugin_sdk::wire::ToolSpec;
use foehn_protocol::ToolSpec as HostToolSpec;
use serde_json::Value;

pub use foehn_contract::budget::DEFAULT_CHARACTERS;
pub use foehn_protocol::Problem;

/// The snapshot beside a package's `Cargo.toml`.
const FILE: &str = "contract.json";
/// Set to `update`, the snapshot is written.
const UPDATE: &str = "FOEHN_CONTRACT";
/// Why a breaking change may be.
const REASON: &str = "FOEHN_CONTRACT_REASON";

/// Fails unless a host could offer every tool of a plugin to a model, `foehn contract lint` finds nothing in it, and the
/// definitions fit the host's default budget, or the number of characters given as a second argument.
///
/// Where a `contract.json` lies beside the package's `Cargo.toml`, it also fails at any change since that was written, and
/// says which ones break calls of the past. `FOEHN_CONTRACT=update cargo test` writes the file, also for the first time; a
/// breaking change is written only with a reason in `FOEHN_CONTRACT_REASON`, which the file keeps.
///
/// ```
/// # use foehn_plugin_sdk::prelude::*;
/// # struct Now;
/// # impl Tool for Now {
/// #     const NAME: &'static str = "now";
/// #     const DESCRIPTION: &'static str = "Tell the time of day.";
/// #     const RISK: Risk = Risk::ReadOnly;
/// #     type Args = NoArgs;
/// #     type Out = &'static str;
/// #     type Config = ();
/// #     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<&'static str> { Ok("noon") }
/// # }
/// # export_plugin!(Now);
/// # fn main() {
/// foehn_plugin_testkit::assert_contract!(foehn_plugin());
/// foehn_plugin_testkit::assert_contract!(foehn_plugin(), 200);
/// # }
/// ```
#[macro_export]
macro_rules! assert_contract {
    ($plugin:expr) => {
        $crate::assert_contract!($plugin, $crate::DEFAULT_CHARACTERS)
    };
    ($plugin:expr, $characters:expr) => {
        let problems = $crate::contract_problems(&$plugin, $characters, ::core::env!("CARGO_MANIFEST_DIR"));
        ::core::assert!(problems.is_empty(), "the plugin's contract has problems: {problems:#?}");
    };
}

/// Everything that is wrong with the contract of a plugin whose package lies in `folder`; see [`assert_contract!`].
pub fn contract_problems(plugin: &Plugin, characters: usize, folder: impl AsRef<Path>) -> Vec<String> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let update = (variable(UPDATE) == "update").then(|| variable(REASON));
    let manifest = plugin.manifest();
    let mut problems = Vec::from_iter(manifest.error.clone());
    for tool in &manifest.tools {
        let names = std::iter::once(&tool.name).chain(&tool.aliases);
        problems
            .extend(names.filter_map(|name| names::check_name(name).err()).map(|error| error.to_string()));
    }
    let tools: Vec<HostToolSpec> =
        manifest.tools.iter().map(|tool| spec_of(&manifest.plugin, tool)).collect();
    problems.extend(lint(&tools).into_iter().map(|finding| finding.to_string()));
    let used = budget::characters(&tools);
    if used > characters {
        problems
            .push(format!("the definitions have {used} characters, {characters} are allowed; shorten them"));
    }
    problems.extend(changes_since(&tools, &folder.as_ref().join(FILE), update.as_deref()));
    problems
}

/// The differences from the snapshot; none when there is no snapshot, or when it was just written.
fn changes_since(tools: &[HostToolSpec], path: &Path, update: Option<&str>) -> Vec<String> {
    let told = |problem: &dyn std::fmt::Display| vec![format!("{}: {problem}", path.display())];
    let kept = match fs::read_to_string(path) {
        Ok(text) => match Snapshot::read(&text) {
            Ok(kept) => Some(kept),
            Err(error) => return told(&error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return told(&error),
    };
    let mut now = Snapshot::of(tools);
    let found = kept.as_ref().map(|kept| changes(&kept.tools, &now.tools)).unwrap_or_default();
    let Some(reason) = update else {
        let line = |change: &Change| {
            format!("{FILE}: {} {change}; `{UPDATE}=update` writes it", change.class.word())
        };
        return found.iter().map(line).collect();
    };
    let breaking: Vec<String> =
        found.iter().filter(|change| change.class == Class::Breaking).map(ToString::to_string).collect();
    now.history = kept.map(|kept| kept.history).unwrap_or_default();
    if !breaking.is_empty() && reason.trim().is_empty() {
        let line = |change| format!("{FILE}: breaking {change}; say in `{REASON}` why that may be");
        return breaking.into_iter().map(line).collect();
    }
    if !breaking.is_empty() {
        now.history.push(Acceptance { reason: reason.trim().to_owned(), changes: breaking });
    }
    match now.write() {
        Ok(text) => fs::write(path, text).err().map(|error| told(&error)).unwrap_or_default(),
        Err(error) => told(&error),
    }
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
pub(crate) fn spec_of(plugin: &str, tool: &ToolSpec) -> HostToolSpec {
    let mut spec = serde_json::to_value(tool).expect("a tool has a JSON form");
    spec["plugin"] = plugin.into();
    serde_json::from_value(spec).expect("a manifest's tool is a tool of the host")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::TempWorkspace;

    fn tools(most: u32) -> Vec<HostToolSpec> {
        let schema = json!({"type": "object", "properties": {"count": {"type": "integer", "maximum": most}}});
        vec![HostToolSpec { name: "count".to_owned(), schema, ..HostToolSpec::default() }]
    }

    #[test]
    fn a_snapshot_beside_the_package_notices_every_change() {
        let folder = TempWorkspace::empty();
        let path = folder.join(FILE);
        let check = |most: u32, update: Option<&str>, expected: &[&str]| {
            assert_eq!(changes_since(&tools(most), &path, update), expected, "{most} {update:?}");
        };
        check(9, None, &[]);
        assert_eq!(folder.list(), Vec::<String>::new());
        check(9, Some(""), &[]);
        check(9, None, &[]);
        let narrowed = "contract.json: breaking `count` at `/count`: `maximum` changed from 9 to 5; values that were accepted are \
                        refused; `FOEHN_CONTRACT=update` writes it";
        check(5, None, &[narrowed]);
        let unexplained = "contract.json: breaking `count` at `/count`: `maximum` changed from 9 to 5; values that were accepted \
                           are refused; say in `FOEHN_CONTRACT_REASON` why that may be";
        check(5, Some(" "), &[unexplained]);
        check(5, Some("Nine was never reached."), &[]);
        check(5, None, &[]);
        let widened = "contract.json: safe `count` at `/count`: `maximum` changed from 5 to 6; more values are accepted; \
                       `FOEHN_CONTRACT=update` writes it";
        check(6, None, &[widened]);
        check(6, Some(""), &[]);
        assert!(folder.read(FILE).contains("Nine was never reached."));
    }

    #[test]
    fn a_damaged_snapshot_is_told_and_kept() {
        let folder = TempWorkspace::new([(FILE, "[")]);
        let problems = changes_since(&tools(1), &folder.join(FILE), Some("because"));
        assert!(problems[0].contains("it is no snapshot of a contract"), "{problems:?}");
        assert_eq!(folder.read(FILE), "[");
    }
}
