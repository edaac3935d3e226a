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
    insta::assert_snapshot!(refused("edit_file", edit), @"
    invalid_arguments executed=false retryable=true: `edit_file` was not run: its arguments have a problem, `unknown_argument`.
      /replaceAll unknown_argument | expected: only `path`, `old_text`, `new_text`, `replace_all`, `edits` | got: `replaceAll` | suggestion: did you mean `replace_all`?
    ");
    insta::assert_snapshot!(refused("scan", r#"{"recursve":false,"pth":"."}"#), @"
    invalid_arguments executed=false retryable=true: `scan` was not run: its arguments have 2 problems.
      /pth unknown_argument | expected: only `path`, `pattern`, `recursive`, `limit`, `after`, `include_hidden` | got: `pth` | suggestion: did you mean `path`?
      /recursve unknown_argument | expected: only `path`, `pattern`, `recursive`, `limit`, `after`, `include_hidden` | got: `recursve` | suggestion: did you mean `recursive`?
    ");
}

#[test]
fn a_key_given_twice_is_refused_whichever_was_shown() {
    let delete = r#"{"path":"tmp/x","path":"src/main.rs"}"#;
    insta::assert_snapshot!(refused("delete_file", delete), @"
    invalid_arguments executed=false retryable=true: `delete_file` was not run: its arguments have a problem, `duplicate_argument`.
      /path duplicate_argument | expected: each argument once | suggestion: keep the one that is meant
    ");
}

#[test]
fn null_is_left_out_where_it_may_be_and_wrong_where_it_may_not() {
    let nothing = r#"{"path":"a.txt","start_line":null,"end_line":null}"#;
    insta::assert_snapshot!(accepted("read_file", nothing), @r#"
    ok "`a.txt`: 2 lines\n1|one\n2|two"
      note `/start_line`: null was taken as left out
    "#);
    insta::assert_snapshot!(refused("read_file", r#"{"path":null}"#), @r#"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `wrong_type`.
      /path wrong_type | expected: string | got: null | suggestion: it needs a value
    "#);
    insta::assert_snapshot!(refused("read_file", "null"), @"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `missing_argument`.
      /path missing_argument | expected: string
    ");
}

#[test]
fn what_is_not_json_says_where() {
    insta::assert_snapshot!(refused("read_file", "path: a.txt"), @"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `not_json`.
       not_json | expected: one JSON object | got: expected value at line 1 column 1
    ");
    insta::assert_snapshot!(refused("read_file", r#"["a.txt"]"#), @r#"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `wrong_type`.
       wrong_type | expected: object | got: ["a.txt"]
    "#);
}

#[test]
fn what_can_mean_one_thing_only_is_read_and_noted() {
    insta::assert_snapshot!(accepted("read_file", r#"{"path":"a.txt","start_line":"2"}"#), @r#"
    ok "`a.txt`: lines 2 to 2 of 2, the last ones\n2|two"
      note `/start_line`: text was read as an integer
    "#);
    insta::assert_snapshot!(refused("read_file", r#"{"path":"a.txt","start_line":"two"}"#), @r#"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `wrong_type`.
      /start_line wrong_type | expected: integer | got: "two" | suggestion: write it in digits without quotes, such as 6
    "#);
    insta::assert_snapshot!(refused("read_file", r#"{"path":"a.txt","start_line":0}"#), @"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `out_of_range`.
      /start_line out_of_range | expected: at least 1 | got: 0
    ");
}

#[test]
fn a_tool_that_does_not_exist_is_told_the_nearest() {
    insta::assert_snapshot!(refused("file_read", "{}"), @"unknown_tool executed=false retryable=true: There is no tool `file_read`; nothing was run. Did you mean `read_file`?");
    insta::assert_snapshot!(refused("generic_command", "{}"), @"unknown_tool executed=false retryable=true: There is no tool `generic_command`; nothing was run. The tools are: `create_file`, `delete_file`, `dotnet`, `edit_file`, `find_files`, `list_directory`, `move_file`, `read_file`, `run_shell`, `scan`, `search_files`, `write_file`.");
}

#[test]
fn a_leaked_control_token_is_cleaned_only_to_an_exact_name() {
    let clean = accepted("read_file<|channel|>commentary", r#"{"path":"a.txt"}"#);
    let plain = accepted("read_file", r#"{"path":"a.txt"}"#);
    assert_eq!(clean, format!("{plain}\n  note the tool name was read as `read_file`"));
    insta::assert_snapshot!(refused("default_api:file_read", r#"{"path":"a.txt"}"#), @"unknown_tool executed=false retryable=true: There is no tool `default_api:file_read`; nothing was run. Did you mean `read_file`?");
}

#[test]
fn an_old_name_still_calls_the_tool() {
    let world = World::with_plugins(&["upcalls"]);
    let call = |name: &str| brief(&world.foehn(&["tools", "call", name]).expect_code(0).envelope());
    let old = format!("{}\n  note the tool `who_am_i` is now called `whoami`", call("whoami"));
    assert_eq!(call("who_am_i"), old);
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
        insta::assert_snapshot!(shown.join("\n"), @"
        invalid_arguments executed=false retryable=true: The call of `create_file` was cut by the output limit: its arguments end in the middle. Nothing was executed. Send the content in smaller pieces: first create the file with a short part, then append the rest in further calls.
           cut_off | expected: a complete JSON object | got: EOF while parsing a string at line 1 column 34 | suggestion: send the content in smaller pieces
        ");
    }
    assert_eq!(world.read("r.md"), None);
}

#[test]
fn a_call_cut_by_the_output_limit_is_not_repaired() {
    check_cut("length");
    check_cut("stop");
    check_cut("tool_calls");
}

#[test]
fn strict_refuses_what_lenient_reads_for_one_tool_or_all() {
    let call = |config: &str, tool: &str, arguments: &str| {
        let run = world().user_config(config).foehn(&["tools", "call", tool, arguments]);
        brief(&run.envelope()).lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    };
    let arguments = r#"{"path":"a.txt","start_line":"2"}"#;
    insta::assert_snapshot!(call("", "read_file", arguments), @r#"
    ok "`a.txt`: lines 2 to 2 of 2, the last ones\n2|two"
      note `/start_line`: text was read as an integer
    "#);
    let one = "[agents.default.tools.read_file]\ncoercion = \"strict\"\n";
    insta::assert_snapshot!(call(one, "read_file", arguments), @r#"
    invalid_arguments executed=false retryable=true: `read_file` was not run: its arguments have a problem, `wrong_type`.
      /start_line wrong_type | expected: integer | got: "2" | suggestion: write it in digits without quotes, such as 6
    "#);
    let all_but_one = "coercion = \"strict\"\n[agents.default.tools.read_file]\ncoercion = \"lenient\"\n";
    insta::assert_snapshot!(call(all_but_one, "read_file", arguments), @r#"
    ok "`a.txt`: lines 2 to 2 of 2, the last ones\n2|two"
      note `/start_line`: text was read as an integer
    "#);
    insta::assert_snapshot!(call(all_but_one, "scan", r#"{"limit":"5"}"#), @r#"
    invalid_arguments executed=false retryable=true: `scan` was not run: its arguments have a problem, `wrong_type`.
      /limit wrong_type | expected: integer | got: "5" | suggestion: write it in digits without quotes, such as 6
    "#);
}
