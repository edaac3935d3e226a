//! Every loop ends, and what was found until then is told.

use foehn_tests::World;

#[test]
fn the_same_failing_call_is_warned_about_and_then_stopped() {
    // The same call each time: neither order of keys nor blanks make it another one.
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"path":"missing","start_line":1}' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{ "start_line": 1, "path": "missing" }' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"path":"missing"}' }]
        [[turn]]
        always = true
        calls = [{ name = "read_file", arguments = '{"path" :"missing"}' }]
    "#;
    let world = World::new().script(script);
    let run = world.foehn(&["run", "--json", "read it"]).expect_code(3);
    insta::assert_snapshot!(run.outline(), @"");
    let notes: Vec<_> = run.envelopes().iter().map(|envelope| envelope["notes"].to_string()).collect();
    insta::assert_snapshot!(notes.join("\n"), @"");
}

const STEPS: &str = r#"
[[turn]]
text = "step 1"
calls = [{ name = "read_file", arguments = { path = "a.txt", start_line = 1 } }]
[[turn]]
text = "step 2"
calls = [{ name = "read_file", arguments = { path = "a.txt", start_line = 2 } }]
[[turn]]
text = "step 3"
calls = [{ name = "read_file", arguments = { path = "a.txt", start_line = 3 } }]
"#;

#[test]
fn after_the_last_step_a_summary_is_asked_for_without_tools() {
    let script = format!("{STEPS}\n[[turn]]\ntext = \"All three lines were read.\"\n");
    let (world, model) = World::new().file("a.txt", "1\n2\n3\n").serve(&script);
    let run = world.foehn(&["run", "--json", "--max-tool-iterations", "3", "read on"]).expect_code(3);
    insta::assert_snapshot!(run.outline(), @"");
    let bodies = model.bodies();
    let offered: Vec<_> =
        bodies.iter().map(|body| body["tools"].as_array().map_or(0, Vec::len) > 0).collect();
    assert_eq!(offered, [true, true, true, false]);
    let last = &bodies[3]["messages"];
    insta::assert_snapshot!(last[last.as_array().map_or(0, Vec::len) - 1], @"");
}

#[test]
fn when_the_summary_fails_the_last_words_are_the_answer() {
    let script = format!("{STEPS}\n[[turn]]\nfault = {{ status = 400, body = \"no\" }}\n");
    let world = World::new().file("a.txt", "1\n2\n3\n").script(&script);
    let run = world.foehn(&["run", "--json", "--max-tool-iterations", "3", "read on"]).expect_code(3);
    let done = run.done();
    insta::assert_snapshot!(format!("{} {} {}", done["status"], done["text"], done["reason"]), @"");
}

#[test]
fn a_model_that_cannot_hold_the_schema_is_stopped() {
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"file":"a.txt"}' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"filename":"a.txt"}' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"name":"a.txt"}' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"p":"a.txt"}' }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().file("a.txt", "1\n").script(script);
    let run = world.foehn(&["run", "--json", "read it"]).expect_code(3);
    insta::assert_snapshot!(run.outline(), @"");
}

#[test]
fn a_long_result_is_bounded_and_says_so() {
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = { path = "long.txt" } }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().file("long.txt", "0123456789\n".repeat(100_000)).script(script);
    let run = world.foehn(&["run", "--json", "read it"]).expect_code(0);
    let envelope = run.envelopes().remove(0);
    let result = envelope["result"].as_str().expect("text");
    assert!(result.chars().count() < 60_000, "{}", result.len());
    insta::assert_snapshot!(result.lines().next().unwrap_or_default(), @"");
}
