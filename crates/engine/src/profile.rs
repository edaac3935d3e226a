//! What makes one agent: its words, its permissions and its limits.

use std::collections::BTreeMap;
use std::time::Duration;

use foehn_contract::Coercion;
use foehn_policy::Rules;

/// One configured agent.
#[derive(Clone, Debug, Default)]
pub struct AgentProfile {
    pub name: String,
    /// The system message.
    pub system: String,
    /// Permissions by tool name; a tool without an entry is judged by its risk.
    pub rules: BTreeMap<String, Rules>,
    pub limits: Limits,
    pub coercion: Coercion,
    /// For the tools of these names, instead of `coercion`.
    pub tool_coercion: BTreeMap<String, Coercion>,
    pub max_output_tokens: Option<u64>,
    pub temperature: Option<f64>,
}

impl AgentProfile {
    pub(crate) fn coercion_of(&self, tool: &str) -> Coercion {
        self.tool_coercion.get(tool).copied().unwrap_or(self.coercion)
    }
}

/// Where a turn stops. All defaults are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model calls of one turn before the last one, which gets no tools and is asked for a summary.
    pub max_steps: u32,
    /// Characters of one result.
    pub result_characters: usize,
    /// Characters of all results of one turn together.
    pub turn_result_characters: usize,
    /// From this many equal calls in a row on, each runs with a warning to the model.
    pub equal_calls_warn: u32,
    /// At this many equal calls in a row, the call is not run and the turn ends.
    pub equal_calls_stop: u32,
    /// Invalid calls of one tool in a row that the model may correct; one more ends the turn.
    pub invalid_calls_per_tool: u32,
    /// How long one call may run.
    pub call_timeout: Duration,
    /// How many read-only calls run at once.
    pub parallel: usize,
    /// How long a stopped call may take to say what it had done; after that its outcome is unknown. Longer than the
    /// toolbox's own grace, which ends the call for real.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 30,
            result_characters: 50_000,
            turn_result_characters: 200_000,
            equal_calls_warn: 3,
            equal_calls_stop: 5,
            invalid_calls_per_tool: 2,
            call_timeout: Duration::from_secs(120),
            parallel: 4,
            grace: Duration::from_secs(5),
        }
    }
}
