//! The environment of a program: a short list of what is passed on, and settings that keep programs from asking, paging,
//! colouring and phoning home. One place for all of it; nothing else of the host's environment is seen, so that no key in it
//! can be.

use std::ffi::{OsStr, OsString};

/// Passed on when set.
const PASSED: &[&str] =
    &["PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ", "CARGO_HOME", "RUSTUP_HOME", "DOTNET_ROOT"];

/// Passed on by their beginning.
const PASSED_PREFIX: &str = "LC_";

/// Where programs are looked for when the host has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Set for every program.
const SET: &[(&str, &str)] = &[
    // No terminal: no colours, no pager, no cursor movement.
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    // Nobody there to answer.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("NPM_CONFIG_YES", "true"),
    // No word about new versions, no reports about use.
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("DOTNET_NOLOGO", "1"),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
];

/// The environment of a program, made from the host's: `also` are names that the operator passes on.
pub(super) fn clean(
    own: impl Iterator<Item = (OsString, OsString)>,
    also: &[OsString],
) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsString| is_passed(name) || also.contains(name);
    let mut environment: Vec<(OsString, OsString)> = own.filter(|(name, _)| is_kept(name)).collect();
    if !environment.iter().any(|(name, _)| name == "PATH") {
        environment.push(("PATH".into(), DEFAULT_PATH.into()));
    }
    environment.extend(SET.iter().map(|&(name, value)| (name.into(), value.into())));
    environment
}

fn is_passed(name: &OsStr) -> bool {
    PASSED.iter().any(|passed| name == *passed)
        || name.as_encoded_bytes().starts_with(PASSED_PREFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(own: &[(&str, &str)], also: &[&str], expected: &[(&str, &str)]) {
        let own = own.iter().map(|&(name, value)| (OsString::from(name), OsString::from(value)));
        let expected: Vec<(OsString, OsString)> =
            expected.iter().chain(SET).map(|&(name, value)| (name.into(), value.into())).collect();
        let also: Vec<OsString> = also.iter().map(Into::into).collect();
        assert_eq!(clean(own, &also), expected);
    }

    #[test]
    fn only_the_listed_names_are_passed_on() {
        let own = [
            ("MISTRAL_API_KEY", "secret"),
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("PATHS", "/x"),
            ("LD_PRELOAD", "x.so"),
            ("HOME", "/home/ada"),
            ("TERM", "xterm"),
        ];
        check(&own, &[], &[("PATH", "/bin"), ("LC_ALL", "C"), ("HOME", "/home/ada")]);
        check(&own[..4], &["PATHS", "GONE"], &[("PATH", "/bin"), ("LC_ALL", "C"), ("PATHS", "/x")]);
        check(&[], &[], &[("PATH", DEFAULT_PATH)]);
    }
}
