//! Bad habits of real models and servers, as switches: each is a small change to the calls of an answer, or to how they
//! are written on the wire. They exist so that a test can show what the host makes of them, and an author what a tool's
//! contract makes of them.
//!
//! A habit never knows what would be right: it sees the call that was meant and the schema on offer, no more.

mod recover;
mod spoil;

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

pub use recover::Reaction;

/// Where a habit shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// In the name or the arguments of each call.
    Call,
    /// In what is called, or called again, as a whole.
    Conduct,
    /// In how a server writes the answer; a stand-in within this process has no wire to write to.
    Wire,
}

macro_rules! habits {
    ($($variant:ident = $name:literal, $shows:ident, $about:literal;)*) => {
        /// A bad habit; the name is the same in scripts, settings and flags.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub enum Habit {
            $(#[doc = $about] $variant,)*
        }

        impl Habit {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it does, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }

            pub fn shows(self) -> Shows {
                match self { $(Self::$variant => Shows::$shows,)* }
            }
        }
    };
}

habits! {
    TruncateToolName = "truncate_tool_name", Call, "Loses the last third of each tool's name";
    PrefixToolName = "prefix_tool_name", Call, "Calls `functions.NAME`";
    MarkToolName = "mark_tool_name", Call, "Leaks a channel mark: `NAME<|channel|>commentary`";
    RecaseToolName = "recase_tool_name", Call, "Writes `bookRoom` for `book_room`";
    NumbersAsStrings = "numbers_as_strings", Call, "`5` becomes `\"5\"`";
    LowercaseEnums = "lowercase_enums", Call, "Listed values in lower case";
    TwelveHourTimes = "twelve_hour_times", Call, "`15:30` becomes `3:30 PM`";
    InventUserIds = "invent_user_ids", Call, "Adds a `user_id` that nobody gave";
    ExtraArguments = "extra_arguments", Call, "Adds an argument that the tool does not have";
    NullOptionals = "null_optionals", Call, "`null` for each optional argument that is left out";
    JsonInStrings = "json_in_strings", Call, "Arrays and objects as JSON text in a string";
    ArgsEmpty = "args_empty", Call, "Arguments are an empty string";
    ArgsNull = "args_null", Call, "Arguments are the text `null`";
    ArgsInvalid = "args_invalid", Call, "Arguments end in the middle";
    DuplicateCalls = "duplicate_calls", Conduct, "Each call twice in one answer";
    IgnoreHints = "ignore_hints", Conduct, "After a failed call: the same calls again";
    Apologise = "apologise", Conduct, "After a failed call: an apology, and the same calls again";
    ArgsObject = "args_object", Wire, "Arguments are an object instead of a string";
    MissingId = "missing_id", Wire, "Calls without an id";
    MissingType = "missing_type", Wire, "Calls without `\"type\": \"function\"`";
    RepeatName = "repeat_name", Wire, "An empty id and the name again in each piece of a call";
    LateName = "late_name", Wire, "The id first, the name in a later piece";
    MissingIndex = "missing_index", Wire, "Calls without an index";
    IndexFromOne = "index_from_one", Wire, "Calls are counted from 1";
    HugeIndex = "huge_index", Wire, "Calls are counted from 2,000,000";
    SameIndex = "same_index", Wire, "All parallel calls under index 0";
    NullCalls = "null_calls", Wire, "`\"tool_calls\": null` beside each piece of text";
    EmptyUsage = "empty_usage", Wire, "An empty `usage` in each event";
    FinishStop = "finish_stop", Wire, "The finish says `stop` beside calls";
    FinishUnknown = "finish_unknown", Wire, "The finish is a word that nobody knows";
    Noise = "noise", Wire, "Comments, an empty event and a line of junk before each event";
    CarriageReturns = "carriage_returns", Wire, "Lines of the stream end in CR and LF";
    NoDone = "no_done", Wire, "The stream ends without `[DONE]`";
}

/// A name that is no habit's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no habit `{0}`; the habits are: {known}", known = Habit::names().join(", "))]
pub struct UnknownHabit(pub String);

impl Habit {
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|habit| habit.name()).collect()
    }
}

impl FromStr for Habit {
    type Err = UnknownHabit;

    fn from_str(name: &str) -> Result<Self, UnknownHabit> {
        let known = Self::ALL.iter().find(|habit| habit.name() == name);
        known.copied().ok_or_else(|| UnknownHabit(name.to_owned()))
    }
}

impl TryFrom<String> for Habit {
    type Error = UnknownHabit;

    fn try_from(name: String) -> Result<Self, UnknownHabit> {
        name.parse()
    }
}

impl fmt::Display for Habit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A call as text: what was meant, or what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub name: String,
    pub arguments: String,
}

impl Draft {
    /// The call as a model with this habit writes it; the same call when the habit has nothing to spoil in it. `schema`
    /// is that of the arguments.
    #[must_use]
    pub fn spoiled(&self, habit: Habit, schema: &Value) -> Self {
        let mut draft = self.clone();
        spoil::spoil(habit, &mut draft, schema);
        draft
    }

    /// What a model that means well does about the answer to this call: it changes what it was told to change, and no
    /// more, towards what it meant.
    pub fn reaction(&self, meant: &Self, envelope: &str) -> Reaction {
        recover::reaction(self, meant, envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_lists_every_habit() {
        let guide = include_str!("../../../../../docs/habits.md");
        let row = |habit: &Habit| {
            let of = match habit.shows() {
                Shows::Call => "call",
                Shows::Conduct => "conversation",
                Shows::Wire => "server",
            };
            format!("| `{habit}` | {of} | {} |\n", habit.about())
        };
        let table: String = Habit::ALL.iter().map(row).collect();
        assert!(guide.contains(&table), "docs/habits.md should hold:\n{table}");
    }

    #[test]
    fn a_habit_is_found_by_its_name_alone() {
        for habit in Habit::ALL {
            assert_eq!(habit.name().parse(), Ok(*habit));
        }
        let error = "naughty".parse::<Habit>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no habit `naughty`; the habits are: truncate_tool_name, "),
            "{error}"
        );
    }
}
