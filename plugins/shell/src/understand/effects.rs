//! What is known about programs without looking at their options: tables.
//!
//! A program that no table names is neither harmless nor dangerous: it is asked about like everything that runs.

use foehn_plugin_sdk::wire::Risk;

/// What an operation does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Changes nothing, as far as tables can know.
    ReadOnly,
    /// Changes files.
    Write,
    /// Talks to other machines.
    Network,
    /// Runs something of which no more is known.
    Other,
    /// Destroys what cannot be brought back, or ends what is not its own.
    Destructive,
    /// Not understood.
    Unknown,
}

impl Effect {
    /// The risk a rule sees. What is only read counts as such when the operator wants it to.
    pub(crate) fn risk(self, read_only_unasked: bool) -> Risk {
        match self {
            Self::ReadOnly if read_only_unasked => Risk::ReadOnly,
            // A standing permission covers these by their arguments, not by their name alone.
            Self::ReadOnly | Self::Write | Self::Network | Self::Other => Risk::Execute,
            Self::Destructive | Self::Unknown => Risk::Destructive,
        }
    }
}

/// Parts of the shell that change only the shell: no operation of their own beside others.
pub(super) const QUIET: &[&str] = &[
    ":", "[", "break", "cd", "continue", "declare", "exit", "export", "false", "getopts", "local", "popd",
    "pushd", "read", "readonly", "return", "set", "shift", "test", "times", "true", "typeset", "ulimit",
    "umask", "unset", "wait",
];

pub(super) const READ_ONLY: &[&str] = &[
    "awk",
    "basename",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expr",
    "fgrep",
    "file",
    "find",
    "fold",
    "free",
    "gawk",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "join",
    "jq",
    "ls",
    "mawk",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "tr",
    "tree",
    "tty",
    "type",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "which",
    "whoami",
];

pub(super) const WRITE: &[&str] = &[
    "bunzip2", "bzip2", "chgrp", "chmod", "cp", "gunzip", "gzip", "install", "ln", "mkdir", "mkfifo",
    "mktemp", "mv", "patch", "split", "tar", "tee", "touch", "unxz", "unzip", "xz", "zip", "zstd",
];

pub(super) const NETWORK: &[&str] = &[
    "aria2c", "curl", "dig", "ftp", "host", "nc", "ncat", "netcat", "nslookup", "ping", "rsync", "scp",
    "sftp", "socat", "ssh", "telnet", "wget", "whois",
];

pub(super) const DESTRUCTIVE: &[&str] = &[
    "chown", "dd", "doas", "fdisk", "halt", "kill", "killall", "mkfs", "mount", "parted", "pkexec", "pkill",
    "poweroff", "reboot", "rm", "rmdir", "shred", "shutdown", "su", "sudo", "truncate", "umount", "unlink",
    "wipefs",
];

/// Programs that run what they are given: without an operand it comes from their input.
pub(super) const INTERPRETERS: &[&str] = &[
    "bun",
    "deno",
    "irb",
    "julia",
    "lua",
    "luajit",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "python",
    "python2",
    "python3",
    "rscript",
    "ruby",
    "tclsh",
];

/// Programs whose operands they write; all operands, not only the last.
pub(super) const WRITES_OPERANDS: &[&str] = &[
    "bunzip2", "bzip2", "chgrp", "chmod", "chown", "gunzip", "gzip", "mkdir", "mkfifo", "mv", "rm", "rmdir",
    "shred", "tee", "touch", "truncate", "unlink", "unxz", "xz",
];

/// Programs that write to their last operand.
pub(super) const WRITES_LAST: &[&str] = &["cp", "install", "ln", "rsync", "scp"];

/// What the tables say of a program by its name.
pub(super) fn of_program(program: &str) -> Effect {
    let tables = [
        (READ_ONLY, Effect::ReadOnly),
        (WRITE, Effect::Write),
        (NETWORK, Effect::Network),
        (DESTRUCTIVE, Effect::Destructive),
        (QUIET, Effect::ReadOnly),
    ];
    let found = tables.iter().find(|(names, _)| names.contains(&program));
    match found {
        Some((_, effect)) => *effect,
        None if program.starts_with("mkfs.") => Effect::Destructive,
        None => Effect::Other,
    }
}

/// Whether a program reads its program from its input when nothing names one. Versions are part of some names.
pub(super) fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program)
        || program.strip_prefix("python").is_some_and(|version| {
            version.starts_with(['2', '3'])
                && version.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        })
}
