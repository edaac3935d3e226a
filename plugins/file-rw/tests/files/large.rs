//! One line of thirty million characters, three thousand levels, fifty thousand files: for the tools that read and change.

use std::fs;

use foehn_plugin_sdk::wire::ReplyKind::{Failed, Ok};
use foehn_plugin_sdk::workspace::cap_std::ambient_authority;
use foehn_plugin_sdk::workspace::cap_std::fs::Dir;
use foehn_plugin_testkit::{TempWorkspace, json};

use crate::{told, tool};

const LONG: usize = 30 * 1024 * 1024;
const LEVELS: usize = 3_000;

#[test]
fn a_line_of_thirty_million_characters() {
    let workspace = TempWorkspace::new([("long", format!("{}needle", "x".repeat(LONG)))]);
    let answer = |name, arguments| told(&tool(name, arguments).workspace(&workspace).run());
    let all = LONG + "needle".len();
    let shown = format!(
        "`long`: 1 line; the last line has no line end\n1|{}… [cut: the line has {all} characters, 2000 are shown]",
        "x".repeat(2_000)
    );
    assert_eq!(answer("read_file", json!({"path": "long"})), (Ok, shown.clone()));
    let many = answer("read_many_files", json!({"paths": ["long"]}));
    assert_eq!(many, (Ok, format!("1 of 1 file read\n\n{shown}")));
    let (kind, stat) = answer("stat_file", json!({"path": "long"}));
    assert!(kind == Ok && stat.contains(&format!("size: {all} bytes\nlines: 1\n")), "{stat}");
    let edit = json!({"path": "long", "old_text": "xneedle", "new_text": "xpin"});
    let (kind, edited) = answer("edit_file", edit);
    assert!(kind == Ok && edited.len() < 10_000, "{kind:?}, {} characters", edited.len());
    let append = json!({"path": "long", "content": "\nend\n"});
    assert_eq!(answer("append_file", append).0, Ok);
    let bytes = fs::read(workspace.join("long")).unwrap();
    assert_eq!((bytes.len(), bytes.get(LONG - 1..)), (LONG + 8, Some(b"xpin\nend\n".as_slice())));
    let missing = json!({"path": "long", "old_text": "nowhere to be found", "new_text": "x"});
    let (kind, closest) = answer("edit_file", missing);
    assert!(kind == Failed && closest.len() < 10_000, "{kind:?}, {} characters", closest.len());
}

#[test]
fn three_thousand_levels_for_each_tool() {
    let workspace = TempWorkspace::new([("a.txt", "needle\n")]);
    let mut dir = Dir::open_ambient_dir(workspace.path(), ambient_authority()).unwrap();
    for _ in 0..LEVELS {
        dir.create_dir("d").unwrap();
        dir = dir.open_dir("d").unwrap();
    }
    dir.write("deepest.txt", "needle\n").unwrap();
    let call = |name, arguments| tool(name, arguments).workspace(&workspace).run();
    assert_eq!(call("list_directory", json!({})).text(), "`.`: 1 folder, 1 other entry\ndir\td/\n7\ta.txt");
    let many = call("read_many_files", json!({"folder": "."})).text();
    assert!(many.starts_with("1 of 1 file read\ndeeper than 100 folders, not entered: d/d/"), "{many}");
    // What can be named can be used, and what cannot is told.
    let within = vec!["d"; 1_990].join("/");
    let (file, folder) = (format!("{within}/new.txt"), format!("{within}/new"));
    for (name, arguments) in [
        ("create_file", json!({"path": file, "content": "a\n"})),
        ("edit_file", json!({"path": file, "old_text": "a", "new_text": "b"})),
        ("make_directory", json!({"path": folder})),
        ("remove_directory", json!({"path": folder})),
        ("delete_file", json!({"path": file})),
    ] {
        let reply = call(name, arguments);
        assert_eq!(reply.kind, Ok, "{name}: {}", reply.message);
    }
    let beyond = vec!["d"; LEVELS].join("/");
    for (name, arguments) in [
        ("read_file", json!({"path": beyond})),
        ("list_directory", json!({"path": beyond})),
        ("create_file", json!({"path": beyond, "content": ""})),
        ("remove_directory", json!({"path": "d", "recursive": true})),
        ("move_file", json!({"source": "d", "destination": "e"})),
    ] {
        let reply = call(name, arguments);
        assert_eq!((reply.kind, reply.executed), (Failed, Some(false)), "{name}: {}", reply.text());
        assert!(reply.message.len() < 10_000, "{name}: {}", reply.message);
    }
}

#[test]
fn fifty_thousand_files_are_read_as_far_as_they_fit() {
    const FILES: usize = 50_000;
    let workspace = TempWorkspace::empty();
    fs::create_dir(workspace.join("many")).unwrap();
    for number in 0..FILES {
        fs::write(workspace.join(&format!("many/{number:05}")), "").unwrap();
    }
    let many = tool("read_many_files", json!({"folder": "many"})).workspace(&workspace).run().text();
    let header = many.lines().next().unwrap();
    assert!(header.starts_with("50 of 50000 files read; did not fit: many/00050, "), "{header}");
    assert!(header.ends_with(&format!(" and {} more", FILES - 50 - 200)), "{header}");
    let remove = json!({"path": "many", "recursive": true});
    let config = json!({"backups": false});
    let removed = tool("remove_directory", remove).config(config).workspace(&workspace).run();
    assert_eq!(told(&removed), (Ok, "removed the folder `many` with 50000 files in it".to_owned()));
    assert_eq!(workspace.list(), Vec::<String>::new());
}
