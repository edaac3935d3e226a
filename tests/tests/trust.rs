//! Nothing of a plugin runs before its very bytes were accepted.

use foehn_tests::World;

/// With the default trust: only accepted plugins.
fn world(library: &str, file: &str) -> World {
    let world = World::with_plugins(&[]).env("FOEHN_PLUGINS__TRUST", "");
    world.add_plugin(library, file);
    world
}

#[test]
fn an_unknown_plugin_is_listed_and_not_loaded() {
    let world = world("scan", "scan.so");
    insta::assert_snapshot!(world.foehn(&["plugins", "list"]).expect_code(0).answer(), @"
    PLUGIN  FILE     STATE
    scan    scan.so  not trusted  nothing of it runs until `foehn plugins trust` accepts it
    ");
    let call = world.foehn(&["tools", "call", "scan"]).expect_code(1);
    assert_eq!(call.envelope()["error"]["code"], "unknown_tool");
    let run = world.foehn(&["run", "List the files here."]).expect_code(0);
    insta::assert_snapshot!(run.talk(), @"
    warning: plugin scan is not trusted: nothing of it runs until `foehn plugins trust` accepts it
    session [ID] with offline/stand-in (an offline stand-in, not a real model)
    answered in [TIME] s: 1 step, 0 calls, tokens n/a
    ");
}

#[test]
fn an_accepted_plugin_runs_until_it_changes() {
    let world = world("scan", "scan.so");
    insta::assert_snapshot!(world.foehn(&["plugins", "trust", "scan"]).expect_code(0).talk(), @"");
    world.foehn(&["tools", "call", "scan"]).expect_code(0);

    world.add_plugin("file_rw", "scan.so");
    world.foehn(&["tools", "call", "scan"]).expect_code(1);
    world.foehn(&["tools", "call", "read_file", r#"{"path":"a.txt"}"#]).expect_code(1);
    let listing = world.foehn(&["plugins", "list"]).expect_code(0).answer();
    assert!(listing.contains("not trusted"), "{listing}");

    world.foehn(&["plugins", "trust", "scan"]).expect_code(0);
    world.write("work/a.txt", "accepted again");
    world.foehn(&["tools", "call", "read_file", r#"{"path":"a.txt"}"#]).expect_code(0);
}

/// Its constructor would end or hang the process that maps it, so that a listing which does neither mapped nothing.
#[test]
fn nothing_is_executed_before() {
    for file in ["ctor-abort.so", "ctor-hang.so"] {
        let world = world("hostile", file);
        let listing = world.foehn(&["plugins", "list"]).expect_code(0).answer();
        assert!(listing.contains("not trusted") && !listing.contains("crashed"), "{listing}");
        assert_eq!(world.left_running(), [""; 0]);
    }
}

#[test]
fn a_plugin_by_another_name_is_another_plugin() {
    let world = world("scan", "scan.so");
    world.foehn(&["plugins", "trust", "scan"]).expect_code(0);
    world.add_plugin("scan", "other.so");
    let listing = world.foehn(&["plugins", "list"]).expect_code(0).answer();
    let other = listing.lines().find(|line| line.contains("other")).unwrap_or_default();
    assert!(other.contains("not trusted"), "{listing}");
    world.foehn(&["tools", "call", "scan"]).expect_code(0);
}

#[test]
fn what_cannot_be_trusted_says_why() {
    let world = world("scan", "scan.so");
    world.write("plugins/text.so", "text");
    let run = world.foehn(&["plugins", "trust", "text"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"error: `[ROOT]/plugins/text.so` is not a library: it does not begin like an ELF file");
    let run = world.foehn(&["plugins", "trust", "scam"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"error: there is no plugin `scam` in [ROOT]/plugins; it holds: scan, text");
}

#[test]
fn a_broken_trust_list_accepts_nothing_and_is_kept() {
    let world = world("scan", "scan.so");
    world.foehn(&["plugins", "trust", "scan"]).expect_code(0);
    world.write("state/trust.json", "{ broken");
    world.foehn(&["tools", "call", "scan"]).expect_code(1);
    world.foehn(&["plugins", "trust", "scan"]).expect_code(1);
    let kept = std::fs::read_to_string(world.path("state/trust.json")).expect("it is still there");
    assert_eq!(kept, "{ broken");
}

#[test]
fn a_project_cannot_accept_its_own_plugins() {
    let world = world("scan", "scan.so").project_config("[plugins]\ntrust = \"any\"\n");
    let run = world.foehn(&["plugins", "list"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @r#"
    error: [ROOT]/work/foehn.toml came with its folder and may not set:
      line 2: `plugins.trust`: only you decide which plugins are loaded
    Set it in your own settings ([ROOT]/config/foehn/foehn.toml), or say there that you trust the folder: trusted_folders = ["[ROOT]/work"]
    "#);
}
