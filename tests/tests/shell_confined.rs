//! What a command reaches, told from inside of it, by root and by an ordinary user; and that nobody walks round the rules
//! of one tool with another.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use foehn_tests::{Started, World, brief, built};
use serde_json::{Value, json};

const KEY: &str = "sk-made-up-123456";
const NOBODY: u32 = 65_534;

/// Hands a folder with all that is in it to the ordinary user.
fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    if path.is_dir() {
        fs::read_dir(path).expect("a folder").flatten().for_each(|entry| give_away(&entry.path()));
    }
}

/// The envelope of a command that is called by the ordinary user; `None` where nobody can become one.
fn called_by_an_ordinary_user(world: &World, arguments: &Value) -> Option<Value> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    // The built host may lie where only root comes.
    let host = world.path("foehn");
    fs::copy(built().foehn(), &host).expect("a copy");
    give_away(world.root());
    let mut command = Command::new("setpriv");
    let user = NOBODY.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"]).arg(host);
    command.args(["tools", "call", "--yes", "run_shell", &arguments.to_string()]).stdin(Stdio::null());
    Some(world.run_command(command).envelope())
}

/// Tries everything, and says what worked.
fn attempts(world: &World, port: u16) -> String {
    let outside = world.path("outside.txt").display().to_string();
    format!(
        "echo inside > inside.txt && echo wrote inside; \
         (echo x > {outside}) 2>/dev/null && echo wrote outside; \
         (echo x >> {outside}.old) 2>/dev/null && echo appended outside; \
         ln {outside}.old linked 2>/dev/null && echo linked outside && echo x > linked; \
         ln -s {outside}.old soft && (echo x > soft) 2>/dev/null && echo wrote through a link; \
         echo x > $TMPDIR/x && echo wrote a temporary file; \
         (echo x > /tmp/foehn-test-$$) 2>/dev/null && echo wrote to the shared folder; \
         bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null && echo connected; \
         for process in /proc/[0-9]*; do tr '\\0' '\\n' < $process/environ; done 2>/dev/null | grep -q {KEY} && echo read the key; \
         cat {outside}.old 2>/dev/null; \
         unshare --user true 2>/dev/null && echo became somebody else; \
         kill -0 {own} 2>/dev/null && echo reached the test; true",
        own = std::process::id()
    )
}

/// What of it worked: for who runs the tests, and for an ordinary user.
fn worked(settings: &str) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let world = || {
        let world = World::with_plugins(&["shell"]).user_config(settings);
        world.write("outside.txt.old", "secret outside\n");
        fs::set_permissions(world.root(), fs::Permissions::from_mode(0o755)).expect("its owner may");
        world.env("FOEHN_API_KEY", KEY).env("MISTRAL_API_KEY", KEY).env("UNKNOWN_TOKEN", KEY)
    };
    let mut told = Vec::new();
    let first = world();
    told.push(brief(&first.call("run_shell", &json!({"command": attempts(&first, port)}))));
    let second = world();
    let arguments = json!({"command": attempts(&second, port)});
    told.extend(called_by_an_ordinary_user(&second, &arguments).map(|envelope| brief(&envelope)));
    for world in [first, second] {
        assert_eq!(
            fs::read_to_string(world.path("outside.txt.old")).ok().as_deref(),
            Some("secret outside\n")
        );
        assert!(!world.path("outside.txt").exists());
    }
    told
}

#[test]
fn a_command_reaches_the_workspace_and_nothing_else() {
    let expected = r#"ok "exit code 0 after [TIME] s in `.`\nwrote inside\nwrote a temporary file\n""#;
    for told in worked("") {
        assert_eq!(told, expected);
    }
    let connected = expected.replace("wrote a temporary file\\n", "wrote a temporary file\\nconnected\\n");
    for told in worked("[agents.default.tools.run_shell]\nnetwork = \"on\"\n") {
        assert_eq!(told, connected);
    }
}

/// A server and its client in one command, as test runners have them. `perl` comes with `git`.
#[test]
fn a_command_without_a_network_speaks_to_itself() {
    let world = World::with_plugins(&["shell"]);
    let doctor = world.foehn(&["doctor"]);
    if !doctor.answer().contains("a network of its own with nothing but loopback") {
        eprintln!("not tested: this system gives no network of one's own\n{}", doctor.answer());
        return;
    }
    let script = "use IO::Socket::INET; my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or die; \
                  IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => $l->sockport) or die; print \"spoke\\n\"";
    let command = format!(
        "perl -e '{script}'; perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"192.0.2.1:80\") or print \"$!\\n\"'"
    );
    let envelope = world.call("run_shell", &json!({"command": command}));
    insta::assert_snapshot!(brief(&envelope), @r#"ok "exit code 0 after [TIME] s in `.`\nspoke\nNetwork is unreachable\n""#);
}

/// A link that leads out, and a model that wants what is behind it.
const ROUND: &str = r#"
[[turn]]
calls = [{ name = "read_file", arguments = { path = "leak" } }]
[[turn]]
calls = [{ name = "run_shell", arguments = { command = "cp $(readlink leak) ./copy && cat copy" } }]
[[turn]]
calls = [{ name = "run_shell", arguments = { command = "cat leak", sandbox = "off", network = "on" } }]
[[turn]]
text = "done"
"#;

fn with_a_leak() -> World {
    let world = World::new().script(ROUND);
    world.write("secret.txt", "behind the link\n");
    symlink("../secret.txt", world.work().join("leak")).expect("a link");
    world
}

#[test]
fn a_refused_read_opens_no_way_through_the_shell() {
    let world = with_a_leak();
    let run = world.foehn(&["run", "--json", "go"]).expect_code(4);
    insta::assert_snapshot!(run.envelopes().iter().map(brief).collect::<Vec<_>>().join("\n"), @"
    refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    declined executed=false retryable=false: Not run: it needs an approval (risk: execute asks) and nobody is there to give it. Do not try again; say what you would have done.
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have 2 problems.
      /network unknown_argument | expected: only `command`, `working_directory`, `timeout_seconds`, `separate_streams` | got: `network`
      /sandbox unknown_argument | expected: only `command`, `working_directory`, `timeout_seconds`, `separate_streams` | got: `sandbox`
    ");
    assert_eq!((world.read("copy"), run.stdout.contains("behind the link")), (None, false));

    // Approved, it still meets the same wall.
    let run = with_a_leak().foehn(&["run", "--json", "--yes", "go"]).expect_code(0);
    insta::assert_snapshot!(run.envelopes().iter().map(brief).collect::<Vec<_>>().join("\n"), @r#"
    refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    ok "exit code 1 after [TIME] s in `.`\ncp: cannot open '../secret.txt' for reading: Permission denied\n"
    invalid_arguments executed=false retryable=true: `run_shell` was not run: its arguments have 2 problems.
      /network unknown_argument | expected: only `command`, `working_directory`, `timeout_seconds`, `separate_streams` | got: `network`
      /sandbox unknown_argument | expected: only `command`, `working_directory`, `timeout_seconds`, `separate_streams` | got: `sandbox`
    "#);
    assert!(!run.stdout.contains("behind the link"));
}

/// Plays calls in a chat; each question gets the next answer. Gives the number of questions and the results.
#[track_caller]
fn asked(settings: &str, calls: &[(&str, Value)], answers: &[&str]) -> String {
    let turns: String = calls
        .iter()
        .map(|(tool, arguments)| {
            format!("[[turn]]\ncalls = [{{ name = \"{tool}\", arguments = '{arguments}' }}]\n")
        })
        .collect();
    let world = World::new()
        .file("a.txt", "text of a file\n")
        .script(&format!("{turns}[[turn]]\ntext = \"done\"\n"))
        .user_config(settings);
    let mut started: Started = world.start(&["chat"], Stdio::piped());
    started.type_line("go");
    for answer in answers {
        started.wait_for_talk("asked because");
        started.type_line(answer);
    }
    started.wait_for_talk("answered in");
    started.type_line("/exit");
    let talk = started.finish().expect_code(0).talk();
    let told = talk.lines().filter(|line| {
        ["? the model", "approved", "declined (", "ok, ", "declined:"].iter().any(|part| line.contains(part))
    });
    told.map(|line| line.split("  ").last().unwrap_or_default().trim()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_approval_of_one_tool_is_none_of_another() {
    // Reading asks as well here, and is approved for good.
    let settings = "[agents.default.tools.read_file]\nallow = []\n";
    let read = ("read_file", json!({"path": "a.txt"}));
    let shell = ("run_shell", json!({"command": "cat a.txt"}));
    insta::assert_snapshot!(asked(settings, &[read.clone(), shell.clone(), read.clone()], &["a", "n"]), @"
    > ? the model wants to run `read_file` (read-only, plugin file-rw): read_file `a.txt`
    approved from now on (user)
    ok, [TIME] ms
    ? the model wants to run `run_shell` (execute, plugin shell): cat a.txt
    declined (user)
    declined: Not run: the user said no. Do not repeat this call; ask what to do instead.
    ok, [TIME] ms
    ");
    insta::assert_snapshot!(asked(settings, &[shell.clone(), read, shell], &["a", "n"]), @"
    > ? the model wants to run `run_shell` (execute, plugin shell): cat a.txt
    approved from now on (user)
    ok, [TIME] ms
    ? the model wants to run `read_file` (read-only, plugin file-rw): read_file `a.txt`
    declined (user)
    declined: Not run: the user said no. Do not repeat this call; ask what to do instead.
    ok, [TIME] ms
    ");
}
