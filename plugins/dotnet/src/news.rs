//! What of the output of `dotnet` is news: errors, warnings, failed tests, totals. Each error and warning once, although
//! MSBuild says it where it happens and again at the end.

use std::borrow::Cow;
use std::collections::HashSet;

use foehn_plugin_sdk::process::wrapper::{Subcommand, without};

use crate::TEST;

/// How lines begin that tell only that the work goes on.
const PROGRESS: [&str; 11] = [
    "MSBuild version ",
    "Determining projects to restore",
    "All projects are up-to-date for restore",
    "Restored ",
    "Restore complete",
    "Test run for ",
    "VSTest version ",
    "Microsoft (R) Test Execution",
    "Copyright (c) Microsoft",
    "Starting test execution, please wait",
    "A total of ",
];

pub(crate) fn reduce<'a>(subcommand: &Subcommand, output: &'a str) -> Cow<'a, str> {
    if subcommand.is_telling() || !matches!(subcommand.name(), "build" | TEST | "restore" | "clean") {
        return Cow::Borrowed(output);
    }
    let mut said = HashSet::new();
    let mut blank = true;
    let mut was_blank = |line: &str| std::mem::replace(&mut blank, line.is_empty()) && line.is_empty();
    without(output, |line| {
        let text = line.trim();
        let is_noise = PROGRESS.iter().any(|beginning| text.starts_with(beginning))
            || is_product(text)
            || (subcommand.name() == TEST && is_passed_test(line))
            || (is_diagnostic(text) && !said.insert(text.to_owned()));
        is_noise || was_blank(text)
    })
}

/// `App -> /ws/bin/App.dll`
fn is_product(line: &str) -> bool {
    line.split_once(" -> ").is_some_and(|(project, file)| !project.contains(' ') && file.contains('/'))
}

/// `  Passed Namespace.Test [12 ms]`; the total begins with `Passed!`.
fn is_passed_test(line: &str) -> bool {
    line.starts_with("  Passed ") && line.ends_with(']')
}

/// `App.cs(3,5): error CS1002: ; expected [/ws/App.csproj]`
fn is_diagnostic(line: &str) -> bool {
    [": error ", ": warning "].iter().any(|mark| line.contains(mark))
}

#[cfg(test)]
mod tests {
    use foehn_plugin_sdk::process::wrapper::Wrapper;

    use super::*;
    use crate::Dotnet;

    #[track_caller]
    fn check(subcommand: &str, output: &str, expected: &str) {
        let subcommand =
            Dotnet::SUBCOMMANDS.iter().find(|known| known.name() == subcommand).expect("it is one");
        assert_eq!(reduce(subcommand, output), expected);
    }

    #[test]
    fn a_failed_build() {
        check(
            "build",
            "MSBuild version 17.8.3+195e7f5a3 for .NET\n  Determining projects to restore...\n  \
             All projects are up-to-date for restore.\n  Lib -> /ws/Lib/bin/Debug/net8.0/Lib.dll\n\
             /ws/App/Program.cs(3,5): error CS1002: ; expected [/ws/App/App.csproj]\n\nBuild FAILED.\n\n\
             /ws/App/Program.cs(3,5): error CS1002: ; expected [/ws/App/App.csproj]\n    0 Warning(s)\n    1 Error(s)\n\n\
             Time Elapsed 00:00:02.10\n",
            "/ws/App/Program.cs(3,5): error CS1002: ; expected [/ws/App/App.csproj]\n\nBuild FAILED.\n\n    0 Warning(s)\n    \
             1 Error(s)\n\nTime Elapsed 00:00:02.10\n",
        );
    }

    #[test]
    fn tests_of_which_one_fails() {
        check(
            TEST,
            "  Tests -> /ws/bin/Tests.dll\nTest run for /ws/bin/Tests.dll (.NETCoreApp,Version=v8.0)\n\
             Starting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n  \
             Passed Tests.One [1 ms]\n  Failed Tests.Two [3 ms]\n  Error Message:\n   Assert.Equal() Failure\n\n\
             Failed!  - Failed: 1, Passed: 1, Skipped: 0, Total: 2\n",
            "  Failed Tests.Two [3 ms]\n  Error Message:\n   Assert.Equal() Failure\n\n\
             Failed!  - Failed: 1, Passed: 1, Skipped: 0, Total: 2\n",
        );
    }

    #[test]
    fn what_a_program_prints_stays() {
        check("run", "Restored \na -> /b\n", "Restored \na -> /b\n");
    }
}
