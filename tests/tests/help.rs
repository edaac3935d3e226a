//! The first thing a person reads.

use foehn_tests::World;

#[track_caller]
fn help(arguments: &[&str]) -> String {
    World::with_plugins(&[]).foehn(arguments).expect_code(0).stdout
}

#[test]
fn the_whole() {
    insta::assert_snapshot!(help(&["--help"]), @"");
}

#[test]
fn run() {
    insta::assert_snapshot!(help(&["run", "--help"]), @"");
}

#[test]
fn a_wrong_word_is_told_the_right_one() {
    let run = World::with_plugins(&[]).foehn(&["plugin", "list"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"");
}
