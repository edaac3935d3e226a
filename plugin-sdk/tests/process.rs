//! Programs that hang, flood, ask, hide and stay behind.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a failure is reported by a panic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{Background, Command, Exit, Output as Ran};
use foehn_plugin_sdk::wire::{Reply, ReplyKind};
use foehn_plugin_testkit::{TempWorkspace, TestHost, json, run};

/// Runs one command line and hands out what came of it.
struct Runner<F>(F);

impl<F: Fn(&Cx<'_>) -> Result<String> + Send + Sync + 'static> Tool for Runner<F> {
    const NAME: &'static str = "runner";
    const DESCRIPTION: &'static str = "Runs.";
    type Args = NoArgs;
    type Out = String;
    type Config = ();

    fn run(&self, _: NoArgs, cx: &Cx<'_>) -> Result<String> {
        (self.0)(cx)
    }
}

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);

fn sh(script: &str) -> Command {
    Command::new("/bin/sh").args(["-c", script]).timeout(LONG)
}

/// Runs a command in a call and returns its output.
#[track_caller]
fn ran_on(host: &TestHost, workspace: &TempWorkspace, command: Command) -> Ran {
    let slot = std::sync::Arc::new(std::sync::Mutex::new(None));
    let inner = slot.clone();
    let tool = Runner(move |cx: &Cx<'_>| {
        cx.progress("started");
        *inner.lock().unwrap() = Some(command.run(cx)?);
        Ok(String::new())
    });
    let reply = run(tool, json!({})).workspace(workspace).run_on(host);
    assert_eq!(reply.message, "");
    let ran = slot.lock().unwrap().take();
    ran.unwrap()
}

#[track_caller]
fn ran(command: Command) -> Ran {
    ran_on(&TestHost::new(), &TempWorkspace::empty(), command)
}

#[track_caller]
fn check(script: &str, exit: Exit, text: &str) {
    let output = ran(sh(script));
    assert_eq!((output.exit, output.text().as_str()), (exit, text));
    assert_eq!((output.timed_out, output.cancelled, output.dropped_bytes), (false, false, 0));
}

fn is_alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn both_streams_come_in_the_order_of_arrival() {
    check("echo one; echo two >&2; echo three", Exit::Code(0), "one\ntwo\nthree\n");
    check("exit 7", Exit::Code(7), "");
    check("kill -9 $$", Exit::Signal(9), "");
}

#[test]
fn input_is_empty_and_there_is_no_terminal() {
    check("read x; echo \"got:$x\"; cat", Exit::Code(0), "got:\n");
    check("if (exec </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi", Exit::Code(0), "none\n");
}

#[test]
fn the_environment_is_clean() {
    let output = ran(sh("env").env("EXTRA", "1").env("PAGER", "less"));
    let text = output.text();
    let seen: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let fixed = ["TERM", "NO_COLOR", "GIT_TERMINAL_PROMPT", "GIT_PAGER", "EXTRA", "PAGER"];
    assert_eq!(fixed.map(|name| seen.get(name).copied()), ["dumb", "1", "0", "cat", "1", "less"].map(Some));
}

#[test]
fn a_program_starts_in_the_workspace_or_where_it_is_told() {
    let workspace = TempWorkspace::new([("sub/a.txt", "")]);
    let root = workspace.path().canonicalize().unwrap();
    let host = TestHost::new();
    let pwd = |command: Command| ran_on(&host, &workspace, command).text();
    let line = |path: &Path| format!("{}\n", path.display());
    assert_eq!(pwd(Command::new("pwd")), line(&root));
    assert_eq!(pwd(Command::new("pwd").current_dir("/")), "/\n");
    let opened = Workspace::open(&root).unwrap();
    let sub = Command::new("pwd").in_workspace(&opened, &opened.resolve("sub").unwrap()).unwrap();
    assert_eq!(pwd(sub), line(&root.join("sub")));
}

#[test]
fn what_cannot_be_started_is_told_and_nothing_ran() {
    #[track_caller]
    fn check(command: Command, message: &str) {
        let tool = Runner(move |cx: &Cx<'_>| Ok(command.run(cx)?.text()));
        let expected = Reply { executed: Some(false), ..Reply::error(ReplyKind::Failed, message) };
        assert_eq!(run(tool, json!({})).run(), expected);
    }
    check(Command::new("no-such-program"), "program `no-such-program` was not found");
    let workspace = TempWorkspace::new([("plain.txt", "")]);
    let plain = workspace.join("plain.txt");
    let message = format!("program `{}` may not be run here: permission denied", plain.display());
    check(Command::new(&plain), &message);
    check(
        Command::new("pwd").current_dir("/no/such/folder"),
        "the folder to run in, `/no/such/folder`, does not exist or is no folder",
    );
}

/// With a whole path and in our own folder nothing has to be done between the copy of this process and the program.
#[test]
fn however_a_program_is_started_it_finds_the_same() {
    // Of the signals, the 32 that are not the C library's own.
    let script = "read stat < /proc/self/stat; set -- $stat; [ $6 = $$ ] && [ $5 = $$ ] && echo leads a session; \
                  grep -E '^Sig(Blk|Ign)' /proc/self/status | sed -E 's/[0-9a-f]{8}([0-9a-f]{8})$/\\1/'; ls /proc/self/fd; readlink /proc/self/fd/0; pwd -P; \
                  env | grep -v '^FOEHN_RUN=' | sort; yes | head -n 1; kill -PIPE $$";
    let here = std::env::current_dir().unwrap();
    let started = |program: &str| {
        let command = Command::new(program).args(["-c", script]).env("ADDED", "1").current_dir(&here);
        let output = ran(command);
        (output.exit, output.text())
    };
    let (quick, other) = (started("/bin/sh"), started("sh"));
    assert_eq!(quick, other);
    let (exit, text) = quick;
    assert_eq!(exit, Exit::Signal(13), "{text}");
    assert!(text.starts_with("leads a session\n") && text.contains("\n/dev/null\n"), "{text}");
    let plain = TempWorkspace::new([("plain", "echo from a script\n")]);
    fs::set_permissions(plain.join("plain"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = ran(Command::new(plain.join("plain")).current_dir(&here));
    assert_eq!(output.text(), "from a script\n", "a script that does not say what runs it");
}

#[test]
fn time_up_ends_everything_also_what_hides_in_its_own_session() {
    let workspace = TempWorkspace::empty();
    let script = "echo before; (setsid sh -c 'echo $$ > hidden; exec sleep 400' &) ; \
                  (trap '' TERM; sh -c 'echo $$ > deaf; exec sleep 401') & sleep 402 | cat";
    let output = ran_on(&TestHost::new(), &workspace, sh(script).timeout(SHORT));
    assert_eq!((output.timed_out, output.text().as_str()), (true, "before\n"));
    assert_eq!(output.left_running, []);
    let alive = ["hidden", "deaf"].map(|name| is_alive(&workspace.read(name)));
    assert_eq!(alive, [false, false]);
}

/// A program that starts itself anew and ends, in a session of its own each time: who looks at it in between sees nobody.
#[test]
fn what_hands_itself_on_from_process_to_process_does_not_get_away() {
    let workspace =
        TempWorkspace::new([("hop-of-this-test", "[ -e over ] || setsid sh ./hop-of-this-test &\n")]);
    let hops = || {
        let folders = fs::read_dir("/proc").unwrap().flatten();
        let lines = folders.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.filter(|line| line.contains("hop-of-this-test")).count()
    };
    for round in 0..60 {
        let command = sh("sh ./hop-of-this-test; exit 3").background(Background::Kill);
        let output = ran_on(&TestHost::new(), &workspace, command);
        assert_eq!(output.exit, Exit::Code(3));
        let left: usize = (0..20).map(|_| hops()).sum();
        workspace.write("over", "");
        assert_eq!(left, 0, "round {round}: {:?}", output.left_running);
        fs::remove_file(workspace.join("over")).unwrap();
    }
}

/// As in a container whose first process was put there from outside: our own session has no number in it.
#[test]
fn a_session_that_began_outside_of_the_namespace() {
    let inside = |program: &str, arguments: &[&str]| {
        std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", program])
            .args(arguments)
            .output()
    };
    let Ok(session) = inside("sh", &["-c", "cut -d' ' -f6 /proc/$$/stat"]) else { return };
    if !session.status.success() {
        eprintln!("not tested: no namespace may be made here");
        return;
    }
    assert_eq!(String::from_utf8_lossy(&session.stdout), "0\n");
    let tests =
        ["a_hundred_runs_leave_nothing_behind", "time_up_ends_everything_also_what_hides_in_its_own_session"];
    for test in tests {
        let own = std::env::current_exe().unwrap();
        let output = inside(own.to_str().unwrap(), &["--exact", test, "--nocapture"]).unwrap();
        assert!(output.status.success(), "{test}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Doubles seven times and no more, each of them short-lived: were the bound under test not there, the machine would not
/// notice either.
const CROWD: &str = "f() { [ $1 -gt 0 ] || exec sleep 20; f $(($1 - 1)) & f $(($1 - 1)) & wait; }; f 7";
const FEW: usize = 40;

#[test]
fn a_program_that_starts_others_without_end_is_ended() {
    let output = ran(sh(CROWD).most_processes(FEW));
    assert!(output.crowded && !output.success(), "{output:?}");
    assert_eq!(output.left_running, []);
}

#[test]
fn what_is_left_in_the_background_may_not_become_a_crowd_either() {
    let workspace = TempWorkspace::empty();
    let output =
        ran_on(&TestHost::new(), &workspace, sh(&format!("echo begun; ({CROWD}) &")).most_processes(FEW));
    assert_eq!((output.exit, output.crowded), (Exit::Code(0), false));
    // Each holds the workspace as its folder.
    let folder = workspace.path().canonicalize().unwrap();
    let is_one_of_them =
        |entry: &fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
    while fs::read_dir("/proc").unwrap().flatten().any(|entry| is_one_of_them(&entry)) {
        std::thread::yield_now();
    }
}

#[test]
fn cancelling_ends_everything() {
    let workspace = TempWorkspace::empty();
    let host = TestHost::new().cancel_at_progress("started");
    let output = ran_on(&host, &workspace, sh("echo $$ > pid; exec sleep 400"));
    assert_eq!((output.cancelled, output.success()), (true, false));
    assert_eq!(output.exit, Exit::Signal(15));
}

#[test]
fn a_child_in_the_background_does_not_hold_the_call() {
    let workspace = TempWorkspace::empty();
    let script = "sleep 600 & echo $! > pid; echo done";
    let output = ran_on(&TestHost::new(), &workspace, sh(script));
    let pid = workspace.read("pid");
    assert_eq!((output.exit, output.text().as_str()), (Exit::Code(0), "done\n"));
    let left: Vec<i32> = output.left_running.iter().map(|left| left.pid).collect();
    assert_eq!(left, [pid.trim().parse::<i32>().unwrap()]);
    assert!(is_alive(&pid));
    ran(sh(&format!("kill {pid}")));
}

#[test]
fn what_is_left_in_the_background_can_be_killed() {
    let workspace = TempWorkspace::empty();
    let script = "setsid sleep 600 & echo $! > pid; yes & echo done";
    let output = ran_on(&TestHost::new(), &workspace, sh(script).background(Background::Kill));
    assert_eq!(output.exit, Exit::Code(0));
    assert!(!output.left_running.is_empty());
    assert!(!is_alive(&workspace.read("pid")));
}

/// Set for this very test when it runs again in a process of its own, where nobody else opens or starts anything.
const ALONE: &str = "FOEHN_TEST_ALONE";

#[test]
fn a_hundred_runs_leave_nothing_behind() {
    let temporary = TempWorkspace::empty();
    if std::env::var_os(ALONE).is_none() {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_hundred_runs_leave_nothing_behind", "--nocapture"])
            .envs([(ALONE, Path::new("1")), ("TMPDIR", temporary.path())])
            .status();
        assert!(status.unwrap().success());
        assert_eq!(temporary.list_all(), Vec::<String>::new());
        return;
    }
    let workspace = TempWorkspace::empty();
    let host = TestHost::new();
    let runs = [
        "true",
        "echo text; exit 3",
        "kill -9 $$",
        "seq 100000",
        "cat | cat",
        "(setsid true &); true",
        "yes",
        "sleep 400 & sleep 401",
    ];
    let hundred = || {
        for number in 0..100 {
            let command = sh(runs[number % runs.len()]).timeout(Duration::from_millis(50));
            ran_on(&host, &workspace, command.output_limit(100).background(Background::Kill));
        }
    };
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    // Whatever is opened once and for all is there after the first ones.
    hundred();
    let before = (descriptors(), threads());
    hundred();
    assert_eq!((descriptors(), threads()), before);
    assert_eq!(children(), Vec::<String>::new());
    assert_eq!(workspace.list_all(), Vec::<String>::new());
}

/// The children of this process, also those that have ended and wait to be noticed.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let is_child = |stat: &String| {
        stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)) == Some(own.as_str())
    };
    stats.filter(is_child).collect()
}

#[test]
fn memory_stays_bounded_whatever_is_printed() {
    let output = ran(sh("yes").timeout(SHORT).output_limit(1000));
    assert!(output.timed_out && output.dropped_bytes > 1000);
    assert_eq!((output.head.as_str(), output.tail.len()), ("y\n".repeat(250).as_str(), 500));
    let output = ran(sh("head -c 3000000 /dev/zero | tr '\\0' x").output_limit(10));
    assert_eq!(output.text(), "xxxxx\n[... 2999990 bytes left out ...]\nxxxxx");
}

#[test]
fn characters_are_never_cut() {
    let script = "printf 'a%.0s' $(seq 999); printf 'é%.0s' $(seq 50); printf '\\n\\304\\343' >&2";
    let output = ran(sh(script).output_limit(1000));
    assert_eq!(output.head, "a".repeat(500));
    assert!(output.tail.ends_with("é\n\u{fffd}\u{fffd}"), "{}", output.tail);
}
