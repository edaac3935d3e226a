//! `foehn contract lint` and `explain`.

use std::sync::Arc;

use anyhow::Result;
use foehn_contract::lint::{self, Finding, Rule, Severity};
use foehn_protocol::ToolSpec;
use foehn_terminal::ExitCode;

use super::counted;
use crate::cli::LintFormat;
use crate::output::{columns, line, text};
use crate::setup::UsageError;

pub(super) fn lint(tools: &[Arc<ToolSpec>], as_json: bool, format: Option<LintFormat>) -> Result<ExitCode> {
    let findings = lint::lint(tools.iter().map(AsRef::as_ref));
    if let Some(LintFormat::Sarif) = format {
        line(&lint::sarif(&findings, env!("CARGO_PKG_VERSION")))?;
    } else if as_json {
        for finding in &findings {
            line(&serde_json::to_value(finding)?)?;
        }
    } else {
        text(&report(&findings, tools.len()))?;
    }
    Ok(u8::from(findings.iter().any(|finding| finding.severity == Severity::Error)))
}

fn report(findings: &[Finding], tools: usize) -> String {
    let mut report = String::new();
    let mut tool = "";
    for finding in findings {
        if finding.tool != tool {
            tool = &finding.tool;
            report.push_str(&format!("{tool} ({})\n", finding.plugin));
        }
        let at = if finding.at.is_empty() { String::new() } else { format!(" {}", finding.at) };
        report.push_str(&format!(
            "  {} {}{at}: {}\n",
            finding.severity.word(),
            finding.rule,
            finding.message
        ));
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let tools = counted(tools, "tool");
    if findings.is_empty() {
        return format!("no finding in {tools}");
    }
    let (errors, warnings) =
        (counted(count(Severity::Error), "error"), counted(count(Severity::Warning), "warning"));
    report.push_str(&format!(
        "\n{errors} and {warnings} in {tools}; `foehn contract explain RULE` says why a rule is there"
    ));
    report
}

pub(super) fn explain(id: Option<&str>) -> Result<ExitCode> {
    let Some(id) = id else {
        let row =
            |rule: &&Rule| vec![rule.id.to_owned(), rule.severity.word().to_owned(), rule.title.to_owned()];
        text(&columns(&["RULE", "SEVERITY", ""], lint::rules().iter().map(row).collect(), ""))?;
        return Ok(0);
    };
    let Some(rule) = lint::rule(id) else {
        return Err(
            UsageError(format!("there is no rule `{id}`; `foehn contract explain` lists them")).into()
        );
    };
    let Rule { id, title, reason, bad, good, severity, .. } = rule;
    text(&format!(
        "{id} ({})\n\n{title}.\n{reason}\n\nBad:\n{}\n\nGood:\n{}\n\nWhere it is meant, the author says so beside the tool:\n  \
         const LINT_EXCEPTIONS: &'static [LintException] = &[LintException::new(\"{id}\", \"REASON\").at(\"/ARGUMENT\")];",
        severity.word(),
        example(bad),
        example(good),
    ))?;
    Ok(0)
}

/// An example as JSON that is easily read; what it does not say of the tool is sound.
fn example(text: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    let pretty = pretty.unwrap_or_else(|| text.to_owned());
    pretty.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
