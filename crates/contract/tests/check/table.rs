//! Each row of the coercion policy, run: the example is accepted or refused as the row says, and in strict never
//! accepted.

use foehn_contract::{Accepted, Answer, Coercion, Contract, Row, coercion_table};
use serde_json::{Value, json};

use crate::contract;

fn place(row: &Row) -> Contract {
    let schema: Value = serde_json::from_str(row.schema).unwrap_or_default();
    let required = if row.required { json!(["value"]) } else { json!([]) };
    contract(json!({"type": "object", "properties": {"value": schema}, "required": required}))
}

fn arguments(row: &Row) -> String {
    format!("{{\"value\":{}}}", row.given)
}

#[test]
fn each_row_does_what_it_says() {
    for row in coercion_table() {
        let actual = place(row).check(&arguments(row), Coercion::Lenient);
        match row.answer {
            Answer::Accepted { runs, note } => {
                let value = runs.map_or(json!({}), |runs| {
                    let runs: Value = serde_json::from_str(runs).unwrap();
                    json!({"value": runs})
                });
                let expected = Accepted {
                    arguments: value.to_string(),
                    value,
                    notes: vec![format!("`/value`: {note}")],
                };
                assert_eq!(actual, Ok(expected), "{}", row.id);
            }
            Answer::Refused { code, expected, suggestion } => {
                let problems = actual.unwrap_err();
                let [problem] = problems.as_slice() else { panic!("{}: {problems:?}", row.id) };
                let actual = (
                    problem.path.as_str(),
                    problem.code.as_str(),
                    problem.expected.as_deref(),
                    problem.suggestion.as_deref(),
                );
                assert_eq!(actual, ("/value", code, Some(expected), suggestion), "{}", row.id);
            }
        }
    }
}

#[test]
fn strict_refuses_each_row() {
    for row in coercion_table() {
        let problems = place(row).check(&arguments(row), Coercion::Strict).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{}: {problems:?}", row.id) };
        assert_eq!(problem.path, "/value", "{}", row.id);
        assert!(problem.expected.is_some() && problem.got.is_some(), "{}: {problem:?}", row.id);
    }
}

#[test]
fn ids_are_stable_names_and_occur_once() {
    let ids: Vec<&str> = coercion_table().iter().map(|row| row.id).collect();
    for (index, id) in ids.iter().enumerate() {
        assert!(
            id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{id}"
        );
        assert!(!ids[..index].contains(id), "{id}");
    }
}
