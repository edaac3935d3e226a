//! The text of a result. A command that ended by itself is a success of the tool, whatever its exit code: the code is the
//! answer. One that was killed, took too long or was cancelled is a failure, with the output so far.

use foehn_plugin_sdk::ErrorKind;
use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{self, Exit};

/// What a shell adds to the number of the signal that ended its last command.
const SIGNAL_CODES: i32 = 128;

pub(crate) fn report(output: &process::Output, folder: &RelPath, command: &str) -> Result<Output> {
    let ran = format!("after {:.1} s in `{folder}`", output.duration.as_secs_f64());
    let printed = match &output.stderr {
        None => printed(&output.text()),
        Some(errors) => {
            let text = printed(&output.text());
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("stdout:\n{text}{end}stderr:\n{}", printed(&errors.text()))
        }
    };
    let failure =
        |kind, what: String| Err(Error::new(kind, format!("{what} {ran}\n{printed}")).executed(true));
    if output.cancelled {
        return failure(ErrorKind::Cancelled, "cancelled".to_owned());
    }
    if output.timed_out {
        return failure(ErrorKind::TimedOut, "stopped because its time was up".to_owned());
    }
    if output.crowded {
        return failure(ErrorKind::Failed, "stopped because it started programs without end".to_owned());
    }
    let code = match output.exit {
        Exit::Signal(number) => return failure(ErrorKind::Failed, format!("killed by {}", signal(number))),
        Exit::Code(code) => code,
    };
    let mut result = Output::text(format!("exit code {code} {ran}\n{printed}"));
    if code > SIGNAL_CODES && signal_name(code - SIGNAL_CODES).is_some() {
        let signal = signal(code - SIGNAL_CODES);
        result = result.note(format!("exit code {code} usually means that a program was killed by {signal}"));
    }
    if !output.left_running.is_empty() {
        let running: Vec<String> = output
            .left_running
            .iter()
            .map(|process| format!("{} (pid {})", process.name, process.pid))
            .collect();
        result = result.note(format!("still running in the background: {}", running.join(", ")));
    }
    if changes_only_its_shell(command) {
        result =
            result.note("the next call starts again in its working_directory and without these variables");
    }
    Ok(result)
}

fn printed(text: &str) -> String {
    if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() }
}

/// Whether a command line does nothing but what ends with its shell. Only the plainest ones are recognised.
fn changes_only_its_shell(command: &str) -> bool {
    command
        .split(['\n', ';'])
        .flat_map(|part| part.split("&&"))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .all(|part| part == "cd" || part.starts_with("cd ") || part.starts_with("export "))
        && !command.contains("$(")
        && !command.contains(['`', '|', '>'])
}

/// How a program ended, in words.
pub(crate) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(number) => format!("killed by {}", signal(number)),
    }
}

fn signal(number: i32) -> String {
    match signal_name(number) {
        Some(name) => format!("signal {number} ({name})"),
        None => format!("signal {number}"),
    }
}

/// Those that end a program in practice, as Linux counts them.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_with_its_shell_is_recognised_only_when_plain() {
        let commands =
            ["cd sub && export A=1", "cd", "cd a; ls", "cd $(touch x)", "export A=1 | cat", "cdrecord x"];
        assert_eq!(commands.map(changes_only_its_shell), [true, true, false, false, false, false]);
    }
}
