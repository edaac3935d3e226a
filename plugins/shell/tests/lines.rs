//! Command lines, what they are understood as, and what four kinds of operators make of them.
//!
//! A row is the line, the verdicts, and the operations: `+` reads, `w` writes, `x` runs (what a network does counts as that
//! here), `!` destroys or is not understood. Read a changed row as an attacker and as somebody who wants to work: a line that
//! became `allow` is a hole until shown otherwise, one that became `ask` a nuisance.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod rows;

use foehn_plugin_testkit::{Lists, Outcome, TempWorkspace, Value, json, run};
use shell::RunShell;

use foehn_plugin_sdk::wire::Risk;

struct Checked {
    /// Holds the workspace and what lies beside it.
    base: TempWorkspace,
}

impl Checked {
    fn new() -> Self {
        Self { base: TempWorkspace::new([("ws/sub/a.txt", ""), ("ws/a.txt", ""), ("ws/src/main.rs", "")]) }
    }

    fn call(&self, line: &str, config: Value) -> foehn_plugin_testkit::Call {
        run(RunShell, json!({"command": line})).workspace(self.base.join("ws")).config(config)
    }

    fn verdict(&self, line: &str, lists: &Lists) -> Outcome {
        self.call(line, json!({})).verdict(lists)
    }

    /// Where no list is set and what only reads runs unasked.
    fn verdict_of_reading(&self, line: &str) -> Outcome {
        self.call(line, json!({"read_only_unasked": true})).verdict(&Lists::default())
    }

    fn operations(&self, line: &str) -> String {
        let found = self.call(line, json!({"read_only_unasked": true})).classify();
        let shown = found.operations.iter().map(|operation| {
            let sign = match operation.risk {
                Some(Risk::ReadOnly) => '+',
                Some(Risk::Execute) => 'x',
                Some(Risk::Destructive) => '!',
                other => panic!("no command has the risk {other:?}"),
            };
            let target = operation.target.as_ref().map(|target| format!(" <{target}>")).unwrap_or_default();
            format!("{sign} {}{target}", operation.name)
        });
        let shown = shown.collect::<Vec<_>>().join(" ; ");
        shown.replace(&*self.base.path().canonicalize().unwrap().to_string_lossy(), "[BASE]")
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allow => "allow",
        Outcome::Ask => "ask",
        Outcome::Deny => "deny",
    }
}

/// Compares with a table of one row for each line. Columns: no list; `allow = ["git", "cargo test"]`; `deny = ["git push"]`;
/// `read_only_unasked = true`.
fn check(name: &str, lines: &[&str]) {
    let checked = Checked::new();
    let mut table = format!("{:44} | none  allow deny  reads |\n", "");
    for line in lines {
        let verdicts = [
            checked.verdict(line, &Lists::default()),
            checked.verdict(line, &Lists::default().allow(&["git", "cargo test"])),
            checked.verdict(line, &Lists::default().deny(&["git push"])),
            checked.verdict_of_reading(line),
        ];
        let verdicts = verdicts.map(|verdict| format!("{:5}", word(verdict))).join(" ");
        let shown =
            line.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"").replace("\\\\", "\\");
        table.push_str(&format!("{shown:44} | {verdicts} | {}\n", checked.operations(line)));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, table) });
}

/// Whoever allows everything but one thing is at least asked about all that may be it.
#[track_caller]
fn never_unasked(lines: &[&str]) {
    let checked = Checked::new();
    let lists = Lists::default().allow(&["*"]).deny(&["git push"]);
    let passed: Vec<&&str> =
        lines.iter().filter(|line| checked.verdict(line, &lists) == Outcome::Allow).collect();
    assert_eq!(passed, Vec::<&&str>::new());
}

#[test]
fn a_push_is_seen_in_every_spelling() {
    check("pushes", rows::PUSHES);
    never_unasked(rows::PUSHES);
    let checked = Checked::new();
    let not_denied: Vec<&&str> = rows::PUSHES
        .iter()
        .filter(|line| checked.verdict(line, &Lists::default().deny(&["git push"])) != Outcome::Deny)
        .collect();
    assert_eq!(not_denied, Vec::<&&str>::new());
}

#[test]
fn what_may_be_a_push_is_asked_about() {
    check("may_be_pushes", rows::MAY_BE_PUSHES);
    never_unasked(rows::MAY_BE_PUSHES);
}

#[test]
fn options_that_run_programs_are_asked_about() {
    check("options_that_run_programs", rows::OPTIONS_THAT_RUN_PROGRAMS);
    never_unasked(rows::OPTIONS_THAT_RUN_PROGRAMS);
}

#[test]
fn what_is_written_is_told() {
    check("written_outside", rows::WRITTEN_OUTSIDE);
    check("written_inside", rows::WRITTEN_INSIDE);
    let checked = Checked::new();
    let writes = |line: &&&str| {
        checked.operations(line).contains("write outside") || checked.operations(line).contains("! unknown")
    };
    assert_eq!(
        rows::WRITTEN_OUTSIDE.iter().filter(|line| !writes(line)).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
    assert_eq!(
        rows::WRITTEN_INSIDE.iter().filter(|line| writes(line)).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
}

#[test]
fn what_only_reads_runs_where_the_operator_says_so() {
    check("only_read", rows::ONLY_READ);
    let checked = Checked::new();
    let stopped: Vec<&&str> =
        rows::ONLY_READ.iter().filter(|line| checked.verdict_of_reading(line) != Outcome::Allow).collect();
    assert_eq!(stopped, Vec::<&&str>::new());
}

#[test]
fn what_does_more_than_read_is_asked_about() {
    check("more_than_read", rows::MORE_THAN_READ);
    let checked = Checked::new();
    let passed: Vec<&&str> = rows::MORE_THAN_READ
        .iter()
        .filter(|line| checked.verdict_of_reading(line) == Outcome::Allow)
        .collect();
    assert_eq!(passed, Vec::<&&str>::new());
}

#[test]
fn ordinary_work_goes_on() {
    check("ordinary_work", rows::ORDINARY_WORK);
    let checked = Checked::new();
    let lists = Lists::default().allow(&["*"]).deny(&["git push"]);
    let stopped: Vec<&&str> =
        rows::ORDINARY_WORK.iter().filter(|line| checked.verdict(line, &lists) != Outcome::Allow).collect();
    assert_eq!(stopped, Vec::<&&str>::new());
}
