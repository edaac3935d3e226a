//! A program with subcommands as a tool: less than a shell, and enough to build and test with.
//!
//! The author writes tables: which subcommands there are, how risky each is, which options may be used, how to get the
//! program where it is missing. From them come the tool's schema, its operations, its checks and its result. The arguments
//! are a list that goes to the program as it is, never through a shell; options that are in no table and paths outside of the
//! workspace are refused before anything runs.
//!
//! It is no boundary against the project: a build runs what the project's files say. That boundary is the sandbox around the
//! worker, and the operator's permission for the operation.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use foehn_plugin_sdk::prelude::*;
//! use foehn_plugin_sdk::process::wrapper::{OptionRule, Subcommand, Wrapper, without};
//!
//! pub struct Npm;
//!
//! impl Wrapper for Npm {
//!     const NAME: &'static str = "npm";
//!     const PROGRAM: &'static str = "npm";
//!     const DESCRIPTION: &'static str = "Run an npm subcommand. Safer than run_shell: prefer it for npm projects.";
//!     const INSTALL: &'static str = "install Node.js (https://nodejs.org), which brings it";
//!     const SUBCOMMANDS: &'static [Subcommand] = &[
//!         Subcommand::new("ci", "Install the locked packages.").options(&[OptionRule::flags("--ignore-scripts")]),
//!         Subcommand::new("test", "Run the tests.").rest_to_program(),
//!         Subcommand::new("run", "Run a script of package.json.").rest_to_program(),
//!         Subcommand::new("ls", "List the packages.").options(&[
//!             OptionRule::flags("-a --all -l --long"),
//!             OptionRule::values("--depth"),
//!         ]),
//!         Subcommand::telling("--version", "info", "Tell the version."),
//!     ];
//!     const OPTIONS: &'static [OptionRule] = &[
//!         OptionRule::flags("--if-present --json --silent -s --workspaces"),
//!         OptionRule::values("-w --workspace --omit --include"),
//!         OptionRule::refused("--script-shell", "it names a program to run"),
//!         OptionRule::refused("-g --global --location", "global packages are outside of the workspace"),
//!     ];
//!     type Settings = foehn_plugin_sdk::process::wrapper::NoSettings;
//!
//!     fn reduce<'a>(&self, _: &Subcommand, output: &'a str) -> Cow<'a, str> {
//!         without(output, |line| line.starts_with("npm notice") || line.contains("npm fund"))
//!     }
//! }
//!
//! export_plugin!(Npm);
//! # fn main() {
//! # let manifest = foehn_plugin().manifest();
//! # assert!(manifest.error.is_none());
//! # assert_eq!(manifest.tools[0].operations.len(), 5);
//! # foehn_plugin_testkit::assert_contract!(foehn_plugin(), 1_000);
//! # }
//! ```

mod call;
mod check;
mod place;
mod report;
mod table;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::settings::is_there;
use super::{Background, Command, ProgramSettings, working_directory};
use crate::tool::Tool;
use crate::undo;
use crate::wire::{Capabilities, Classification, Network, OperationSpec, Preview, Risk, Undone};
use crate::workspace::{RelPath, Workspace, WorkspaceError};
use crate::{Cx, Error, LintException, Output, Result};

pub use call::{NoSettings, WrapperArgs, WrapperConfig};
use check::{ArgumentError, Rules};
use place::Place;
use report::{Report, WHOLE_CHARACTERS};
pub use table::{OptionRule, Subcommand, Unlisted};

/// A program with subcommands. Whoever implements it has a [`Tool`].
pub trait Wrapper: Send + Sync + 'static {
    /// Name of the tool.
    const NAME: &'static str;

    /// The program, as it is found in `PATH` and named in messages.
    const PROGRAM: &'static str;

    /// What the tool is for, for the model.
    const DESCRIPTION: &'static str;

    /// How to get the program where it is missing, as the end of "`npm` was not found: ...".
    const INSTALL: &'static str;

    /// What may run.
    const SUBCOMMANDS: &'static [Subcommand];

    /// Options of all subcommands.
    const OPTIONS: &'static [OptionRule] = &[];

    /// What becomes of other options.
    const UNLISTED: Unlisted = Unlisted::Refused;

    /// Whether programs have a network when the operator's section does not say: [`OptIn`](Network::OptIn) is no,
    /// [`Any`](Network::Any) is yes.
    const NETWORK: Network = Network::OptIn;

    /// Parts of what it prints when it wanted a network and had none, beside the usual ones. Then the operator's remedy is told.
    const MISSES_NETWORK: &'static [&'static str] = &[];

    /// Seconds a call gets when neither it nor the operator says.
    const TIMEOUT_SECONDS: u64 = 300;

    /// Most seconds a call may ask for when the operator does not say.
    const MOST_SECONDS: u64 = 1800;

    /// As [`Tool::ON_DEMAND`]: for a program of one language.
    const ON_DEMAND: bool = false;

    /// Findings of `foehn contract lint` that are meant to be.
    const LINT_EXCEPTIONS: &'static [LintException] = &[];

    /// Keys of the operator's section beside those that every wrapper has; [`NoSettings`] for none.
    type Settings: DeserializeOwned + JsonSchema + Default + Send + Sync + 'static;

    /// Refuses what no table can: the index of the argument, and the reason for the model.
    ///
    /// # Errors
    /// The first argument that may not reach the program.
    fn check(
        &self,
        subcommand: &Subcommand,
        arguments: &[String],
        settings: &Self::Settings,
    ) -> std::result::Result<(), (usize, String)> {
        let (_, _, _) = (subcommand, arguments, settings);
        Ok(())
    }

    /// An argument as the program reads a path in it, for one with an own way of quoting.
    fn read(argument: &str) -> String {
        argument.to_owned()
    }

    /// The last word on how it is started, for instance its environment.
    ///
    /// # Errors
    /// When it cannot be started.
    fn prepare(
        &self,
        command: Command,
        workspace: &Workspace,
        cx: &Cx<'_, WrapperConfig<Self::Settings>>,
    ) -> Result<Command> {
        let (_, _) = (workspace, cx);
        Ok(command)
    }

    /// The output without what is no news; [`without`] helps. All of it is kept in a file when lines are missing here.
    fn reduce<'a>(&self, subcommand: &Subcommand, output: &'a str) -> Cow<'a, str> {
        let _ = subcommand;
        Cow::Borrowed(output)
    }
}

/// The lines of a text that are no noise.
pub fn without(text: &str, mut is_noise: impl FnMut(&str) -> bool) -> Cow<'_, str> {
    let lines = text.split_inclusive('\n');
    Cow::Owned(lines.filter(|line| !is_noise(line.trim_end_matches('\n'))).collect())
}

impl<W: Wrapper> Tool for W {
    const NAME: &'static str = W::NAME;
    const DESCRIPTION: &'static str = W::DESCRIPTION;
    const RISK: Risk = Risk::Execute;
    const CAPABILITIES: Capabilities =
        Capabilities { network: W::NETWORK, ..Capabilities::NONE.write_files().programs() };
    const CLASSIFIES: bool = true;
    const ON_DEMAND: bool = W::ON_DEMAND;
    const LINT_EXCEPTIONS: &'static [LintException] = W::LINT_EXCEPTIONS;

    type Args = WrapperArgs<W>;
    type Out = Output;
    type Config = WrapperConfig<W::Settings>;

    fn run(&self, args: WrapperArgs<W>, cx: &Cx<'_, Self::Config>) -> Result<Output> {
        let workspace = cx.workspace()?;
        let plan = Plan::new(self, &workspace, &args, cx)?;
        let config = cx.config();
        let program = program::<W>(config);
        let mut command = Command::new(&program)
            .args(args.subcommand.split(' '))
            .args(&args.arguments)
            .timeout(plan.timeout)
            .output_limit(WHOLE_CHARACTERS.max(config.output_characters))
            .background(Background::Kill)
            .keep_whole(&report::file_name::<W>(plan.subcommand))
            .configured(&config.programs);
        command = if plan.subcommand.tells {
            command.current_dir("/")
        } else {
            command.in_workspace(&workspace, &plan.folder)?
        };
        command = self.prepare(command, &workspace, cx)?;
        let run = || command.run(cx).map_err(|error| explained::<W>(error, &program, &config.programs));
        // One that only tells something changes nothing.
        let (output, lost) =
            if plan.subcommand.tells { (run()?, None) } else { undo::surveyed(cx, &workspace, run)? };
        let folder = if plan.subcommand.tells { "/".to_owned() } else { plan.folder.to_string() };
        let report = Report {
            wrapper: self,
            subcommand: plan.subcommand,
            workspace: &workspace,
            folder: &folder,
            limit: config.output_characters,
            network: config.programs.has_network(W::NETWORK == Network::Any),
            agent: cx.agent(),
        };
        let result = report.of(&output)?;
        Ok(lost.into_iter().fold(result, Output::note))
    }

    fn undo(&self, _: WrapperArgs<W>, cx: &Cx<'_, Self::Config>) -> Result<Option<Undone>> {
        undo::undo_survey::<Self, _>(cx)
    }

    fn undo_preview(&self, _: WrapperArgs<W>, cx: &Cx<'_, Self::Config>) -> Result<Option<Undone>> {
        undo::preview_survey::<Self, _>(cx)
    }

    fn operations() -> Vec<OperationSpec> {
        let mut operations: Vec<OperationSpec> = Vec::new();
        for subcommand in W::SUBCOMMANDS {
            if !operations.iter().any(|operation| operation.name == subcommand.operation) {
                let operation = OperationSpec::new(subcommand.operation, subcommand.description);
                operations.push(operation.risk(subcommand.risk));
            }
        }
        operations
    }

    fn classify(&self, args: &WrapperArgs<W>, cx: &Cx<'_, Self::Config>) -> Result<Classification> {
        let subcommand = subcommand(args)?;
        let mut classification = Classification::operation(subcommand.operation);
        for operation in &mut classification.operations {
            operation.risk = Some(subcommand.risk);
        }
        let directory = match Plan::new(self, &cx.workspace()?, args, cx) {
            Ok(_) if subcommand.tells => PathBuf::from("/"),
            Ok(plan) => plan.folder.as_path().to_owned(),
            Err(error) => {
                classification.refusal = Some(error.message().to_owned());
                args.working_directory.clone().into()
            }
        };
        classification.preview = Some(Preview::Command { command: args.shown(), directory });
        Ok(classification)
    }
}

/// A call that may run.
struct Plan {
    subcommand: &'static Subcommand,
    folder: RelPath,
    timeout: Duration,
}

impl Plan {
    fn new<W: Wrapper>(
        wrapper: &W,
        workspace: &Workspace,
        args: &WrapperArgs<W>,
        cx: &Cx<'_, WrapperConfig<W::Settings>>,
    ) -> Result<Self> {
        let config = cx.config();
        let subcommand = subcommand(args)?;
        let timeout = timeout::<W>(args.timeout_seconds, config)?;
        let folder = working_directory(workspace, &args.working_directory)?;
        let rules = Rules {
            program: W::PROGRAM,
            subcommand,
            common: W::OPTIONS,
            extra: &config.allowed_options,
            unlisted: W::UNLISTED,
            read: W::read,
            place: Place {
                directory: real(workspace, folder.as_path()).unwrap_or_default(),
                roots: vec![workspace.root().to_owned(), cx.workspace_root().to_owned()],
            },
        };
        let refused = |error: ArgumentError| Error::refused(error.to_string());
        rules.check(&args.arguments, |path| real(workspace, path)).map_err(refused)?;
        wrapper.check(subcommand, &args.arguments, &config.own).map_err(|(index, reason)| {
            let argument = args.arguments.get(index).cloned().unwrap_or_default();
            refused(ArgumentError::Refused { index, argument, reason })
        })?;
        Ok(Self { subcommand, folder, timeout })
    }
}

fn subcommand<W: Wrapper>(args: &WrapperArgs<W>) -> Result<&'static Subcommand> {
    let found = W::SUBCOMMANDS.iter().find(|subcommand| subcommand.name == args.subcommand);
    found.ok_or_else(|| Error::invalid_arguments(format!("there is no subcommand `{}`", args.subcommand)))
}

fn timeout<W: Wrapper>(asked: Option<u64>, config: &WrapperConfig<W::Settings>) -> Result<Duration> {
    let most = config.max_timeout_seconds.unwrap_or(W::MOST_SECONDS).max(1);
    match asked {
        None => {
            let default = config.default_timeout_seconds.unwrap_or(W::TIMEOUT_SECONDS);
            Ok(Duration::from_secs(default.clamp(1, most)))
        }
        Some(0) => Err(Error::invalid_arguments("timeout_seconds is 0; give at least 1")),
        Some(asked) if asked > most => {
            Err(Error::invalid_arguments(format!("timeout_seconds is {asked}; at most {most} are allowed")))
        }
        Some(asked) => Ok(Duration::from_secs(asked)),
    }
}

/// Where the links of a path lead; `None` = out of the workspace. A text that is no path leads nowhere.
fn real(workspace: &Workspace, path: &Path) -> Option<PathBuf> {
    let as_it_is = Some(path.to_owned());
    let Some(text) = path.to_str().filter(|text| !text.is_empty()) else { return as_it_is };
    let followed = workspace.resolve(text).and_then(|path| workspace.real(&path));
    match followed {
        Ok(followed) if followed.is_root() => Some(PathBuf::new()),
        Ok(followed) => Some(followed.as_path().to_owned()),
        Err(
            WorkspaceError::Outside { .. }
            | WorkspaceError::LinkOutside { .. }
            | WorkspaceError::TooManyLinks { .. },
        ) => None,
        Err(_) => as_it_is,
    }
}

fn program<W: Wrapper>(config: &WrapperConfig<W::Settings>) -> PathBuf {
    config.program.clone().unwrap_or_else(|| PathBuf::from(W::PROGRAM))
}

/// The error of a program that did not start, with what to do when it is not there.
fn explained<W: Wrapper>(error: Error, program: &Path, settings: &ProgramSettings) -> Error {
    if !settings.launcher.is_empty() || is_there(program) {
        return error;
    }
    let program = program.display();
    Error::failed(format!(
        "`{program}` was not found: {}, or set `program` in this tool's configuration",
        W::INSTALL
    ))
    .executed(false)
}
