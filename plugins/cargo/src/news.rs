//! What of cargo's output is news: errors and warnings with their excerpts, tests that fail, totals.

use std::borrow::Cow;

use foehn_plugin_sdk::process::wrapper::{Subcommand, without};

/// The words with which cargo tells that the work goes on; it writes them to the right.
const PROGRESS: [&str; 17] = [
    "Adding",
    "Blocking",
    "Building",
    "Checking",
    "Compiling",
    "Dirty",
    "Doc-tests",
    "Documenting",
    "Downloaded",
    "Downloading",
    "Fresh",
    "Generated",
    "Locking",
    "Running",
    "Scraping",
    "Unpacking",
    "Updating",
];

/// Where cargo's words end.
const WORD_ENDS_AT: usize = 12;

pub(crate) fn reduce<'a>(subcommand: &Subcommand, output: &'a str) -> Cow<'a, str> {
    match subcommand.name() {
        "build" | "check" | "clippy" | "doc" => without(output, is_progress),
        // The program's own lines follow; they are the program's business.
        "run" => {
            let (ours, theirs) = split_at_program(output);
            Cow::Owned(without(ours, is_progress).into_owned() + theirs)
        }
        "test" => tests(output),
        _ => Cow::Borrowed(output),
    }
}

/// `   Compiling name v1.0.0`
fn is_progress(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let word = text.split(' ').next().unwrap_or_default();
    line.len() - text.len() + word.len() == WORD_ENDS_AT && PROGRESS.contains(&word)
}

fn split_at_program(output: &str) -> (&str, &str) {
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        at += line.len();
        if is_progress(line) && line.trim_start().starts_with("Running ") {
            return output.split_at(at);
        }
    }
    (output, "")
}

/// Tests that passed are in the totals, and totals of nothing are no news.
fn tests(output: &str) -> Cow<'_, str> {
    let mut blank = true;
    without(output, |line| {
        let is_pass =
            line.starts_with("test ") && [" ... ok", " ... ignored"].iter().any(|end| line.contains(end));
        let is_empty_run = line == "running 0 tests"
            || line.starts_with("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered");
        if is_progress(line) || is_pass || is_empty_run {
            return true;
        }
        std::mem::replace(&mut blank, line.is_empty()) && line.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use foehn_plugin_sdk::process::wrapper::Wrapper;

    use super::*;
    use crate::Cargo;

    #[track_caller]
    fn check(subcommand: &str, output: &str, expected: &str) {
        let subcommand =
            Cargo::SUBCOMMANDS.iter().find(|known| known.name() == subcommand).expect("it is one");
        assert_eq!(reduce(subcommand, output), expected);
    }

    #[test]
    fn a_build_with_a_warning() {
        let warning =
            "warning: unused variable: `x`\n --> src/main.rs:2:9\n  |\n2 |     let x = 1;\n  |         ^\n\n";
        check(
            "build",
            &format!(
                "  Downloaded serde v1.0.0\n   Compiling a v0.1.0 (/ws)\n{warning}    Finished `dev` profile in 0.1s\n"
            ),
            &format!("{warning}    Finished `dev` profile in 0.1s\n"),
        );
    }

    #[test]
    fn tests_of_which_one_fails() {
        check(
            "test",
            "   Compiling a v0.1.0 (/ws)\n     Running unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 2 tests\n\
             test one ... ok\ntest two ... FAILED\n\nfailures:\n\n---- two stdout ----\nassertion failed\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests a\n\n\
             running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            "running 2 tests\ntest two ... FAILED\n\nfailures:\n\n---- two stdout ----\nassertion failed\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
        );
    }

    #[test]
    fn the_words_of_a_program_stay() {
        check(
            "run",
            "   Compiling a v0.1.0 (/ws)\n     Running `target/debug/a`\n   Compiling is what I say\n",
            "   Compiling is what I say\n",
        );
    }
}
