//! The check that every call passes before any plugin code runs, alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use foehn_contract::{Coercion, Contract};
use foehn_protocol::{Risk, ToolSpec};
use serde_json::json;

use crate::statistics::{median, microseconds};
use crate::table::Table;

/// Checks of one measurement: a single one is shorter than the clock is fine.
const BATCH: u32 = 100;

pub(crate) fn measure(rounds: usize, table: &mut Table) -> Result<()> {
    let contract = Contract::new(Arc::new(edit_tool()));
    let arguments = json!({
        "path": "src/main.rs",
        "old_text": "x".repeat(480),
        "new_text": "y".repeat(480),
        "replace_all": false,
    })
    .to_string();
    let mut times = Vec::new();
    // The first round builds the validator, which a session pays once.
    for round in 0..=rounds {
        let started = Instant::now();
        for _ in 0..BATCH {
            if contract.check(&arguments, Coercion::Lenient).is_err() {
                bail!("the contract refuses the bench's own call");
            }
        }
        let time: Duration = started.elapsed() / BATCH;
        if round > 0 {
            times.push(time);
        }
    }
    table.at_most("contract check of a 1 KB call", microseconds(median(times)), "us", 10.0);
    Ok(())
}

/// Shaped as the tool that is called with the longest arguments.
fn edit_tool() -> ToolSpec {
    ToolSpec {
        name: "edit_file".to_owned(),
        plugin: "bench".to_owned(),
        description: "Replaces a text in a file.".to_owned(),
        risk: Risk::Write,
        schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "old_text", "new_text"],
            "properties": {
                "path": {"type": "string", "description": "File to change."},
                "old_text": {"type": "string", "description": "Text to replace."},
                "new_text": {"type": "string", "description": "Text to put there."},
                "replace_all": {"type": "boolean", "default": false, "description": "Replace every one."}
            }
        }),
        ..ToolSpec::default()
    }
}
