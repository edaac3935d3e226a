//! What is there: tools and plugins, for people and for programs.

use foehn_tests::World;

#[test]
fn the_built_in_tools() {
    insta::assert_snapshot!(World::new().foehn(&["tools", "list"]).expect_code(0).answer(), @"
    TOOL            RISK         PLUGIN
    create_file     write        file-rw  Make a new file.
    delete_file     destructive  file-rw  Delete one file.
    dotnet          execute      dotnet   Run a dotnet subcommand.
    edit_file       write        file-rw  Replace exact texts in a file.
    find_files      read-only    file-rw  Find files by name, newest first.
    list_directory  read-only    file-rw  List one folder: folders first, files with sizes in bytes.
    move_file       write        file-rw  Move or rename a file or folder.
    read_file       read-only    file-rw  Read a text file.
    run_shell       execute      shell    Run a command line.
    scan            read-only    scan     List files and folders, sorted, one a line: size in bytes or kind, a tab, the path.
    search_files    read-only    file-rw  Search the content of text files.
    write_file      destructive  file-rw  Replace the whole content of an existing file.
    ");
}

#[test]
fn a_tool_for_programs_is_its_whole_definition() {
    let tools = World::with_plugins(&["shell"]).foehn(&["tools", "list", "--json"]).expect_code(0).events();
    assert_eq!(tools.len(), 1);
    assert_eq!((&tools[0]["name"], &tools[0]["risk"]), (&"run_shell".into(), &"execute".into()));
    let schema = &tools[0]["schema"];
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
}

#[test]
fn a_plugin_tells_what_it_declares() {
    let world = World::new();
    insta::assert_snapshot!(world.foehn(&["plugins", "inspect", "shell"]).expect_code(0).answer(), @r#"
    plugin     shell
    file       [ROOT]/plugins/libshell.so
    state      ready
    hash       [HASH]
    version    0.1.0 (SDK 1.0.0, ABI 1)
    about      Runs shell commands in the workspace.

    tool       run_shell (execute)
               Run a command line. Each call is a new shell without input or terminal: a cd or variable does not last.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false,"properties":{"command":{"type":"string","description":"For /bin/sh.","maxLength":131071},"working_directory":{"type":"string","description":"Folder of the workspace to run in.","maxLength":4096,"default":"."},"timeout_seconds":{"type":["integer","null"],"minimum":1,"description":"Seconds until it is stopped; 120 if left out, at most 600.","maximum":86400},"separate_streams":{"type":"boolean","description":"Show stdout and stderr apart.","default":false}},"required":["command"]}

    tool       start_process (execute)
               Start a command that goes on after the call, such as a server. Ends with the session.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false,"properties":{"command":{"type":"string","description":"For /bin/sh.","maxLength":131071},"working_directory":{"type":"string","description":"Folder of the workspace to run in.","maxLength":4096,"default":"."}},"required":["command"]}

    tool       list_processes (execute)
               List the processes of start_process, with how they go.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false}

    tool       read_process_output (execute)
               Read what a started process printed, and how it goes.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false,"properties":{"id":{"type":"integer","minimum":1,"description":"From start_process.","maximum":99999},"since":{"type":"integer","minimum":0,"description":"Characters to skip.","maximum":1000000000000,"default":0},"wait_seconds":{"type":"integer","minimum":0,"description":"Seconds to wait for more.","maximum":30,"default":0}},"required":["id"]}

    tool       write_process_input (execute)
               Write to the input of a started process.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false,"properties":{"id":{"type":"integer","minimum":1,"description":"From start_process.","maximum":99999},"text":{"type":"string","description":"What to type, with line ends.","maxLength":32768},"close":{"type":"boolean","description":"End the input after it.","default":false}},"required":["id","text"]}

    tool       stop_process (execute)
               End a started process and its children.
               may touch {"files":"write","network":"opt_in","programs":true,"secrets":false,"ask_user":false,"complete":false}
               arguments {"type":"object","additionalProperties":false,"properties":{"id":{"type":"integer","minimum":1,"description":"From start_process.","maximum":99999}},"required":["id"]}
    "#);
    let run = world.foehn(&["plugins", "inspect", "shel"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"error: there is no plugin `shel` in [ROOT]/plugins; it holds: dotnet, file-rw, scan, shell");
}

#[test]
fn a_second_start_loads_nothing_to_list() {
    let world = World::new();
    let first = world.foehn(&["tools", "list"]).expect_code(0).stdout;
    assert_eq!(world.foehn(&["tools", "list"]).expect_code(0).stdout, first);
}

#[test]
fn completions_are_for_the_named_shell() {
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef foehn"), ("fish", "complete -c foehn")] {
        let script = World::with_plugins(&[]).foehn(&["completions", shell]).expect_code(0).stdout;
        assert!(script.contains(word), "{shell}");
    }
}
