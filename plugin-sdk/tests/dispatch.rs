//! Every op through the ABI's own objects: what goes in as JSON, and the reply that comes out.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is reported by a panic"
)]

use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::serde_json::{Value, json};
use foehn_plugin_sdk::tracing;
use foehn_plugin_sdk::wire::upcall::{Completion, Question};
use foehn_plugin_sdk::wire::{ContextSpec, JobSpec, LogLevel, OpenConfig, Reply, ReplyKind, op};
use foehn_plugin_sdk::{Plugin, State};
use foehn_plugin_testkit::{TestHost, call, run};

/// Does whatever its arguments say.
struct Probe;

#[args]
#[serde(tag = "do", rename_all = "snake_case")]
enum ProbeArgs {
    Say { text: String },
    Everything,
    Fail,
    FailBecause,
    Refuse,
    Panic { text: String },
    PanicWithValue,
    Sleep,
    CheckAfterProgress,
    Ask,
    Complete,
    Log,
    Remember,
    Who,
}

#[config]
#[derive(Clone, PartialEq)]
struct ProbeConfig {
    greeting: String,
    limits: Limits,
}

#[config]
#[derive(Clone, Default, PartialEq)]
struct Limits {
    rows: u32,
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self { greeting: "hello".to_owned(), limits: Limits { rows: 10 } }
    }
}

impl Tool for Probe {
    const NAME: &'static str = "probe";
    const DESCRIPTION: &'static str = "Does whatever its arguments say.";
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files().programs();
    const ALIASES: &'static [&'static str] = &["sonde"];
    const CLASSIFIES: bool = true;
    type Args = ProbeArgs;
    type Out = Output;
    type Config = ProbeConfig;

    fn run(&self, args: ProbeArgs, cx: &Cx<'_, ProbeConfig>) -> Result<Output> {
        Ok(match args {
            ProbeArgs::Say { text } => Output::text(format!("{} {text}", cx.config().greeting)),
            ProbeArgs::Everything => Output::text("text")
                .part(Part::Json { value: json!({"rows": cx.config().limits.rows}) })
                .part(Part::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() })
                .part(Part::File { path: "a/b.txt".into() })
                .note("one note"),
            ProbeArgs::Fail => bail!("no luck with {}", 7),
            ProbeArgs::FailBecause => Output::text("x".parse::<u8>().context("a number")?.to_string()),
            ProbeArgs::Refuse => return Err(Error::refused("never")),
            ProbeArgs::Panic { text } => panic!("{text}"),
            ProbeArgs::PanicWithValue => std::panic::panic_any(42),
            ProbeArgs::Sleep => {
                cx.sleep(Duration::from_secs(3600))?;
                Output::text("woke up")
            }
            ProbeArgs::CheckAfterProgress => {
                cx.progress("half way");
                cx.check()?;
                Output::text("went on")
            }
            ProbeArgs::Ask => {
                let question = Question { text: "sure?".to_owned(), choices: vec!["yes".to_owned()] };
                Output::text(cx.ask_user(&question)?.text)
            }
            ProbeArgs::Complete => {
                let request = Completion { prompt: vec![Part::text("2+2?")], ..Completion::default() };
                Output::text(cx.complete(&request)?.text)
            }
            ProbeArgs::Log => {
                let _span = tracing::info_span!("inner").entered();
                tracing::info!(rows = 3, name = "x", "counted");
                tracing::debug!("details");
                Output::default()
            }
            ProbeArgs::Remember => remember(cx.state())?,
            ProbeArgs::Who => Output::text(format!(
                "{:?} {} {} {} {} {:?}",
                cx.caller().map(|caller| (&*caller.id, &*caller.kind)),
                cx.agent(),
                cx.session(),
                cx.call_id(),
                cx.key(),
                cx.risk_profile(),
            )),
        })
    }

    fn operations() -> Vec<OperationSpec> {
        vec![
            OperationSpec::new("say", "Says."),
            OperationSpec::new("break", "Breaks.").risk(Risk::Destructive),
        ]
    }

    fn classify(&self, args: &ProbeArgs, _: &Cx<'_, ProbeConfig>) -> Result<Classification> {
        Ok(match args {
            ProbeArgs::Say { text } => Classification {
                facts: Facts { paths: vec![text.into()], ..Facts::default() },
                preview: Some(Preview::Text { text: text.clone() }),
                ..Classification::operation("say")
            },
            ProbeArgs::Refuse => Classification::refused("never"),
            ProbeArgs::Panic { text } => panic!("{text}"),
            _ => Classification::operation("break"),
        })
    }
}

fn remember(state: State<'_>) -> Result<Output> {
    let before: Option<u32> = state.get("count")?;
    state.put("count", &1)?;
    let first = state.cas("count", Some(&1), Some(&2))?;
    let second = state.cas("count", Some(&1), Some(&3))?;
    let fresh = state.cas("cursor", None, Some(&"a"))?;
    let keys = state.list("c")?;
    state.delete("cursor")?;
    let after: Option<u32> = state.get("count")?;
    Ok(Output::text(format!("{before:?} {first} {second} {fresh} {keys:?} {after:?}")))
}

/// Keeps every default of the trait.
struct Plain;

impl Tool for Plain {
    const NAME: &'static str = "plain";
    const DESCRIPTION: &'static str = "Nothing special.";
    const REQUIRES_CALLER: bool = true;
    const POLLING: bool = true;
    const LINT_EXCEPTIONS: &'static [LintException] = &[LintException::new("short", "It is plain.").at("/a")];
    type Args = NoArgs;
    type Out = ();
    type Config = ();

    fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<()> {
        Ok(())
    }
}

struct Sweep;

impl Job for Sweep {
    const NAME: &'static str = "sweep";
    const DESCRIPTION: &'static str = "Sweeps.";
    const EVERY_SECONDS: Option<u64> = Some(60);
    type Args = NoArgs;
    type Out = Json<Vec<u8>>;

    fn run(&self, _: NoArgs, cx: &Cx<'_>) -> Result<Json<Vec<u8>>> {
        cx.check()?;
        Ok(Json(vec![1, 2]))
    }
}

struct Today;

impl Context for Today {
    const NAME: &'static str = "today";
    const KIND: ContextKind = ContextKind::Clock;
    const TEXT: Option<&'static str> = Some("Today is {date}.");
}

struct Branch;

impl Context for Branch {
    const NAME: &'static str = "branch";

    fn text(&self, cx: &Cx<'_>) -> Result<String> {
        Ok(format!("{} is on main", cx.agent()))
    }
}

fn plugin() -> Plugin {
    Plugin::new("foehn-plugin-probe", "1.2.3", "For tests.")
        .tool(Probe)
        .tool(Plain)
        .job(Sweep)
        .context(Today)
        .context(Branch)
        .instructions("Use it well.")
        .constraint("Never twice.")
}

fn ok(parts: &[Part]) -> Reply {
    Reply::ok(parts.to_vec())
}

fn error(kind: ReplyKind, message: &str, executed: Option<bool>) -> Reply {
    Reply { executed, ..Reply::error(kind, message) }
}

#[track_caller]
fn check(arguments: Value, expected: Reply) {
    assert_eq!(run(Probe, arguments).run(), expected);
}

#[test]
fn execute_answers_with_parts_and_notes() {
    check(json!({"do": "say", "text": "you"}), ok(&[Part::text("hello you")]));
    let everything = Reply {
        notes: vec!["one note".to_owned()],
        ..ok(&[
            Part::text("text"),
            Part::Json { value: json!({"rows": 10}) },
            Part::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() },
            Part::File { path: "a/b.txt".into() },
        ])
    };
    check(json!({"do": "everything"}), everything);
}

#[test]
fn errors_keep_their_kind_and_their_text() {
    check(json!({"do": "fail"}), error(ReplyKind::Failed, "no luck with 7", None));
    check(
        json!({"do": "fail_because"}),
        error(ReplyKind::Failed, "a number: invalid digit found in string", None),
    );
    check(json!({"do": "refuse"}), error(ReplyKind::Refused, "never", Some(false)));
}

#[test]
fn a_panic_is_a_reply() {
    check(json!({"do": "panic", "text": "ouch"}), error(ReplyKind::Panicked, "panicked: ouch", None));
    check(json!({"do": "panic_with_value"}), error(ReplyKind::Panicked, "panicked without a message", None));
    let host = TestHost::new();
    let reply = run(Probe, json!({"do": "panic", "text": "in classify"})).op(op::CLASSIFY, &host);
    assert_eq!(reply, error(ReplyKind::Panicked, "panicked: in classify", None));
    let levels: Vec<LogLevel> = host.logs().into_iter().map(|line| line.level).collect();
    assert_eq!(levels, [LogLevel::Error]);
}

#[test]
fn arguments_that_do_not_fit_are_told_with_their_place() {
    #[track_caller]
    fn check(text: &str, message: &str) {
        let reply = run(Probe, json!({})).raw_arguments(text).run();
        assert_eq!(reply, error(ReplyKind::InvalidArguments, message, Some(false)));
    }
    check("", "missing field `do` at line 1 column 2");
    check("{", "EOF while parsing an object at line 1 column 1");
    check(r#"{"do":"say","text":1}"#, "invalid type: integer `1`, expected a string");
    check(r#"{"do":"say","text":"a","text":"b"}"#, "duplicate field `text`");
    check(r#"{"do":"say","text":"a","loud":true}"#, "unknown field `loud`, expected `text`");
    check(r#"{"do":"fail"} {}"#, "trailing characters at line 1 column 15");
}

#[test]
fn configuration_is_read_when_the_plugin_opens() {
    let say = || run(Probe, json!({"do": "say", "text": "you"}));
    let greeting = say().config(json!({"greeting": "good day"})).run();
    assert_eq!(greeting, ok(&[Part::text("good day you")]));
    let nested = run(Probe, json!({"do": "everything"})).config(json!({"limits": {"rows": 3}})).run();
    assert_eq!(nested.parts[1], Part::Json { value: json!({"rows": 3}) });
    assert_eq!(say().config(json!({})).open_error(), None);
}

#[test]
fn configuration_that_does_not_fit_names_tool_and_key() {
    #[track_caller]
    fn check(section: Value, message: &str) {
        assert_eq!(run(Probe, json!({})).config(section).open_error().as_deref(), Some(message));
    }
    check(
        json!({"limits": {"rows": "many"}}),
        "configuration of tool `probe`: `limits.rows`: invalid type: string \"many\", expected u32",
    );
    check(
        json!({"gretting": "x"}),
        "configuration of tool `probe`: `gretting`: unknown field `gretting`, expected `greeting` or `limits`",
    );
    assert_eq!(
        run(Plain, json!({})).config(json!({"a": 1})).open_error().as_deref(),
        Some("tool `plain` takes no configuration; remove its section")
    );
    let mut config = OpenConfig::default();
    config.tools.insert("other".to_owned(), json!({}));
    assert_eq!(
        plugin().open(config).err().unwrap().message(),
        "plugin `probe` has no tool `other` to configure"
    );
}

#[test]
fn cancelling_and_deadlines_end_a_call() {
    let cancelled = || error(ReplyKind::Cancelled, "the call was cancelled", None);
    let host = TestHost::new().cancel_at_progress("half way");
    assert_eq!(run(Probe, json!({"do": "check_after_progress"})).run_on(&host), cancelled());
    assert_eq!(host.progress(), ["half way"]);

    let host = TestHost::new();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| run(Probe, json!({"do": "sleep"})).run_on(&host));
        host.cancel();
        assert_eq!(call.join().unwrap(), cancelled());
    });

    let late = run(Probe, json!({"do": "sleep"})).time_limit(Duration::from_millis(1)).run();
    assert_eq!(late, error(ReplyKind::TimedOut, "the time of the call is up", None));
}

#[test]
fn the_host_is_asked_by_upcalls() {
    let host = TestHost::new().answer("yes").completion("4");
    assert_eq!(run(Probe, json!({"do": "ask"})).run_on(&host), ok(&[Part::text("yes")]));
    assert_eq!(run(Probe, json!({"do": "complete"})).run_on(&host), ok(&[Part::text("4")]));
    assert_eq!(host.questions().len(), 1);
    assert_eq!(host.completion_requests()[0].prompt, [Part::text("2+2?")]);
    let nobody = "the host cannot do `ask_user`: there is nobody to ask";
    check(json!({"do": "ask"}), error(ReplyKind::Unsupported, nobody, None));

    let host = TestHost::new().stored("count", json!(9));
    let reply = run(Probe, json!({"do": "remember"})).run_on(&host);
    assert_eq!(reply.text(), r#"Some(9) true false true ["count", "cursor"] Some(2)"#);
    assert_eq!(host.state().into_iter().collect::<Vec<_>>(), [("count".to_owned(), json!(2))]);
}

#[test]
fn events_become_log_lines_of_the_level_that_is_wanted() {
    #[track_caller]
    fn check(level: LogLevel, expected: &[(LogLevel, &str, Value)]) {
        let host = TestHost::new();
        run(Probe, json!({"do": "log"})).head(|head| head.log_level = level).run_on(&host);
        let lines: Vec<_> = host
            .logs()
            .into_iter()
            .map(|line| (line.level, line.message, Value::from(line.fields)))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(level, text, fields)| (*level, (*text).to_owned(), fields.clone()))
            .collect();
        assert_eq!(lines, expected);
    }
    let info = (LogLevel::Info, "counted", json!({"rows": 3, "name": "x"}));
    check(LogLevel::Warn, &[]);
    check(LogLevel::Info, std::slice::from_ref(&info));
    check(LogLevel::Debug, &[info, (LogLevel::Debug, "details", json!({}))]);
}

#[test]
fn the_head_of_a_call_reaches_the_tool() {
    let who = || run(Probe, json!({"do": "who"}));
    assert_eq!(who().run().text(), "None default session-1 call-1 key-1 None");
    let known = who().caller("ada", "user").head(|head| head.risk_profile = Some(Risk::Write)).run();
    assert_eq!(known.text(), r#"Some(("ada", "user")) default session-1 call-1 key-1 Some(Write)"#);
}

#[test]
fn classify_says_what_a_call_would_do() {
    let classify = |arguments: Value| run(Probe, arguments).classify();
    assert_eq!(
        classify(json!({"do": "say", "text": "a.txt"})),
        Classification {
            operations: vec![Operation { name: "say".to_owned(), ..Operation::default() }],
            facts: Facts { paths: vec!["a.txt".into()], ..Facts::default() },
            refusal: None,
            preview: Some(Preview::Text { text: "a.txt".to_owned() }),
        }
    );
    assert_eq!(classify(json!({"do": "refuse"})).refusal.as_deref(), Some("never"));
    assert_eq!(run(Plain, json!({})).caller("ada", "user").classify(), Classification::operation("plain"));
}

#[test]
fn what_is_not_there_is_told() {
    #[track_caller]
    fn check(name: &str, op: &str, expected: Reply) {
        assert_eq!(call(plugin(), name, json!({})).op(op, &TestHost::new()), expected);
    }
    let unsupported = |message: &str| error(ReplyKind::Unsupported, message, Some(false));
    check("none", op::EXECUTE, unsupported("plugin `probe` has no tool `none`"));
    check("none", op::JOB, unsupported("plugin `probe` has no job `none`"));
    check("none", op::CONTEXT, unsupported("plugin `probe` has no context `none`"));
    check("plain", "dance", unsupported("plugin `probe` does not know the op `dance`"));
    check(
        "plain",
        op::EXECUTE,
        error(ReplyKind::Unauthorized, "`plain` runs only for a known caller", Some(false)),
    );
    let undo = call(plugin(), "plain", json!({})).caller("ada", "user").op(op::UNDO, &TestHost::new());
    assert_eq!(undo, error(ReplyKind::Unsupported, "`plain` cannot take a call back", None));
}

#[test]
fn aliases_jobs_and_contexts_are_served() {
    let host = TestHost::new();
    let say = json!({"do": "say", "text": "you"});
    assert_eq!(call(plugin(), "sonde", say).run(), ok(&[Part::text("hello you")]));
    assert_eq!(
        call(plugin(), "sweep", json!({})).op(op::JOB, &host),
        ok(&[Part::Json { value: json!([1, 2]) }])
    );
    assert_eq!(
        call(plugin(), "branch", json!({})).op(op::CONTEXT, &host),
        ok(&[Part::text("default is on main")])
    );
    assert_eq!(
        call(plugin(), "today", json!({})).op(op::CONTEXT, &host),
        ok(&[Part::text("Today is {date}.")])
    );
}

#[test]
fn the_manifest_tells_everything() {
    let manifest = plugin().manifest();
    assert_eq!((manifest.plugin.as_str(), manifest.version.as_str()), ("probe", "1.2.3"));
    assert_eq!((manifest.abi, manifest.unwind, manifest.error.as_deref()), (1, true, None));
    assert_eq!(
        (manifest.instructions.as_str(), manifest.constraints.as_slice()),
        ("Use it well.", &["Never twice.".to_owned()][..])
    );
    let [probe, plain] = manifest.tools.as_slice() else { panic!("two tools") };
    assert_eq!(
        (probe.risk, probe.classifies, probe.aliases.as_slice()),
        (Risk::Write, true, &["sonde".to_owned()][..])
    );
    assert_eq!(
        probe.capabilities,
        Capabilities { files: FileAccess::Read, programs: true, ..Capabilities::NONE }
    );
    assert_eq!(
        (plain.risk.effective(), plain.requires_caller, plain.polling, probe.polling),
        (Risk::Destructive, true, true, false)
    );
    let meant = foehn_plugin_sdk::wire::LintException {
        rule: "short".into(),
        at: "/a".into(),
        reason: "It is plain.".into(),
    };
    assert_eq!((plain.lint_exceptions.as_slice(), probe.lint_exceptions.as_slice()), (&[meant][..], &[][..]));
    assert_eq!(plain.operations, [OperationSpec::new("plain", "Nothing special.")]);
    assert_eq!(plain.schema, json!({"type": "object", "additionalProperties": false}));
    assert_eq!(plain.config_schema, None);
    assert_eq!(
        manifest.jobs,
        [JobSpec {
            name: "sweep".to_owned(),
            description: "Sweeps.".to_owned(),
            schema: plain.schema.clone(),
            every_seconds: Some(60),
        }]
    );
    assert_eq!(
        manifest.contexts,
        [
            ContextSpec {
                name: "today".to_owned(),
                kind: ContextKind::Clock,
                text: Some("Today is {date}.".to_owned()),
            },
            ContextSpec { name: "branch".to_owned(), kind: ContextKind::Dynamic, text: None },
        ]
    );
}

#[test]
fn names_that_clash_are_an_error_of_the_plugin() {
    let twice = Plugin::new("foehn-plugin-probe", "1.2.3", "").tool(Plain).tool(Plain);
    let problem = "two tools of plugin `probe` are named `plain`";
    assert_eq!(twice.manifest().error.as_deref(), Some(problem));
    assert_eq!(twice.open(OpenConfig::default()).err().unwrap().message(), problem);
}
