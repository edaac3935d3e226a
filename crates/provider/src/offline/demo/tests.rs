//! What the stand-in makes of plain requests, with tools like the built-in ones.

use foehn_ports::{ModelRequest, ToolDefinition};
use foehn_protocol::{AssistantMessage, CallId, Message, ToolCall};
use serde_json::{Value, json};

use super::*;

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: description.into(),
        parameters: json!({"type":"object","properties":properties,"required":required,"additionalProperties":false}),
    }
}

/// The built-in tools in their own words.
fn tools() -> Vec<ToolDefinition> {
    let text = || json!({"type":"string"});
    let maybe = |kind: &str| json!({"type":[kind,"null"]});
    let mut dotnet = tool(
        "dotnet",
        "Run a dotnet subcommand. Safer than run_shell: prefer it for .NET work. Options that run other programs, response \
         files and paths outside the workspace are refused.",
        json!({
            "subcommand": {"$ref":"#/$defs/Subcommand"},
            "arguments": {"type":"array","items":{"type":"string"},"default":[]},
            "timeout_seconds": maybe("integer"),
        }),
        &["subcommand"],
    );
    dotnet.parameters["$defs"] = json!({"Subcommand":{"type":"string","enum":["new","build","run","test","restore","clean","--info"]}});
    vec![
        tool(
            "create_file",
            "Make a new file. Fails if the path exists.",
            json!({"path":text(),"content":text()}),
            &["path", "content"],
        ),
        tool("delete_file", "Delete one file. Never a folder.", json!({"path":text()}), &["path"]),
        dotnet,
        tool(
            "edit_file",
            "Replace an exact text in a file. Line ends are kept as the file has them. Answers with the changed lines.",
            json!({"path":text(),"old_text":text(),"new_text":text(),"replace_all":{"type":"boolean","default":false}}),
            &["path", "old_text", "new_text"],
        ),
        tool(
            "read_file",
            "Read a text file. After a header each line comes as `NUMBER|TEXT`; TEXT is exact, tabs and all. The header \
             says how to go on with a long file.",
            json!({"path":text(),"start_line":{"type":"integer","default":1,"minimum":1},"end_line":maybe("integer")}),
            &["path"],
        ),
        tool(
            "run_shell",
            "Run a command line. Each call is a new shell without input or terminal: a cd or variable does not last. \
             Answers with exit code and output (stdout and stderr).",
            json!({
                "command": text(),
                "working_directory": {"type":"string","default":"."},
                "timeout_seconds": maybe("integer"),
            }),
            &["command"],
        ),
        tool(
            "scan",
            "List files and folders, sorted, one a line: the size in bytes or the kind, a tab, the path in the workspace. \
             Says what was left out.",
            json!({
                "path": {"type":"string","default":"."},
                "pattern": maybe("string"),
                "recursive": {"type":"boolean","default":true},
                "limit": {"type":"integer","default":500,"minimum":1,"maximum":5000},
                "after": maybe("string"),
                "include_hidden": {"type":"boolean","default":false},
            }),
            &[],
        ),
        tool(
            "write_file",
            "Replace the whole content of an existing file. Refused if the file changed since it was read.",
            json!({"path":text(),"content":text()}),
            &["path", "content"],
        ),
    ]
}

fn request(prompt: &str, results: &[(&str, &str)]) -> ModelRequest {
    let mut messages = vec![Message::User { text: prompt.into() }];
    if !results.is_empty() {
        let calls = results.iter().enumerate().map(|(position, (tool, _))| ToolCall {
            id: CallId(format!("aaaaaaaa{position}")),
            provider_id: None,
            name: (*tool).into(),
            arguments: "{}".into(),
        });
        messages.push(Message::Assistant(AssistantMessage { calls: calls.collect(), ..Default::default() }));
        messages.extend(results.iter().enumerate().map(|(position, (tool, content))| Message::Tool {
            call: CallId(format!("aaaaaaaa{position}")),
            provider_id: None,
            tool: (*tool).into(),
            content: (*content).into(),
            is_error: content.contains("\"ok\":false"),
        }));
    }
    ModelRequest {
        system: String::new(),
        messages,
        tools: tools(),
        max_output_tokens: None,
        temperature: None,
    }
}

fn check(prompt: &str, expected: &[(&str, Value)]) {
    let played = answer(&request(prompt, &[]));
    let calls: Vec<(&str, Value)> = played
        .calls
        .iter()
        .map(|call| (call.draft.name.as_str(), serde_json::from_str(&call.draft.arguments).unwrap()))
        .collect();
    assert_eq!(calls, expected, "{prompt}: {}", played.text);
    assert!(played.text.contains("offline stand-in, not a"), "{prompt}: {}", played.text);
}

#[test]
fn a_tool_is_chosen_and_filled_from_the_text() {
    let source = format!("*.{{{}}}", fill::SOURCE_ENDINGS.join(","));
    let widest = json!({"pattern": source, "recursive": true, "limit": 5000});
    check("Which source files here are the largest?", &[("scan", widest)]);
    check("What are the 3 biggest files?", &[("scan", json!({"recursive":true,"limit":5000}))]);
    check("list files", &[("scan", json!({}))]);
    check("List the files in src, please", &[("scan", json!({"path":"src"}))]);
    check(
        "how many rust files are there?",
        &[("scan", json!({"pattern":"*.rs","recursive":true,"limit":5000}))],
    );
    check("read README.md", &[("read_file", json!({"path":"README.md"}))]);
    check("What does docs/notes.md say?", &[("read_file", json!({"path":"docs/notes.md"}))]);
    check("What is in src?", &[("scan", json!({"path":"src"}))]);
    check("What does `docs/a b.md` say? Show notes.txt", &[("read_file", json!({"path":"notes.txt"}))]);
    check(
        "read a.txt and b.txt",
        &[("read_file", json!({"path":"a.txt"})), ("read_file", json!({"path":"b.txt"}))],
    );
    check(
        "show lines 3 to 9 of src/main.rs",
        &[("read_file", json!({"path":"src/main.rs","start_line":3,"end_line":9}))],
    );
    check(
        "create notes.txt with hello world",
        &[("create_file", json!({"path":"notes.txt","content":"hello world"}))],
    );
    check(
        "Make a new file `a.txt` containing \"x\ny\".",
        &[("create_file", json!({"path":"a.txt","content":"x\ny"}))],
    );
    check("run cargo --version", &[("run_shell", json!({"command":"cargo --version"}))]);
    check("Please execute `ls -la src`", &[("run_shell", json!({"command":"ls -la src"}))]);
    check("delete old/notes.txt", &[("delete_file", json!({"path":"old/notes.txt"}))]);
    check(
        "replace `foo` with `bar` in src/lib.rs",
        &[("edit_file", json!({"path":"src/lib.rs","old_text":"foo","new_text":"bar"}))],
    );
    check("build src with dotnet", &[("dotnet", json!({"subcommand":"build"}))]);
    check("overwrite a.txt with `new text`", &[("write_file", json!({"path":"a.txt","content":"new text"}))]);
    check(
        "Which files in src are the biggest?",
        &[("scan", json!({"path":"src","recursive":true,"limit":5000}))],
    );
    check("dotnet --info", &[("dotnet", json!({"subcommand":"--info"}))]);
    check(
        "run `dotnet build src --no-restore`",
        &[("run_shell", json!({"command":"dotnet build src --no-restore"}))],
    );
}

#[test]
fn what_fits_no_tool_is_said_and_nothing_is_called() {
    for prompt in ["hello", "What is the capital of France?", "delete it", "read it to me", ""] {
        check(prompt, &[]);
    }
    let told = answer(&request("hello", &[])).text;
    assert!(told.contains("- `read_file`: Read a text file\n"), "{told}");
}

fn told(prompt: &str, results: &[(&str, &str)]) -> String {
    let played = answer(&request(prompt, results));
    assert_eq!(played.calls, []);
    let (told, confession) = played.text.rsplit_once("\n\n").unwrap();
    assert_eq!(confession, CONFESSION);
    told.to_owned()
}

#[test]
fn the_largest_come_from_the_result_and_not_from_its_order() {
    let rows: String = (1..=7).map(|n| format!("{}\\tsrc/f{n}.rs\\n", n * 1000)).collect();
    let result = format!(
        "{{\"ok\":true,\"result\":\"9 entries in `.`; these are 1 to 9, for more set after to \\\"z\\\"\\n99999\\tCargo.lock\\ndir\\tsrc/\\n{rows}\",\"notes\":[\"2 \
         hidden entries skipped\"]}}"
    );
    insta::assert_snapshot!(told("Which source files here are the largest?", &[("scan", &result)]), @r#"
    The 5 largest of 7 source files:

    1. src/f7.rs, 7000 bytes
    2. src/f6.rs, 6000 bytes
    3. src/f5.rs, 5000 bytes
    4. src/f4.rs, 4000 bytes
    5. src/f3.rs, 3000 bytes

    This is not all: 9 entries in `.`; these are 1 to 9, for more set after to "z"

    Note: 2 hidden entries skipped
    "#);
    insta::assert_snapshot!(told("the 2 smallest files?", &[("scan", &result)]), @r#"
    The 2 smallest of 8 files:

    1. src/f1.rs, 1000 bytes
    2. src/f2.rs, 2000 bytes

    This is not all: 9 entries in `.`; these are 1 to 9, for more set after to "z"

    Note: 2 hidden entries skipped
    "#);
}

#[test]
fn text_counts_and_failures_are_told() {
    insta::assert_snapshot!(told("read a.txt", &[("read_file", r#"{"ok":true,"result":"1\thello"}"#)]), @"
    `read_file` gave:

    1	hello
    ");
    insta::assert_snapshot!(
        told("how many files?", &[("scan", r#"{"ok":true,"result":"1\ta.rs\n2\tb.rs"}"#)]),
        @"There are 2 in what `scan` found."
    );
    insta::assert_snapshot!(
        told("read a.txt", &[("read_file", r#"{"ok":false,"error":{"code":"failed","message":"no such file"}}"#)]),
        @"`read_file` did not do it: no such file"
    );
}

#[test]
fn a_demand_for_a_summary_without_tools_is_answered_from_the_results() {
    let mut request = request("read a.txt", &[("read_file", r#"{"ok":true,"result":"hello"}"#)]);
    request.messages.push(Message::User { text: "Sum up what you found.".into() });
    request.tools.clear();
    assert!(answer(&request).text.starts_with("`read_file` gave:\n\nhello"));
}
