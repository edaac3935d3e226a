//! Environment variables that change which program runs, or what it runs besides.

const EXACT: &[&str] = &[
    "BASH_ENV",
    "CC",
    "CDPATH",
    "CXX",
    "DOTNET_STARTUP_HOOKS",
    "ENV",
    "GCONV_PATH",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFLAGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PROMPT_COMMAND",
    "PS4",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "TAR_OPTIONS",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "_JAVA_OPTIONS",
];

const PREFIXES: &[&str] = &[
    "BASH_FUNC_",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "LD_",
    "NPM_CONFIG_",
    "PERL5",
    "PIP_",
    "PYTHON",
    "npm_config_",
];

const SUFFIXES: &[&str] = &["ASKPASS", "BROWSER", "COMMAND", "EDITOR", "PAGER", "WRAPPER", "_SHELL"];

/// Begin like one that does, and do not.
const HARMLESS: &[&str] = &[
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_COLOR",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

pub(super) fn change_what_runs(name: &str) -> bool {
    !HARMLESS.contains(&name)
        && (EXACT.contains(&name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || SUFFIXES.iter().any(|suffix| name.ends_with(suffix)))
}
