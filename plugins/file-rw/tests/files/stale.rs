//! A file that somebody else changed since it was read is not overwritten.

use std::fs;

use foehn_plugin_sdk::wire::ReplyKind::{self, Ok, Refused};
use foehn_plugin_testkit::{TempWorkspace, TestHost, Value, json};

use crate::tool;

struct Scene {
    workspace: TempWorkspace,
    host: TestHost,
}

impl Scene {
    fn new() -> Self {
        Self { workspace: TempWorkspace::new([("a.txt", "one\n")]), host: TestHost::new() }
    }

    #[track_caller]
    fn call(&self, session: &str, name: &str, arguments: Value, expected: ReplyKind) -> String {
        let call = tool(name, arguments)
            .workspace(&self.workspace)
            .head(|head| session.clone_into(&mut head.session));
        let reply = call.run_on(&self.host);
        assert_eq!(reply.kind, expected, "{name}: {}", reply.message);
        reply.message
    }

    fn read(&self, session: &str) {
        self.call(session, "read_file", json!({"path": "a.txt"}), Ok);
    }

    fn write(&self, session: &str, expected: ReplyKind) -> String {
        self.call(session, "write_file", json!({"path": "a.txt", "content": "whole\n"}), expected)
    }

    fn edit(&self, session: &str) {
        self.call(session, "edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}), Ok);
    }

    fn somebody_else_appends(&self) {
        fs::write(self.workspace.join("a.txt"), self.workspace.read("a.txt") + "theirs\n").unwrap();
    }
}

#[test]
fn a_write_after_a_stale_read_is_refused() {
    let scene = Scene::new();
    scene.read("s");
    scene.somebody_else_appends();
    assert_eq!(scene.write("s", Refused), "`a.txt` changed since it was read; read it again");
    assert_eq!(scene.workspace.read("a.txt"), "one\ntheirs\n");
    scene.read("s");
    scene.write("s", Ok);
}

#[test]
fn a_file_never_read_may_be_written() {
    let scene = Scene::new();
    scene.somebody_else_appends();
    scene.write("s", Ok);
}

#[test]
fn own_changes_are_known() {
    let scene = Scene::new();
    scene.read("s");
    scene.edit("s");
    scene.write("s", Ok);
    scene.write("s", Ok);
}

#[test]
fn an_edit_works_on_what_is_there_and_leaves_their_change_unseen() {
    let scene = Scene::new();
    scene.read("s");
    scene.somebody_else_appends();
    scene.edit("s");
    assert_eq!(scene.workspace.read("a.txt"), "two\ntheirs\n");
    scene.write("s", Refused);
}

#[test]
fn sessions_are_somebody_else_to_each_other() {
    let scene = Scene::new();
    scene.read("one");
    scene.read("two");
    scene.write("one", Ok);
    scene.write("two", Refused);
    scene.read("two");
    scene.write("two", Ok);
}

#[test]
fn a_deleted_file_is_forgotten() {
    let scene = Scene::new();
    scene.read("s");
    scene.call("s", "delete_file", json!({"path": "a.txt"}), Ok);
    assert_eq!(scene.host.state(), [].into());
    fs::write(scene.workspace.join("a.txt"), "theirs\n").unwrap();
    scene.write("s", Ok);
}
