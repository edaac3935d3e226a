//! Programs whose first words say what they do: which words those are, and what they do: tables.

use super::effects::Effect;
use super::words::Word;

/// A program whose first word says what it does.
pub(super) struct Tool {
    names: &'static [&'static str],
    /// Global options without and with a value; both are left out of an operation.
    flags: &'static [&'static str],
    values: &'static [&'static str],
    /// Global options that can run programs, or exchange the settings. Those with a value, then those without.
    unclear_values: &'static [&'static str],
    unclear_flags: &'static [&'static str],
    /// Short names of subcommands, and the long ones.
    short: &'static [(&'static str, &'static str)],
    /// First words of what only reads. `$` at the end: nothing may follow.
    read_only: &'static [&'static str],
    network: &'static [&'static str],
    destructive: &'static [&'static str],
    /// All subcommands that are no alias of somebody's; empty when nobody can define one.
    known: &'static [&'static str],
}

const NONE: Tool = Tool {
    names: &[],
    flags: &[],
    values: &[],
    unclear_values: &[],
    unclear_flags: &[],
    short: &[],
    read_only: &[],
    network: &[],
    destructive: &[],
    known: &[],
};

const TOOLS: &[Tool] = &[
    Tool {
        names: &["git"],
        flags: &[
            "--no-pager",
            "-P",
            "--bare",
            "--no-replace-objects",
            "--literal-pathspecs",
            "--no-optional-locks",
        ],
        values: &["-C", "--work-tree", "--namespace"],
        unclear_values: &["-c", "--config-env", "--git-dir", "--exec-path"],
        unclear_flags: &["-p", "--paginate"],
        read_only: &[
            "annotate",
            "blame",
            "branch $",
            "branch --list $",
            "branch --show-current $",
            "branch -a $",
            "branch -r $",
            "branch -v $",
            "branch -vv $",
            "cat-file",
            "check-attr",
            "check-ignore",
            "cherry",
            "config --get",
            "config --list $",
            "config -l $",
            "count-objects",
            "describe",
            "diff",
            "diff-files",
            "diff-index",
            "diff-tree",
            "for-each-ref",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "merge-base",
            "name-rev",
            "range-diff",
            "reflog $",
            "reflog show",
            "remote $",
            "remote -v $",
            "remote get-url",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "show-ref",
            "stash list",
            "stash show",
            "status",
            "submodule status",
            "tag $",
            "tag -l",
            "tag --list",
            "version",
            "--version $",
            "whatchanged",
            "worktree list",
        ],
        network: &[
            "clone",
            "fetch",
            "ls-remote",
            "pull",
            "push",
            "remote update",
            "send-email",
            "submodule update",
        ],
        destructive: &[
            "checkout --",
            "checkout .",
            "checkout -f",
            "clean",
            "filter-branch",
            "gc --prune",
            "push --force",
            "push -f",
            "reflog delete",
            "reflog expire",
            "reset --hard",
            "restore",
            "stash clear",
            "stash drop",
            "branch -D",
            "update-ref -d",
            "push --delete",
            "push --mirror",
            "rm",
        ],
        known: &[
            "add",
            "am",
            "annotate",
            "apply",
            "archive",
            "bisect",
            "blame",
            "branch",
            "bundle",
            "cat-file",
            "check-attr",
            "check-ignore",
            "checkout",
            "cherry",
            "cherry-pick",
            "clean",
            "clone",
            "commit",
            "config",
            "count-objects",
            "describe",
            "diff",
            "diff-files",
            "diff-index",
            "diff-tree",
            "fetch",
            "filter-branch",
            "for-each-ref",
            "format-patch",
            "fsck",
            "gc",
            "grep",
            "hash-object",
            "help",
            "init",
            "log",
            "ls-files",
            "ls-remote",
            "ls-tree",
            "maintenance",
            "merge",
            "merge-base",
            "mv",
            "name-rev",
            "notes",
            "prune",
            "pull",
            "push",
            "range-diff",
            "read-tree",
            "rebase",
            "reflog",
            "remote",
            "repack",
            "replace",
            "reset",
            "restore",
            "rev-list",
            "rev-parse",
            "revert",
            "rm",
            "send-email",
            "shortlog",
            "show",
            "show-ref",
            "sparse-checkout",
            "stash",
            "status",
            "submodule",
            "switch",
            "symbolic-ref",
            "tag",
            "update-index",
            "update-ref",
            "var",
            "version",
            "whatchanged",
            "worktree",
            "write-tree",
            "--version",
            "--help",
        ],
        ..NONE
    },
    Tool {
        names: &["cargo"],
        flags: &["-v", "-vv", "-q", "--verbose", "--quiet", "--locked", "--offline", "--frozen"],
        values: &["--color", "-C"],
        unclear_values: &["--config", "-Z"],
        short: &[("b", "build"), ("c", "check"), ("d", "doc"), ("r", "run"), ("rm", "remove"), ("t", "test")],
        read_only: &[
            "--list $",
            "--version $",
            "-V $",
            "help",
            "locate-project",
            "metadata",
            "pkgid",
            "tree",
            "version",
        ],
        network: &["add", "fetch", "install", "login", "owner", "publish", "search", "update", "yank"],
        known: &[
            "add",
            "bench",
            "build",
            "check",
            "clean",
            "clippy",
            "doc",
            "fetch",
            "fix",
            "fmt",
            "help",
            "info",
            "init",
            "install",
            "locate-project",
            "login",
            "logout",
            "metadata",
            "new",
            "owner",
            "package",
            "pkgid",
            "publish",
            "remove",
            "report",
            "run",
            "rustc",
            "rustdoc",
            "search",
            "test",
            "tree",
            "uninstall",
            "update",
            "vendor",
            "version",
            "yank",
            "nextest",
            "xtask",
            "deny",
            "audit",
            "--list",
            "--version",
            "-V",
            "--help",
        ],
        ..NONE
    },
    Tool {
        names: &["npm", "pnpm", "yarn"],
        flags: &["-g", "--global", "--silent", "-s"],
        values: &["--prefix", "-C", "--dir", "--cwd", "--registry", "-w", "--workspace", "--filter"],
        short: &[("i", "install"), ("t", "test"), ("un", "uninstall"), ("up", "update")],
        read_only: &["--version $", "-v $", "ls", "list"],
        network: &[
            "add",
            "ci",
            "install",
            "login",
            "outdated",
            "publish",
            "search",
            "unpublish",
            "update",
            "view",
        ],
        destructive: &["unpublish"],
        ..NONE
    },
    Tool {
        names: &["docker", "podman"],
        flags: &["-D", "--debug", "--tls"],
        values: &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"],
        read_only: &["--version $", "images", "info", "inspect", "logs", "ps", "version"],
        network: &["login", "pull", "push", "search"],
        destructive: &[
            "kill",
            "prune",
            "rm",
            "rmi",
            "system prune",
            "volume prune",
            "volume rm",
            "image prune",
        ],
        ..NONE
    },
    Tool {
        names: &["kubectl", "helm"],
        values: &[
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "-s",
            "--server",
            "--cluster",
            "--user",
            "--token",
        ],
        network: &[""],
        destructive: &["delete", "drain", "uninstall"],
        ..NONE
    },
    Tool { names: &["gh", "glab"], values: &["-R", "--repo", "--hostname"], network: &[""], ..NONE },
    Tool {
        names: &["go"],
        values: &["-C"],
        read_only: &["doc", "env $", "list", "version"],
        network: &["get", "install", "mod download", "mod tidy"],
        ..NONE
    },
    Tool {
        names: &["dotnet"],
        read_only: &["--info $", "--list-runtimes $", "--list-sdks $", "--version $"],
        network: &["add", "restore", "tool", "nuget"],
        ..NONE
    },
    Tool {
        names: &["pip", "pip3", "uv", "poetry", "pipx", "gem", "bundle", "composer"],
        values: &["--proxy", "--cache-dir", "--log", "--directory", "--project"],
        unclear_values: &["--python"],
        read_only: &["--version $", "-V $", "freeze", "list", "show"],
        network: &["add", "download", "install", "lock", "publish", "push", "sync", "update"],
        ..NONE
    },
    Tool {
        names: &["apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "zypper"],
        flags: &["-y", "-q", "-qq", "--yes", "--quiet"],
        values: &["-t"],
        unclear_values: &["-o", "-c"],
        read_only: &["--version $", "list", "show"],
        network: &["add", "download", "install", "search", "update", "upgrade"],
        destructive: &["autoremove", "purge", "remove", "uninstall"],
        ..NONE
    },
    Tool {
        names: &["systemctl", "service"],
        flags: &["--user", "--no-pager", "--system"],
        values: &["-H", "--host", "-M", "-t", "--type"],
        read_only: &["cat", "is-active", "is-enabled", "list-units", "show", "status"],
        destructive: &["disable", "kill", "mask", "poweroff", "reboot", "restart", "stop"],
        ..NONE
    },
    Tool {
        names: &["rustup"],
        flags: &["-v", "-q"],
        read_only: &["--version $", "show", "toolchain list", "target list", "which"],
        network: &["install", "target add", "toolchain install", "update", "component add", "self update"],
        destructive: &["self uninstall", "toolchain uninstall"],
        ..NONE
    },
];

/// Programs that tell their version and do nothing else when that is all they are asked for.
const TELLING_VERSION: &[&str] = &[
    "bash", "bun", "cc", "clang", "clang++", "cmake", "deno", "g++", "gcc", "java", "javac", "lua", "make",
    "node", "perl", "php", "python", "python3", "ruby", "rustc", "rustdoc", "rustfmt",
];

pub(super) fn tells_version(program: &str, arguments: &[Word]) -> bool {
    TELLING_VERSION.contains(&program)
        && matches!(arguments, [only] if only.exact().is_some_and(|text| matches!(text, "--version" | "-version" | "-V")))
}

/// Whether git has a part of this name.
pub(super) fn is_part_of_git(name: &str) -> bool {
    tool("git").is_some_and(|git| !name.starts_with('-') && git.known.contains(&name))
}

pub(super) fn tool(program: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.names.contains(&program))
}

impl Tool {
    /// The words that say what it does, and what of the options before them is not understood.
    pub(super) fn words(&self, arguments: &[Word]) -> (Vec<Word>, Option<&'static str>) {
        let mut problem = None;
        let mut rest = arguments;
        while let [first, after @ ..] = rest {
            let Some(text) = first.exact() else { break };
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            let has_value = name.len() < text.len();
            let value = |rest: &'_ [Word]| if has_value { 0 } else { rest.len().min(1) };
            let splits = !has_value && after.first().is_some_and(|value| !value.is_one());
            if self.flags.contains(&text) || (text.starts_with('+') && text.len() > 1) {
                rest = after;
            } else if self.values.contains(&name) {
                problem = problem.or(splits.then_some("a word that may become several"));
                rest = &after[value(after)..];
            } else if self.unclear_values.contains(&name) {
                problem = Some("an option that can run other programs");
                rest = &after[value(after)..];
            } else if self.unclear_flags.contains(&text) {
                problem = Some("an option that can run other programs");
                rest = after;
            } else if text.starts_with('-') && !self.names_option(text) {
                problem = problem.or(Some("an option that is not known"));
                rest = after;
            } else {
                break;
            }
        }
        let mut words = rest.to_vec();
        if let Some(first) = words.first_mut()
            && let Some((_, long)) = self.short.iter().find(|(short, _)| *short == first.text)
        {
            first.text = (*long).to_owned();
        }
        match words.first() {
            Some(first) if first.exact().is_none() => {
                problem = Some("a subcommand that is worked out at run time")
            }
            Some(first) if !self.known.is_empty() && !self.known.contains(&first.text.as_str()) => {
                problem = problem.or(Some("a subcommand that may be somebody's own"));
            }
            _ => {}
        }
        (words, problem)
    }

    /// Options that stand in the place of a subcommand, such as `--version`.
    fn names_option(&self, text: &str) -> bool {
        text == "--help" || self.read_only.iter().any(|words| words.split(' ').next() == Some(text))
    }

    pub(super) fn effect(&self, words: &[Word]) -> Effect {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let among = |list: &[&str]| list.iter().any(|entry| begins(&texts, entry));
        if among(self.destructive) {
            Effect::Destructive
        } else if among(self.network) {
            Effect::Network
        } else if texts.is_empty() || among(self.read_only) {
            Effect::ReadOnly
        } else {
            Effect::Other
        }
    }
}

fn begins(words: &[&str], entry: &str) -> bool {
    let mut words = words.iter();
    entry.split_whitespace().all(|expected| match expected {
        "$" => words.len() == 0,
        _ => words.next() == Some(&expected),
    })
}
