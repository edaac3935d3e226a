//! What an author writes down about a program: its subcommands and their options, as constant tables.

use crate::wire::Risk;

/// A subcommand that may run.
///
/// ```
/// use foehn_plugin_sdk::process::wrapper::{OptionRule, Subcommand};
/// const TEST: Subcommand = Subcommand::new("test", "Run the project's tests.")
///     .options(&[OptionRule::flags("--fast -f"), OptionRule::values("--filter")])
///     .rest_to_program();
/// assert_eq!((TEST.name(), TEST.operation()), ("test", "test"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subcommand {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) operation: &'static str,
    pub(super) risk: Risk,
    pub(super) options: &'static [OptionRule],
    pub(super) rest: Rest,
    pub(super) tells: bool,
}

/// What becomes of the arguments after `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// They are looked at like all others.
    Checked,
    /// They go to a program of the project, as they are.
    Free,
    /// Only these options and their values.
    Only(&'static [OptionRule]),
}

impl Subcommand {
    /// A subcommand that runs what the project says, and the operation of its name. The description is for the operator.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            operation: name,
            risk: Risk::Execute,
            options: &[],
            rest: Rest::Checked,
            tells: false,
        }
    }

    /// A subcommand that only tells something about the program itself. It takes no arguments, and runs in the root folder of
    /// the system, where no file of the workspace has a say in what is started.
    pub const fn telling(name: &'static str, operation: &'static str, description: &'static str) -> Self {
        let mut telling = Self::new(name, description);
        telling.operation = operation;
        telling.risk = Risk::ReadOnly;
        telling.tells = true;
        telling
    }

    /// The same subcommand as a part of an operation that has a name of its own.
    #[must_use]
    pub const fn as_operation(mut self, operation: &'static str) -> Self {
        self.operation = operation;
        self
    }

    /// The same subcommand with its own risk. [`Execute`](Risk::Execute) is right for all that lets a file of the project
    /// decide what is run, and few subcommands do not.
    #[must_use]
    pub const fn risk(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }

    /// The same subcommand with options of its own, beside [`Wrapper::OPTIONS`](super::Wrapper::OPTIONS).
    #[must_use]
    pub const fn options(mut self, options: &'static [OptionRule]) -> Self {
        self.options = options;
        self
    }

    /// The same subcommand, which hands what stands after `--` to a program of the project: it may be anything.
    #[must_use]
    pub const fn rest_to_program(mut self) -> Self {
        self.rest = Rest::Free;
        self
    }

    /// The same subcommand, after whose `--` other options stand.
    #[must_use]
    pub const fn rest_options(mut self, options: &'static [OptionRule]) -> Self {
        self.rest = Rest::Only(options);
        self
    }

    /// As it stands on the command line.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The operation that permissions name.
    pub const fn operation(&self) -> &'static str {
        self.operation
    }

    /// Whether it only tells something about the program.
    pub const fn is_telling(&self) -> bool {
        self.tells
    }
}

/// Some options, by their names with spaces between: `"-j --jobs"`.
///
/// An option that is in no list is refused, unless [`Wrapper::UNLISTED`](super::Wrapper::UNLISTED) says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionRule {
    pub(super) names: &'static str,
    pub(super) takes: Takes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// It is refused, for this reason.
    Refused(&'static str),
}

impl OptionRule {
    /// Options without a value. One that may have a value has it behind `=`.
    pub const fn flags(names: &'static str) -> Self {
        Self { names, takes: Takes::Nothing }
    }

    /// Options with a value, in the same argument or the next. What could be a path has to stay in the workspace.
    pub const fn values(names: &'static str) -> Self {
        Self { names, takes: Takes::Value }
    }

    /// Options that never go through, with the reason for the model: `"it names a program to run"`.
    pub const fn refused(names: &'static str, reason: &'static str) -> Self {
        Self { names, takes: Takes::Refused(reason) }
    }
}

/// What becomes of an option that no list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// It is refused. Options that end in a started program cannot all be known, so this is the safe choice.
    Refused,
    /// It goes through, after [`Wrapper::check`](super::Wrapper::check) had its say.
    Passed,
}

/// Looks an option up: the subcommand's own list goes before the common one.
pub(super) fn find(lists: [&[OptionRule]; 2], name: &str) -> Option<Takes> {
    let mut rules = lists.into_iter().flatten();
    rules.find(|rule| rule.names.split(' ').any(|known| known == name)).map(|rule| rule.takes)
}

/// The names that may be used, for a message.
pub(super) fn allowed(lists: [&[OptionRule]; 2]) -> String {
    let allowed = lists.into_iter().flatten().filter(|rule| !matches!(rule.takes, Takes::Refused(_)));
    allowed.map(|rule| rule.names.replace(' ', ", ")).collect::<Vec<_>>().join(", ")
}
