//! Findings as SARIF 2.1.0, the form in which code scanners exchange what they found.

use serde_json::{Value, json};

use super::{Finding, Severity, rules};

/// One run with all rules and these findings. A tool lies in a compiled library, so places are logical: plugin, tool and
/// argument.
pub fn sarif(findings: &[Finding], host_version: &str) -> Value {
    let described: Vec<Value> = rules()
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.reason},
                "defaultConfiguration": {"level": level(rule.severity)},
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "foehn", "semanticVersion": host_version, "rules": described}},
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let Finding { rule, severity, plugin, tool, at, message } = finding;
    let kind = if at.is_empty() { "function" } else { "parameter" };
    json!({
        "ruleId": rule,
        "ruleIndex": rules().iter().position(|known| known.id == *rule),
        "level": level(*severity),
        "message": {"text": message},
        "locations": [{"logicalLocations": [{
            "name": if at.is_empty() { tool } else { at },
            "fullyQualifiedName": format!("{plugin}/{tool}{at}"),
            "kind": kind,
        }]}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
