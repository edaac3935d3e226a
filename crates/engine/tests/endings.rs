//! However a turn ends, every call has one result and the session can go on.

mod support;

use foehn_protocol::{
    AssistantMessage, CallId, Decision, Entry, Event, EventBody, Finish, Op, ToolCall, TurnId, Usage,
};
use support::{Act, Run, Say, Tool, call, calls, text};

fn progress(event: &Event) -> bool {
    matches!(event.body, EventBody::CallProgress { .. })
}

fn asked(event: &Event) -> bool {
    matches!(event.body, EventBody::ApprovalRequested(_))
}

/// Three calls, of which the second runs when the user interrupts; then another prompt.
fn interrupted_in_the_second(act: Act) -> Run {
    let mut run =
        Run::new(vec![calls("", &[("read", "{}"), ("slow", "{}"), ("write", "{}")]), text("Hello.")]).rules(
            "slow",
            Some(&["*"]),
            &[],
        );
    run.prompts = vec!["go", "hello"];
    run.tools.push(Tool::writer("slow").act(act));
    run
}

#[test]
fn an_interrupt_while_a_call_runs() {
    let outcome = interrupted_in_the_second(Act::UntilCancelled).on(progress, Op::Interrupt).done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 4 tools
    1 prompt: go
    1 step 1
    1 answer:  [3 calls]
    1 c1 starts read {} (read-only: read) because risk: read-only runs
    1 c1 read -> {"ok":true,"result":"{}"}
    1 c2 starts slow {} (write: slow) because allow = ["*"] of tool `slow`
    1 c2 progress: half way
    1 c2 slow -> {"ok":false,"error":{"code":"cancelled","message":"cancelled","executed":"unknown","retryable":false},"result":"half of it"}
    1 c3 write -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 done Cancelled:  [1 steps, 3 calls, 10+1 tokens] because the user ended the turn
    2 prompt: hello
    2 step 1
    2 text: Hello.
    2 answer: Hello. [0 calls]
    2 done Answered: Hello. [1 steps, 0 calls, 10+1 tokens]
    "#);
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    assistant:  c1 read({}) c2 slow({}) c3 write({})
    c1 read: {"ok":true,"result":"{}"}
    c2 slow: {"ok":false,"error":{"code":"cancelled","message":"cancelled","executed":"unknown","retryable":false},"result":"half of it"}
    c3 write: {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    user: hello
    "#);
}

#[test]
fn a_call_that_does_not_hear_the_interrupt() {
    let started =
        |event: &Event| matches!(&event.body, EventBody::CallStarted { tool, .. } if tool == "slow");
    let outcome = interrupted_in_the_second(Act::Never).on(started, Op::Interrupt).done();
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    assistant:  c1 read({}) c2 slow({}) c3 write({})
    c1 read: {"ok":true,"result":"{}"}
    c2 slow: {"ok":false,"error":{"code":"cancelled","message":"It was stopped and gave no answer in time: what it had done is unknown.","executed":"unknown","retryable":false}}
    c3 write: {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    user: hello
    "#);
}

#[test]
fn a_call_that_never_ends_by_itself() {
    let mut run = Run::new(vec![call("read", "{}"), text("Done.")]);
    run.tools = vec![Tool::reader("read").act(Act::Never)];
    insta::assert_snapshot!(run.done().last_request(), @r#"
    user: go
    assistant:  c1 read({})
    c1 read: {"ok":false,"error":{"code":"timeout","message":"It was stopped and gave no answer in time: what it had done is unknown.","executed":"unknown","retryable":false}}
    "#);
}

#[test]
fn an_interrupt_while_calls_read_together() {
    let mut run = Run::new(vec![calls(
        "",
        &[("read", "{}"), ("slow", "{}"), ("list", "{}"), ("slow", r#"{"n":2}"#), ("list", r#"{"n":5}"#)],
    )])
    .on(progress, Op::Interrupt);
    run.profile.limits.parallel = 2;
    run.tools.push(Tool::reader("slow").act(Act::UntilCancelled));
    insta::assert_snapshot!(run.done().events, @r#"
    0 new session of default with fake/script, 4 tools
    1 prompt: go
    1 step 1
    1 answer:  [5 calls]
    1 c1 starts read {} (read-only: read) because risk: read-only runs
    1 c2 starts slow {} (read-only: slow) because risk: read-only runs
    1 c2 progress: half way
    1 c1 read -> {"ok":true,"result":"{}"}
    1 c3 starts list {} (read-only: list) because risk: read-only runs
    1 c3 list -> {"ok":true,"result":"{}"}
    1 c2 slow -> {"ok":false,"error":{"code":"cancelled","message":"cancelled","executed":"unknown","retryable":false},"result":"half of it"}
    1 c4 slow -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 c5 list -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 done Cancelled:  [1 steps, 5 calls, 10+1 tokens] because the user ended the turn
    "#);
}

#[test]
fn an_interrupt_instead_of_an_answer() {
    let outcome =
        Run::new(vec![calls("", &[("write", "{}"), ("read", "{}")])]).on(asked, Op::Interrupt).done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 approve-c1 asks write {} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 approve-c1 answered No by interrupted before an answer
    1 c1 write -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 c2 read -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 done Cancelled:  [1 steps, 2 calls, 10+1 tokens] because the user ended the turn
    "#);
}

#[test]
fn an_interrupt_while_the_model_speaks() {
    let mut run = Run::new(vec![Say::Hang("I was about to"), text("Hello.")])
        .on(|event| matches!(event.body, EventBody::TextDelta { .. }), Op::Interrupt);
    run.prompts = vec!["go", "hello"];
    let outcome = run.done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 text: I was about to
    1 done Cancelled: I was about to [1 steps, 0 calls] because the user ended the turn
    2 prompt: hello
    2 step 1
    2 text: Hello.
    2 answer: Hello. [0 calls]
    2 done Answered: Hello. [1 steps, 0 calls, 10+1 tokens]
    "#);
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: go
    user: hello
    "#);
}

#[test]
fn a_shutdown_lets_the_turn_end() {
    let mut run = Run::new(vec![call("write", "{}"), text("Done.")])
        .on(|event| matches!(event.body, EventBody::TurnStarted { .. }), Op::Shutdown)
        .on(asked, Op::Prompt { text: "too late".to_owned() })
        .on(
            |event| matches!(event.body, EventBody::Notice { .. }),
            Op::Answer { approval: "approve-c1".into(), decision: Decision::Once },
        );
    // Two are awaited, so that only the shutdown can end the run.
    run.prompts = vec!["go", "again"];
    run.says.push(text("Again."));
    insta::assert_snapshot!(run.done().events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [1 calls]
    1 approve-c1 asks write {} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 Warning: the session is ending; the prompt was not taken
    1 approve-c1 answered Once by user
    1 c1 starts write {} (write: write) because risk: write asks; approved once by the user
    1 c1 write -> {"ok":true,"result":"{}"}
    1 step 2
    1 text: Done.
    1 answer: Done. [0 calls]
    1 done Answered: Done. [2 steps, 1 calls, 20+2 tokens]
    2 prompt: again
    2 step 1
    2 text: Again.
    2 answer: Again. [0 calls]
    2 done Answered: Again. [1 steps, 0 calls, 10+1 tokens]
    "#);
}

#[test]
fn a_front_end_that_goes_away() {
    let mut run = Run::new(vec![calls("", &[("write", "{}"), ("read", "{}")])]).leave_on(asked);
    run.prompts = vec!["go", "never served"];
    insta::assert_snapshot!(run.done().events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 approve-c1 asks write {} (write) because risk: write asks | always: `write` of tool `write` for agent `default`
    1 approve-c1 answered No by interrupted before an answer
    1 c1 write -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 c2 read -> {"ok":false,"error":{"code":"cancelled","message":"Not run: the user ended the turn first.","executed":false,"retryable":false}}
    1 done Cancelled:  [1 steps, 2 calls, 10+1 tokens] because the user ended the turn
    "#);
}

#[test]
fn a_journal_that_fails_runs_nothing() {
    let mut run = Run::new(vec![calls("", &[("write", "{}"), ("read", "{}")]), text("never asked")]).rules(
        "write",
        Some(&["*"]),
        &[],
    );
    run.journal_fails_at = Some(1);
    let outcome = run.done();
    insta::assert_snapshot!(outcome.events, @r#"
    0 new session of default with fake/script, 3 tools
    1 prompt: go
    1 step 1
    1 answer:  [2 calls]
    1 c1 write -> {"ok":false,"error":{"code":"internal","message":"Not run: the session journal sessions.db cannot be written: the disk is full; nothing more is run.","executed":false,"retryable":true}}
    1 c2 read -> {"ok":false,"error":{"code":"internal","message":"Not run: the session journal sessions.db cannot be written: the disk is full; nothing more is run.","executed":false,"retryable":true}}
    1 done Failed:  [1 steps, 2 calls, 10+1 tokens] because the session journal sessions.db cannot be written: the disk is full; nothing more is run
    "#);
    assert_eq!(outcome.ran, Vec::<String>::new());
}

#[test]
fn no_step_begins_before_the_last_one_is_kept() {
    let mut run = Run::new(vec![call("read", "{}"), text("never asked")]);
    run.journal_fails_at = Some(1);
    let outcome = run.done();
    assert_eq!(outcome.requests.len(), 1);
    insta::assert_snapshot!(outcome.events.lines().last().unwrap(), @r#"1 done Failed:  [1 steps, 1 calls, 10+1 tokens] because the session journal sessions.db cannot be written: the disk is full; nothing more is run"#);
}

#[test]
fn a_session_goes_on_where_its_host_was_killed() {
    let calls = ["k1", "k2"]
        .map(|id| ToolCall {
            id: CallId::from(id),
            provider_id: None,
            name: "write".to_owned(),
            arguments: "{}".to_owned(),
        })
        .to_vec();
    let turn = TurnId(4);
    let mut run = Run::new(vec![text("Hello again.")]);
    run.stored = Some(vec![
        Entry::Prompt { turn, text: "before".to_owned() },
        Entry::Answer {
            turn,
            message: AssistantMessage { calls, ..AssistantMessage::default() },
            finish: Finish::ToolCalls,
            usage: Usage::default(),
        },
        Entry::CallStarted {
            turn,
            call: CallId::from("k1"),
            tool: "write".to_owned(),
            arguments: "{}".to_owned(),
        },
    ]);
    let outcome = run.done();
    insta::assert_snapshot!(outcome.last_request(), @r#"
    user: before
    assistant:  k1 write({}) k2 write({})
    k1 write: {"ok":false,"error":{"code":"interrupted","message":"The host ended while this call ran: its outcome is unknown. Look at what it did before you repeat it.","executed":"unknown","retryable":false}}
    k2 write: {"ok":false,"error":{"code":"interrupted","message":"The host ended before this call began: it was not run.","executed":false,"retryable":true}}
    user: go
    "#);
    insta::assert_snapshot!(outcome.journal, @r#"
    4 prompt: before
    4 answer:  [k1 k2]
    4 k1 starts write {}
    5 prompt: go
    instructions of default: Be brief. [read list write]
    5 answer: Hello again. []
    5 ended Answered
    "#);
    assert_eq!(outcome.ran, Vec::<String>::new());
}

#[test]
fn the_engine_may_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    fn check(engine: foehn_engine::Engine) {
        let (_, ops) = tokio::sync::mpsc::unbounded_channel();
        let (events, _) = tokio::sync::mpsc::unbounded_channel();
        is_send(&engine.run(ops, events));
    }
    let _ = check;
}
