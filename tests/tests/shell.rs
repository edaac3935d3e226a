//! Commands with the real `run_shell`: none hangs, floods, or lives on.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use foehn_tests::{Run, World, brief, built};
use serde_json::{Value, json};

fn world() -> World {
    World::with_plugins(&["shell"]).file("sub/inner.txt", "inner\n")
}

/// The envelope of one command, with its partial output; afterwards nothing runs any more.
#[track_caller]
fn run(command: &str, timeout_seconds: u64) -> String {
    let world = world();
    let arguments = json!({"command": command, "timeout_seconds": timeout_seconds});
    let envelope = world.call("run_shell", &arguments);
    assert_eq!(world.left_running(), [""; 0], "{command}");
    // A child is still the shell until its program has begun.
    brief(&envelope).replace("sh (pid", "sleep (pid").replace("nohup (pid", "sleep (pid")
}

#[test]
fn output_and_exit_code_are_the_answer() {
    insta::assert_snapshot!(run("echo out; echo err >&2; exit 3", 60), @r#"ok "exit code 3 after [TIME] s in `.`\nout\nerr\n""#);
    insta::assert_snapshot!(run("true", 60), @r#"ok "exit code 0 after [TIME] s in `.`\n(no output)""#);
    insta::assert_snapshot!(run("kill -SEGV $$", 60), @"
    failed executed=true retryable=true: killed by signal 11 (SIGSEGV) after [TIME] s in `.`
    (no output)
    ");
    insta::assert_snapshot!(run("  ", 60), @"refused executed=false retryable=false: command is empty");
}

#[test]
fn at_the_time_limit_everything_ends() {
    insta::assert_snapshot!(run("echo begun; (sleep 400 | sleep 401) & sleep 402 | cat", 1), @"
    timeout executed=true retryable=false: stopped because its time was up after [TIME] s in `.`
    begun
    ");
    insta::assert_snapshot!(run("echo begun; trap '' TERM; sleep 403; sleep 404", 1), @"
    timeout executed=true retryable=false: stopped because its time was up after [TIME] s in `.`
    begun
    ");
    insta::assert_snapshot!(run("setsid sh -c 'trap \"\" TERM HUP; sleep 405' & sleep 406", 1), @"
    timeout executed=true retryable=false: stopped because its time was up after [TIME] s in `.`
    (no output)
    ");
}

#[test]
fn a_background_child_holds_nothing_up() {
    insta::assert_snapshot!(run("sleep 600 & echo done", 30), @r#"
    ok "exit code 0 after [TIME] s in `.`\ndone\n"
      note still running in the background: sleep (pid [PID])
    "#);
    insta::assert_snapshot!(run("nohup sleep 601 >/dev/null 2>&1 & echo up", 30), @r#"
    ok "exit code 0 after [TIME] s in `.`\nup\n"
      note still running in the background: sleep (pid [PID])
    "#);
}

#[test]
fn nothing_waits_for_input() {
    insta::assert_snapshot!(run("read x; echo got:$x", 30), @r#"ok "exit code 0 after [TIME] s in `.`\ngot:\n""#);
    insta::assert_snapshot!(run("cat", 30), @r#"ok "exit code 0 after [TIME] s in `.`\n(no output)""#);
    insta::assert_snapshot!(run("(exec < /dev/tty) 2>/dev/null || echo no terminal", 30), @r#"ok "exit code 0 after [TIME] s in `.`\nno terminal\n""#);
    // Whatever it says there about the end of its input.
    assert!(run("python3 -c 'input()'", 60).starts_with("ok "));
    insta::assert_snapshot!(run("sudo -n true 2>/dev/null; su -c true 2>/dev/null; echo on", 30), @r#"ok "exit code 0 after [TIME] s in `.`\non\n""#);
    insta::assert_snapshot!(run("env | grep -E 'PROMPT|ASKPASS' | sort", 30), @r#"ok "exit code 0 after [TIME] s in `.`\nGIT_TERMINAL_PROMPT=0\nSSH_ASKPASS_REQUIRE=never\n""#);
}

/// A server that wants a name and a password, and gets none.
#[test]
fn git_does_not_ask_for_a_password() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _ = (&stream).read(&mut request);
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n";
            let _ = (&stream).write_all(refusal.as_bytes());
        }
    });
    let world = world().user_config("[agents.default.tools.run_shell]\nnetwork = \"on\"\n");
    let command = format!("git clone http://127.0.0.1:{port}/x.git 2>&1 | tail -n 1");
    let envelope = world.call("run_shell", &json!({"command": command}));
    insta::assert_snapshot!(brief(&envelope), @r#"ok "exit code 0 after [TIME] s in `.`\nfatal: could not read Username for 'http://127.0.0.1:[PORT]': terminal prompts disabled\n""#);
}

/// Several commands of one session.
#[track_caller]
fn session(calls: &[Value]) -> Vec<String> {
    let turns: String = calls
        .iter()
        .map(|arguments| {
            format!("[[turn]]\ncalls = [{{ name = \"run_shell\", arguments = '{arguments}' }}]\n")
        })
        .collect();
    let world = world().script(&format!("{turns}[[turn]]\ntext = \"done\"\n"));
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    run.envelopes().iter().map(brief).collect()
}

#[test]
fn each_call_is_a_fresh_shell() {
    let shown = session(&[json!({"command": "cd sub && export A=1"}), json!({"command": "pwd; echo [$A]"})]);
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ok "exit code 0 after [TIME] s in `.`\n(no output)"
      note the next call starts again in its working_directory and without these variables
    ok "exit code 0 after [TIME] s in `.`\n[ROOT]/work\n[]\n"
    "#);
    let shown = session(&[json!({"command": "ls", "working_directory": "sub"})]);
    insta::assert_snapshot!(shown.join("\n"), @r#"ok "exit code 0 after [TIME] s in `sub`\ninner.txt\n""#);
}

#[test]
fn a_deleted_folder_spoils_nothing_but_itself() {
    let shown = session(&[
        json!({"command": "rm -rf ../sub", "working_directory": "sub"}),
        json!({"command": "pwd", "working_directory": "sub"}),
        json!({"command": "pwd"}),
    ]);
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ok "exit code 0 after [TIME] s in `sub`\n(no output)"
    refused executed=false retryable=false: working_directory: `sub` does not exist
    ok "exit code 0 after [TIME] s in `.`\n[ROOT]/work\n"
    "#);
}

/// Each process may have less memory than the command prints.
#[track_caller]
fn flooded(command: &str) -> Run {
    let world = world();
    let mut shell = std::process::Command::new("sh");
    let arguments = json!({"command": command, "timeout_seconds": 300}).to_string();
    shell
        .args(["-c", "ulimit -v 100000; exec \"$0\" tools call --yes run_shell \"$1\""])
        .arg(built().foehn())
        .arg(&arguments)
        .stdin(std::process::Stdio::null());
    world.run_command(shell)
}

#[test]
fn a_flood_is_kept_in_its_ends_and_counted() {
    let run =
        flooded("echo first; head -c 110000000 /dev/zero | tr '\\0' '#'; echo; echo last").expect_code(0);
    let envelope = run.envelope();
    let result = envelope["result"].as_str().expect("text");
    assert!(result.chars().count() < 60_000, "{}", result.len());
    let without_filling = result.replace('#', "");
    insta::assert_snapshot!(without_filling, @"
    exit code 0 after [TIME] s in `.`
    first

    [... 109970012 bytes left out; more of its beginning: `.foehn/output/shell-[ID].txt` ...]

    last
    ");
    assert!(!brief(&envelope).contains("\n  note "), "nothing more to say: {}", envelope["notes"]);
}

/// What the worker held at most is known to the command: it is its parent.
#[test]
fn a_flood_costs_little_memory() {
    let command = "yes | head -c 20000000; head -c 5000000 /dev/zero; grep VmHWM /proc/$PPID/status";
    let envelope = world().call("run_shell", &json!({"command": command}));
    let result = envelope["result"].as_str().expect("text");
    let (_, peak) = result.split_once("VmHWM:").expect("the last line");
    let kilobytes: u64 = peak.trim().trim_end_matches("kB").trim().parse().expect("a number");
    assert!((1..64 * 1024).contains(&kilobytes), "{kilobytes}");
}

/// Neither files, nor processes, nor the folders of the workers that ran them.
#[test]
fn a_hundred_calls_leave_nothing_behind() {
    let calls: Vec<String> = (0..100)
        .map(|number| json!({"command": format!("echo {number} > $TMPDIR/{number}")}))
        .map(|arguments| format!("{{ name = \"run_shell\", arguments = '{arguments}' }}"))
        .collect();
    let script = format!("[[turn]]\ncalls = [{}]\n[[turn]]\ntext = \"done\"\n", calls.join(", "));
    let world = world().script(&script);
    world.write("temporary/.keep", "");
    let temporary = world.path("temporary");
    let world = world.env("TMPDIR", &temporary.display().to_string());
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    assert_eq!(run.envelopes().iter().filter(|envelope| envelope["ok"] == true).count(), 100);
    assert_eq!(world.left_running(), [""; 0]);
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&temporary), [".keep"]);
    assert_eq!(names(&world.work()), ["sub"]);
    let kept = names(&world.path("state"));
    assert!(kept.len() < 10, "{kept:?}");
}

#[test]
fn an_endless_printer_ends_with_its_time() {
    let shown = run("yes", 1);
    assert!(shown.starts_with("timeout executed=true"), "{}", &shown[..200]);
    assert!(shown.len() < 60_000, "{}", shown.len());
}

/// Output that is longer than the limit of 1,000 characters.
#[track_caller]
fn cut(command: &str) -> String {
    let world = world().user_config("[agents.default.tools.run_shell]\noutput_characters = 1000\n");
    let envelope = world.call("run_shell", &json!({"command": command}));
    assert!(!envelope.to_string().contains('\u{fffd}'), "{envelope}");
    envelope["result"]
        .as_str()
        .expect("text")
        .replace("aaaaaaaaaa", "")
        .replace("éééééééééé", "")
        .replace("🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂", "")
}

#[test]
fn a_cut_never_goes_through_a_character() {
    let repeat = |text: &str, times: usize| format!("printf '{text}%.0s' $(seq {times})");
    insta::assert_snapshot!(cut(&format!("{}; {}", repeat("a", 999), repeat("é", 50))), @"
    exit code 0 after [TIME] s in `.`

    [... 49 bytes left out; all of it: `.foehn/output/shell-[ID].txt` ...]
    ");
    insta::assert_snapshot!(cut(&repeat("🙂", 1203)), @"
    exit code 0 after [TIME] s in `.`

    [... 812 bytes left out; all of it: `.foehn/output/shell-[ID].txt` ...]
    ");
    insta::assert_snapshot!(cut(&format!("({}) >&2", repeat("é", 1207))), @"
    exit code 0 after [TIME] s in `.`

    [... 414 bytes left out; all of it: `.foehn/output/shell-[ID].txt` ...]
    ");
}

#[test]
fn a_folder_outside_is_refused_before_anything_runs() {
    let world = world();
    let arguments = json!({"command": "touch x", "working_directory": ".."});
    insta::assert_snapshot!(brief(&world.call("run_shell", &arguments)), @"refused executed=false retryable=false: working_directory: `..` lies outside of the workspace");
    assert!(!world.path("x").exists());
}

#[test]
fn a_command_writes_inside_only() {
    let world = world();
    let outside = world.path("out.txt");
    let command = format!("echo x > inside.txt; echo x > {}", outside.display());
    let envelope = world.call("run_shell", &json!({"command": command}));
    insta::assert_snapshot!(brief(&envelope), @r#"ok "exit code 2 after [TIME] s in `.`\n/bin/sh: 1: cannot create [ROOT]/out.txt: Permission denied\n""#);
    assert_eq!((world.read("inside.txt").is_some(), outside.exists()), (true, false));
}

/// What becomes of a command when nobody can be asked: it ran, was declined, or is forbidden.
#[track_caller]
fn check_rules(rules: &str, commands: &[&str], expected: &str) {
    let world = world().user_config(&format!("[agents.default.tools.run_shell]\n{rules}\n"));
    for command in commands {
        let arguments = json!({"command": command}).to_string();
        let envelope = world.foehn(&["tools", "call", "run_shell", &arguments]).envelope();
        let verdict =
            if envelope["ok"] == true { "ran" } else { envelope["error"]["code"].as_str().unwrap_or("") };
        assert_eq!((*command, verdict), (*command, expected), "{envelope}");
    }
}

#[test]
fn every_part_of_a_command_must_be_allowed() {
    let allow = r#"allow = ["git status", "echo", "ls"]"#;
    check_rules(
        allow,
        &[
            "git status && id",
            "echo $(id)",
            "echo `id`",
            "echo ok > >(id)",
            "ls\nid",
            "ls & id",
            "echo x > ~/.profile",
            "git statusx",
            "(ls; id)",
            "ls \\\n; id",
            "eval ls",
            "echo x > out.txt",
        ],
        "declined",
    );
    check_rules(
        allow,
        &["ls", "ls -la && echo 'a && b'", "/bin/ls", "cd sub && ls", "(ls; echo x) | echo"],
        "ran",
    );
}

#[test]
fn a_denied_command_is_denied_in_every_spelling() {
    let rules = "allow = [\"*\"]\ndeny = [\"git push\"]";
    check_rules(
        rules,
        &[
            "git -C . push",
            "GIT_DIR=x git push",
            "env git push",
            "cd . && git push",
            "xargs git push",
            "'git' push",
            "/usr/bin/git push",
            "GIT push",
        ],
        "forbidden",
    );
    // Not understood: asked, although everything is allowed.
    check_rules(
        rules,
        &["git -c core.pager=id log", "git grep -Oid x", "find . -exec id \\;", "$x", "echo 'open"],
        "declined",
    );
    check_rules("allow = [\"*\", \"unknown\"]", &["x=echo; $x hi"], "ran");
    check_rules("read_only_unasked = true", &["ls sub | wc -l", "cd sub && ls"], "ran");
    check_rules("read_only_unasked = true", &["ls; touch x", "cat /etc/passwd", "ls > x"], "declined");
}

#[test]
fn a_started_process_outlives_its_call_and_no_host() {
    let call = |tool: &str, arguments: Value| {
        format!("[[turn]]\ncalls = [{{ name = \"{tool}\", arguments = '{arguments}' }}]\n")
    };
    let script = [
        call("start_process", json!({"command": "echo up; while read x; do echo got:$x; done"})),
        call("run_shell", json!({"command": "echo between"})),
        call("write_process_input", json!({"id": 1, "text": "hello\n"})),
        call("read_process_output", json!({"id": 1, "since": 3})),
        call("start_process", json!({"command": "(setsid sleep 607 &); exec sleep 608"})),
        call("stop_process", json!({"id": 1})),
        call("list_processes", json!({})),
        "[[turn]]\ntext = \"done\"\n".to_owned(),
    ];
    // Workers that have nothing to do end at once, but for this one.
    let tools =
        ["start_process", "list_processes", "read_process_output", "write_process_input", "stop_process"];
    let sections: String = tools.map(|tool| format!("[agents.default.tools.{tool}]\n")).concat();
    let world =
        world().user_config(&format!("[plugins]\nidle_seconds = 0\n{sections}")).script(&script.concat());
    let run = world.foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    let shown: Vec<String> = run.envelopes().iter().map(brief).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ok "process [PID] runs since [TIME] s; output 0..3 of 3 characters\nup\n"
      note without a network its ports are reached by its own programs only, not from other calls: try out a server within one command
    ok "exit code 0 after [TIME] s in `.`\nbetween\n"
    ok "process [PID] runs since [TIME] s; output 3..13 of 13 characters\ngot:hello\n"
    ok "process [PID] runs since [TIME] s; output 3..13 of 13 characters\ngot:hello\n"
    ok "process [PID] runs since [TIME] s; output 0..0 of 0 characters\n(no new output)"
      note without a network its ports are reached by its own programs only, not from other calls: try out a server within one command
    ok "process [PID] ended: killed by signal 15 (SIGTERM); output 13..13 of 13 characters\n(no new output)"
    ok "1 ended: killed by signal 15 (SIGTERM): echo up; while read x; do echo got:$x; done\n2 runs since [TIME] s: (setsid sleep 607 &); exec sleep 608"
    "#);
    assert_eq!(world.left_running(), [""; 0]);
}
