//! What was typed. This module knows words and flags, not what they mean: resolving them against the configuration is
//! [`crate::setup`]'s.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use foehn_provider::offline::{Habit, Shows};

/// Host for LLM agents whose tools are native plugins.
///
/// Without a key or a configuration it runs on an offline stand-in that needs no network. Put a key into the
/// environment (for instance MISTRAL_API_KEY) or a provider into foehn.toml to use a real model.
#[derive(Debug, Parser)]
#[command(name = "foehn", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Command,
}

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    answered, or the command did its work
  1    failed
  2    wrong usage or configuration
  3    stopped by a limit
  4    a call was declined because nobody was there to approve it
  130  cancelled";

/// Flags of every command. Each overrides the environment, which overrides the project's file, which overrides the
/// user's.
#[derive(Debug, Default, Args)]
pub(crate) struct Global {
    /// Folder to work in [default: the current one]
    #[arg(long, short = 'C', global = true, help_heading = "Options of every command", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Read this project file instead of foehn.toml (or .json, .yaml) of the working folder
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Folder with the compiled plugins [default: .plugins]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "DIR")]
    pub(crate) plugins: Option<PathBuf>,

    /// Agent of the configuration to use [default: default]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one prompt to its final answer
    Run(RunArgs),
    /// Talk, line by line
    Chat(ChatArgs),
    /// List, inspect and trust plugins
    #[command(subcommand)]
    Plugins(PluginsCommand),
    /// List tools, or call one as a model would
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Lint, measure, keep and compare what tools promise to a model
    #[command(subcommand)]
    Contract(ContractCommand),
    /// Show the settings in force and where each comes from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List the stored sessions of this folder
    Sessions {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Take back what the last prompt changed, as far as its plugins can; what somebody else changed since stays
    Undo(UndoArgs),
    /// Check this machine: sandbox, plugins, provider, folders
    Doctor {
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script
    Completions { shell: clap_complete::Shell },
    /// Serve a model script over HTTP on loopback, for tests of clients
    #[command(hide = true)]
    ScriptServer {
        script: PathBuf,
        /// 0 takes a free port; the address is printed
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Append each request to this file, one line of JSON each
        #[arg(long, value_name = "FILE")]
        requests: Option<PathBuf>,
    },
}

/// Which model answers.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// offline, mistral, openai, anthropic, gemini or openai-compatible
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// Model name [default: the provider's]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Address of the server, with or without /v1
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Script of answers for the offline stand-in
    #[arg(long, value_name = "FILE")]
    pub(crate) offline_script: Option<PathBuf>,

    /// Bad habit of the stand-in, repeatable; a wrong name lists all
    #[arg(long = "offline-habit", value_name = "NAME", value_parser = habit_names(), hide_possible_values = true)]
    pub(crate) offline_habits: Vec<String>,

    /// Wait for whole answers instead of streaming them
    #[arg(long)]
    pub(crate) no_stream: bool,

    /// Most model calls of one prompt
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_iterations: Option<u32>,
}

/// The habits with what each does, for completions and for the message about a wrong one. Those of a server are left
/// out: between this stand-in and the host is no wire.
fn habit_names() -> PossibleValuesParser {
    let of_a_model = Habit::ALL.iter().filter(|habit| habit.shows() != Shows::Wire);
    of_a_model.map(|habit| PossibleValue::new(habit.name()).help(habit.about())).collect::<Vec<_>>().into()
}

/// Which conversation goes on.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SessionArgs {
    /// Go on with this session
    #[arg(long, value_name = "ID", conflicts_with = "continue_latest")]
    pub(crate) session: Option<String>,

    /// Go on with the latest session of this folder
    #[arg(long = "continue")]
    pub(crate) continue_latest: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArgs {
    /// What to do; `-` reads it from stdin
    pub(crate) prompt: String,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Print one JSON event a line on stdout, nothing else there
    #[arg(long)]
    pub(crate) json: bool,

    /// Approve every call that would be asked about, in this run
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Session to change [default: the latest of this folder]
    pub(crate) session: Option<String>,

    /// List the prompts that changed anything, and change nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// Tell what would be taken back, and change nothing
    #[arg(long, conflicts_with = "list")]
    pub(crate) dry_run: bool,

    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginsCommand {
    /// Every file of the plugin folder with its state
    List {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// All that one plugin declares
    Inspect {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Accept plugins as they are now, by hash; nothing of an unaccepted plugin is ever executed
    Trust {
        #[arg(required = true)]
        names: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Every tool that the agent may call
    List {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Run one tool through the same contract, rules and worker as a model's call, and print what a model would read
    Call {
        name: String,
        /// Arguments as JSON
        #[arg(default_value = "{}")]
        arguments: String,
        /// Approve the call if it would be asked about
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    /// Say what is wrong with the contracts of the tools; exit code 1 when anything of weight is
    Lint {
        /// Only the tools of this plugin
        #[arg(long, value_name = "NAME")]
        plugin: Option<String>,
        /// One JSON object a line
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// Another form of report
        #[arg(long, value_name = "FORM")]
        format: Option<LintFormat>,
    },
    /// Say why a rule of the lint is there, with a bad and a good example
    Explain {
        /// Id of the rule; without one all are listed
        rule: Option<String>,
    },
    /// Say what the definitions of the agent's tools cost; exit code 1 beyond the configured limit
    Budget {
        #[command(flatten)]
        snapshot: SnapshotFile,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Keep the contracts of all tools in a file
    Snapshot {
        #[command(flatten)]
        snapshot: SnapshotFile,
        /// Accept all breaking changes, for a reason that the file keeps
        #[arg(long, value_name = "REASON")]
        accept: Option<String>,
    },
    /// Compare with the kept contracts; exit code 1 when a change breaks what others rely on
    Check {
        #[command(flatten)]
        snapshot: SnapshotFile,
        /// Accept all breaking changes, for a reason that the file keeps
        #[arg(long, value_name = "REASON")]
        accept: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Say which calls of stored sessions would no longer be accepted; nothing is executed
    Replay {
        /// Files of events that `run --json` printed [default: the stored sessions of this folder]
        files: Vec<PathBuf>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Show what becomes of the calls of models with bad habits; nothing is executed
    Trial {
        /// Only the tools of this plugin
        #[arg(long, value_name = "NAME")]
        plugin: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
}

/// Where the contracts are kept.
#[derive(Debug, Args)]
pub(crate) struct SnapshotFile {
    /// The file of the kept contracts
    #[arg(long, value_name = "FILE", default_value = "contract.json")]
    pub(crate) file: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LintFormat {
    /// SARIF 2.1.0, as code scanners read it
    Sarif,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting, its value and its origin; secrets are never shown
    Show {
        #[arg(long)]
        json: bool,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_sound() {
        super::Cli::command().debug_assert();
    }
}
