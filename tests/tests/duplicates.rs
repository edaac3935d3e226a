//! Two plugins with one tool name: neither gets it, nothing is overridden silently, all else works.

use foehn_tests::World;

#[test]
fn a_name_that_two_plugins_claim_belongs_to_neither() {
    // Both bring `fine`; every other tool of both has a name of its own.
    let world = World::with_plugins(&["hostile", "upcalls"]);
    let call = |tool: &str| world.foehn(&["tools", "call", tool]);
    insta::assert_snapshot!(call("fine").expect_code(1).envelope(), @"");
    assert_eq!(call("print").expect_code(0).envelope()["result"], "printed");
    assert_eq!(call("chatter").expect_code(0).envelope()["result"], "said");
    let listing = world.foehn(&["plugins", "list"]).expect_code(0);
    insta::assert_snapshot!(format!("{}{}", listing.answer(), listing.talk()), @"");
}

#[test]
fn a_copy_takes_nothing_over() {
    let world = World::with_plugins(&["scan", "file_rw"]).file("a.txt", "a");
    world.add_plugin("scan", "aaa.so");
    let tools = world.foehn(&["tools", "list"]).expect_code(0).answer();
    assert!(!tools.contains("scan") && tools.contains("read_file"), "{tools}");
    let run = world.foehn(&["run", "--json", "Read a.txt"]).expect_code(0);
    let warning = run.events().into_iter().find(|event| event["type"] == "notice").unwrap_or_default();
    insta::assert_snapshot!(warning["text"], @"");
}
