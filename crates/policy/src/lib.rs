//! Rules and the facts of a call give a verdict: allow, ask or deny, always with the rule that decided.
//!
//! Deny wins and is never asked. An `allow` list turns everything it does not name into a question, one by one, not
//! into a refusal. Without a list the tool's own default decides, else the risk of each operation: read-only runs, all
//! else asks.
//!
//! An entry of a list names an operation by its first words: `git` names `git push` too, `git push` does not name
//! `git pull`, and `gi` names neither. How the first word is written in capitals does not matter, for a rule about a
//! program should hold where file names do not tell them apart; every further word counts as it is.
//!
//! Pure: this crate asks nobody, remembers nothing and knows no grant; who was asked and what was granted is the
//! engine's business. It never looks at an argument, only at what the plugin worked out from all of them.

use std::collections::BTreeMap;

use foehn_protocol::{Classification, Operation, Outcome, Risk, ToolSpec, Verdict};

/// Stands for every operation in an `allow` or `deny` list; in an `allow` list not for [`NOT_UNDERSTOOD`].
pub const EVERYTHING: &str = "*";

/// The operation of a plugin that could not tell what a call would do. It runs unasked only where it is named itself:
/// who permits everything means everything that can be seen.
pub const NOT_UNDERSTOOD: &str = "unknown";

/// What the operator set for one tool of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Operations that run unasked; `None` when no list is set.
    pub allow: Option<Vec<String>>,
    /// Operations that are refused unasked.
    pub deny: Vec<String>,
    /// The tool's own default, used without an `allow` list; `None` leaves it to the risk.
    pub default: Option<Outcome>,
}

/// The rules of one tool among those of an agent, also those under its former names: a renamed tool stays forbidden. An
/// operation that is named as the tool once was means the tool itself.
pub fn rules_of(spec: &ToolSpec, all: &BTreeMap<String, Rules>) -> Rules {
    let present = |name: &String| {
        let renamed =
            spec.aliases.contains(name) && !spec.operations.iter().any(|operation| operation.name == *name);
        if renamed { spec.name.clone() } else { name.clone() }
    };
    let names = std::iter::once(&spec.name).chain(&spec.aliases);
    let mut rules = Rules::default();
    for found in names.filter_map(|name| all.get(name)) {
        rules.deny.extend(found.deny.iter().map(present));
        if let Some(allow) = &found.allow {
            rules.allow.get_or_insert_default().extend(allow.iter().map(present));
        }
        rules.default = rules.default.or(found.default);
    }
    rules
}

/// A verdict and the operations it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub verdict: Verdict,
    /// The denied ones, else the asked ones, else all.
    pub operations: Vec<Operation>,
}

/// Decides one call: any denied operation denies it, else any asked one asks.
pub fn decide(rules: &Rules, spec: &ToolSpec, classification: &Classification) -> Ruling {
    let operations = operations(spec, classification);
    let verdicts: Vec<Verdict> = operations.iter().map(|operation| of_one(rules, spec, operation)).collect();
    let outcome = verdicts.iter().map(|verdict| verdict.outcome).max_by_key(severity).unwrap_or(Outcome::Ask);
    let mut rule = String::new();
    let mut deciding = Vec::new();
    for (operation, verdict) in operations.into_iter().zip(verdicts) {
        if verdict.outcome == outcome {
            if !rule.contains(&verdict.rule) {
                rule.push_str(if rule.is_empty() { "" } else { "; " });
                rule.push_str(&verdict.rule);
            }
            deciding.push(operation);
        }
    }
    Ruling { verdict: Verdict { outcome, rule }, operations: deciding }
}

/// What a call does: what its plugin worked out, else what the tool declares, else one operation named as the tool.
/// Never empty.
pub fn operations(spec: &ToolSpec, classification: &Classification) -> Vec<Operation> {
    if !classification.operations.is_empty() {
        return classification.operations.clone();
    }
    if spec.operations.is_empty() {
        return vec![Operation { name: spec.name.clone(), risk: spec.risk, target: None }];
    }
    // Which of them it is cannot be told, so each has to be permitted.
    spec.operations
        .iter()
        .map(|declared| Operation {
            name: declared.name.clone(),
            risk: declared.risk.unwrap_or(spec.risk),
            target: None,
        })
        .collect()
}

fn of_one(rules: &Rules, spec: &ToolSpec, operation: &Operation) -> Verdict {
    let tool = &spec.name;
    let name = &operation.name;
    if rules.deny.iter().any(|entry| entry == EVERYTHING || covers(entry, name)) {
        return verdict(Outcome::Deny, format!("deny = {} of tool `{tool}`", list(&rules.deny)));
    }
    if let Some(allow) = &rules.allow {
        let rule = format!("allow = {} of tool `{tool}`", list(allow));
        let everything = |entry: &str| entry == EVERYTHING && name != NOT_UNDERSTOOD;
        return if allow.iter().any(|entry| everything(entry) || covers(entry, name)) {
            verdict(Outcome::Allow, rule)
        } else {
            verdict(Outcome::Ask, format!("{rule} does not name \"{name}\""))
        };
    }
    if let Some(default) = rules.default {
        if default == Outcome::Allow && name == NOT_UNDERSTOOD {
            let rule = format!("default = \"allow\" of tool `{tool}` does not cover \"{NOT_UNDERSTOOD}\"");
            return verdict(Outcome::Ask, rule);
        }
        let word = match default {
            Outcome::Allow => "allow",
            Outcome::Ask => "ask",
            Outcome::Deny => "deny",
        };
        return verdict(default, format!("default = \"{word}\" of tool `{tool}`"));
    }
    let word = operation.risk.word();
    match operation.risk.effective() {
        Risk::ReadOnly => verdict(Outcome::Allow, format!("risk: {word} runs")),
        _ => verdict(Outcome::Ask, format!("risk: {word} asks")),
    }
}

fn verdict(outcome: Outcome, rule: String) -> Verdict {
    Verdict { outcome, rule }
}

fn severity(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Allow => 0,
        Outcome::Ask => 1,
        Outcome::Deny => 2,
    }
}

/// Whether the words of an entry are the first words of an operation.
fn covers(entry: &str, operation: &str) -> bool {
    let mut words = operation.split_whitespace();
    let mut entry = entry.split_whitespace();
    let Some(first) = entry.next() else { return false };
    let same = |word: &str| word == first || word.to_lowercase() == first.to_lowercase();
    words.next().is_some_and(same) && entry.all(|word| words.next() == Some(word))
}

fn list(entries: &[String]) -> String {
    let quoted: Vec<String> = entries.iter().map(|entry| format!("\"{entry}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use foehn_protocol::OperationSpec;

    use super::*;

    fn spec(risk: Risk, declared: &[(&str, Option<Risk>)]) -> ToolSpec {
        ToolSpec {
            name: "x".to_owned(),
            plugin: "p".to_owned(),
            risk,
            operations: declared
                .iter()
                .map(|(name, risk)| OperationSpec {
                    name: (*name).to_owned(),
                    description: String::new(),
                    risk: *risk,
                })
                .collect(),
            ..ToolSpec::default()
        }
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    /// `operations` as `name risk`, comma-separated; the answer as `outcome | operations | rule`.
    fn check(rules: &Rules, spec: &ToolSpec, operations: &[(&str, Risk)], expected: &str) {
        let classification = Classification {
            operations: operations
                .iter()
                .map(|(name, risk)| Operation { name: (*name).to_owned(), risk: *risk, target: None })
                .collect(),
            ..Classification::default()
        };
        let ruling = decide(rules, spec, &classification);
        let deciding: Vec<&str> = ruling.operations.iter().map(|operation| operation.name.as_str()).collect();
        let actual =
            format!("{:?} | {} | {}", ruling.verdict.outcome, deciding.join(","), ruling.verdict.rule);
        assert_eq!(actual, expected);
    }

    #[test]
    fn a_renamed_tool_keeps_the_rules_of_its_former_names() {
        let mut spec = spec(Risk::Write, &[]);
        spec.aliases = names(&["former"]);
        let rules = |allow: Option<&[&str]>, deny: &[&str]| Rules {
            allow: allow.map(names),
            deny: names(deny),
            default: None,
        };
        let check = |all: &[(&str, Rules)], expected: Rules| {
            let all = all.iter().map(|(name, rules)| ((*name).to_owned(), rules.clone())).collect();
            assert_eq!(rules_of(&spec, &all), expected);
        };
        check(&[], Rules::default());
        check(&[("former", rules(Some(&["a"]), &["former"]))], rules(Some(&["a"]), &["x"]));
        check(
            &[("x", rules(None, &["c"])), ("former", rules(Some(&["a"]), &["b"]))],
            rules(Some(&["a"]), &["c", "b"]),
        );
    }

    #[test]
    fn risk_decides_without_rules() {
        let rules = Rules::default();
        check(&rules, &spec(Risk::ReadOnly, &[]), &[], "Allow | x | risk: read-only runs");
        check(&rules, &spec(Risk::Write, &[]), &[], "Ask | x | risk: write asks");
        check(&rules, &spec(Risk::Undefined, &[]), &[], "Ask | x | risk: undefined asks");
        check(
            &rules,
            &spec(Risk::Execute, &[]),
            &[("info", Risk::ReadOnly)],
            "Allow | info | risk: read-only runs",
        );
        check(
            &rules,
            &spec(Risk::ReadOnly, &[("read", None), ("drop", Some(Risk::Destructive))]),
            &[],
            "Ask | drop | risk: destructive asks",
        );
    }

    #[test]
    fn deny_wins_over_everything() {
        let rules = Rules { allow: Some(names(&["*"])), deny: names(&["delete"]), default: None };
        let spec = spec(Risk::Write, &[]);
        check(&rules, &spec, &[("edit", Risk::Write)], "Allow | edit | allow = [\"*\"] of tool `x`");
        check(
            &rules,
            &spec,
            &[("edit", Risk::Write), ("delete", Risk::Destructive)],
            "Deny | delete | deny = [\"delete\"] of tool `x`",
        );
        let all = Rules { deny: names(&["*"]), ..Rules::default() };
        check(&all, &spec, &[("read", Risk::ReadOnly)], "Deny | read | deny = [\"*\"] of tool `x`");
    }

    #[test]
    fn an_allow_list_turns_the_rest_into_questions() {
        let rules = Rules { allow: Some(names(&["git status"])), ..Rules::default() };
        check(
            &rules,
            &spec(Risk::Execute, &[]),
            &[("git status", Risk::Execute), ("git push", Risk::Execute), ("ls", Risk::ReadOnly)],
            "Ask | git push,ls | allow = [\"git status\"] of tool `x` does not name \"git push\"; allow = [\"git status\"] of tool `x` does not name \"ls\"",
        );
        let empty = Rules { allow: Some(Vec::new()), ..Rules::default() };
        check(
            &empty,
            &spec(Risk::ReadOnly, &[]),
            &[],
            "Ask | x | allow = [] of tool `x` does not name \"x\"",
        );
    }

    #[test]
    fn an_entry_names_an_operation_by_its_first_words() {
        let rows = [
            ("git", "git", true),
            ("git", "git push origin", true),
            ("git push", "git push origin", true),
            ("  git   push ", "git push", true),
            ("Git push", "gIT push", true),
            ("git push", "git", false),
            ("git push", "git pushx", false),
            ("git Push", "git push", false),
            ("gi", "git", false),
            ("git status", "git statusx", false),
            ("push", "git push", false),
            ("", "git", false),
            (" ", " ", false),
            ("*x", "*", false),
        ];
        let found = rows.map(|(entry, operation, _)| (entry, operation, covers(entry, operation)));
        assert_eq!(found, rows);
    }

    #[test]
    fn what_was_not_understood_runs_only_by_its_name() {
        let check = |allow: Option<&[&str]>, default: Option<Outcome>, deny: &[&str], expected: &str| {
            let rules = Rules { allow: allow.map(names), deny: names(deny), default };
            check(
                &rules,
                &spec(Risk::Execute, &[]),
                &[("ls", Risk::ReadOnly), ("unknown", Risk::Destructive)],
                expected,
            );
        };
        check(
            Some(&["*"]),
            None,
            &[],
            "Ask | unknown | allow = [\"*\"] of tool `x` does not name \"unknown\"",
        );
        check(
            Some(&["*", "unknown"]),
            None,
            &[],
            "Allow | ls,unknown | allow = [\"*\", \"unknown\"] of tool `x`",
        );
        check(
            None,
            Some(Outcome::Allow),
            &[],
            "Ask | unknown | default = \"allow\" of tool `x` does not cover \"unknown\"",
        );
        check(Some(&["*"]), None, &["*"], "Deny | ls,unknown | deny = [\"*\"] of tool `x`");
    }

    #[test]
    fn the_tools_own_default_stands_before_risk() {
        let check_default = |default: Outcome, expected: &str| {
            let rules = Rules { default: Some(default), ..Rules::default() };
            check(&rules, &spec(Risk::Write, &[]), &[], expected);
        };
        check_default(Outcome::Allow, "Allow | x | default = \"allow\" of tool `x`");
        check_default(Outcome::Deny, "Deny | x | default = \"deny\" of tool `x`");
    }
}
