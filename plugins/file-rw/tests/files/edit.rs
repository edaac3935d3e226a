//! `edit_file`: the answer, and the bytes afterwards. The replacement itself has its tests beside it.

use foehn_plugin_sdk::wire::ReplyKind::{Failed, Ok};
use foehn_plugin_testkit::{TempWorkspace, Value, json};

use crate::check;

#[track_caller]
fn check_edit(before: &[u8], arguments: Value, after: &[u8], expected: &str) {
    let workspace = TempWorkspace::new([("a.txt", before)]);
    let mut arguments = arguments;
    arguments["path"] = "a.txt".into();
    let kind = if expected.starts_with("edited") { Ok } else { Failed };
    check(&workspace, ("edit_file", arguments), kind, expected, &[("a.txt", after)]);
}

#[test]
fn the_answer_shows_the_changed_lines() {
    check_edit(
        b"a\nb\nc\nd\ne\n",
        json!({"old_text": "b\nc", "new_text": "B"}),
        b"a\nB\nd\ne\n",
        "edited `a.txt` in 1 place\n1|a\n2|B\n3|d",
    );
    check_edit(
        b"x\n1\n2\n3\n4\nx\n",
        json!({"old_text": "x", "new_text": "y", "replace_all": true}),
        b"y\n1\n2\n3\n4\ny\n",
        "edited `a.txt` in 2 places\n1|y\n2|1\n…\n5|4\n6|y",
    );
    check_edit(b"only\n", json!({"old_text": "only\n", "new_text": ""}), b"", "edited `a.txt` in 1 place");
}

#[test]
fn line_ends_marks_and_stray_bytes_survive() {
    check_edit(
        b"one\r\ntwo\r\nthree\r\n",
        json!({"old_text": "one\ntwo", "new_text": "1\n2"}),
        b"1\r\n2\r\nthree\r\n",
        "edited `a.txt` in 1 place\n1|1\n2|2\n3|three",
    );
    check_edit(
        b"\xEF\xBB\xBFalpha\nbeta\n",
        json!({"old_text": "alpha", "new_text": "gamma"}),
        b"\xEF\xBB\xBFgamma\nbeta\n",
        "edited `a.txt` in 1 place\n1|gamma\n2|beta",
    );
    check_edit(
        b"rate: 5\n# Stra\xDFe\n",
        json!({"old_text": "rate: 5", "new_text": "rate: 6"}),
        b"rate: 6\n# Stra\xDFe\n",
        "edited `a.txt` in 1 place\n1|rate: 6\n2|# Stra\u{FFFD}e",
    );
}

#[test]
fn what_was_read_matches_and_blanks_do_not_stand_for_tabs() {
    let code = b"\tif x {\n\t\ty()\n\t}\n";
    check_edit(
        code,
        json!({"old_text": "\tif x {\n\t\ty()", "new_text": "\tif z {\n\t\ty()"}),
        b"\tif z {\n\t\ty()\n\t}\n",
        "edited `a.txt` in 1 place\n1|\tif z {\n2|\t\ty()\n3|\t}",
    );
    check_edit(
        code,
        json!({"old_text": "    if x {", "new_text": "z"}),
        code,
        "`a.txt`: old_text is not in it. Closest is line 1: only blanks differ at character 1 of line 1 of old_text \
         (→ is a tab, · a space).\nfile:     →if x {\nold_text: ····if x {",
    );
}

#[test]
fn an_edit_that_is_not_clear_changes_nothing() {
    check_edit(
        b"a {\n}\nb {\n}\n",
        json!({"old_text": "}", "new_text": "]"}),
        b"a {\n}\nb {\n}\n",
        "`a.txt`: old_text is there 2 times, on lines 2, 4; give more of the text around it, or set replace_all",
    );
    check_edit(
        b"rate = 6\n",
        json!({"old_text": "rate = 5", "new_text": "rate = 6"}),
        b"rate = 6\n",
        "`a.txt`: old_text is not in it. new_text is already there, on line 1: perhaps this change has been made. Closest is \
         line 1: the first difference is at character 8 of line 1 of old_text (→ is a tab, · a space).\n\
         file:     rate = 6\nold_text: rate = 5",
    );
}
