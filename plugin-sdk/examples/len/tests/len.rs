//! The example does what its README says, tested as an author would.

use foehn_plugin_sdk::wire::{Part, Reply, ReplyKind};
use foehn_plugin_testkit::{Value, accepted, call, json};

#[track_caller]
fn check(arguments: Value, expected: Reply) {
    assert_eq!(call(len::foehn_plugin(), "len", arguments).run(), expected);
}

#[test]
fn counts_bytes() {
    check(json!({"text": "föhn"}), Reply::ok(vec![Part::text("5 bytes")]));
}

#[test]
fn refuses_nothing() {
    check(json!({"text": ""}), Reply::error(ReplyKind::Failed, "there is nothing to measure"));
}

#[test]
fn tells_what_is_wrong_with_arguments() {
    let invalid =
        |message: &str| Reply { executed: Some(false), ..Reply::error(ReplyKind::InvalidArguments, message) };
    check(json!({}), invalid("missing field `text` at line 1 column 2"));
    check(
        json!({"text": 3}),
        invalid("`text`: invalid type: integer `3`, expected a string at line 1 column 9"),
    );
}

#[test]
fn can_be_offered_to_a_model() {
    foehn_plugin_testkit::assert_contract!(len::foehn_plugin());
    assert_eq!(accepted(&len::foehn_plugin(), "len", r#"{"text":"a"}"#), Ok(json!({"text": "a"})));
    let problems = accepted(&len::foehn_plugin(), "len", r#"{"txt":"a"}"#).unwrap_err();
    let codes: Vec<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["missing_argument", "unknown_argument"]);
}

#[test]
fn the_readme_shows_this_very_plugin() {
    let source = include_str!("../src/lib.rs");
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(source.trim()), "plugin-sdk/README.md differs from examples/len/src/lib.rs");
}
