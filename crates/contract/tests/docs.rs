//! The table of rules in the documentation is the rules. `UPDATE_DOCS=1` writes it.
#![allow(clippy::expect_used, reason = "a test fails by panicking, also in its helpers")]

use std::fs;
use std::path::Path;

use foehn_contract::lint::rules;

/// A block of the page, between `<!-- NAME -->` and `<!-- /NAME -->`, holds exactly this.
#[track_caller]
fn check_block(name: &str, expected: &str) {
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
