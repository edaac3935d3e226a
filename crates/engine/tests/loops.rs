//! What the loop does when everybody behaves, and where it stops when somebody does not.

mod support;

use foehn_contract::Coercion;
use foehn_ports::OutcomeKind;
use foehn_protocol::{Entry, Finish};
use support::{Act, Run, Say, Tool, call, calls, text};

#[test]
fn an_answer_without_calls() {
    let outcome = Run::new(vec![text("Hello.")]).done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 text: Hello.
    1 answer: Hello. [0 calls]
    1 done Answered: Hello. [1 steps, 0 calls, 10+1 tokens]
    "#);
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer: Hello. []
    1 ended Answered
    "#);
}

#[test]
fn reading_calls_run_together_and_results_come_in_call_order() {
    let outcome = Run::new(vec![
        calls(
            "Looking.",
            &[
                ("read", r#"{"path":"a"}"#),
                ("list", ""),
                ("write", r#"{"path":"b"}"#),
                ("read", r#"{"path":"c"}"#),
            ],
        ),
        text("Done."),
    ])
    .rules("write", Some(&["*"]), &[])
    .done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 text: Looking.
    1 answer: Looking. [4 calls]
    1 c1 starts read {"path":"a"} (read-only: read) because risk: read-only runs
    1 c2 starts list {} (read-only: list) because risk: read-only runs
    1 c2 list -> {"ok":true,"result":"{}"}
    1 c1 read -> {"ok":true,"result":"{\"path\":\"a\"}"}
    1 c3 starts write {"path":"b"} (write: write) because allow = ["*"] of tool `write`
    1 c3 write -> {"ok":true,"result":"{\"path\":\"b\"}"}
    1 c4 starts read {"path":"c"} (read-only: read) because risk: read-only runs
    1 c4 read -> {"ok":true,"result":"{\"path\":\"c\"}"}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 4 calls, 20+2 tokens]
    "#);
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer: Looking. [c1 c2 c3 c4]
    1 c1 starts read {"path":"a"}
    1 c2 starts list {}
    1 c2 list -> {"ok":true,"result":"{}"}
    1 c1 read -> {"ok":true,"result":"{\"path\":\"a\"}"}
    1 c3 starts write {"path":"b"}
    1 c3 write -> {"ok":true,"result":"{\"path\":\"b\"}"}
    1 c4 starts read {"path":"c"}
    1 c4 read -> {"ok":true,"result":"{\"path\":\"c\"}"}
    1 answer: Done. []
    1 ended Answered
    "#);
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    assistant: Looking. c1 read({"path":"a"}) c2 list() c3 write({"path":"b"}) c4 read({"path":"c"})
    c1 read: {"ok":true,"result":"{\"path\":\"a\"}"}
    c2 list: {"ok":true,"result":"{}"}
    c3 write: {"ok":true,"result":"{\"path\":\"b\"}"}
    c4 read: {"ok":true,"result":"{\"path\":\"c\"}"}
    "#);
}

#[test]
fn names_that_are_no_tools() {
    let outcome = Run::new(vec![
        calls("", &[("file_read", "{}"), ("functions.read", r#"{"path":"a"}"#), ("read<|channel|>x", "{}")]),
        text("Done."),
    ])
    .done();
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    assistant:  c1 file_read({}) c2 functions.read({"path":"a"}) c3 read<|channel|>x({})
    c1 file_read: {"ok":false,"error":{"code":"unknown_tool","message":"There is no tool `file_read`; nothing was run. Did you mean `read`?","executed":false,"retryable":true}}
    c2 functions.read: {"ok":true,"result":"{\"path\":\"a\"}","notes":["the tool name was read as `read`"]}
    c3 read<|channel|>x: {"ok":true,"result":"{}","notes":["the tool name was read as `read`"]}
    "#);
}

#[test]
fn a_renamed_tool_still_answers_to_its_old_name() {
    let mut tool = Tool::reader("read");
    tool.spec.aliases.push("old_read".to_owned());
    let mut run = Run::new(vec![call("old_read", "{}"), text("Done.")]);
    run.tools = vec![tool];
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 old_read({})
    c1 old_read: {"ok":true,"result":"{}","notes":["the tool `old_read` is now called `read`"]}
    "#);
}

#[test]
fn every_way_a_call_can_end() {
    let kinds = [
        OutcomeKind::Failed,
        OutcomeKind::InvalidArguments,
        OutcomeKind::Refused,
        OutcomeKind::Unauthorized,
        OutcomeKind::Timeout,
        OutcomeKind::Cancelled,
        OutcomeKind::Crashed,
        OutcomeKind::Unavailable,
    ];
    let tools: Vec<Tool> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| Tool::reader(&format!("t{number}")).act(Act::End(*kind, "the reason")))
        .collect();
    let names: Vec<String> = tools.iter().map(|tool| tool.spec.name.clone()).collect();
    let list: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "{}")).collect();
    let mut run = Run::new(vec![calls("", &list), text("Done.")]);
    run.tools = tools;
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 t0({}) c2 t1({}) c3 t2({}) c4 t3({}) c5 t4({}) c6 t5({}) c7 t6({}) c8 t7({})
    c1 t0: {"ok":false,"error":{"code":"failed","message":"the reason","executed":true,"retryable":true}}
    c2 t1: {"ok":false,"error":{"code":"invalid_arguments","message":"the reason","executed":false,"retryable":true}}
    c3 t2: {"ok":false,"error":{"code":"refused","message":"the reason","executed":false,"retryable":false}}
    c4 t3: {"ok":false,"error":{"code":"unauthorized","message":"the reason","executed":false,"retryable":false}}
    c5 t4: {"ok":false,"error":{"code":"timeout","message":"the reason","executed":"unknown","retryable":false}}
    c6 t5: {"ok":false,"error":{"code":"cancelled","message":"the reason","executed":"unknown","retryable":false}}
    c7 t6: {"ok":false,"error":{"code":"crashed","message":"the reason","executed":"unknown","retryable":false}}
    c8 t7: {"ok":false,"error":{"code":"failed","message":"the reason","executed":false,"retryable":true}}
    "#);
}

#[test]
fn a_call_cut_by_the_output_limit_is_never_run() {
    for finish in [Finish::Length, Finish::Stop, Finish::ToolCalls] {
        let outcome = Run::new(vec![
            calls("", &[("write", r##"{"path":"# T\nabc"##), ("read", r#"{"path":"a"}"#)]).finish(finish),
            text("Smaller then."),
        ])
        .rules("write", Some(&["*"]), &[])
        .done();
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome.last_request(), @r##"
            user: go
            assistant:  c1 write({"path":"# T\nabc) c2 read({"path":"a"})
            c1 write: {"ok":false,"error":{"code":"invalid_arguments","message":"The call of `write` was cut by the output limit: its arguments end in the middle. Nothing was executed. Send the content in smaller pieces: first create the file with a short part, then append the rest in further calls.","executed":false,"retryable":true,"problems":[{"path":"","code":"cut_off","expected":"a complete JSON object","got":"EOF while parsing a string at line 1 column 17","suggestion":"send the content in smaller pieces"}]}}
            c2 read: {"ok":true,"result":"{\"path\":\"a\"}"}
            "##);
        }
        assert_eq!(outcome.ran, [r#"read {"path":"a"}"#]);
    }
}

#[test]
fn a_call_cut_before_its_arguments_is_not_taken_for_one_without() {
    let says = || {
        vec![
            call("read", r#"{"n":1}"#).finish(Finish::Length),
            call("read", "").finish(Finish::Length),
            text("Done."),
        ]
    };
    assert_eq!(Run::new(says()).done().ran, [r#"read {"n":1}"#]);
}

#[test]
fn arguments_that_never_become_valid_end_the_turn() {
    let outcome = Run::new(vec![
        call("read", r#"{"pth":1}"#),
        call("read", r#"{"pth":2}"#),
        calls("", &[("list", "{}"), ("read", r#"{"pth":3}"#), ("read", "{}")]),
    ])
    .done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [1 calls]
    1 c1 read -> {"ok":false,"error":{"code":"invalid_arguments","message":"`read` was not run: its arguments have a problem, `unknown_argument`.","executed":false,"retryable":true,"problems":[{"path":"/pth","code":"unknown_argument","expected":"only `path`, `n`","got":"`pth`","suggestion":"did you mean `path`?"}]}}
    1 step 2
    1 answer:  [1 calls]
    1 Warning: `read` was called with invalid arguments 2 times in a row; one more ends the turn
    1 c2 read -> {"ok":false,"error":{"code":"invalid_arguments","message":"`read` was not run: its arguments have a problem, `unknown_argument`. This was invalid call 2 in a row: do not call it again, say what you need and ask the user.","executed":false,"retryable":false,"problems":[{"path":"/pth","code":"unknown_argument","expected":"only `path`, `n`","got":"`pth`","suggestion":"did you mean `path`?"}]}}
    1 step 3
    1 answer:  [3 calls]
    1 c3 starts list {} (read-only: list) because risk: read-only runs
    1 c3 list -> {"ok":true,"result":"{}"}
    1 c4 read -> {"ok":false,"error":{"code":"invalid_arguments","message":"`read` was not run: its arguments have a problem, `unknown_argument`. This was invalid call 3 in a row: do not call it again, say what you need and ask the user.","executed":false,"retryable":false,"problems":[{"path":"/pth","code":"unknown_argument","expected":"only `path`, `n`","got":"`pth`","suggestion":"did you mean `path`?"}]}}
    1 c5 read -> {"ok":false,"error":{"code":"budget_exhausted","message":"Not run: the turn ended first (`read` was called with invalid arguments 3 times in a row).","executed":false,"retryable":false}}
    1 done Limit:  [3 steps, 5 calls, 30+3 tokens] because `read` was called with invalid arguments 3 times in a row
    "#);
}

#[test]
fn a_plugin_that_refuses_arguments_spends_the_same_budget() {
    let says = (0..3).map(|number| call("read", &format!(r#"{{"n":{number}}}"#))).collect();
    let mut run = Run::new(says);
    run.tools = vec![Tool::reader("read").act(Act::End(OutcomeKind::InvalidArguments, "n must be even"))];
    let outcome = run.done();
    assert_eq!(outcome.ran.len(), 3);
    assert!(
        outcome.events.ends_with(
            "1 done Limit:  [3 steps, 3 calls, 30+3 tokens] because `read` was called with invalid arguments 3 times in a row"
        ),
        "{}",
        outcome.events
    );
    let second = outcome.events.lines().find(|line| line.contains(" c2 read ->"));
    insta::assert_snapshot!(second.unwrap_or_default(), @r#"1 c2 read -> {"ok":false,"error":{"code":"invalid_arguments","message":"n must be even. This was invalid call 2 in a row: do not call it again, say what you need and ask the user.","executed":false,"retryable":false}}"#);
}

#[test]
fn the_same_call_again_and_again() {
    let spellings = [r#"{"path":"m","n":1}"#, r#"{ "n": 1, "path": "m" }"#, r#"{"n":1,"path":"m"}"#];
    let says = (0..6).map(|number| call("read", spellings[number % 3])).collect();
    let mut run = Run::new(says);
    run.tools = vec![Tool::reader("read").act(Act::End(OutcomeKind::Failed, "no such file"))];
    let outcome = run.done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 1 tools
    1 prompt: go
    1 step 1
    1 answer:  [1 calls]
    1 c1 starts read {"path":"m","n":1} (read-only: read) because risk: read-only runs
    1 c1 read -> {"ok":false,"error":{"code":"failed","message":"no such file","executed":true,"retryable":true}}
    1 step 2
    1 answer:  [1 calls]
    1 c2 starts read { "n": 1, "path": "m" } (read-only: read) because risk: read-only runs
    1 c2 read -> {"ok":false,"error":{"code":"failed","message":"no such file","executed":true,"retryable":true}}
    1 step 3
    1 answer:  [1 calls]
    1 Warning: `read` was called 3 times in a row with equal arguments; at 5 the turn ends
    1 c3 starts read {"n":1,"path":"m"} (read-only: read) because risk: read-only runs
    1 c3 read -> {"ok":false,"error":{"code":"failed","message":"no such file","executed":true,"retryable":true},"notes":["this is equal call 3 in a row; do something else, at 5 the turn is stopped"]}
    1 step 4
    1 answer:  [1 calls]
    1 Warning: `read` was called 4 times in a row with equal arguments; at 5 the turn ends
    1 c4 starts read {"path":"m","n":1} (read-only: read) because risk: read-only runs
    1 c4 read -> {"ok":false,"error":{"code":"failed","message":"no such file","executed":true,"retryable":true},"notes":["this is equal call 4 in a row; do something else, at 5 the turn is stopped"]}
    1 step 5
    1 answer:  [1 calls]
    1 c5 read -> {"ok":false,"error":{"code":"budget_exhausted","message":"Not run: `read` was called 5 times in a row with equal arguments. The turn ends here.","executed":false,"retryable":false}}
    1 done Limit:  [5 steps, 5 calls, 50+5 tokens] because `read` was called 5 times in a row with equal arguments
    "#);
    assert_eq!(outcome.ran.len(), 4);
}

#[test]
fn what_would_run_is_compared_and_asking_again_may_be_meant() {
    let check = |tool: Tool, arguments: &[&str], ran: usize| {
        let mut run = Run::new(arguments.iter().map(|arguments| call("read", arguments)).collect());
        run.tools = vec![tool];
        run.profile.limits.equal_calls_warn = 2;
        run.profile.limits.equal_calls_stop = 3;
        run.says.push(text("Done."));
        assert_eq!(run.done().ran.len(), ran, "{arguments:?}");
    };
    let polling = || {
        let mut tool = Tool::reader("read");
        tool.spec.polling = true;
        tool
    };
    check(Tool::reader("read"), &[r#"{"n":1}"#, r#"{"n":"1"}"#, r#"{"path":null,"n":1.0}"#], 2);
    check(Tool::reader("read"), &[r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":1}"#], 3);
    check(polling(), &[r#"{"n":1}"#; 4], 4);
}

#[test]
fn a_turn_begins_with_nothing_counted() {
    let mut run = Run::new(vec![
        call("read", r#"{"pth":1}"#),
        call("read", r#"{"pth":2}"#),
        text("Which one?"),
        call("read", r#"{"pth":3}"#),
        text("Sorry."),
    ]);
    run.prompts.push("a.txt");
    let events = run.done().events;
    let told: Vec<&str> =
        events.lines().filter(|line| line.contains(" done ") || line.contains("Warning")).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    1 Warning: `read` was called with invalid arguments 2 times in a row; one more ends the turn
    1 done Answered: Which one? [3 steps, 2 calls, 30+3 tokens]
    2 done Answered: Sorry. [2 steps, 1 calls, 20+2 tokens]
    "#);
}

#[test]
fn how_often_a_model_may_be_wrong_is_configured() {
    let mut run = Run::new(vec![call("read", r#"{"pth":1}"#), text("unreached")]);
    run.profile.limits.invalid_calls_per_tool = 0;
    let events = run.done().events;
    insta::assert_snapshot!(events.lines().last().unwrap_or_default(), @r#"1 done Limit:  [1 steps, 1 calls, 10+1 tokens] because `read` was called with invalid arguments"#);
}

#[test]
fn how_forgiving_a_contract_is_can_differ_for_one_tool() {
    let says = vec![calls("", &[("read", r#"{"n":"1"}"#), ("list", r#"{"n":"1"}"#)]), text("Done.")];
    let mut run = Run::new(says);
    run.profile.tool_coercion.insert("list".to_owned(), Coercion::Strict);
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 read({"n":"1"}) c2 list({"n":"1"})
    c1 read: {"ok":true,"result":"{\"n\":1}","notes":["`/n`: text was read as an integer"]}
    c2 list: {"ok":false,"error":{"code":"invalid_arguments","message":"`list` was not run: its arguments have a problem, `wrong_type`.","executed":false,"retryable":true,"problems":[{"path":"/n","code":"wrong_type","expected":"integer","got":"\"1\"","suggestion":"write it in digits without quotes, such as 6"}]}}
    "#);
    let says = vec![calls("", &[("read", r#"{"n":"1"}"#), ("list", r#"{"n":"1"}"#)]), text("Done.")];
    let mut run = Run::new(says);
    run.profile.coercion = Coercion::Strict;
    run.profile.tool_coercion.insert("list".to_owned(), Coercion::Lenient);
    assert_eq!(run.done().ran, [r#"list {"n":1}"#]);
}

fn steps_without_end(last: Say) -> Run {
    let mut says: Vec<Say> = (1..=3)
        .map(|step| calls(&format!("step {step}"), &[("read", &format!(r#"{{"n":{step}}}"#))]))
        .collect();
    says.push(last);
    let mut run = Run::new(says);
    run.profile.limits.max_steps = 3;
    run
}

#[test]
fn used_up_steps_end_in_a_summary() {
    let outcome = steps_without_end(text("I read three times.")).done();
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer: step 1 [c1]
    1 c1 starts read {"n":1}
    1 c1 read -> {"ok":true,"result":"{\"n\":1}"}
    1 answer: step 2 [c2]
    1 c2 starts read {"n":2}
    1 c2 read -> {"ok":true,"result":"{\"n\":2}"}
    1 answer: step 3 [c3]
    1 c3 starts read {"n":3}
    1 c3 read -> {"ok":true,"result":"{\"n\":3}"}
    instructions of default: Be brief. []
    1 note: All 3 steps of this turn are used and no tool can be called any more. Say briefly what is done, what is not, and what should come next.
    1 answer: I read three times. []
    1 ended Limit
    "#);
    assert!(outcome.requests.last().unwrap().tools.is_empty());
    insta::assert_snapshot!(outcome.events.lines().last().unwrap(), @r#"1 done Limit: I read three times. [4 steps, 3 calls, 40+4 tokens] because all 3 steps of the turn are used"#);
}

#[test]
fn without_a_summary_the_last_words_stand() {
    let outcome = steps_without_end(Say::Fail("overloaded")).done();
    insta::assert_snapshot!(outcome.events.lines().last().unwrap(), @r#"1 done Limit: step 3 [4 steps, 3 calls, 30+3 tokens] because all 3 steps of the turn are used, and no summary came: fake/script: overloaded"#);
}

#[test]
fn a_summary_that_calls_tools_all_the_same() {
    let outcome = steps_without_end(calls("", &[("read", "{}")])).done();
    insta::assert_snapshot!(outcome.events.lines().rev().take(2).collect::<Vec<_>>().join("\n"), @r#"
    1 done Limit: step 3 [4 steps, 4 calls, 40+4 tokens] because all 3 steps of the turn are used
    1 c4 read -> {"ok":false,"error":{"code":"budget_exhausted","message":"Not run: the turn ended first (all 3 steps of the turn are used).","executed":false,"retryable":false}}
    "#);
}

#[test]
fn tools_come_back_after_a_summary() {
    let mut run = steps_without_end(text("Three."));
    run.says.push(text("More."));
    run.prompts = vec!["go", "and now?"];
    let outcome = run.done();
    assert_eq!(outcome.requests.last().unwrap().tools.len(), 3);
    let instructions = outcome.entries.iter().filter(|entry| matches!(entry, Entry::Instructions { .. }));
    assert_eq!(instructions.count(), 3);
}

#[test]
fn answers_that_are_none() {
    let check = |say: Say, expected: &str| {
        let outcome = Run::new(vec![say]).done();
        assert_eq!(outcome.events.lines().last().unwrap(), expected);
    };
    check(
        text("Half of").finish(Finish::Length),
        "1 done Limit: Half of [1 steps, 0 calls, 10+1 tokens] because the answer was cut by the model's output limit",
    );
    check(
        text("").finish(Finish::Filtered),
        "1 done Failed:  [1 steps, 0 calls, 10+1 tokens] because the model's provider filtered the answer",
    );
    check(
        text(" "),
        "1 done Failed:  [1 steps, 0 calls, 10+1 tokens] because the model answered with nothing",
    );
    check(
        Say::Fail("the server is gone"),
        "1 done Failed:  [1 steps, 0 calls] because fake/script: the server is gone",
    );
}

#[test]
fn a_failed_turn_does_not_end_the_session() {
    let mut run = Run::new(vec![Say::Fail("overloaded"), text("Hello.")]);
    run.prompts = vec!["one", "two"];
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: one
    user: two
    "#);
}

#[test]
fn results_are_bounded_one_by_one_and_together() {
    let mut run = Run::new(vec![
        calls("", &[("long", r#"{"n":1}"#), ("long", r#"{"n":2}"#), ("long", r#"{"n":3}"#)]),
        text("Done."),
    ]);
    run.tools = vec![Tool::reader("long").act(Act::Say("x".repeat(20_000)))];
    run.profile.limits.result_characters = 15_000;
    run.profile.limits.turn_result_characters = 20_000;
    let outcome = run.done();
    let stored: Vec<usize> = outcome
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Result { result, .. } => {
                Some(result.envelope.chars().filter(|letter| *letter == 'x').count())
            }
            _ => None,
        })
        .collect();
    assert_eq!(stored, [15_000, 15_000, 15_000]);
    let sent = outcome.last_request();
    assert!(sent.lines().skip(2).map(|line| line.chars().count()).sum::<usize>() < 20_100, "{}", sent.len());
    assert!(sent.starts_with("user: go\n"));
}

#[test]
fn what_is_sent_is_what_the_journal_rebuilds() {
    let mut run = Run::new(vec![
        calls("a", &[("read", "{}"), ("write", "{}"), ("nothing", "{}")]),
        call("list", r#"{"n":"3"}"#),
        text("Done."),
        calls("", &[("list", "{cut"), ("read", r#"{"n":1}"#)]),
        text(""),
        text("Again."),
    ]);
    run.prompts = vec!["one", "two", "three"];
    run.gate = support::Gatekeeper::absent();
    run.profile.limits.turn_result_characters = 600;
    let limits = foehn_context::Limits {
        turn_result_characters: 600,
        shorten: |envelope, characters| {
            foehn_contract::envelope::shorten(
                envelope,
                characters,
                "the results of this turn are too large together; ask again for a smaller part if you need the rest",
            )
        },
    };
    let outcome = run.done();
    let mut steps = 0;
    for (index, entry) in outcome.entries.iter().enumerate() {
        if matches!(entry, Entry::Answer { .. }) {
            let rebuilt = foehn_context::messages(&outcome.entries[..index], limits);
            assert_eq!(outcome.requests[steps].messages, rebuilt);
            steps += 1;
        }
    }
    assert_eq!(steps, 6);
}
