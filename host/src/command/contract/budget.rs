//! `foehn contract budget`: what the definitions of the agent's tools cost with each request.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use foehn_contract::budget::{Cost, Size, costs};
use foehn_ports::Toolbox as _;
use foehn_terminal::ExitCode;
use serde_json::{Value, json};

use super::{Tools, read};
use crate::output::{line, remark, table};
use crate::setup::Setup;

pub(super) fn budget(setup: &Setup, tools: &Tools, snapshot: &Path, as_json: bool) -> Result<ExitCode> {
    let offered = setup.toolbox(&tools.plugins)?.tools();
    let now = costs(offered.iter().map(AsRef::as_ref), tokens);
    let kept = read(snapshot)?.map(|snapshot| costs(&snapshot.specs(), tokens));
    let rows = rows(&setup.agent, &now, kept.as_deref());
    let total: Size = now.iter().map(|cost| cost.size).sum();
    let limits = &setup.loaded.settings.contract;
    if as_json {
        for row in &rows {
            let mut value = row.value();
            if row.kind == "agent" {
                value["max_characters"] = limits.max_characters.into();
                value["max_tokens"] = limits.max_tokens.into();
            }
            line(&value)?;
        }
    } else {
        let cells = rows.iter().map(Row::cells).collect();
        table(&["", "CHARACTERS", "TOKENS", "SINCE THE SNAPSHOT"], cells, "")?;
        if kept.is_none() {
            remark("there is no snapshot to compare with; `foehn contract snapshot` takes one");
        }
    }
    let mut code = 0;
    for (what, used, limit) in [
        ("characters", total.characters, Some(limits.max_characters)),
        ("tokens", total.tokens, limits.max_tokens),
    ] {
        if let Some(limit) = limit.filter(|limit| u64::try_from(used).is_ok_and(|used| used > *limit)) {
            remark(&format!(
                "the tools of `{}` take {used} {what}, the limit is {limit} (contract.max_{what}); shorten descriptions, or \
                 enable fewer tools",
                setup.agent
            ));
            code = 1;
        }
    }
    Ok(code)
}

/// Counted as one vendor does, by a table that is unpacked at the first use.
fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// One line: a tool, all tools of a plugin, or all of the agent's.
struct Row<'c> {
    kind: &'static str,
    name: &'c str,
    size: Size,
    kept: Option<Size>,
}

fn rows<'c>(agent: &'c str, now: &'c [Cost], kept: Option<&[Cost]>) -> Vec<Row<'c>> {
    let kept_of = |cost: &Cost| kept?.iter().find(|kept| kept.tool == cost.tool).map(|kept| kept.size);
    let mut plugins: BTreeMap<&str, Vec<Row<'_>>> = BTreeMap::new();
    for cost in now {
        let row = Row { kind: "tool", name: &cost.tool, size: cost.size, kept: kept_of(cost) };
        plugins.entry(&cost.plugin).or_default().push(row);
    }
    let sum = |rows: &[Row<'_>]| -> (Size, Option<Size>) {
        let before = kept.map(|_| rows.iter().filter_map(|row| row.kept).sum());
        (rows.iter().map(|row| row.size).sum(), before)
    };
    let mut rows = Vec::new();
    let mut sums = Vec::new();
    for (name, tools) in plugins {
        let (size, kept) = sum(&tools);
        sums.push(Row { kind: "plugin", name, size, kept });
        rows.push(Row { kind: "plugin", name, size, kept });
        rows.extend(tools);
    }
    let (size, kept) = sum(&sums);
    rows.push(Row { kind: "agent", name: agent, size, kept });
    rows
}

impl Row<'_> {
    fn value(&self) -> Value {
        json!({
            "kind": self.kind, "name": self.name, "characters": self.size.characters, "tokens": self.size.tokens,
            "characters_in_snapshot": self.kept.map(|kept| kept.characters),
            "tokens_in_snapshot": self.kept.map(|kept| kept.tokens),
        })
    }

    fn cells(&self) -> Vec<String> {
        let name = match self.kind {
            "tool" => format!("  {}", self.name),
            "agent" => format!("agent {}", self.name),
            _ => self.name.to_owned(),
        };
        let since = self.kept.map_or_else(String::new, |kept| {
            format!(
                "{} {}",
                difference(kept.characters, self.size.characters),
                difference(kept.tokens, self.size.tokens)
            )
        });
        vec![name, self.size.characters.to_string(), self.size.tokens.to_string(), since]
    }
}

fn difference(before: usize, now: usize) -> String {
    if now >= before { format!("+{}", now - before) } else { format!("-{}", before - now) }
}

#[cfg(test)]
mod tests {
    use foehn_contract::budget::DEFAULT_CHARACTERS;

    #[test]
    fn a_plugins_own_tests_and_the_host_have_one_limit() {
        let limits = foehn_config::settings::Contract::default();
        assert_eq!(usize::try_from(limits.max_characters), Ok(DEFAULT_CHARACTERS));
    }
}
