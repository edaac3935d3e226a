//! Programs that run another one: what is left when they are taken away.

use super::words::Word;

/// What a wrapper runs.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    /// The command, word by word.
    pub command: Vec<Word>,
    /// Command lines that a shell reads.
    pub lines: Vec<String>,
    /// Variables that are set for it.
    pub assignments: Vec<String>,
    /// What is not understood about it.
    pub problem: Option<&'static str>,
    /// Whether the wrapper is an operation of its own: it gives rights, or goes elsewhere.
    pub is_named: bool,
}

/// A word that becomes several would move the command that is run.
const SPLITS: &str = "a word that may become several";

impl Unwrapped {
    /// The value of an option is a line, and further words belong to it.
    fn line(mut self, value: Option<&str>, rest: &[Word]) -> Self {
        let rest = joined(rest);
        self.lines = vec![value.map_or(rest.clone(), |value| format!("{value} {rest}"))];
        self.problem = Some("a line that is read in another way than a shell's");
        self
    }

    fn skip_value<'w>(&mut self, rest: &'w [Word]) -> &'w [Word] {
        let Some((value, rest)) = rest.split_first() else { return rest };
        if !value.is_one() {
            self.problem = Some(SPLITS);
        }
        rest
    }
}

/// How a wrapper is called: letters of options without and with a value, long ones likewise, operands before the command.
struct Wrapper {
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    long_flags: &'static [&'static str],
    long_values: &'static [&'static str],
    /// An option whose value is the line that is run: its letter, and its long name.
    line: Option<(char, &'static str)>,
    operands: usize,
    assigns: bool,
    is_named: bool,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    values: "",
    long_flags: &[],
    long_values: &[],
    line: None,
    operands: 0,
    assigns: false,
    is_named: false,
};

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        line: Some(('S', "split-string")),
        flags: "i0v",
        values: "uC",
        long_flags: &["ignore-environment", "null", "debug"],
        long_values: &["unset", "chdir"],
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        name: "sudo",
        flags: "AbEHknPSB",
        values: "ugpCTrtDRhU",
        long_flags: &["preserve-env", "non-interactive", "set-home", "stdin", "background"],
        long_values: &["user", "group", "prompt", "chdir", "chroot", "host"],
        assigns: true,
        is_named: true,
        ..PLAIN
    },
    Wrapper { name: "doas", flags: "n", values: "u", is_named: true, ..PLAIN },
    Wrapper { name: "pkexec", long_values: &["user"], is_named: true, ..PLAIN },
    Wrapper { name: "runuser", values: "ug", long_values: &["user", "group"], is_named: true, ..PLAIN },
    Wrapper { name: "chroot", long_values: &["userspec", "groups"], operands: 1, is_named: true, ..PLAIN },
    Wrapper { name: "nice", flags: "0123456789", values: "n", long_values: &["adjustment"], ..PLAIN },
    Wrapper { name: "ionice", flags: "t", values: "cn", long_values: &["class", "classdata"], ..PLAIN },
    Wrapper { name: "chrt", flags: "abdfior", operands: 1, ..PLAIN },
    Wrapper { name: "taskset", flags: "ac", operands: 1, ..PLAIN },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { name: "time", flags: "pvq", values: "f", ..PLAIN },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        values: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "stdbuf", values: "ioe", long_values: &["input", "output", "error"], ..PLAIN },
    Wrapper { name: "strace", flags: "fqcCtTrvy", values: "e", ..PLAIN },
    Wrapper { name: "flock", flags: "sxnuoFe", values: "wE", operands: 1, ..PLAIN },
    Wrapper { name: "command", flags: "p", ..PLAIN },
    Wrapper { name: "coproc", ..PLAIN },
    Wrapper { name: "entr", flags: "acdnprz", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "exec", flags: "cl", values: "a", ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper { name: "fakeroot", ..PLAIN },
    Wrapper { name: "unbuffer", flags: "p", ..PLAIN },
    Wrapper {
        name: "xargs",
        flags: "0rtxpo",
        values: "adEILnPs",
        long_flags: &["null", "no-run-if-empty", "verbose", "exit"],
        long_values: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "replace", "max-lines"],
        ..PLAIN
    },
];

/// Shells, with their options that change nothing about what is run.
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];
const SHELL_FLAGS: &str = "abefhilmnpuvxBCEH";
const SHELL_LONG_FLAGS: &[&str] = &["--login", "--noprofile", "--norc", "--posix"];

/// Parts of the shell and programs that run what nobody can see from the line.
const UNCLEAR: &[(&str, &str)] = &[
    (".", "the commands of a file"),
    ("at", "commands of its input, later"),
    ("batch", "commands of its input, later"),
    ("crontab", "commands of a file, later"),
    ("hyperfine", "command lines that another program runs"),
    ("screen", "a command in another terminal"),
    ("tmux", "a command in another terminal"),
    ("alias", "`alias` changes what a name means"),
    ("enable", "`enable` changes what a name means"),
    ("hash", "`hash` changes what a name means"),
    ("nsenter", "a command in other namespaces"),
    ("parallel", "commands that `parallel` makes up"),
    ("source", "the commands of a file"),
    ("systemd-run", "a command that another process starts"),
    ("unshare", "a command in other namespaces"),
];

/// Takes a wrapper away; `None` when the program is none, or is used for itself.
pub(super) fn unwrap(program: &str, arguments: &[Word]) -> Option<Unwrapped> {
    if let Some((_, problem)) = UNCLEAR.iter().find(|(name, _)| *name == program) {
        return Some(Unwrapped { problem: Some(*problem), is_named: true, ..Unwrapped::default() });
    }
    match program {
        "eval" => {
            let problem = Some("`eval` reads its words again");
            return Some(Unwrapped { lines: vec![joined(arguments)], problem, ..Unwrapped::default() });
        }
        "trap" => {
            let line = arguments.iter().take(1).filter_map(Word::exact).map(str::to_owned).collect();
            let problem = (!arguments.is_empty()).then_some("`trap` runs a command later");
            return Some(Unwrapped { lines: line, problem, ..Unwrapped::default() });
        }
        "watch" => return watch(arguments),
        "su" | "script" => return Some(given_by_c(arguments)),
        _ if SHELLS.contains(&program) => return shell(arguments),
        _ => {}
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == program)?;
    let mut found = strip(wrapper, arguments);
    if program == "xargs" && found.problem.is_none() {
        from_input(arguments, &mut found.command);
    }
    let is_itself = found.command.is_empty() && found.problem.is_none();
    let only_looks = program == "command"
        && arguments.first().and_then(Word::exact).is_some_and(|option| matches!(option, "-v" | "-V"));
    (!is_itself && !only_looks).then_some(found)
}

/// Whether what it runs starts in another folder, as far as it can be told from outside.
pub(super) fn moves(program: &str, arguments: &[Word]) -> bool {
    let letters = match program {
        "chroot" | "su" | "runuser" => return true,
        "env" => "C",
        "sudo" => "DR",
        _ => return false,
    };
    arguments.iter().any(|word| {
        let is_long = word.text.starts_with("--ch");
        is_long || (word.text.starts_with('-') && word.text.contains(|letter| letters.contains(letter)))
    })
}

/// Whether its lines are the shell's own.
pub(super) fn runs_in_the_shell(program: &str) -> bool {
    matches!(program, "eval" | "trap" | "." | "source")
}

fn strip(wrapper: &Wrapper, arguments: &[Word]) -> Unwrapped {
    let mut found = Unwrapped { is_named: wrapper.is_named, ..Unwrapped::default() };
    let mut rest = arguments;
    let mut operands = wrapper.operands;
    while let [first, after @ ..] = rest {
        let Some(text) = first.exact() else {
            if operands > 0 {
                operands -= 1;
                rest = after;
                if !first.is_one() {
                    found.problem = Some(SPLITS);
                }
                continue;
            }
            break;
        };
        rest = after;
        if text == "--" {
            if rest.iter().take(operands).any(|operand| !operand.is_one()) {
                found.problem = Some(SPLITS);
            }
            found.command = rest.iter().skip(operands).cloned().collect();
            return found;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if wrapper.line.is_some_and(|(_, line)| line.starts_with(name)) {
                return found.line(value, rest);
            }
            if wrapper.long_values.contains(&name) {
                rest = if value.is_some() { rest } else { found.skip_value(rest) };
            } else if !wrapper.long_flags.contains(&name) {
                found.problem = Some("an option of a wrapper that is not known");
            }
        } else if let Some(letters) = text.strip_prefix('-') {
            for (index, letter) in letters.char_indices() {
                if wrapper.line.is_some_and(|(line, _)| line == letter) {
                    let value = &letters[index + letter.len_utf8()..];
                    return found.line((!value.is_empty()).then_some(value), rest);
                }
                if wrapper.values.contains(letter) {
                    if index + letter.len_utf8() == letters.len() {
                        rest = found.skip_value(rest);
                    }
                    break;
                }
                if !wrapper.flags.contains(letter) {
                    found.problem = Some("an option of a wrapper that is not known");
                }
            }
        } else if let Some((name, _)) = text.split_once('=').filter(|_| wrapper.assigns) {
            found.assignments.push(name.to_owned());
        } else if operands > 0 {
            operands -= 1;
        } else {
            found.command.push(first.clone());
            found.command.extend_from_slice(rest);
            return found;
        }
    }
    found.command = rest.to_vec();
    found
}

/// `xargs` adds words from its input, or puts them in the place of a word.
fn from_input(arguments: &[Word], command: &mut Vec<Word>) {
    let mut marks = vec!["{}".to_owned()];
    for (index, word) in arguments.iter().enumerate() {
        let after = arguments.get(index + 1).map(|word| word.text.clone());
        match word.text.as_str() {
            "-I" | "--replace" => marks.extend(after),
            text => marks.extend(
                text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")).map(str::to_owned),
            ),
        }
    }
    for word in command.iter_mut() {
        if marks.iter().any(|mark| !mark.is_empty() && word.text.contains(mark.as_str())) {
            word.is_literal = false;
        }
    }
    if command.is_empty() {
        command.push(Word::literal("echo"));
    }
    command.push(Word::computed("words of the input"));
}

/// The words as a line that a shell reads again. One that is worked out at run time could be anything.
fn joined(arguments: &[Word]) -> String {
    let words: Vec<&str> = arguments.iter().map(|word| word.exact().unwrap_or("$word")).collect();
    words.join(" ")
}

fn watch(arguments: &[Word]) -> Option<Unwrapped> {
    let wrapper = Wrapper { flags: "bcdegtwx", values: "n", long_values: &["interval"], ..PLAIN };
    let found = strip(&wrapper, arguments);
    let is_computed = found.command.iter().any(|word| word.exact().is_none());
    let problem = found.problem.or(is_computed.then_some("words of a command line that are not known"));
    (!found.command.is_empty()).then(|| Unwrapped {
        lines: vec![joined(&found.command)],
        problem,
        ..Unwrapped::default()
    })
}

/// `su -c LINE` and the like.
fn given_by_c(arguments: &[Word]) -> Unwrapped {
    let mut line = None;
    for (index, word) in arguments.iter().enumerate() {
        let next = || arguments.get(index + 1).and_then(Word::exact);
        let Some(text) = word.exact() else { continue };
        line = match text.strip_prefix("--") {
            Some("command") => next(),
            Some(long) => long.strip_prefix("command="),
            // `-qc LINE`, and `-cLINE`.
            None => match text.strip_prefix('-').and_then(|letters| letters.split_once('c')) {
                Some((_, "")) => next(),
                Some((_, attached)) => Some(attached),
                None => None,
            },
        };
        if line.is_some() {
            break;
        }
    }
    let problem = line.is_none().then_some("a shell that reads its commands from elsewhere");
    Unwrapped {
        lines: line.map(str::to_owned).into_iter().collect(),
        problem,
        is_named: true,
        ..Unwrapped::default()
    }
}

fn shell(arguments: &[Word]) -> Option<Unwrapped> {
    let problem = |what| Some(Unwrapped { problem: Some(what), ..Unwrapped::default() });
    let mut takes_line = false;
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.exact() else {
            return problem("a shell whose commands are worked out at run time");
        };
        match text {
            "--version" | "--help" => return None,
            "--" => {}
            "-o" | "+o" => drop(rest.next()),
            text if SHELL_LONG_FLAGS.contains(&text) => {}
            text if text.starts_with(['-', '+']) && text.len() > 1 && !text.starts_with("--") => {
                let letters = &text[1..];
                takes_line |= letters.contains('c');
                if !letters.chars().all(|letter| letter == 'c' || SHELL_FLAGS.contains(letter)) {
                    return problem("an option of a shell that is not known");
                }
                continue;
            }
            text if text.starts_with('-') => {
                return problem("a shell that reads its commands from elsewhere");
            }
            // The line, or a script: that is an operation like any other.
            line if takes_line => {
                return Some(Unwrapped { lines: vec![line.to_owned()], ..Unwrapped::default() });
            }
            _ => return None,
        }
    }
    problem("a shell that reads its commands from its input")
}

/// The wrappers of the tables, each with what stands before the command, for tests.
#[cfg(test)]
pub(super) const EXAMPLES: &[&str] = &[
    "env",
    "env -i A=1",
    "env -u X --chdir=sub",
    "sudo",
    "sudo -u ada",
    "sudo -n --",
    "doas -u ada",
    "nice",
    "nice -n 5",
    "nice -5",
    "ionice -c 3",
    "ionice -c3 -n 4",
    "chrt -r 10",
    "taskset -c 0",
    "nohup",
    "setsid -w",
    "time",
    "time -p",
    "timeout 5",
    "timeout -k 1 --signal=KILL 5s",
    "stdbuf -oL",
    "stdbuf -o L -e 0",
    "strace -f -e trace=file",
    "flock lock",
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a name",
    "busybox",
    "toybox",
    "fakeroot",
    "unbuffer",
    "xargs",
    "xargs -0 -n 1",
    "xargs -I {}",
    "xargs -P4 --max-args=2",
    "chroot jail",
    "pkexec",
    "runuser -u ada --",
    "watch -n 5",
    "eval",
    "env nice nohup",
    "A=1",
    "! ",
    "/usr/bin/env",
    "'env'",
    "e\\nv",
    "sudo env timeout 1 xargs",
];
