//! The tables in the documentation are those in the code. `UPDATE_DOCS=1` writes them.
#![allow(clippy::expect_used, reason = "a test fails by panicking, also in its helpers")]

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use foehn_contract::lint::rules;
use foehn_contract::{Answer, coercion_table};

/// A block of the page, between `<!-- NAME -->` and `<!-- /NAME -->`, holds exactly this.
#[track_caller]
fn check_block(name: &str, expected: &str) {
    // Each block is written into the page that the other has written.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contract.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = page.split_once(&open).expect("the block begins");
    let (block, after) = rest.split_once(&close).expect("the block ends");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{open}{expected}{close}{after}")).expect("the page can be written");
    } else {
        assert_eq!(block, expected, "docs/contract.md is out of date; UPDATE_DOCS=1 writes it");
    }
}

#[test]
fn the_page_lists_the_rules() {
    let mut table = "| rule | | asks for |\n|---|---|---|\n".to_owned();
    for rule in rules() {
        table.push_str(&format!(
            "| `{}` | {} | {} |\n",
            rule.id,
            rule.severity.word(),
            rule.title.replace('|', "\\|")
        ));
    }
    check_block("rules", &table);
}

#[test]
fn the_page_lists_the_coercions() {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut accepted = "| where | given | runs | note to the model |\n|---|---|---|---|\n".to_owned();
    let mut refused = "| where | given | is told to expect |\n|---|---|---|\n".to_owned();
    for row in coercion_table() {
        let (wanted, given) = (cell(row.wanted), cell(row.given));
        match row.answer {
            Answer::Accepted { runs, note } => {
                let runs = runs.map_or("left out".to_owned(), |runs| format!("`{}`", cell(runs)));
                accepted.push_str(&format!("| {wanted} | `{given}` | {runs} | {} |\n", cell(note)));
            }
            Answer::Refused { expected, suggestion, .. } => {
                let further = suggestion.map(|suggestion| format!("; {suggestion}")).unwrap_or_default();
                let told = cell(&format!("{expected}{further}"));
                refused.push_str(&format!("| {wanted} | `{given}` | {told} |\n"));
            }
        }
    }
    let tables = format!("\nAccepted, unless strict:\n\n{accepted}\nRefused:\n\n{refused}\n");
    check_block("coercion", &tables);
}
