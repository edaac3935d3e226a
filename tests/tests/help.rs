//! The first thing a person reads.

use foehn_tests::World;

#[track_caller]
fn help(arguments: &[&str]) -> String {
    World::with_plugins(&[]).foehn(arguments).expect_code(0).stdout
}

#[test]
fn the_whole() {
    insta::assert_snapshot!(help(&["--help"]), @"
    Host for LLM agents whose tools are native plugins.

    Without a key or a configuration it runs on an offline stand-in that needs no network. Put a key
    into the environment (for instance MISTRAL_API_KEY) or a provider into foehn.toml to use a real
    model.

    Usage: foehn [OPTIONS] <COMMAND>

    Commands:
      run          Run one prompt to its final answer
      chat         Talk, line by line
      plugins      List, inspect and trust plugins
      tools        List tools, or call one as a model would
      contract     Lint, measure, keep and compare what tools promise to a model
      config       Show the settings in force and where each comes from
      sessions     List the stored sessions of this folder
      undo         Take back what the last prompt changed, as far as its plugins can; what somebody else
                   changed since stays
      doctor       Check this machine: sandbox, plugins, provider, folders
      completions  Print a completion script
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Options of every command:
      -C, --directory <DIR>
              Folder to work in [default: the current one]

          --config <FILE>
              Read this project file instead of foehn.toml (or .json, .yaml) of the working folder

          --plugins <DIR>
              Folder with the compiled plugins [default: .plugins]

          --agent <NAME>
              Agent of the configuration to use [default: default]

    Exit codes:
      0    answered, or the command did its work
      1    failed
      2    wrong usage or configuration
      3    stopped by a limit
      4    a call was declined because nobody was there to approve it
      130  cancelled
    ");
}

#[test]
fn run() {
    insta::assert_snapshot!(help(&["run", "--help"]), @r#"
    Run one prompt to its final answer

    Usage: foehn run [OPTIONS] <PROMPT>

    Arguments:
      <PROMPT>  What to do; `-` reads it from stdin

    Options:
          --provider <NAME>          offline, mistral, openai, anthropic, gemini or openai-compatible
          --model <NAME>             Model name [default: the provider's]
          --base-url <URL>           Address of the server, with or without /v1
          --offline-script <FILE>    Script of answers for the offline stand-in
          --offline-habit <NAME>     Bad habit of the stand-in, repeatable; a wrong name lists all
          --no-stream                Wait for whole answers instead of streaming them
          --max-tool-iterations <N>  Most model calls of one prompt
          --session <ID>             Go on with this session
          --continue                 Go on with the latest session of this folder
          --json                     Print one JSON event a line on stdout, nothing else there
          --yes                      Approve every call that would be asked about, in this run
      -h, --help                     Print help

    Options of every command:
      -C, --directory <DIR>  Folder to work in [default: the current one]
          --config <FILE>    Read this project file instead of foehn.toml (or .json, .yaml) of the
                             working folder
          --plugins <DIR>    Folder with the compiled plugins [default: .plugins]
          --agent <NAME>     Agent of the configuration to use [default: default]

    Exit codes:
      0    answered, or the command did its work
      1    failed
      2    wrong usage or configuration
      3    stopped by a limit
      4    a call was declined because nobody was there to approve it
      130  cancelled
    "#);
}

#[test]
fn a_wrong_word_is_told_the_right_one() {
    let run = World::with_plugins(&[]).foehn(&["plugin", "list"]).expect_code(2);
    insta::assert_snapshot!(run.talk(), @"
    error: unrecognized subcommand 'plugin'

      tip: a similar subcommand exists: 'plugins'

    Usage: foehn [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}
