//! Tools that do everything wrong: each costs its own call and nothing else.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use foehn_ports::OutcomeKind;

use crate::world::{Asked, HOST_OF, World, brief, call, cases, left_running};

cases![
    every_crash,
    loops_are_stopped,
    a_cancelled_call_keeps_what_it_says,
    prints_and_stdin_and_folder,
    memory_has_an_end,
    a_child_in_its_own_session_dies_with_its_worker,
    a_killed_worker_takes_its_children_along,
    a_killed_host_takes_everything_along,
    three_crashes_switch_it_off,
    a_dropped_call_leaves_nothing,
    the_sandbox_holds_liars,
    calls_beside_a_crash_are_not_hurt,
];

fn world() -> World {
    World::new(&[("hostile", "hostile.so")])
}

async fn every_crash() {
    let expected = [
        ("panic", "Failed panicked: on purpose"),
        ("double_panic", "Crashed plugin `hostile` crashed (signal 6, SIGABRT) while running `double_panic`"),
        ("abort", "Crashed plugin `hostile` crashed (signal 6, SIGABRT) while running `abort`"),
        ("segfault", "Crashed plugin `hostile` crashed (signal 11, SIGSEGV) while running `segfault`"),
        (
            "stack_overflow",
            "Crashed plugin `hostile` crashed (signal 6, SIGABRT) while running `stack_overflow`",
        ),
        ("exit_seven", "Crashed plugin `hostile` ended itself with exit status 7 while running `exit_seven`"),
    ];
    for (tool, beginning) in expected {
        let world = world();
        let set = world.load().await;
        let found = call(&set, tool).await;
        assert!(found.starts_with(beginning), "{tool}: {found}");
        assert_eq!(found.lines().count(), 1, "{found}");
        assert_eq!(call(&set, "fine").await, "Ok fine", "after {tool}");
        set.shutdown().await;
        assert_eq!(left_running(&world), [""; 0], "{tool}");
    }
}

async fn loops_are_stopped() {
    let world = world();
    let set = world.load().await;
    for (tool, expected) in [
        (
            "loop_forever",
            "Timeout no result within 100 ms; it did not stop within 300 ms more, its worker was killed",
        ),
        ("loop_politely", "Timeout no result within 100 ms; it was stopped"),
    ] {
        let asked = Asked { timeout: Duration::from_millis(100), ..Asked::new(tool) };
        assert_eq!(brief(&asked.run(&set).await), expected);
    }
    assert_eq!(set.stats().crashes, 0);
    assert_eq!(call(&set, "fine").await, "Ok fine");
}

async fn a_cancelled_call_keeps_what_it_says() {
    let world = world();
    let set = world.load().await;
    for (tool, expected) in [
        ("loop_forever", "Cancelled cancelled; it did not stop within 300 ms, its worker was killed"),
        ("loop_politely", "Cancelled the call was cancelled"),
    ] {
        let asked = Asked { cancel_at_progress: true, ..Asked::new(tool) };
        assert_eq!(brief(&asked.run(&set).await), expected);
        assert_eq!(asked.progress.into_inner().unwrap(), ["looping"]);
    }
    let before = Asked::new("fine");
    before.cancel.cancel();
    assert_eq!(brief(&before.run(&set).await), "Cancelled cancelled before it began");
}

async fn prints_and_stdin_and_folder() {
    let world = world();
    let set = world.load().await;
    assert_eq!(call(&set, "print").await, "Ok printed");
    assert_eq!(call(&set, "read_stdin").await, "Ok read 0 bytes");
    let (folder, variable) = (std::env::current_dir().unwrap(), std::env::var_os("FOEHN_PROVIDER"));
    assert_eq!(call(&set, "change_process").await, "Ok changed");
    assert_eq!((std::env::current_dir().unwrap(), std::env::var_os("FOEHN_PROVIDER")), (folder, variable));
    assert_eq!(call(&set, "fine").await, "Ok fine");
}

async fn memory_has_an_end() {
    let world = world();
    let set = world.load().await;
    let found = call(&set, "eat_memory").await;
    let beginning = "Crashed plugin `hostile` crashed (signal 6, SIGABRT) while running `eat_memory`: memory allocation of";
    assert!(found.starts_with(beginning), "{found}");
}

async fn a_child_in_its_own_session_dies_with_its_worker() {
    let world = world();
    let set = world.load().await;
    assert!(call(&set, "leave_child").await.starts_with("Ok left "));
    assert!(!left_running(&world).is_empty());
    set.shutdown().await;
    assert_eq!(left_running(&world), [""; 0]);
}

/// The worker is killed from outside, as the kernel does when memory runs out, so it cannot clean up after itself.
async fn a_killed_worker_takes_its_children_along() {
    let world = world();
    let set = world.load().await;
    assert!(call(&set, "leave_child").await.starts_with("Ok left "));
    for process in workers(&world) {
        rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    }
    // Either it was dead already when the next call looked, or that call saw it die.
    let next = call(&set, "leave_child").await;
    let died = "Crashed plugin `hostile` crashed (signal 9, SIGKILL: killed from outside";
    assert!(next.starts_with("Ok left ") || next.starts_with(died), "{next}");
    assert!(call(&set, "leave_child").await.starts_with("Ok left "));
    set.shutdown().await;
    assert_eq!(left_running(&world), [""; 0]);
}

/// The host is killed in the middle of a call that never ends.
async fn a_killed_host_takes_everything_along() {
    let world = world();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .env(HOST_OF, world.root())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("Ok left "), "{line}");
    assert!(!left_running(&world).is_empty());
    host.kill().unwrap();
    host.wait().unwrap();
    while !left_running(&world).is_empty() {
        tokio::task::yield_now().await;
    }
}

fn workers(world: &World) -> Vec<rustix::process::Pid> {
    let library = world.plugin("hostile.so").display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            let command = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            command.contains(&library)
        })
        .filter_map(|entry| rustix::process::Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

async fn three_crashes_switch_it_off() {
    let world = world();
    let set = world.load().await;
    for _ in 0..2 {
        assert_eq!(Asked::new("abort").run(&set).await.notes, [""; 0]);
    }
    let note = "it is switched off after 3 crashes within 60 s (the last: it crashed (signal 6, SIGABRT) while running \
                `abort`); a new file or a restart of the host switches it on again";
    assert_eq!(Asked::new("abort").run(&set).await.notes, [format!("plugin `hostile`: {note}")]);
    let refused = Asked::new("fine").run(&set).await;
    assert_eq!(
        (refused.kind, refused.message),
        (OutcomeKind::Unavailable, format!("plugin `hostile` cannot run: {note}"))
    );
    assert_eq!(world.listing(&set), [format!("hostile: Disabled {{ reason: {note:?} }}")]);
    assert_eq!(set.stats().crashes, 3);
}

async fn a_dropped_call_leaves_nothing() {
    let world = world();
    let set = world.load().await;
    let asked = Asked { cancel_at_progress: true, ..Asked::new("loop_forever") };
    tokio::select! {
        biased;
        () = asked.cancel.cancelled() => {}
        outcome = asked.run(&set) => panic!("{outcome:?}"),
    }
    assert_eq!(left_running(&world), [""; 0]);
    assert_eq!(call(&set, "fine").await, "Ok fine");
}

async fn the_sandbox_holds_liars() {
    if foehn_sandbox::support().landlock_abi.is_none() {
        return;
    }
    let world = world();
    let set = world.load().await;
    assert_eq!(call(&set, "liar").await, "Failed Permission denied (os error 13)");
    assert!(!world.path("work/lie.txt").exists());
    assert_eq!(call(&set, "phone").await, "Failed Operation not permitted (os error 1)");
    let spied = call(&set, "spy").await;
    assert!(spied.contains("host: not readable: Permission denied"), "{spied}");
    assert!(!spied.contains("CARGO_MANIFEST_DIR"), "{spied}");
}

async fn calls_beside_a_crash_are_not_hurt() {
    let world = world();
    let set = world.load().await;
    let (one, crash, two) = tokio::join!(call(&set, "fine"), call(&set, "abort"), call(&set, "read_stdin"));
    assert_eq!((one.as_str(), two.as_str()), ("Ok fine", "Ok read 0 bytes"));
    assert!(crash.starts_with("Crashed "), "{crash}");
}
