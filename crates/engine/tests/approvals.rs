//! Who is asked, who may answer, and what an answer covers.

mod support;

use foehn_ports::OutcomeKind;
use foehn_protocol::{ApprovalId, Decision, Event, EventBody, Op, Risk};
use support::{Act, Gatekeeper, Run, Tool, call, calls, text};

fn asked(event: &Event) -> bool {
    matches!(event.body, EventBody::ApprovalRequested(_))
}

fn answer(call: &str, decision: Decision) -> Op {
    Op::Answer { approval: ApprovalId(format!("approve-{call}")), decision }
}

#[test]
fn yes_once_and_no() {
    let outcome = Run::new(vec![
        calls("", &[("write", r#"{"path":"a"}"#), ("write", r#"{"path":"b"}"#)]),
        text("Done."),
    ])
    .on(asked, answer("c1", Decision::Once))
    .on(asked, answer("c2", Decision::No))
    .done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 approve-c1 asks write {"path":"a"} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 approve-c1 answered Once by user
    1 c1 starts write {"path":"a"} (write: write) because risk: write asks; approved once by the user
    1 c1 write -> {"ok":true,"result":"{\"path\":\"a\"}"}
    1 approve-c2 asks write {"path":"b"} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 approve-c2 answered No by user
    1 c2 write -> {"ok":false,"error":{"code":"declined","message":"Not run: the user said no. Do not repeat this call; ask what to do instead.","executed":false,"retryable":false}}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 2 calls, 20+2 tokens]
    "#);
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer:  [c1 c2]
    1 c1 Once by user
    1 c1 starts write {"path":"a"}
    1 c1 write -> {"ok":true,"result":"{\"path\":\"a\"}"}
    1 c2 No by user
    1 c2 write -> {"ok":false,"error":{"code":"declined","message":"Not run: the user said no. Do not repeat this call; ask what to do instead.","executed":false,"retryable":false}}
    1 answer: Done. []
    1 ended Answered
    "#);
    assert_eq!(outcome.ran, [r#"write {"path":"a"}"#]);
}

#[test]
fn always_covers_this_operation_of_this_tool() {
    let mut run = Run::new(vec![
        calls("", &[("write", r#"{"path":"a"}"#), ("write", r#"{"path":"b"}"#), ("other", "{}")]),
        text("Done."),
    ])
    .on(asked, answer("c1", Decision::Always))
    .on(asked, answer("c3", Decision::No));
    run.tools.push(Tool::writer("other"));
    let outcome = run.done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 4 tools
    1 prompt: go
    1 step 1
    1 answer:  [3 calls]
    1 approve-c1 asks write {"path":"a"} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 approve-c1 answered Always by user
    1 c1 starts write {"path":"a"} (write: write) because risk: write asks; approved from now on by the user
    1 c1 write -> {"ok":true,"result":"{\"path\":\"a\"}"}
    1 c2 starts write {"path":"b"} (write: write) because risk: write asks; allowed by a standing grant
    1 c2 write -> {"ok":true,"result":"{\"path\":\"b\"}"}
    1 approve-c3 asks other {} (other) because risk: write asks | always: `other` of tool `other` for agent `default`
    1 approve-c3 answered No by user
    1 c3 other -> {"ok":false,"error":{"code":"declined","message":"Not run: the user said no. Do not repeat this call; ask what to do instead.","executed":false,"retryable":false}}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 3 calls, 20+2 tokens]
    "#);
    assert_eq!(outcome.ran, [r#"write {"path":"a"}"#, r#"write {"path":"b"}"#]);
}

#[test]
fn always_for_a_program_covers_the_very_call() {
    let mut run = Run::new(vec![
        calls(
            "",
            &[("shell", r#"{"path":"ls"}"#), ("shell", r#"{"path":"ls"}"#), ("shell", r#"{"path":"rm"}"#)],
        ),
        text("Done."),
    ])
    .on(asked, answer("c1", Decision::Always))
    .on(asked, answer("c3", Decision::No));
    run.tools = vec![Tool::new("shell", Risk::Execute)];
    let outcome = run.done();
    assert_eq!(outcome.ran, [r#"shell {"path":"ls"}"#, r#"shell {"path":"ls"}"#]);
    insta::assert_snapshot!(outcome.events.lines().filter(|line| line.contains("always")).collect::<Vec<_>>().join("\n"), @r#"
    1 approve-c1 asks shell {"path":"ls"} (shell) because risk: execute asks | always: `shell {"path":"ls"}` of tool `shell` for agent `default`
    1 approve-c3 asks shell {"path":"rm"} (shell) because risk: execute asks | always: `shell {"path":"rm"}` of tool `shell` for agent `default`
    "#);
}

#[test]
fn always_is_not_on_offer_for_what_destroys() {
    let mut run = Run::new(vec![calls("", &[("delete", "{}"), ("odd", "{}")]), text("Done.")])
        .on(asked, answer("c1", Decision::Always))
        .on(asked, answer("c2", Decision::Once));
    run.tools = vec![Tool::new("delete", Risk::Destructive), Tool::new("odd", Risk::Undefined)];
    insta::assert_snapshot!(run.done().events, @r#"
    0 new session of default with fake/script, 2 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 approve-c1 asks delete {} (delete) because risk: destructive asks
    1 approve-c1 answered Once by user
    1 c1 starts delete {} (destructive: delete) because risk: destructive asks; approved once by the user
    1 c1 delete -> {"ok":true,"result":"{}"}
    1 approve-c2 asks odd {} (odd) because risk: undefined asks
    1 approve-c2 answered Once by user
    1 c2 starts odd {} (undefined: odd) because risk: undefined asks; approved once by the user
    1 c2 odd -> {"ok":true,"result":"{}"}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 2 calls, 20+2 tokens]
    "#);
}

#[test]
fn several_operations_are_each_named() {
    let mut run = Run::new(vec![call("shell", "{}"), text("Done.")]).on(asked, answer("c1", Decision::Once));
    run.tools = vec![Tool::new("shell", Risk::Execute).classified(&[
        ("ls", Risk::ReadOnly),
        ("git push", Risk::Execute),
        ("rm", Risk::Destructive),
    ])];
    insta::assert_snapshot!(run.done().events.lines().filter(|line| line.contains("c1")).collect::<Vec<_>>().join("\n"), @r#"
    1 approve-c1 asks shell {} (git push, rm) because risk: execute asks; risk: destructive asks
    1 approve-c1 answered Once by user
    1 c1 starts shell {} (destructive: ls, git push, rm) because risk: execute asks; risk: destructive asks; approved once by the user
    1 c1 shell -> {"ok":true,"result":"{}"}
    "#);
}

#[test]
fn deny_is_not_even_asked() {
    let outcome =
        Run::new(vec![call("write", "{}"), text("Done.")]).rules("write", Some(&["*"]), &["write"]).done();
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    assistant:  c1 write({})
    c1 write: {"ok":false,"error":{"code":"forbidden","message":"Not run: a rule forbids it (deny = [\"write\"] of tool `write`).","executed":false,"retryable":false}}
    "#);
    assert_eq!(outcome.ran, Vec::<String>::new());
}

#[test]
fn a_plugin_refuses_before_anybody_is_asked() {
    let mut run = Run::new(vec![calls("", &[("write", "{}"), ("gone", "{}")]), text("Done.")]);
    let mut gone = Tool::writer("gone");
    gone.spec.classifies = true;
    run.tools = vec![Tool::writer("write").refuses("the path is outside of the workspace"), gone];
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 write({}) c2 gone({})
    c1 write: {"ok":false,"error":{"code":"refused","message":"the path is outside of the workspace","executed":false,"retryable":false}}
    c2 gone: {"ok":false,"error":{"code":"failed","message":"Not run: plugin `files` cannot run: it is gone.","executed":false,"retryable":true}}
    "#);
}

#[test]
fn nobody_there_to_ask() {
    let mut run = Run::new(vec![calls("", &[("write", "{}"), ("read", "{}")]), text("I could not write.")]);
    run.gate = Gatekeeper::absent();
    let outcome = run.done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 c1 write -> {"ok":false,"error":{"code":"declined","message":"Not run: it needs an approval (risk: write asks) and nobody is there to give it. Do not try again; say what you would have done.","executed":false,"retryable":false}}
    1 c2 starts read {} (read-only: read) because risk: read-only runs
    1 c2 read -> {"ok":true,"result":"{}"}
    1 step 2
    1 text: I could not write.
    1 answer: I could not write. [0 calls]
    1 done Declined: I could not write. [2 steps, 2 calls, 20+2 tokens] because a call needed an approval and nobody was there to give it
    "#);
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer:  [c1 c2]
    1 c1 No by nobody there to ask
    1 c1 write -> {"ok":false,"error":{"code":"declined","message":"Not run: it needs an approval (risk: write asks) and nobody is there to give it. Do not try again; say what you would have done.","executed":false,"retryable":false}}
    1 c2 starts read {}
    1 c2 read -> {"ok":true,"result":"{}"}
    1 answer: I could not write. []
    1 ended Declined
    "#);
}

#[test]
fn yes_said_beforehand() {
    let mut run = Run::new(vec![call("write", "{}"), text("Done.")]);
    run.gate = Gatekeeper::yes("--yes");
    let outcome = run.done();
    insta::assert_snapshot!(outcome.journal, @r#"
    1 prompt: go
    instructions of default: Be brief. [read list write]
    1 answer:  [c1]
    1 c1 Once by --yes
    1 c1 starts write {}
    1 c1 write -> {"ok":true,"result":"{}"}
    1 answer: Done. []
    1 ended Answered
    "#);
    assert!(outcome.events.contains("because risk: write asks; approved by --yes"), "{}", outcome.events);
}

#[test]
fn an_answer_to_another_question_is_not_used() {
    let outcome = Run::new(vec![call("write", "{}"), text("Done.")])
        .on(asked, answer("c9", Decision::Once))
        .on(|event| matches!(event.body, EventBody::Notice { .. }), answer("c1", Decision::Once))
        .done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [1 calls]
    1 approve-c1 asks write {} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 Warning: question `approve-c9` is not open; the answer was not used
    1 approve-c1 answered Once by user
    1 c1 starts write {} (write: write) because risk: write asks; approved once by the user
    1 c1 write -> {"ok":true,"result":"{}"}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 1 calls, 20+2 tokens]
    "#);
}

#[test]
fn a_tool_for_known_callers() {
    let tool = || {
        let mut tool = Tool::reader("mine");
        tool.spec.requires_caller = true;
        vec![tool.act(Act::End(OutcomeKind::Ok, ""))]
    };
    let mut run = Run::new(vec![call("mine", "{}"), text("Done.")]);
    run.tools = tool();
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 mine({})
    c1 mine: {"ok":false,"error":{"code":"unauthorized","message":"`mine` runs only for a known caller, and this run has none.","executed":false,"retryable":false}}
    "#);
    let mut run = Run::new(vec![call("mine", "{}"), text("Done.")]);
    run.tools = tool();
    run.caller = Some("anna".to_owned());
    assert_eq!(run.done().ran, ["mine {}"]);
}
