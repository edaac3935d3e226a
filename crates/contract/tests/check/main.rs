//! What is accepted, and what a model reads when it is not.

mod aliases;
mod arguments;
mod formats;
mod secrets;
mod size;
mod table;

use std::sync::Arc;

use foehn_contract::{Coercion, Contract};
use foehn_protocol::{Risk, ToolSpec};
use serde_json::Value;

fn contract(schema: Value) -> Contract {
    Contract::new(Arc::new(ToolSpec {
        name: "tool".to_owned(),
        plugin: "plugin".to_owned(),
        description: "A tool.".to_owned(),
        risk: Risk::ReadOnly,
        schema,
        ..ToolSpec::default()
    }))
}

/// One line per note or problem; `=` shows what will run.
fn outcome(schema: &Value, raw: &str, coercion: Coercion) -> String {
    match contract(schema.clone()).check(raw, coercion) {
        Ok(accepted) => {
            let mut lines = vec![format!("= {}", accepted.arguments)];
            lines.extend(accepted.notes.iter().map(|note| format!("  note {note}")));
            lines.join("\n")
        }
        Err(problems) => {
            let line = |problem: foehn_protocol::Problem| {
                let mut line = format!("! {} {}", problem.path, problem.code).replacen("!  ", "! ", 1);
                for (name, text) in
                    [("expected", problem.expected), ("got", problem.got), ("hint", problem.suggestion)]
                {
                    if let Some(text) = text {
                        line.push_str(&format!(" | {name}: {text}"));
                    }
                }
                line
            };
            problems.into_iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

fn check(schema: &Value, rows: &[(&str, &str)]) {
    check_with(schema, Coercion::Lenient, rows);
}

fn check_with(schema: &Value, coercion: Coercion, rows: &[(&str, &str)]) {
    for (raw, expected) in rows {
        assert_eq!(outcome(schema, raw, coercion), *expected, "{raw}");
    }
}
