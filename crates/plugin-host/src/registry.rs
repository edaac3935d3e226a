//! All plugins of a set and the names their tools answer to. A name that two plugins claim belongs to neither: whichever
//! won, somebody would call something else than they think.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foehn_plugin_sdk::wire::Manifest;
use foehn_protocol::ToolSpec;
use serde_json::Value;

use crate::discover::Refusal;
use crate::plugin::{Listed, Plugin, PluginState};
use crate::profile::Grant;
use crate::reply::tool_spec;
use crate::scan::{FileKey, Found};
use crate::settings::Isolation;

/// One state of the plugins folder. Replaced as a whole.
#[derive(Default)]
pub(crate) struct Registry {
    pub slots: Vec<Slot>,
    /// By name and by alias.
    names: BTreeMap<String, Arc<Tool>>,
    offered: Vec<Arc<ToolSpec>>,
    pub warnings: Vec<String>,
}

/// One file.
pub(crate) struct Slot {
    pub found: Found,
    /// The file as it was looked at; `None` when not even that was possible.
    pub seen: Option<FileKey>,
    pub plugin: Result<Arc<Plugin>, Refusal>,
    /// Why a newer file is not used although it is there.
    pub kept: Option<String>,
}

/// One tool that can be called.
pub(crate) struct Tool {
    pub spec: Arc<ToolSpec>,
    pub plugin: Arc<Plugin>,
    pub execute: Grant,
    pub classify: Grant,
}

impl Registry {
    pub(crate) fn new(slots: Vec<Slot>, mut warnings: Vec<String>) -> Self {
        let plugins: Vec<_> = slots.iter().filter_map(|slot| slot.plugin.as_ref().ok()).collect();
        let sources: Vec<_> = plugins
            .iter()
            .map(|plugin| Source { name: &plugin.name, file: &plugin.path, manifest: &plugin.manifest })
            .collect();
        let merged = merge(&sources);
        warnings.extend(merged.warnings);
        warnings.extend(slots.iter().filter_map(|slot| slot.kept.clone()));
        let mut names = BTreeMap::new();
        let mut offered = Vec::new();
        for Claim { plugin, tool, aliases } in merged.tools {
            let (Some(plugin), Some(wire)) =
                (plugins.get(plugin), sources.get(plugin).and_then(|source| source.manifest.tools.get(tool)))
            else {
                continue;
            };
            let settings = &plugin.shared.settings;
            // A renamed tool keeps the section under its old name.
            let section = plugin.section(wire);
            let spec = Arc::new(ToolSpec { aliases: aliases.clone(), ..tool_spec(&plugin.name, wire) });
            let tool = Arc::new(Tool {
                spec: Arc::clone(&spec),
                plugin: Arc::clone(plugin),
                execute: if wire.lasting {
                    plugin.lasting_grant()
                } else {
                    Grant::execute(wire, &settings.sandbox, section)
                },
                classify: Grant::classify(wire),
            });
            for name in aliases.into_iter().chain([wire.name.clone()]) {
                names.insert(name, Arc::clone(&tool));
            }
            offered.push(spec);
        }
        offered.sort_by(|left, right| left.name.cmp(&right.name));
        Self { slots, names, offered, warnings }
    }

    pub(crate) fn offered(&self) -> &[Arc<ToolSpec>] {
        &self.offered
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.names.get(name)
    }

    pub(crate) fn plugin(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.found.name == name)
    }

    pub(crate) fn slot_of(&self, path: &Path) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.found.path == path)
    }

    pub(crate) fn listing(&self, isolation: impl Fn(&str) -> Isolation) -> Vec<Listed> {
        self.slots
            .iter()
            .map(|slot| Listed {
                file: slot.found.path.clone(),
                name: slot.found.name.clone(),
                state: slot.state(),
                manifest: slot.plugin.as_ref().ok().map(|plugin| Arc::clone(&plugin.manifest)),
                hash: match &slot.plugin {
                    Ok(plugin) => Some(plugin.hash.clone()),
                    Err(Refusal::NotTrusted { hash, .. }) => Some(hash.clone()),
                    Err(_) => None,
                },
                isolation: isolation(&slot.found.name),
            })
            .collect()
    }
}

impl Slot {
    fn state(&self) -> PluginState {
        match &self.plugin {
            Ok(plugin) => {
                plugin.disabled().map_or(PluginState::Ready, |reason| PluginState::Disabled { reason })
            }
            Err(Refusal::NotTrusted { hash, .. }) => PluginState::NotTrusted { hash: hash.clone() },
            Err(reason @ Refusal::SwitchedOff) => PluginState::Disabled { reason: reason.to_string() },
            Err(reason) => PluginState::Refused { reason: reason.to_string() },
        }
    }
}

struct Source<'a> {
    name: &'a str,
    file: &'a Path,
    manifest: &'a Manifest,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Merged {
    tools: Vec<Claim>,
    warnings: Vec<String>,
}

/// A tool that keeps its name, by position, with the aliases it keeps.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    plugin: usize,
    tool: usize,
    aliases: Vec<String>,
}

fn merge(sources: &[Source<'_>]) -> Merged {
    let mut merged = Merged::default();
    let mut claims: BTreeMap<&str, Vec<&Source<'_>>> = BTreeMap::new();
    for source in sources {
        for tool in &source.manifest.tools {
            for name in std::iter::once(&tool.name).chain(&tool.aliases) {
                claims.entry(name).or_default().push(source);
            }
        }
    }
    for (name, claimants) in &claims {
        if let [first, others @ ..] = claimants.as_slice()
            && !others.is_empty()
        {
            let files: Vec<_> = std::iter::once(first)
                .chain(others)
                .map(|source| format!("`{}`", source.file.display()))
                .collect();
            merged.warnings.push(format!(
                "tool `{name}` is not offered: {} both bring it; rename or remove one of them",
                files.join(" and ")
            ));
        }
    }
    let is_free = |name: &str| claims.get(name).is_some_and(|claimants| claimants.len() == 1);
    for (plugin, source) in sources.iter().enumerate() {
        if !source.manifest.unwind {
            merged.warnings.push(format!(
                "plugin `{}` is built with `panic = \"abort\"`: a panic in one call ends its whole worker",
                source.name
            ));
        }
        for (tool, spec) in source.manifest.tools.iter().enumerate() {
            if let Some(problem) = tool_problem(&spec.name, &spec.schema) {
                merged.warnings.push(format!(
                    "tool `{}` of `{}` is not offered: {problem}",
                    spec.name,
                    source.file.display()
                ));
            } else if is_free(&spec.name) {
                let aliases =
                    spec.aliases.iter().filter(|alias| is_free(alias) && is_name(alias)).cloned().collect();
                merged.tools.push(Claim { plugin, tool, aliases });
            }
        }
    }
    merged
}

fn tool_problem(name: &str, schema: &Value) -> Option<&'static str> {
    if !is_name(name) {
        return Some("its name is not 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`");
    }
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    (!is_object).then_some("the schema of its arguments is not that of an object (`\"type\": \"object\"`)")
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Sections of the configuration that no tool reads, which is nearly always a slip of the pen.
pub(crate) fn unused_sections<'a>(sections: impl Iterator<Item = &'a String>, slots: &[Slot]) -> Vec<String> {
    let known = |section: &str| {
        slots
            .iter()
            .filter_map(|slot| slot.plugin.as_ref().ok())
            .flat_map(|plugin| &plugin.manifest.tools)
            .any(|tool| tool.name == section || tool.aliases.iter().any(|alias| alias == section))
    };
    sections
        .filter(|section| !known(section))
        .map(|section| {
            format!("the configuration of tool `{section}` is not used: no loaded plugin brings that tool")
        })
        .collect()
}

/// For messages about a folder that cannot be read.
pub(crate) fn unreadable_folder(folder: &Path, error: &std::io::Error) -> String {
    format!("the plugins folder `{}` cannot be read: {error}", folder.display())
}

/// A duplicate of a plugin's name: the first file in order keeps it.
pub(crate) fn first_of_name<'a>(slots: impl IntoIterator<Item = &'a Found>, name: &str) -> Option<PathBuf> {
    slots.into_iter().find(|found| found.name == name).map(|found| found.path.clone())
}

#[cfg(test)]
mod tests {
    use foehn_plugin_sdk::wire;
    use serde_json::json;

    use super::*;

    fn manifest(tools: &[(&str, &[&str])]) -> Manifest {
        let tools = tools.iter().map(|(name, aliases)| wire::ToolSpec {
            name: (*name).to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            schema: json!({"type": "object"}),
            ..wire::ToolSpec::default()
        });
        Manifest { unwind: true, tools: tools.collect(), ..Manifest::default() }
    }

    /// Offered tools as `PLUGIN/TOOL[ALIASES]`, and the warnings.
    fn check(manifests: &[Manifest], tools: &[&str], warnings: &[&str]) {
        let names: Vec<_> = (0..manifests.len()).map(|index| format!("p{index}")).collect();
        let files: Vec<_> = names.iter().map(|name| PathBuf::from(format!("{name}.so"))).collect();
        let sources: Vec<_> = manifests
            .iter()
            .zip(names.iter().zip(&files))
            .map(|(manifest, (name, file))| Source { name, file, manifest })
            .collect();
        let merged = merge(&sources);
        let found: Vec<_> = merged
            .tools
            .iter()
            .map(|claim| {
                let name = &manifests[claim.plugin].tools[claim.tool].name;
                format!("p{}/{name}[{}]", claim.plugin, claim.aliases.join(","))
            })
            .collect();
        assert_eq!(
            (found, merged.warnings),
            (
                tools.iter().map(ToString::to_string).collect(),
                warnings.iter().map(ToString::to_string).collect()
            )
        );
    }

    #[test]
    fn a_name_of_two_belongs_to_neither() {
        check(
            &[manifest(&[("read", &[]), ("list", &[])]), manifest(&[("read", &[]), ("write", &[])])],
            &["p0/list[]", "p1/write[]"],
            &["tool `read` is not offered: `p0.so` and `p1.so` both bring it; rename or remove one of them"],
        );
    }

    #[test]
    fn an_alias_is_a_name_too() {
        check(
            &[manifest(&[("read", &[])]), manifest(&[("read_file", &["read", "cat"])])],
            &["p1/read_file[cat]"],
            &["tool `read` is not offered: `p0.so` and `p1.so` both bring it; rename or remove one of them"],
        );
    }

    #[test]
    fn unusable_tools_are_named() {
        let mut odd = manifest(&[("good", &[]), ("bad name", &[]), ("scalar", &[])]);
        odd.tools[2].schema = json!({"type": "string"});
        odd.unwind = false;
        check(
            &[odd],
            &["p0/good[]"],
            &[
                "plugin `p0` is built with `panic = \"abort\"`: a panic in one call ends its whole worker",
                "tool `bad name` of `p0.so` is not offered: its name is not 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`",
                "tool `scalar` of `p0.so` is not offered: the schema of its arguments is not that of an object (`\"type\": \"object\"`)",
            ],
        );
    }
}
