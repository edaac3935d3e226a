//! The text of a result. `dotnet` that ended by itself is a success of the tool, whatever its exit code: a failed build is an
//! answer. One that was killed, took too long or was cancelled is a failure, with the output so far.

use foehn_plugin_sdk::ErrorKind;
use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{self, Exit};

use crate::Subcommand;

pub(crate) fn report(output: &process::Output, subcommand: Subcommand, folder: &RelPath) -> Result<Output> {
    let name = subcommand.as_str();
    let ran = format!("after {:.1} s in `{folder}`", output.duration.as_secs_f64());
    let printed = match output.text() {
        text if text.is_empty() => "(no output)".to_owned(),
        text => text,
    };
    let failure = |kind, what: &str| {
        Err(Error::new(kind, format!("dotnet {name} {what} {ran}\n{printed}")).executed(true))
    };
    if output.cancelled {
        return failure(ErrorKind::Cancelled, "was cancelled");
    }
    if output.timed_out {
        return failure(ErrorKind::TimedOut, "was stopped because its time was up");
    }
    match output.exit {
        Exit::Signal(number) => failure(ErrorKind::Failed, &format!("was killed by signal {number}")),
        Exit::Code(code) => Ok(Output::text(format!("dotnet {name}: exit code {code} {ran}\n{printed}"))),
    }
}
