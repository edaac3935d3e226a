//! The text of a result. A program that ended by itself is a success of the tool, whatever its exit code: a failed build is
//! an answer. One that was killed, took too long or was cancelled is a failure, with the output so far.
//!
//! What the wrapper's author calls noise is left out of the text, never lost: all of the output is then in a file that the
//! text names.

use std::borrow::Cow;

use super::{Subcommand, Wrapper};
use crate::process::{self, Exit, kept, text};
use crate::workspace::Workspace;
use crate::{Error, ErrorKind, Output, Result};

/// Less noise than this is not worth the words about where it went.
const LEAST_NOISE_BYTES: usize = 200;
/// Most characters that are kept in the file.
pub(super) const WHOLE_CHARACTERS: usize = 1_000_000;

pub(super) struct Report<'a, W> {
    pub(super) wrapper: &'a W,
    pub(super) subcommand: &'a Subcommand,
    pub(super) workspace: &'a Workspace,
    /// As a reader calls it.
    pub(super) folder: &'a str,
    /// Most characters of output.
    pub(super) limit: usize,
}

impl<W: Wrapper> Report<'_, W> {
    pub(super) fn of(&self, output: &process::Output) -> Result<Output> {
        let name = format!("{} {}", W::PROGRAM, self.subcommand.name());
        let ran = format!("after {:.1} s in `{}`", output.duration.as_secs_f64(), self.folder);
        let printed = self.printed(&output.text());
        let failure = |kind, what: &str| {
            Err(Error::new(kind, format!("{name} {what} {ran}\n{printed}")).executed(true))
        };
        if output.cancelled {
            return failure(ErrorKind::Cancelled, "was cancelled");
        }
        if output.timed_out {
            return failure(ErrorKind::TimedOut, "was stopped because its time was up");
        }
        if output.crowded {
            return failure(ErrorKind::Failed, "was stopped because it started programs without end");
        }
        let code = match output.exit {
            Exit::Signal(number) => {
                return failure(ErrorKind::Failed, &format!("was killed by signal {number}"));
            }
            Exit::Code(code) => code,
        };
        let result = Output::text(format!("{name}: exit code {code} {ran}\n{printed}"));
        if output.left_running.is_empty() {
            return Ok(result);
        }
        let left: Vec<&str> = output.left_running.iter().map(|process| process.name.as_str()).collect();
        Ok(result.note(format!("what it left in the background was stopped: {}", left.join(", "))))
    }

    /// The output without its noise, within the limit, and where all of it is when something is missing.
    fn printed(&self, whole: &str) -> String {
        if whole.trim().is_empty() {
            return "(no output)".to_owned();
        }
        let mut reduced = self.wrapper.reduce(self.subcommand, whole);
        if whole.len().saturating_sub(reduced.len()) < LEAST_NOISE_BYTES {
            reduced = Cow::Borrowed(whole);
        }
        let left_out = whole.lines().count().saturating_sub(reduced.lines().count());
        let mut collector = text::Collector::new(self.limit);
        collector.push(reduced.as_bytes());
        let collected = collector.finish();
        if left_out == 0 && collected.dropped_bytes == 0 {
            return whole.to_owned();
        }
        let mut printed = collected.head;
        if collected.dropped_bytes > 0 {
            printed.push_str(&format!("\n[... {} bytes left out ...]\n", collected.dropped_bytes));
        }
        printed.push_str(&collected.tail);
        if !printed.is_empty() && !printed.ends_with('\n') {
            printed.push('\n');
        }
        let lines = match left_out {
            0 => String::new(),
            1 => "1 line without news left out; ".to_owned(),
            count => format!("{count} lines without news left out; "),
        };
        let name =
            format!("{}-{}", W::NAME, self.subcommand.name().trim_start_matches('-').replace(' ', "-"));
        let place = match kept::keep(self.workspace, &name, whole) {
            Ok(path) => format!("all of it: `{path}`"),
            Err(error) => format!("all of it could not be kept: {error}"),
        };
        printed.push_str(&format!("[{lines}{place}]\n"));
        printed
    }
}
