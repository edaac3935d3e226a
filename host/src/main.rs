//! `foehn`: parse, wire, run. The one place where everything meets, and nothing is decided.

mod agent_tools;
mod cli;
mod command;
mod conversation;
mod gate;
mod interrupt;
mod logging;
mod memory_journal;
mod one_call;
mod output;
mod plugin_values;
mod setup;
mod trust_prompt;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::cli::{Cli, Command, ConfigCommand, ModelArgs, PluginsCommand, ToolsCommand};
use crate::setup::{Setup, UsageError};

fn main() -> ExitCode {
    // First of all, before a thread or a line of configuration exists: this process may be a worker.
    foehn_plugin_host::become_worker_if_asked();
    foehn_sandbox::harden_host();
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::remark(&format!("error: no asynchronous runtime can be started: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = match runtime.block_on(dispatch(cli)) {
        Ok(code) => code,
        // Whoever read the output has seen enough; as other programs end when their pipe is closed.
        Err(error) if is_closed_pipe(&error) => 128 + SIGPIPE,
        Err(error) => {
            output::remark(&format!("error: {}", output::told(&error)));
            if error.is::<UsageError>() { 2 } else { 1 }
        }
    };
    // Whoever still waits for a line of stdin must not keep the process.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// The number of the signal that ends a program which does not look at its pipe.
const SIGPIPE: u8 = 13;

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

async fn dispatch(cli: Cli) -> anyhow::Result<u8> {
    let global = cli.global;
    let setup = |model: &ModelArgs| Setup::resolve(&global, model);
    let plain = || Setup::resolve(&global, &ModelArgs::default());
    match cli.command {
        Command::Run(arguments) => command::run::run(&setup(&arguments.model)?, arguments).await,
        Command::Chat(arguments) => command::chat::run(&setup(&arguments.model)?, arguments).await,
        Command::Plugins(PluginsCommand::List { json }) => command::plugins::list(&plain()?, json).await,
        Command::Plugins(PluginsCommand::Inspect { name, json }) => {
            command::plugins::inspect(&plain()?, &name, json).await
        }
        Command::Plugins(PluginsCommand::Trust { names }) => command::plugins::trust(&plain()?, &names).await,
        Command::Tools(ToolsCommand::List { json }) => command::tools::list(&plain()?, json).await,
        Command::Tools(ToolsCommand::Call { name, arguments, yes }) => {
            command::tools::call(&plain()?, name, arguments, yes).await
        }
        Command::Contract(command) => command::contract::run(&plain()?, command).await,
        Command::Config(ConfigCommand::Show { json }) => command::config::show(&plain()?, json),
        Command::Sessions { json } => command::sessions::list(&plain()?, json).await,
        Command::Undo(arguments) => command::undo::run(&plain()?, &arguments).await,
        Command::Doctor { json } => command::doctor::run(&plain()?, json).await,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "foehn", &mut std::io::stdout());
            Ok(0)
        }
        Command::ScriptServer { script, port, requests } => {
            command::script_server::run(&script, port, requests).await
        }
    }
}
