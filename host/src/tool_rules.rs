//! From the permissions of the configuration to the rules of the tools that are there.
//!
//! A renamed tool keeps its old name as an alias, and rules written for that name must go on holding: a `deny` that no
//! longer matches would be a permission that nobody gave.

use std::collections::BTreeMap;
use std::sync::Arc;

use foehn_config::settings::ToolSection;
use foehn_policy::Rules;
use foehn_protocol::ToolSpec;

/// The rules under the present name of each tool. Sections of its former names add to those of the present one.
pub(crate) fn by_tool(
    sections: &BTreeMap<String, ToolSection>,
    find: impl Fn(&str) -> Option<Arc<ToolSpec>>,
) -> BTreeMap<String, Rules> {
    let mut all: BTreeMap<String, Rules> = BTreeMap::new();
    for (name, section) in sections {
        let spec = find(name);
        let present = spec.as_ref().map_or(name, |spec| &spec.name);
        let rules = all.entry(present.clone()).or_default();
        rules.deny.extend(names(&section.deny, spec.as_deref()));
        if let Some(allow) = &section.allow {
            rules.allow.get_or_insert_default().extend(names(allow, spec.as_deref()));
        }
    }
    all
}

/// Operations as configured. One that is named as the tool once was means the tool itself.
fn names(configured: &[String], spec: Option<&ToolSpec>) -> Vec<String> {
    let present = |name: &String| {
        let renamed = spec.filter(|spec| {
            spec.aliases.contains(name) && !spec.operations.iter().any(|operation| operation.name == *name)
        });
        renamed.map_or_else(|| name.clone(), |spec| spec.name.clone())
    };
    configured.iter().map(present).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_follow_a_renamed_tool() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let tool = Arc::new(ToolSpec {
            name: "read_note".to_owned(),
            aliases: names(&["get_note"]),
            ..ToolSpec::default()
        });
        let find = |name: &str| ["read_note", "get_note"].contains(&name).then(|| Arc::clone(&tool));
        let section = |allow: Option<&[&str]>, deny: &[&str]| ToolSection {
            allow: allow.map(names),
            deny: names(deny),
            ..ToolSection::default()
        };
        let sections = BTreeMap::from([
            ("get_note".to_owned(), section(Some(&["list"]), &["get_note", "print"])),
            ("read_note".to_owned(), section(None, &["scan"])),
            ("gone".to_owned(), section(None, &["gone"])),
        ]);
        let rules = |allow: Option<&[&str]>, deny: &[&str]| Rules {
            allow: allow.map(names),
            deny: names(deny),
            default: None,
        };
        let expected = BTreeMap::from([
            ("gone".to_owned(), rules(None, &["gone"])),
            ("read_note".to_owned(), rules(Some(&["list"]), &["read_note", "print", "scan"])),
        ]);
        assert_eq!(by_tool(&sections, find), expected);
    }
}
