//! `cargo xtask test`: what CI runs is what a person runs.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, line_of, succeed};

/// Tells the tests that drive the product that it is already built; without it they build it themselves.
const ALREADY_BUILT: &str = "FOEHN_TESTS_BUILT";

/// Builds everything, runs the tests with nextest where it is installed and with cargo's own runner where not, then the
/// documented examples. Arguments go to the runner; with them, only what they select runs.
pub(crate) fn test(workspace: &Workspace, arguments: &[OsString]) -> Result<()> {
    // All targets in one call: the tests start the host and load plugins that no test target links, and a build with
    // other targets would resolve other features and compile the tree twice.
    let mut build = workspace.cargo();
    build.args(["build", "--workspace", "--all-targets"]);
    if arguments.iter().any(|argument| argument == "--release") {
        build.arg("--release");
    }
    if !io::stderr().is_terminal() {
        // A line for every crate helps a person who waits, and buries what failed in a log.
        build.arg("--quiet");
    }
    eprintln!("xtask: building the workspace with its tests");
    succeed(&mut build)?;
    let nextest = has_nextest(workspace);
    let mut runner = workspace.cargo();
    runner.env(ALREADY_BUILT, "1");
    if nextest {
        runner.args(["nextest", "run"]);
    } else {
        runner.arg("test");
    }
    if !arguments.iter().any(|argument| argument == "-p" || argument == "--package") {
        runner.arg("--workspace");
    }
    if !nextest {
        // The documented examples have their own run below.
        runner.arg("--all-targets");
    }
    succeed(runner.args(arguments))?;
    if arguments.is_empty() {
        let examples = documented_examples(workspace)?;
        eprintln!("xtask: all tests passed, and so did {examples} documented examples");
    }
    Ok(())
}

/// Runs them and counts them. Cargo tells of each package that has none, so only a failure is shown.
fn documented_examples(workspace: &Workspace) -> Result<usize> {
    let mut command = workspace.cargo();
    command.args(["test", "--workspace", "--doc", "--quiet"]);
    let output = command.output().with_context(|| format!("cannot start `{}`", line_of(&command)))?;
    let told = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("`{}` failed:\n{told}{}", line_of(&command), String::from_utf8_lossy(&output.stderr));
    }
    Ok(passed(&told))
}

/// The sum over the summary lines of all packages.
fn passed(told: &str) -> usize {
    let summaries = told.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    summaries.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok()).sum()
}

fn has_nextest(workspace: &Workspace) -> bool {
    workspace
        .cargo()
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_examples_are_summed_over_packages() {
        let told = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n\nrunning 2 tests\n..\n\
                    test result: ok. 2 passed; 0 failed\ntest result: ok. 11 passed; 0 failed\n";
        assert_eq!(passed(told), 13);
    }
}
