//! Which arguments reach the program: listed options, and nothing that leads out of the workspace.
//!
//! The list is read as most programs read theirs: `--name`, `--name=value`, `--name value`, `-n`, `-nvalue`, `-abc`. Where a
//! program could see an option and this page a value, the argument is refused: `--jobs -x` has to be written `--jobs=-x`.

use std::path::{Path, PathBuf};

use super::place::Place;
use super::table::{OptionRule, Rest, Subcommand, Takes, Unlisted, allowed, find};

/// Most arguments of one call, and most bytes of all together.
pub(super) const MOST_ARGUMENTS: usize = 100;
const MOST_BYTES: usize = 64 * 1024;

/// Why an argument does not reach the program.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum ArgumentError {
    #[error("`{program} {subcommand}` takes no arguments")]
    NoneTaken { program: &'static str, subcommand: &'static str },
    #[error("there are more than {MOST_ARGUMENTS} arguments, or more than {} KiB of them", MOST_BYTES / 1024)]
    TooMany,
    #[error("arguments[{index}] has a NUL character")]
    Nul { index: usize },
    #[error("arguments[{index}] `{argument}` is refused: {reason}")]
    Refused { index: usize, argument: String, reason: String },
}

/// What the arguments are held against.
pub(super) struct Rules<'a> {
    pub(super) program: &'static str,
    pub(super) subcommand: &'a Subcommand,
    pub(super) common: &'static [OptionRule],
    /// Options that the operator allows beside the listed ones.
    pub(super) extra: &'a [String],
    pub(super) unlisted: Unlisted,
    /// An argument as the program reads a path in it.
    pub(super) read: fn(&str) -> String,
    pub(super) place: Place,
}

impl Rules<'_> {
    /// Looks at every argument. `real` follows the links of a path of the workspace; `None` = they lead out.
    pub(super) fn check(
        &self,
        arguments: &[String],
        real: impl Fn(&Path) -> Option<PathBuf>,
    ) -> Result<(), ArgumentError> {
        let (program, subcommand) = (self.program, self.subcommand.name);
        if self.subcommand.tells && !arguments.is_empty() {
            return Err(ArgumentError::NoneTaken { program, subcommand });
        }
        if arguments.len() > MOST_ARGUMENTS || arguments.iter().map(String::len).sum::<usize>() > MOST_BYTES {
            return Err(ArgumentError::TooMany);
        }
        let mut lists = [self.subcommand.options, self.common];
        let mut is_rest = false;
        let mut value_of: Option<&str> = None;
        for (index, argument) in arguments.iter().enumerate() {
            if argument.contains('\0') {
                return Err(ArgumentError::Nul { index });
            }
            if is_rest && self.subcommand.rest == Rest::Free {
                continue;
            }
            let refused = |reason| ArgumentError::Refused { index, argument: argument.clone(), reason };
            let is_option = argument.len() > 1 && argument.starts_with('-');
            match value_of.take() {
                Some(option) if is_option => {
                    return Err(refused(format!("it begins with a dash; write `{option}={argument}`")));
                }
                Some(_) => {}
                None if argument == "--" && !is_rest => {
                    is_rest = true;
                    if let Rest::Only(options) = self.subcommand.rest {
                        lists = [options, &[]];
                    }
                }
                None if is_option && !(is_rest && self.subcommand.rest == Rest::Checked) => {
                    value_of = self.option(argument, lists).map_err(refused)?.then_some(argument);
                }
                None => {}
            }
            let text = (self.read)(argument);
            self.place.holds(&text, &real).map_err(refused)?;
        }
        Ok(())
    }

    /// Whether the next argument is the option's value.
    fn option(&self, argument: &str, lists: [&[OptionRule]; 2]) -> Result<bool, String> {
        let name = argument.split_once('=').map_or(argument, |(name, _)| name);
        match self.takes(name, lists) {
            Some(takes) => {
                return known(takes).map(|takes_value| takes_value && name.len() == argument.len());
            }
            None if self.unlisted == Unlisted::Passed => return Ok(false),
            None => {}
        }
        let is_short = !argument.starts_with("--");
        if !is_short {
            return Err(self.not_listed(name, lists));
        }
        // `-abc`: flags one after another, the last perhaps with its value.
        for (at, letter) in argument.char_indices().skip(1) {
            let short = format!("-{letter}");
            let takes = self.takes(&short, lists).ok_or_else(|| self.not_listed(&short, lists))?;
            if known(takes)? {
                return Ok(at + letter.len_utf8() == argument.len());
            }
        }
        Ok(false)
    }

    fn takes(&self, name: &str, lists: [&[OptionRule]; 2]) -> Option<Takes> {
        let is_extra = self.extra.iter().any(|extra| extra == name);
        let found = find(lists, name);
        // The operator knows best what is refused by default; whether there is a value is not known of such an option.
        if is_extra && !matches!(found, Some(Takes::Value)) { Some(Takes::Nothing) } else { found }
    }

    fn not_listed(&self, name: &str, lists: [&[OptionRule]; 2]) -> String {
        let allowed = allowed(lists);
        let (program, subcommand) = (self.program, self.subcommand.name);
        let has = if allowed.is_empty() { "none".to_owned() } else { allowed };
        format!(
            "`{name}` is not among the options of `{program} {subcommand}` that may be used here ({has}); the operator can \
             add it to `allowed_options`"
        )
    }
}

fn known(takes: Takes) -> Result<bool, String> {
    match takes {
        Takes::Nothing => Ok(false),
        Takes::Value => Ok(true),
        Takes::Refused(reason) => Err(reason.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &[OptionRule] = &[
        OptionRule::flags("-v --verbose -q"),
        OptionRule::values("-j --jobs --out"),
        OptionRule::refused("--shell", "it names a program to run"),
    ];
    const RUN: Subcommand = Subcommand::new("run", "").rest_to_program();
    const TEST: Subcommand = Subcommand::new("test", "").options(&[OptionRule::flags("--all")]);
    const LINT: Subcommand = Subcommand::new("lint", "").rest_options(&[OptionRule::values("-D")]);
    const INFO: Subcommand = Subcommand::telling("--info", "info", "");

    #[track_caller]
    fn check(subcommand: &Subcommand, arguments: &[&str], expected: &str) {
        let rules = Rules {
            program: "tool",
            subcommand,
            common: COMMON,
            extra: &["--extra".to_owned()],
            unlisted: Unlisted::Refused,
            read: str::to_owned,
            place: Place { directory: "app".into(), roots: vec!["/ws".into()] },
        };
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let verdict = match rules.check(&arguments, |path| Some(path.to_owned())) {
            Ok(()) => "ok".to_owned(),
            Err(ArgumentError::Refused { index, reason, .. }) => format!("{index}: {reason}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(verdict, expected, "{arguments:?}");
    }

    #[test]
    fn listed_options_pass_in_each_spelling() {
        for arguments in [
            &["-v", "-j", "4", "name"][..],
            &["-vj4", "--jobs=4", "--jobs", "4"],
            &["-vqj", "4", "--out=../out", "--extra"],
            &["--jobs=-1", "-"],
            &["--all", "a/../b", "/ws/x"],
        ] {
            check(&TEST, arguments, "ok");
        }
        check(&RUN, &["--", "--anything", "/etc/hosts", "--"], "ok");
        check(&LINT, &["-v", "--", "-D", "warnings", "-Dall"], "ok");
        check(&TEST, &["--", "--not-an-option"], "ok");
        check(&INFO, &[], "ok");
    }

    #[test]
    fn all_others_are_refused() {
        let listed = |name: &str, subcommand: &str, has: &str| {
            format!(
                "`{name}` is not among the options of `tool {subcommand}` that may be used here ({has}); the operator can \
                 add it to `allowed_options`"
            )
        };
        let common = "-v, --verbose, -q, -j, --jobs, --out";
        check(&RUN, &["--all"], &format!("0: {}", listed("--all", "run", common)));
        check(&RUN, &["-vx"], &format!("0: {}", listed("-x", "run", common)));
        check(&RUN, &["--shel=x"], &format!("0: {}", listed("--shel", "run", common)));
        check(&LINT, &["--", "-Dx", "-C"], &format!("2: {}", listed("-C", "lint", "-D")));
        check(&RUN, &["--shell", "sh"], "0: it names a program to run");
        check(&RUN, &["--shell=sh"], "0: it names a program to run");
        check(&RUN, &["-j", "--shell=sh"], "1: it begins with a dash; write `-j=--shell=sh`");
        check(&RUN, &["--out", "../../x"], "1: `../../x` leads out of the workspace");
        check(&RUN, &["--out=/tmp/x"], "0: `/tmp/x` leads out of the workspace");
        check(&RUN, &["-j/tmp/x"], "0: `/tmp/x` leads out of the workspace");
        check(&TEST, &["--", "/etc/hosts"], "1: `/etc/hosts` leads out of the workspace");
        check(&INFO, &["x"], "`tool --info` takes no arguments");
        check(&RUN, &["a\0b"], "arguments[0] has a NUL character");
        let many = vec!["x"; MOST_ARGUMENTS + 1];
        check(&RUN, &many, "there are more than 100 arguments, or more than 64 KiB of them");
    }
}
