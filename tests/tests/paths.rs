//! The border of the workspace, with the real tools: what lies outside is neither read nor changed, whatever a path or a
//! link says, and what stays inside works.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use foehn_tests::{World, brief};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

const SECRET: &str = "outside secret\n";

/// `out` and `work-evil` lie beside the workspace.
fn world() -> World {
    let world =
        World::with_plugins(&["scan", "file_rw"]).file("a.txt", "inside\n").file("deep/x/y.txt", "deep\n");
    world.write("out/secret.txt", SECRET);
    world.write("work-evil/x.txt", SECRET);
    link(&world, "leak", &world.path("out/secret.txt"));
    link(&world, "leaks", &world.path("out"));
    link(&world, "new.txt", &world.path("out/planted.txt"));
    link(&world, "nodir", &world.path("out/nodir"));
    link(&world, "inner", Path::new("deep"));
    link(&world, "absolute", &world.work().join("deep"));
    world
}

fn link(world: &World, name: &str, target: &Path) {
    symlink(target, world.work().join(name)).expect("a link");
}

/// What lies outside, by name and content.
fn outside(world: &World) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["out", "work-evil"] {
        for entry in fs::read_dir(world.path(folder)).expect("a folder").flatten() {
            let content = fs::read_to_string(entry.path()).unwrap_or_else(|_| "not a file".to_owned());
            files.push((entry.file_name().to_string_lossy().into_owned(), content));
        }
    }
    files
}

/// Calls the tool with a path, and everything outside is as before. The answer is what the model reads.
#[track_caller]
fn call(tool: &str, path: &str) -> String {
    let world = world();
    let before = outside(&world);
    let path = path.replace("[ROOT]", &world.root().to_string_lossy());
    let arguments = match tool {
        "edit_file" => json!({"path": path, "old_text": "outside", "new_text": "changed"}),
        "create_file" | "write_file" => json!({"path": path, "content": "planted"}),
        _ => json!({"path": path}),
    };
    let envelope = world.call(tool, &arguments);
    assert_eq!(outside(&world), before, "{tool} {path}");
    assert!(!envelope.to_string().contains("outside secret"), "{envelope}");
    brief(&envelope)
}

/// Each tool against each path: one line for each.
#[track_caller]
fn table(tools: &[&str], paths: &[&str]) -> String {
    let mut lines = Vec::new();
    for path in paths {
        for tool in tools {
            lines.push(format!("{tool} {path}: {}", call(tool, path)));
        }
    }
    lines.join("\n")
}

const EVERY_TOOL: &[&str] = &["read_file", "edit_file", "write_file", "create_file"];

#[test]
fn a_link_that_leads_out_is_not_followed() {
    insta::assert_snapshot!(table(EVERY_TOOL, &["leak", "leaks/secret.txt"]), @"
    read_file leak: refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    edit_file leak: refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    write_file leak: refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    create_file leak: refused executed=false retryable=false: `leak` is a link that leads out of the workspace
    read_file leaks/secret.txt: refused executed=false retryable=false: `leaks` is a link that leads out of the workspace
    edit_file leaks/secret.txt: refused executed=false retryable=false: `leaks` is a link that leads out of the workspace
    write_file leaks/secret.txt: refused executed=false retryable=false: `leaks` is a link that leads out of the workspace
    create_file leaks/secret.txt: refused executed=false retryable=false: `leaks` is a link that leads out of the workspace
    ");
    insta::assert_snapshot!(table(&["scan", "delete_file"], &["leaks"]), @r#"
    scan leaks: refused executed=false retryable=false: `leaks` is a link that leads out of the workspace
    delete_file leaks: ok "deleted the link `leaks`; what it leads to is as it was"
    "#);
}

#[test]
fn deleting_a_link_acts_on_the_link() {
    let world = world();
    let envelope = world.call("delete_file", &json!({"path": "leak"}));
    insta::assert_snapshot!(brief(&envelope), @r#"ok "deleted the link `leak`; what it leads to is as it was""#);
    assert!(!world.work().join("leak").is_symlink());
    assert_eq!(fs::read_to_string(world.path("out/secret.txt")).ok().as_deref(), Some(SECRET));
}

#[test]
fn a_sibling_with_the_same_prefix_is_outside() {
    let paths = ["../work-evil/x.txt", "[ROOT]/work-evil/x.txt", "/etc/passwd", "deep/../../out/secret.txt"];
    insta::assert_snapshot!(table(&["read_file"], &paths), @"
    read_file ../work-evil/x.txt: refused executed=false retryable=false: `../work-evil/x.txt` lies outside of the workspace
    read_file [ROOT]/work-evil/x.txt: refused executed=false retryable=false: `[ROOT]/work-evil/x.txt` lies outside of the workspace
    read_file /etc/passwd: refused executed=false retryable=false: `/etc/passwd` lies outside of the workspace
    read_file deep/../../out/secret.txt: refused executed=false retryable=false: `deep/../../out/secret.txt` lies outside of the workspace
    ");
}

#[test]
fn nothing_is_created_through_a_link_to_nothing() {
    insta::assert_snapshot!(table(&["create_file", "write_file"], &["new.txt", "nodir/f.txt"]), @"
    create_file new.txt: refused executed=false retryable=false: `new.txt` is a link that leads out of the workspace
    write_file new.txt: refused executed=false retryable=false: `new.txt` is a link that leads out of the workspace
    create_file nodir/f.txt: refused executed=false retryable=false: `nodir` is a link that leads out of the workspace
    write_file nodir/f.txt: refused executed=false retryable=false: `nodir` is a link that leads out of the workspace
    ");
}

#[test]
fn what_stays_inside_works_by_every_way() {
    let paths =
        ["a.txt", "./a.txt", "deep/../a.txt", "[ROOT]/work/a.txt", "inner/x/y.txt", "absolute/x/y.txt"];
    insta::assert_snapshot!(table(&["read_file"], &paths), @r#"
    read_file a.txt: ok "`a.txt`: 1 line\n1|inside"
    read_file ./a.txt: ok "`a.txt`: 1 line\n1|inside"
    read_file deep/../a.txt: ok "`a.txt`: 1 line\n1|inside"
    read_file [ROOT]/work/a.txt: ok "`a.txt`: 1 line\n1|inside"
    read_file inner/x/y.txt: ok "`inner/x/y.txt`: 1 line\n1|deep"
    read_file absolute/x/y.txt: ok "`absolute/x/y.txt`: 1 line\n1|deep"
    "#);
}

#[test]
fn a_workspace_that_is_itself_a_link_is_one_workspace() {
    let world = world();
    symlink(world.work(), world.path("entrance")).expect("a link");
    let entrance = world.path("entrance").display().to_string();
    let read = |path: String| {
        let arguments = json!({"path": path}).to_string();
        let run = world.foehn(&["-C", &entrance, "tools", "call", "read_file", &arguments]);
        brief(&run.envelope())
    };
    let expected = "ok \"`a.txt`: 1 line\\n1|inside\"";
    for path in ["a.txt".to_owned(), format!("{entrance}/a.txt"), format!("{}/a.txt", world.work().display())]
    {
        assert_eq!(read(path.clone()), expected, "{path}");
    }
    assert_eq!(read("inner/x/y.txt".into()), "ok \"`inner/x/y.txt`: 1 line\\n1|deep\"");
}

/// While a folder and a link to the outside change places all the time, no read ever returns what lies outside and no
/// write lands there.
#[test]
fn a_folder_that_is_swapped_for_a_link_never_leads_out() {
    const CALLS: usize = 60;
    let call = |index: usize| match index % 2 {
        // Each call is another one, or it would be stopped as a repetition.
        0 => format!(
            r#"{{ name = "read_file", arguments = {{ path = "sub/f.txt", end_line = {} }} }}"#,
            index + 1
        ),
        _ => format!(
            r#"{{ name = "create_file", arguments = {{ path = "sub/{index}.txt", content = "x" }} }}"#
        ),
    };
    let calls: Vec<String> = (0..CALLS).map(call).collect();
    let script = format!("[[turn]]\ncalls = [{}]\n[[turn]]\ntext = \"done\"\n", calls.join(","));
    let world = World::with_plugins(&["file_rw"]).file("sub/f.txt", "inside\n").script(&script);
    world.write("out/f.txt", SECRET);
    symlink(world.path("out"), world.work().join("swap")).expect("a link");
    let (folder, swap) = (world.work().join("sub"), world.work().join("swap"));

    let running = AtomicBool::new(true);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &swap, RenameFlags::EXCHANGE).expect("both are there");
            }
        });
        let run = world.foehn(&["run", "--json", "--yes", "go"]);
        running.store(false, Ordering::Relaxed);
        run.expect_code(0)
    });
    let envelopes = run.envelopes();
    assert_eq!(envelopes.len(), CALLS);
    assert!(!run.stdout.contains("outside secret"), "{run:?}");
    assert!(envelopes.iter().any(|envelope| envelope["ok"] == Value::Bool(true)), "{envelopes:?}");
    let names: Vec<_> =
        fs::read_dir(world.path("out")).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["f.txt"]);
}

/// A refusal stays one: it approves nothing else, and says nothing about another way.
#[test]
fn a_refused_read_is_not_worked_round_with_a_command() {
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = { path = "leak" } }]
        [[turn]]
        calls = [{ name = "run_shell", arguments = { command = "cp $(readlink leak) ./copy" } }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().script(script);
    world.write("out/secret.txt", SECRET);
    link(&world, "leak", &world.path("out/secret.txt"));
    let run = world.foehn(&["run", "--json", "copy it"]).expect_code(4);
    insta::assert_snapshot!(run.outline(), @r#"
    session default offline/script tools=12 stand_in
    turn 1 "copy it"
    step 1
    answer "" calls=1
    end #1 read_file refused executed=false: `leak` is a link that leads out of the workspace
    step 2
    answer "" calls=1
    end #2 run_shell declined executed=false: Not run: it needs an approval (risk: execute asks) and nobody is there to give it. Do not try again; say what you would have done.
    step 3
    text "done"
    answer "done" calls=0
    done declined "done" steps=3 calls=2 (a call needed an approval and nobody was there to give it)
    "#);
    assert_eq!(world.read("copy"), None);
}

/// Reads that are asked about: the question names the file, and "always" is for reads alone.
#[test]
fn an_approved_read_approves_no_command() {
    let script = r#"
        [[turn]]
        calls = [{ name = "read_file", arguments = { path = "./deep/../a.txt" } }]
        [[turn]]
        calls = [{ name = "read_file", arguments = { path = "b.txt" } }]
        [[turn]]
        calls = [{ name = "run_shell", arguments = { command = "cat a.txt" } }]
        [[turn]]
        text = "done"
    "#;
    let world = World::new().file("a.txt", "one\n").file("b.txt", "two\n").script(script);
    let world = world.user_config("[agents.default.tools.read_file]\nallow = []\n");
    let mut started = world.start(&["chat"], Stdio::piped());
    started.type_line("read them");
    for reply in ["a", "n"] {
        started.wait_for_talk("asked because");
        started.type_line(reply);
    }
    started.wait_for_talk("answered in");
    started.type_line("/exit");
    let talk = started.finish().expect_code(0).talk();
    let asked: Vec<&str> =
        talk.lines().filter_map(|line| Some(line.split_once("wants to run ")?.1)).collect();
    insta::assert_snapshot!(asked.join("\n"), @"
    `read_file` (read-only, plugin file-rw): read_file `a.txt`
    `run_shell` (execute, plugin shell): cat a.txt
    ");
    assert!(talk.contains(r#"allow = [] of tool `read_file` does not name "read_file""#), "{talk}");
    assert!(talk.contains("approved from now on (user)") && talk.contains("declined (user)"), "{talk}");
}

/// Rules decide a read by what it would read, before it runs.
#[test]
fn a_denied_read_is_classified_first() {
    let world = world().user_config("[agents.default.tools.scan]\ndenied = [\"deep/**\"]\n");
    let listed = world.call("scan", &json!({"path": ".", "recursive": false}));
    insta::assert_snapshot!(brief(&listed), @r#"ok "7 entries in `.`\nleft out: 1 that the configuration denies\n7\ta.txt\nlink\tabsolute -> [ROOT]/work/deep\nlink\tinner -> deep\nlink\tleak -> [ROOT]/out/secret.txt (leads out of the workspace)\nlink\tleaks -> [ROOT]/out (leads out of the workspace)\nlink\tnew.txt -> [ROOT]/out/planted.txt (leads out of the workspace)\nlink\tnodir -> [ROOT]/out/nodir (leads out of the workspace)""#);
    insta::assert_snapshot!(brief(&world.call("scan", &json!({"path": "inner"}))), @"refused executed=false retryable=false: `inner` is denied by the configuration (`deep/**`)");
}

/// The kernel knows nothing of a tool's section: a further root is told that the sandbox has to know as well.
#[test]
fn a_further_root_that_the_sandbox_refuses_is_told() {
    let told = |sandbox: bool, tool: &str, path: &str| {
        let world = world();
        let folder = if path.starts_with("[ROOT]/out") { "out" } else { "gone" };
        let root = world.path(folder).display().to_string();
        let allowed = if sandbox { format!("[sandbox]\nread = [\"{root}\"]\n") } else { String::new() };
        let section = format!("[agents.default.tools.{tool}]\nextra_roots = [{{ path = \"{root}\" }}]\n");
        let world = world.user_config(&format!("{allowed}{section}"));
        let path = path.replace("[ROOT]", &world.root().to_string_lossy());
        brief(&world.call(tool, &json!({"path": path})))
    };
    insta::assert_snapshot!(told(true, "read_file", "[ROOT]/out/secret.txt"), @r#"ok "`[ROOT]/out/secret.txt`: 1 line\n1|outside secret""#);
    insta::assert_snapshot!(told(true, "scan", "[ROOT]/out"), @r#"ok "1 entry in `[ROOT]/out`\n15\t[ROOT]/out/secret.txt""#);
    insta::assert_snapshot!(told(false, "read_file", "[ROOT]/out/secret.txt"), @"failed executed=false retryable=true: in `[ROOT]/out`: no permission for `secret.txt`; where the permissions of the file allow it, the folder is missing under `[sandbox] read` or `write`");
    insta::assert_snapshot!(told(false, "scan", "[ROOT]/out"), @"failed executed=false retryable=true: in `[ROOT]/out`: no permission for `.`; where the permissions of the file allow it, the folder is missing under `[sandbox] read` or `write`");
    insta::assert_snapshot!(told(true, "scan", "[ROOT]/gone"), @"failed executed=false retryable=true: the folder `[ROOT]/gone` of the configuration cannot be opened: No such file or directory (os error 2); one outside of the workspace must also be listed under `[sandbox] read` or `write`");
    insta::assert_snapshot!(told(false, "read_file", "a.txt"), @r#"ok "`a.txt`: 1 line\n1|inside""#);
    insta::assert_snapshot!(told(false, "scan", "leaks"), @"refused executed=false retryable=false: `leaks` is a link that leads out of the workspace");
}
