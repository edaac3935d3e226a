//! `foehn contract trial`: the calls of quirky models against the contracts of any plugin, without a model and without a
//! call.

use std::collections::BTreeSet;

use foehn_tests::World;

#[test]
fn a_plugin_is_tried_by_every_habit() {
    let trial = World::with_plugins(&["rooms"]).foehn(&["contract", "trial"]).expect_code(0);
    insta::assert_snapshot!(trial.answer());
    insta::assert_snapshot!(trial.talk(), @"");
}

#[test]
fn whatever_a_habit_does_to_a_built_in_tool_is_got_over() {
    let world = World::new().file("a.txt", "a");
    let rows = world.foehn(&["contract", "trial", "--json"]).expect_code(0).events();
    let tools: BTreeSet<_> = rows.iter().filter_map(|row| row["tool"].as_str()).collect();
    assert_eq!(tools.len(), 24, "{tools:?}");
    let stopped: Vec<_> = rows.iter().filter(|row| row["lenient"]["outcome"] == "stopped").collect();
    assert!(stopped.is_empty(), "{stopped:#?}");
    assert_eq!(std::fs::read_dir(world.work()).expect("the workspace").count(), 1);
}

#[test]
fn a_row_tells_all_of_a_trial() {
    let world = World::with_plugins(&["rooms", "scan"]);
    let rows = world.foehn(&["contract", "trial", "--plugin", "rooms", "--json"]).expect_code(0).events();
    assert!(rows.iter().all(|row| row["plugin"] == "rooms"), "{rows:#?}");
    let row = rows.iter().find(|row| row["tool"] == "book_room" && row["habit"] == "twelve_hour_times");
    insta::assert_json_snapshot!(row);
}

#[test]
fn a_plugin_that_is_not_there_is_told() {
    let run =
        World::with_plugins(&["rooms"]).foehn(&["contract", "trial", "--plugin", "room"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"error: there is no plugin `room`; there are: rooms");
}
