//! What is wrong with a contract before any model meets it.
//!
//! Every rule looks only at what a tool declares, has an id that never changes, and carries a bad and a good example, on
//! which it is tested. A finding names the tool and the argument and says what to do. An author who means it writes an
//! exception with a reason next to the tool; one without a reason, or that no longer excuses anything, is a finding itself.
//!
//! What this module refuses: to guess at behaviour it cannot see, and to be silenced from outside the plugin.

mod rules;
mod sarif;
mod tool;
mod words;

use std::fmt;

use foehn_protocol::{LintException, ToolSpec};
use serde::Serialize;

pub use rules::rules;
pub use sarif::sarif;
use tool::Tool;

/// Ids of the two rules about exceptions, which no exception excuses.
const EXCEPTION_UNUSED: &str = "exception-unused";
const EXCEPTION_WITHOUT_REASON: &str = "exception-without-reason";

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Models or permissions will be misled: `foehn contract lint` fails.
    Error,
    Warning,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One rule.
pub struct Rule {
    /// In kebab-case; never changes.
    pub id: &'static str,
    pub severity: Severity,
    /// What it asks for, in one line.
    pub title: &'static str,
    /// Why it matters.
    pub reason: &'static str,
    /// A tool, or a list of tools of one plugin, that breaks this rule and no other. JSON; what is not said is sound.
    pub bad: &'static str,
    /// The same, put right.
    pub good: &'static str,
    check: fn(&Tool<'_>, &mut Found),
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Rule")
            .field("id", &self.id)
            .field("severity", &self.severity)
            .finish_non_exhaustive()
    }
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub plugin: String,
    pub tool: String,
    /// Pointer into the arguments, `*` for any item of a list; empty: the whole tool.
    pub at: String,
    /// What is so, and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, severity, tool, at, message, .. } = self;
        write!(formatter, "{} `{rule}` in `{tool}`", severity.word())?;
        if !at.is_empty() {
            write!(formatter, " at `{at}`")?;
        }
        write!(formatter, ": {message}")
    }
}

/// The rule of this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().iter().copied().find(|rule| rule.id == id)
}

/// All findings, in the order of the tools, of each tool in the order of its arguments.
pub fn lint<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>) -> Vec<Finding> {
    let all: Vec<&ToolSpec> = tools.into_iter().collect();
    all.iter().flat_map(|spec| lint_one(&Tool::new(spec, &all))).collect()
}

/// What the checks of one tool write into.
#[derive(Default)]
struct Found {
    at_and_message: Vec<(String, String)>,
}

impl Found {
    /// One finding for each place and rule is enough.
    fn add(&mut self, at: &str, message: impl Into<String>) {
        if !self.at_and_message.iter().any(|(known, _)| known == at) {
            self.at_and_message.push((at.to_owned(), message.into()));
        }
    }
}

fn lint_one(tool: &Tool<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules() {
        let mut found = Found::default();
        (rule.check)(tool, &mut found);
        findings
            .extend(found.at_and_message.into_iter().map(|(at, message)| finding(tool, rule, at, message)));
    }
    let exceptions = &tool.spec.lint_exceptions;
    let mut used = vec![false; exceptions.len()];
    findings.retain(|finding| {
        let mut excused = false;
        for (exception, used) in exceptions.iter().zip(&mut used) {
            if excuses(exception, finding) {
                *used = true;
                excused = true;
            }
        }
        !excused
    });
    for (exception, used) in exceptions.iter().zip(used) {
        let of = |rule: &str, message: String| {
            self::rule(rule).map(|rule| finding(tool, rule, exception.at.clone(), message))
        };
        if exception.reason.trim().is_empty() {
            let message =
                format!("the exception from `{}` gives no reason; say why it is meant", exception.rule);
            findings.extend(of(EXCEPTION_WITHOUT_REASON, message));
        } else if !used {
            findings.extend(of(EXCEPTION_UNUSED, unused(exception)));
        }
    }
    let place = |finding: &Finding| tool.arguments.iter().position(|argument| argument.at == finding.at);
    findings.sort_by_key(|finding| (place(finding), finding.severity));
    findings
}

/// An exception without a reason excuses nothing.
fn excuses(exception: &LintException, finding: &Finding) -> bool {
    !exception.reason.trim().is_empty()
        && exception.rule == finding.rule
        && (exception.at.is_empty() || exception.at == finding.at)
}

fn unused(exception: &LintException) -> String {
    let LintException { rule: id, at, .. } = exception;
    if rule(id).is_none() {
        return format!(
            "there is no rule `{id}` to make an exception from; `foehn contract explain` lists them"
        );
    }
    let place = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
    format!("`{id}` finds nothing{place}; remove the exception")
}

fn finding(tool: &Tool<'_>, rule: &Rule, at: String, message: String) -> Finding {
    Finding {
        rule: rule.id,
        severity: rule.severity,
        plugin: tool.spec.plugin.clone(),
        tool: tool.spec.name.clone(),
        at,
        message,
    }
}
