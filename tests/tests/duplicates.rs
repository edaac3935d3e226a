//! Two plugins with one tool name: neither gets it, nothing is overridden silently, all else works.

use foehn_tests::World;

#[test]
fn a_name_that_two_plugins_claim_belongs_to_neither() {
    // Both bring `fine`; every other tool of both has a name of its own.
    let world = World::with_plugins(&["hostile", "upcalls"]);
    let call = |tool: &str| world.foehn(&["tools", "call", tool]);
    insta::assert_snapshot!(call("fine").expect_code(1).envelope(), @r#"{"ok":false,"error":{"code":"unknown_tool","message":"There is no tool `fine`; nothing was run. The tools are: `abort`, `ask`, `change_process`, `chatter`, `count`, `double_panic`, `eat_memory`, `exit_seven`, `leave_child`, `liar`, `loop_forever`, `loop_politely`, `panic`, `phone`, `print`, `read_stdin`, `segfault`, `spy`, `stack_overflow`, `whoami`.","executed":false,"retryable":true}}"#);
    assert_eq!(call("print").expect_code(0).envelope()["result"], "printed");
    assert_eq!(call("chatter").expect_code(0).envelope()["result"], "said");
    let listing = world.foehn(&["plugins", "list"]).expect_code(0);
    insta::assert_snapshot!(format!("{}{}", listing.answer(), listing.talk()), @"
    PLUGIN   FILE           STATE
    hostile  libhostile.so  ready
    upcalls  libupcalls.so  ready
    warning: tool `fine` is not offered: `[ROOT]/plugins/libhostile.so` and `[ROOT]/plugins/libupcalls.so` both bring it; rename or remove one of them
    ");
}

#[test]
fn a_copy_takes_nothing_over() {
    let world = World::with_plugins(&["scan", "file_rw"]).file("a.txt", "a");
    world.add_plugin("scan", "aaa.so");
    let tools = world.foehn(&["tools", "list"]).expect_code(0).answer();
    assert!(!tools.contains("scan") && tools.contains("read_file"), "{tools}");
    let run = world.foehn(&["run", "--json", "Read a.txt"]).expect_code(0);
    insta::assert_snapshot!(run.talk(), @"warning: tool `scan` is not offered: `[ROOT]/plugins/aaa.so` and `[ROOT]/plugins/libscan.so` both bring it; rename or remove one of them");
}
