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
    let tool = Arc::new(booking_tool());
    let contract = Contract::new(Arc::clone(&tool));
    let arguments = json!({
        "room": "R101",
        "date": "2026-03-31",
        "start": "09:30",
        "minutes": 45,
        "title": "x".repeat(120),
        "agenda": "y".repeat(440),
        "equipment": ["screen", "whiteboard"],
        "guests": [
            {"name": "Ada", "email": "ada@example.com"},
            {"name": "Grace", "email": "grace@example.com"},
            {"name": "Edsger", "email": "edsger@example.com"},
        ],
        "catering": {"kind": "lunch", "people": 4},
        "notify": true,
        "priority": "high",
        "reference": "3f2b8c1e-5d4a-4f60-9b7e-2a1c0d9e8f76",
    })
    .to_string();
    if !(900..1_100).contains(&arguments.len()) {
        bail!("the bench's call has {} bytes and is no call of 1 KB", arguments.len());
    }
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
    table.at_most("contract check of a 1 KB call, 12 parameters", microseconds(median(times)), "us", 10.0);

    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        if Contract::new(Arc::clone(&tool)).usable().is_err() {
            bail!("the contract cannot enforce the bench's own schema");
        }
        times.push(started.elapsed());
    }
    table.reference("compile of its schema", microseconds(median(times)), "us");
    Ok(())
}

/// Twelve parameters of all kinds: what a tool with a large form asks for.
fn booking_tool() -> ToolSpec {
    let text = |most: u32| json!({"type": "string", "minLength": 1, "maxLength": most});
    let catering = |kind: &str| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["kind", "people"],
            "properties": {
                "kind": {"const": kind},
                "people": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}
            }
        })
    };
    ToolSpec {
        name: "book_room".to_owned(),
        plugin: "bench".to_owned(),
        description: "Books a room.".to_owned(),
        risk: Risk::Write,
        schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["room", "date", "start", "minutes", "title"],
            "properties": {
                "room": {"type": "string", "pattern": "^R[0-9]{3}$", "x-foehn-aliases": ["room_id"]},
                "date": {"type": "string", "format": "date"},
                "start": {"type": "string", "format": "time"},
                "minutes": {"type": "integer", "minimum": 15, "maximum": 480},
                "title": text(200),
                "agenda": text(2000),
                "equipment": {
                    "type": "array",
                    "maxItems": 4,
                    "items": {"type": "string", "enum": ["screen", "camera", "whiteboard", "phone"]}
                },
                "guests": {
                    "type": "array",
                    "maxItems": 50,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["name"],
                        "properties": {"name": text(80), "email": {"type": "string", "format": "email"}}
                    }
                },
                "catering": {"oneOf": [catering("lunch"), catering("coffee")]},
                "notify": {"type": "boolean", "default": true},
                "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
                "reference": {"type": "string", "format": "uuid"}
            }
        }),
        ..ToolSpec::default()
    }
}
