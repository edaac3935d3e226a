//! The environment a confined process starts with: a short list of names, so that a key in the host's environment is
//! never handed on by accident. It refuses patterns for anything but the locale.

use std::ffi::OsString;

/// Names that programs need and that hold no secret. Proxy settings are missing on purpose: their URLs carry passwords.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "DOTNET_ROOT",
];

/// The locale is a family of names (`LC_ALL`, `LC_TIME`, ...).
const KEPT_PREFIX: &str = "LC_";

/// The part of this process's environment that a confined process may see.
pub fn clean_environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept)).collect()
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || name.starts_with(KEPT_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_short_list_passes() {
        let names = [
            "PATH",
            "LC_ALL",
            "OPENAI_API_KEY",
            "LD_PRELOAD",
            "SSH_AUTH_SOCK",
            "http_proxy",
            "CARGO_HOME",
            "CARGO_REGISTRY_TOKEN",
            "XLC_ALL",
            "",
        ];
        let kept: Vec<_> = names.into_iter().filter(|name| is_kept(name)).collect();
        assert_eq!(kept, ["PATH", "LC_ALL", "CARGO_HOME"]);
    }
}
