//! The text of a result. A program that ended by itself is a success of the tool, whatever its exit code: a failed build is
//! an answer. One that was killed, took too long or was cancelled is a failure, with the output so far.
//!
//! What the wrapper's author calls noise is left out of the text, never lost: all of the output is then in a file that the
//! text names.

use std::borrow::Cow;

use super::{Subcommand, Wrapper};
use crate::process::{self, Exit, Whole, kept, text};
use crate::workspace::Workspace;
use crate::{Error, ErrorKind, Output, Result};

/// Less noise than this is not worth the words about where it went.
const LEAST_NOISE_BYTES: usize = 200;
/// Most characters that are looked at for news; what is longer goes to its file while it comes.
pub(super) const WHOLE_CHARACTERS: usize = 1_000_000;

pub(super) struct Report<'a, W> {
    pub(super) wrapper: &'a W,
    pub(super) subcommand: &'a Subcommand,
    pub(super) workspace: &'a Workspace,
    /// As a reader calls it.
    pub(super) folder: &'a str,
    /// Most characters of output.
    pub(super) limit: usize,
    /// Whether the operator gave it one.
    pub(super) network: bool,
    pub(super) agent: &'a str,
}

/// What programs print when the network is kept from them, whoever wrote them.
const MISSES_NETWORK: &[&str] = &[
    "Temporary failure in name resolution",
    "Name or service not known",
    "Could not resolve host",
    "Network is unreachable",
    "EAI_AGAIN",
];

/// How the name of a file with all of its output begins.
pub(super) fn file_name<W: Wrapper>(subcommand: &Subcommand) -> String {
    format!("{}-{}", W::NAME, subcommand.name().trim_start_matches('-').replace(' ', "-"))
}

impl<W: Wrapper> Report<'_, W> {
    pub(super) fn of(&self, output: &process::Output) -> Result<Output> {
        let name = format!("{} {}", W::PROGRAM, self.subcommand.name());
        let ran = format!("after {:.1} s in `{}`", output.duration.as_secs_f64(), self.folder);
        let printed = self.printed(output);
        let remedy = self.remedy(output);
        let failure = |kind, what: &str| {
            let remedy = remedy.as_ref().map(|remedy| format!("\n{remedy}")).unwrap_or_default();
            Err(Error::new(kind, format!("{name} {what} {ran}\n{printed}{remedy}")).executed(true))
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
        let mut result = Output::text(format!("{name}: exit code {code} {ran}\n{printed}"));
        if let Some(remedy) = remedy.filter(|_| code != 0) {
            result = result.note(remedy);
        }
        if output.left_running.is_empty() {
            return Ok(result);
        }
        let left: Vec<&str> = output.left_running.iter().map(|process| process.name.as_str()).collect();
        Ok(result.note(format!("what it left in the background was stopped: {}", left.join(", "))))
    }

    /// What to do about a network that it missed.
    fn remedy(&self, output: &process::Output) -> Option<String> {
        let says =
            |text: &str| MISSES_NETWORK.iter().chain(W::MISSES_NETWORK).any(|sign| text.contains(sign));
        let missed = !self.network && (says(&output.head) || says(&output.tail));
        missed.then(|| {
            format!(
                "it had no network; the operator can give it one: network = \"on\" in [agents.{}.tools.{}]",
                self.agent,
                W::NAME
            )
        })
    }

    /// The output without its noise, within the limit, and where all of it is when something is missing.
    fn printed(&self, output: &process::Output) -> String {
        let kept = [output.head.as_str(), output.tail.as_str()].concat();
        if kept.trim().is_empty() {
            return "(no output)".to_owned();
        }
        let mut reduced = self.wrapper.reduce(self.subcommand, &kept);
        if kept.len().saturating_sub(reduced.len()) < LEAST_NOISE_BYTES {
            reduced = Cow::Borrowed(&kept);
        }
        let left_out = kept.lines().count().saturating_sub(reduced.lines().count());
        let mut collector = text::Collector::new(self.limit);
        collector.push(reduced.as_bytes());
        let collected = collector.finish();
        let dropped = collected.dropped_bytes + output.dropped_bytes;
        if left_out == 0 && dropped == 0 {
            return kept;
        }
        let mut printed = collected.head;
        if dropped > 0 {
            printed.push_str(&format!("\n[... {dropped} bytes left out ...]\n"));
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
        // It went to a file while it came, if it was too long for the memory.
        let place = output.whole.clone().unwrap_or_else(|| self.keep(&kept));
        printed.push_str(&format!("[{lines}{place}]\n"));
        printed
    }

    fn keep(&self, whole: &str) -> Whole {
        match kept::keep(self.workspace, &file_name::<W>(self.subcommand), whole) {
            Ok(path) => Whole::Kept(path.to_string()),
            Err(error) => Whole::NotKept(error.to_string()),
        }
    }
}
