//! What the host makes of arguments before any plugin sees them, and what the model reads about it.

use foehn_tests::{World, brief};

fn world() -> World {
    World::new()
        .file("a.txt", "one\ntwo\n")
        .file("src/main.rs", "fn main() {}\n")
        .file("tmp/x", "x")
        .file("three.txt", "x x x\n")
}

/// Calls a tool with arguments as they stand, and the files stay as they were.
#[track_caller]
fn refused(tool: &str, arguments: &str) -> String {
    let world = world();
    let run = world.foehn(&["tools", "call", "--yes", tool, arguments]).expect_code(1);
    let files = ["a.txt", "src/main.rs", "tmp/x", "three.txt"].map(|path| world.read(path));
    let untouched = ["one\ntwo\n", "fn main() {}\n", "x", "x x x\n"].map(|text| Some(text.to_owned()));
    assert_eq!(files, untouched);
    brief(&run.envelope())
}

#[track_caller]
fn accepted(tool: &str, arguments: &str) -> String {
    brief(&world().foehn(&["tools", "call", "--yes", tool, arguments]).expect_code(0).envelope())
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_and_nothing_runs() {
    let edit = r#"{"path":"three.txt","old_text":"x","new_text":"y","replaceAll":true}"#;
    insta::assert_snapshot!(refused("edit_file", edit), @"");
    insta::assert_snapshot!(refused("scan", r#"{"recursve":false,"pth":"."}"#), @"");
}

#[test]
fn a_key_given_twice_is_refused_whichever_was_shown() {
    let delete = r#"{"path":"tmp/x","path":"src/main.rs"}"#;
    insta::assert_snapshot!(refused("delete_file", delete), @"");
}

#[test]
fn null_is_left_out_where_it_may_be_and_wrong_where_it_may_not() {
    let nothing = r#"{"path":"a.txt","start_line":null,"end_line":null}"#;
    insta::assert_snapshot!(accepted("read_file", nothing), @"");
    insta::assert_snapshot!(refused("read_file", r#"{"path":null}"#), @"");
    insta::assert_snapshot!(refused("read_file", "null"), @"");
}

#[test]
fn what_is_not_json_says_where() {
    insta::assert_snapshot!(refused("read_file", "path: a.txt"), @"");
    insta::assert_snapshot!(refused("read_file", r#"["a.txt"]"#), @"");
}

#[test]
fn what_can_mean_one_thing_only_is_read_and_noted() {
    insta::assert_snapshot!(accepted("read_file", r#"{"path":"a.txt","start_line":"2"}"#), @"");
    insta::assert_snapshot!(refused("read_file", r#"{"path":"a.txt","start_line":"two"}"#), @"");
    insta::assert_snapshot!(refused("read_file", r#"{"path":"a.txt","start_line":0}"#), @"");
}

#[test]
fn a_tool_that_does_not_exist_is_told_the_nearest() {
    insta::assert_snapshot!(refused("file_read", "{}"), @"");
    insta::assert_snapshot!(refused("generic_command", "{}"), @"");
}

#[test]
fn a_leaked_control_token_is_cleaned_only_to_an_exact_name() {
    let clean = accepted("read_file<|channel|>commentary", r#"{"path":"a.txt"}"#);
    assert_eq!(clean, accepted("read_file", r#"{"path":"a.txt"}"#));
    insta::assert_snapshot!(refused("default_api:file_read", r#"{"path":"a.txt"}"#), @"");
}

#[test]
fn an_old_name_still_calls_the_tool() {
    let world = World::with_plugins(&["upcalls"]);
    let call = |name: &str| world.foehn(&["tools", "call", name]).expect_code(0).envelope();
    assert_eq!(call("who_am_i"), call("whoami"));
}

/// A call whose arguments end in the middle never runs, whatever the finish says.
#[track_caller]
fn check_cut(finish: &str) {
    let script = format!(
        r##"
        [[turn]]
        finish = "{finish}"
        calls = [{{ name = "create_file", arguments = '{{"path":"r.md","content":"# T\nabc' }}]
        [[turn]]
        text = "done"
        "##
    );
    let world = World::new().script(&script);
    let run = world.foehn(&["run", "--json", "--yes", "write r.md"]).expect_code(0);
    let shown: Vec<_> = run.envelopes().iter().map(brief).collect();
    insta::allow_duplicates! {
        insta::assert_snapshot!(shown.join("\n"), @"");
    }
    assert_eq!(world.read("r.md"), None);
}

#[test]
fn a_call_cut_by_the_output_limit_is_not_repaired() {
    check_cut("length");
    check_cut("stop");
    check_cut("tool_calls");
}
