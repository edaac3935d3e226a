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
        calls = [{ name = "read_file", arguments = '{"start_line":1,"path":"missing"}' }]
        [[turn]]
        always = true
        calls = [{ name = "read_file", arguments = '{"path" :"missing", "start_line":1}' }]
    "#;
    let world = World::new().script(script);
    let run = world.foehn(&["run", "--json", "read it"]).expect_code(3);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "read it"
    step 1
    answer "" calls=1
    start #1 read_file {"path":"missing","start_line":1} [read_file] (risk: read-only runs)
    end #1 read_file failed executed=false: `missing` does not exist
    step 2
    answer "" calls=1
    start #2 read_file { "start_line": 1, "path": "missing" } [read_file] (risk: read-only runs)
    end #2 read_file failed executed=false: `missing` does not exist
    step 3
    answer "" calls=1
    notice warning: `read_file` was called 3 times in a row with equal arguments; at 5 the turn ends
    start #3 read_file {"start_line":1,"path":"missing"} [read_file] (risk: read-only runs)
    end #3 read_file failed executed=false: `missing` does not exist
    step 4
    answer "" calls=1
    notice warning: `read_file` was called 4 times in a row with equal arguments; at 5 the turn ends
    start #4 read_file {"path" :"missing", "start_line":1} [read_file] (risk: read-only runs)
    end #4 read_file failed executed=false: `missing` does not exist
    step 5
    answer "" calls=1
    end #5 read_file budget_exhausted executed=false: Not run: `read_file` was called 5 times in a row with equal arguments. The turn ends here.
    done limit "" steps=5 calls=5 (`read_file` was called 5 times in a row with equal arguments)
    "#);
    let notes: Vec<_> = run.envelopes().iter().map(|envelope| envelope["notes"].to_string()).collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    null
    null
    ["this is equal call 3 in a row; do something else, at 5 the turn is stopped"]
    ["this is equal call 4 in a row; do something else, at 5 the turn is stopped"]
    null
    "#);
}

#[test]
fn the_operator_says_how_often_a_model_may_be_wrong() {
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"file":"a.txt"}' }]
        [[turn]]
        calls = [{ name = "read_file", arguments = '{"path":"missing"}' }]
        [[turn]]
        always = true
        calls = [{ name = "read_file", arguments = '{"path":"missing","start_line":null}' }]
    "#;
    let limits = "max_invalid_calls = 1\n[agents.default]\nequal_calls_warn = 2\nequal_calls_stop = 3\n";
    let world = World::new().script(script).user_config(limits);
    let run = world.foehn(&["run", "--json", "read it"]).expect_code(3);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "read it"
    step 1
    answer "" calls=1
    notice warning: `read_file` was called with invalid arguments; one more ends the turn
    end #1 read_file invalid_arguments executed=false: `read_file` was not run: its arguments have 2 problems. This was invalid call 1 in a row: do not call it again, say what you need and ask the user.
    step 2
    answer "" calls=1
    start #2 read_file {"path":"missing","start_line":1} [read_file] (risk: read-only runs)
    end #2 read_file failed executed=false: `missing` does not exist
    step 3
    answer "" calls=1
    notice warning: `read_file` was called 2 times in a row with equal arguments; at 3 the turn ends
    start #3 read_file {"path":"missing","start_line":1} [read_file] (risk: read-only runs)
    end #3 read_file failed executed=false: `missing` does not exist
    step 4
    answer "" calls=1
    end #4 read_file budget_exhausted executed=false: Not run: `read_file` was called 3 times in a row with equal arguments. The turn ends here.
    done limit "" steps=4 calls=4 (`read_file` was called 3 times in a row with equal arguments)
    "#);
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
    insta::assert_snapshot!(run.outline(), @r#"
    session default openai-compatible/scripted tools=12
    turn 1 "read on"
    step 1
    text "step 1"
    answer "step 1" calls=1
    start #1 read_file {"path":"a.txt","start_line":1} [read_file] (risk: read-only runs)
    end #1 read_file ok
    step 2
    text "step 2"
    answer "step 2" calls=1
    start #2 read_file {"path":"a.txt","start_line":2} [read_file] (risk: read-only runs)
    end #2 read_file ok
    step 3
    text "step 3"
    answer "step 3" calls=1
    start #3 read_file {"path":"a.txt","start_line":3} [read_file] (risk: read-only runs)
    end #3 read_file ok
    step 4
    text "All three lines were read."
    answer "All three lines were read." calls=0
    done limit "All three lines were read." steps=4 calls=3 (all 3 steps of the turn are used)
    "#);
    let bodies = model.bodies();
    let offered: Vec<_> =
        bodies.iter().map(|body| body["tools"].as_array().map_or(0, Vec::len) > 0).collect();
    assert_eq!(offered, [true, true, true, false]);
    let last = &bodies[3]["messages"];
    insta::assert_snapshot!(last[last.as_array().map_or(0, Vec::len) - 1], @r#"{"role":"user","content":"All 3 steps of this turn are used and no tool can be called any more. Say briefly what is done, what is not, and what should come next."}"#);
}

#[test]
fn when_the_summary_fails_the_last_words_are_the_answer() {
    let script = format!("{STEPS}\n[[turn]]\nfault = {{ status = 400, body = \"no\" }}\n");
    let world = World::new().file("a.txt", "1\n2\n3\n").script(&script);
    let run = world.foehn(&["run", "--json", "--max-tool-iterations", "3", "read on"]).expect_code(3);
    let done = run.done();
    insta::assert_snapshot!(format!("{} {} {}", done["status"], done["text"], done["reason"]), @r#""limit" "step 3" "all 3 steps of the turn are used, and no summary came: offline/script: the server refuses the request (400): no""#);
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
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "read it"
    step 1
    answer "" calls=1
    end #1 read_file invalid_arguments executed=false: `read_file` was not run: its arguments have 2 problems.
    step 2
    answer "" calls=1
    notice warning: `read_file` was called with invalid arguments 2 times in a row; one more ends the turn
    end #2 read_file invalid_arguments executed=false: `read_file` was not run: its arguments have 2 problems. This was invalid call 2 in a row: do not call it again, say what you need and ask the user.
    step 3
    answer "" calls=1
    end #3 read_file invalid_arguments executed=false: `read_file` was not run: its arguments have 2 problems. This was invalid call 3 in a row: do not call it again, say what you need and ask the user.
    done limit "" steps=3 calls=3 (`read_file` was called with invalid arguments 3 times in a row)
    "#);
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
    insta::assert_snapshot!(result.lines().next().unwrap_or_default(), @"`long.txt`: lines 1 to 4654 of 100000, go on with start_line 4655");
}
