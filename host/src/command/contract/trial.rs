//! `foehn contract trial`: what becomes of the calls of models with bad habits, for each tool and without a model.
//!
//! A valid call is made up from a tool's schema, each habit spoils it, and the contract answers, as it would in a
//! conversation; a model that means well then corrects what the answer names. No tool is executed and nothing is kept:
//! calls go no further than the contract.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use foehn_contract::contract::invalid_arguments;
use foehn_contract::envelope::{self, Failure};
use foehn_contract::example::{self, Extent};
use foehn_contract::{Coercion, Contract, names};
use foehn_protocol::{ErrorCode, Executed, Problem, ToolSpec};
use foehn_provider::offline::{Draft, Habit, Reaction, Shows};
use foehn_terminal::ExitCode;
use serde::Serialize;
use serde_json::Value;

use super::Tools;
use crate::output::{line, table, text};
use crate::setup::Setup;

pub(super) fn trial(setup: &Setup, tools: &Tools, plugin: Option<&str>, as_json: bool) -> Result<ExitCode> {
    let chosen = tools.of_plugin(plugin)?;
    let most_invalid = setup.agent_profile(&tools.plugins)?.limits.invalid_calls_per_tool;
    let trial = Trial { tools: tools.all.iter().cloned().map(Contract::new).collect(), most_invalid };
    let tried = trial.tools.iter().filter(|tool| chosen.iter().any(|spec| spec.name == tool.spec().name));
    let rows: Vec<Row> = tried.flat_map(|tool| trial.rows(tool)).collect();
    if as_json {
        rows.iter().try_for_each(|row| line(&serde_json::to_value(row)?).map_err(anyhow::Error::from))?;
    } else {
        show(&rows)?;
    }
    Ok(u8::from(rows.iter().any(|row| row.habit.is_none())))
}

/// All tools, because an answer about an unknown name lists its neighbours.
struct Trial {
    tools: Vec<Contract>,
    /// At so many invalid calls in a row a model is told to stop.
    most_invalid: u32,
}

/// One tool against one habit.
#[derive(Debug, Serialize)]
struct Row {
    plugin: String,
    tool: String,
    /// `None`: no valid call could be made up, so nothing was spoiled.
    habit: Option<&'static str>,
    /// As it was spoiled.
    name: String,
    arguments: String,
    lenient: Outcome,
    strict: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Outcome {
    Accepted {
        notes: Vec<String>,
    },
    Recovered {
        /// Further calls that it took.
        calls: u32,
        /// What the first answer named.
        problems: Vec<Problem>,
        notes: Vec<String>,
    },
    Stopped {
        reason: String,
        problems: Vec<Problem>,
    },
}

/// What the contract says to one call.
enum Answer {
    Accepted(Vec<String>),
    Refused { message: String, problems: Vec<Problem>, code: ErrorCode },
}

impl Trial {
    fn rows(&self, tool: &Contract) -> Vec<Row> {
        let spec = tool.spec();
        let schema = &tool.definition().parameters;
        let calls = match valid_calls(tool) {
            Ok(calls) => calls,
            Err(problems) => {
                let stopped = || Outcome::Stopped {
                    reason: format!("no valid call could be made up: {}", named(&problems)),
                    problems: problems.clone(),
                };
                let call = draft(spec, Extent::All, schema);
                return vec![row(spec, None, call, stopped(), stopped())];
            }
        };
        let of_calls = Habit::ALL.iter().filter(|habit| habit.shows() == Shows::Call);
        of_calls
            .filter_map(|habit| {
                // Where a habit finds nothing to spoil, there is no row.
                let (meant, spoiled) = calls
                    .iter()
                    .map(|meant| (meant, meant.spoiled(*habit, schema)))
                    .find(|(meant, spoiled)| *meant != spoiled)?;
                let outcome = |coercion| self.outcome(meant, &spoiled, coercion);
                let (lenient, strict) = (outcome(Coercion::Lenient), outcome(Coercion::Strict));
                Some(row(spec, Some(habit.name()), spoiled, lenient, strict))
            })
            .collect()
    }

    /// The conversation of one call, until it is accepted or the model gives up.
    fn outcome(&self, meant: &Draft, spoiled: &Draft, coercion: Coercion) -> Outcome {
        let mut written = spoiled.clone();
        let mut first = None;
        let mut invalid = 0;
        loop {
            let (message, problems, code) = match self.answer(&written, coercion) {
                Answer::Accepted(notes) => {
                    return match first {
                        None => Outcome::Accepted { notes },
                        Some(problems) => Outcome::Recovered { calls: invalid, problems, notes },
                    };
                }
                Answer::Refused { message, problems, code } => (message, problems, code),
            };
            invalid += 1;
            let failure = Failure {
                code,
                message: &message,
                executed: Executed::No,
                retryable: invalid < self.most_invalid,
                problems: &problems,
                output: &[],
                notes: &[],
            };
            let reaction = written.reaction(meant, &envelope::error(&failure, 0));
            first.get_or_insert_with(|| problems.clone());
            match reaction {
                Reaction::Correct(next) => written = next,
                Reaction::GiveUp | Reaction::GoOn => {
                    let reason = if problems.is_empty() { message } else { named(&problems) };
                    return Outcome::Stopped { reason, problems };
                }
            }
        }
    }

    fn answer(&self, call: &Draft, coercion: Coercion) -> Answer {
        let mut notes = Vec::new();
        let found = self.find(&call.name).or_else(|| {
            let tool = names::clean_name(&call.name).and_then(|name| self.find(name))?;
            notes.push(format!("the tool name was read as `{}`", tool.spec().name));
            Some(tool)
        });
        let Some(tool) = found else {
            let known = self.tools.iter().map(|tool| tool.spec().name.as_str());
            let message = names::unknown_tool(&call.name, known);
            return Answer::Refused { message, problems: Vec::new(), code: ErrorCode::UnknownTool };
        };
        match tool.check(&call.arguments, coercion) {
            Ok(accepted) => {
                notes.extend(accepted.notes);
                Answer::Accepted(notes)
            }
            Err(problems) => Answer::Refused {
                message: invalid_arguments(&tool.spec().name, &problems),
                problems,
                code: ErrorCode::InvalidArguments,
            },
        }
    }

    fn find(&self, name: &str) -> Option<&Contract> {
        let answers =
            |spec: &Arc<ToolSpec>| spec.name == name || spec.aliases.iter().any(|alias| alias == name);
        self.tools.iter().find(|tool| answers(tool.spec()))
    }
}

/// The call with all arguments and the one with the fewest, those that the contract takes as they stand.
fn valid_calls(tool: &Contract) -> Result<Vec<Draft>, Vec<Problem>> {
    let schema = &tool.definition().parameters;
    let mut valid = Vec::new();
    let mut refused = Vec::new();
    for extent in [Extent::All, Extent::Required] {
        let call = draft(tool.spec(), extent, schema);
        match tool.check(&call.arguments, Coercion::Strict) {
            Ok(_) => valid.push(call),
            Err(problems) => refused = problems,
        }
    }
    if valid.is_empty() { Err(refused) } else { Ok(valid) }
}

fn draft(spec: &ToolSpec, extent: Extent, schema: &Value) -> Draft {
    Draft { name: spec.name.clone(), arguments: example::arguments(schema, extent).to_string() }
}

fn row(spec: &ToolSpec, habit: Option<&'static str>, call: Draft, lenient: Outcome, strict: Outcome) -> Row {
    let (plugin, tool) = (spec.plugin.clone(), spec.name.clone());
    Row { plugin, tool, habit, name: call.name, arguments: call.arguments, lenient, strict }
}

fn named(problems: &[Problem]) -> String {
    let named: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.path, problem.code)).collect();
    named.join(", ")
}

fn show(rows: &[Row]) -> Result<()> {
    let cells = |row: &Row| {
        let habit = row.habit.unwrap_or("-").to_owned();
        vec![row.tool.clone(), habit, row.lenient.to_string(), row.strict.to_string()]
    };
    let shown = rows.iter().map(cells).collect();
    table(&["TOOL", "HABIT", "LENIENT", "STRICT"], shown, "no tool to try")?;
    let tools: BTreeSet<&str> = rows.iter().map(|row| row.tool.as_str()).collect();
    let lenient = sum(rows.iter().map(|row| &row.lenient));
    let strict = sum(rows.iter().map(|row| &row.strict));
    let count = if tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", tools.len()) };
    text(&format!("\n{count}, nothing was executed\nlenient: {lenient}\nstrict:  {strict}"))?;
    Ok(())
}

fn sum<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let mut counts = [0_usize; 4];
    for outcome in outcomes {
        let place = match outcome {
            Outcome::Accepted { notes } if notes.is_empty() => 0,
            Outcome::Accepted { .. } => 1,
            Outcome::Recovered { .. } => 2,
            Outcome::Stopped { .. } => 3,
        };
        counts[place] += 1;
    }
    let [accepted, noted, recovered, stopped] = counts;
    format!("{accepted} accepted, {noted} accepted with a note, {recovered} recovered, {stopped} stopped")
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { notes } if notes.is_empty() => formatter.write_str("accepted"),
            Self::Accepted { .. } => formatter.write_str("accepted with a note"),
            Self::Recovered { calls, .. } => write!(formatter, "recovered in {calls}"),
            Self::Stopped { reason, .. } => write!(formatter, "stopped: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each row of the first tool as `HABIT: LENIENT / STRICT`.
    fn rows(tools: &[(&str, Value)]) -> Vec<String> {
        let contract = |(name, schema): &(&str, Value)| {
            let spec = ToolSpec { name: (*name).to_owned(), schema: schema.clone(), ..ToolSpec::default() };
            Contract::new(Arc::new(spec))
        };
        let trial = Trial { tools: tools.iter().map(contract).collect(), most_invalid: 2 };
        let shown = |row: Row| format!("{}: {} / {}", row.habit.unwrap_or("-"), row.lenient, row.strict);
        trial.rows(&trial.tools[0]).into_iter().map(shown).collect()
    }

    #[test]
    fn only_habits_that_find_something_to_spoil_are_tried() {
        let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(
            rows(&[("now", nothing)]),
            [
                "truncate_tool_name: recovered in 1 / recovered in 1",
                "prefix_tool_name: accepted with a note / accepted with a note",
                "mark_tool_name: accepted with a note / accepted with a note",
                "recase_tool_name: recovered in 1 / recovered in 1",
                "invent_user_ids: recovered in 1 / recovered in 1",
                "extra_arguments: recovered in 1 / recovered in 1",
                "args_empty: accepted / accepted",
                "args_null: accepted / accepted",
                "args_invalid: recovered in 1 / recovered in 1",
            ]
        );
    }

    #[test]
    fn a_name_that_nothing_leads_back_to_stops_the_model() {
        let open = json!({"type": "object"});
        let all = [
            ("sleep_tool", open.clone()),
            ("sleep", open.clone()),
            ("sleep_a", open.clone()),
            ("sleep_b", open),
        ];
        let truncated = &rows(&all)[0];
        assert!(
            truncated.starts_with("truncate_tool_name: stopped: There is no tool `sleep_`;"),
            "{truncated}"
        );
    }

    #[test]
    fn a_tool_without_a_valid_call_says_so() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string", "not": {"minLength": 1}}},
            "required": ["a"],
        });
        let stopped = "stopped: no valid call could be made up: /a not_allowed";
        assert_eq!(rows(&[("odd", schema)]), [format!("-: {stopped} / {stopped}")]);
    }
}
