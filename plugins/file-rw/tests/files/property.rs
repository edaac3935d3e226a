//! Edits of random files: every byte outside of what was asked for stays, whatever its line ends and encoding.

use foehn_plugin_sdk::wire::ReplyKind;
use foehn_plugin_testkit::{TempWorkspace, Value, json};
use proptest::prelude::*;

use crate::tool;

/// A line of a file, and how it ends.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    end: &'static str,
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    let line = ("[a-z \té$&\\\\]{0,8}", end).prop_map(|(text, end)| Line { text, end });
    prop::collection::vec(line, 0..12)
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}{}", line.text, line.end)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_beside_an_edit_stay(
        bom in any::<bool>(),
        before in lines(),
        after in lines(),
        new in "[A-Z$&\\\\é\t]{1,6}(\n[A-Z]{0,4}){0,2}",
        tail in prop_oneof![Just(""), Just("no end")],
        stray in any::<bool>(),
    ) {
        // Marked with a text that nothing else holds, and with a byte that is no UTF-8.
        let mark = "«@@»\n@@";
        let end = after.first().or(before.last()).map_or("\n", |line| line.end);
        let new = if stray { new.replace('é', "e") } else { new };
        let mark = if stray { mark.replace(['«', '»'], "!") } else { mark.to_owned() };
        let mut file = if bom { "\u{FEFF}".as_bytes().to_vec() } else { Vec::new() };
        file.extend_from_slice(joined(&before).as_bytes());
        let head = file.len();
        let wanted_end = "\r\n";
        file.extend_from_slice(mark.replace('\n', wanted_end).as_bytes());
        let mut rest = end.as_bytes().to_vec();
        rest.extend_from_slice(joined(&after).as_bytes());
        if stray {
            rest.extend_from_slice(b"Stra\xDFe\r\n");
        }
        rest.extend_from_slice(tail.as_bytes());
        file.extend_from_slice(&rest);

        let workspace = TempWorkspace::new([("f", &file)]);
        let arguments: Value = json!({"path": "f", "old_text": mark, "new_text": new});
        let reply = tool("edit_file", arguments).workspace(&workspace).run();
        prop_assert_eq!(reply.kind, ReplyKind::Ok, "{}", reply.message);
        let edited = std::fs::read(workspace.join("f")).unwrap();
        prop_assert_eq!(&edited[..head], &file[..head]);
        prop_assert!(edited.ends_with(&rest));
        let middle = &edited[head..edited.len() - rest.len()];
        // The mark's own line end is the first one from there on.
        prop_assert_eq!(String::from_utf8_lossy(middle), new.replace('\n', wanted_end));
    }

    #[test]
    fn text_that_was_read_can_be_edited(lines in lines()) {
        let text = joined(&lines);
        let workspace = TempWorkspace::new([("f", &text)]);
        let page = tool("read_file", json!({"path": "f"})).workspace(&workspace).run().text();
        let shown: Vec<&str> = page.lines().skip(1).filter_map(|line| line.split_once('|')).map(|(_, line)| line).collect();
        let Some(first) = shown.iter().position(|line| !line.is_empty()) else { return Ok(()) };
        let old = shown[first..].join("\n");
        let reply = tool("edit_file", json!({"path": "f", "old_text": old, "new_text": "NEW", "replace_all": true}))
            .workspace(&workspace)
            .run();
        prop_assert_eq!(reply.kind, ReplyKind::Ok, "{}", reply.message);
    }
}
