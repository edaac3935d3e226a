//! The plugin `dotnet`: runs allowed subcommands of the `dotnet` command line.
//!
//! Less than a shell: the subcommand comes from a list, the arguments go to the program one by one and never through a shell,
//! and arguments that would run something else or leave the workspace are refused. It is no boundary against the project
//! itself, whose build and tests run what they say; that boundary is the sandbox around the worker.

mod arguments;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::{Background, Command, DEFAULT_OUTPUT_LIMIT};
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use arguments::Place;

/// No build needs more; what does belongs into a file of the project.
const MOST_ARGUMENTS: usize = 100;
/// What a call may ask for whatever is configured: a day.
const LONGEST_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;
/// The operation of the subcommands that only tell something.
const INFO: &str = "info";
/// Servers that a build would leave behind to make the next one faster. None outlives its call here.
const NO_SERVERS: [(&str, &str); 3] = [
    ("MSBUILDDISABLENODEREUSE", "1"),
    ("DOTNET_CLI_USE_MSBUILD_SERVER", "0"),
    ("UseSharedCompilation", "false"),
];
/// Where `dotnet` keeps its own files and packages when the sandbox keeps it out of the user's home.
const HOME: &str = ".foehn/dotnet";

export_plugin!(Dotnet);

/// The tool `dotnet`.
#[derive(Debug)]
pub struct Dotnet;

/// Arguments of `dotnet`.
#[args]
pub struct DotnetArgs {
    /// What to do.
    subcommand: Subcommand,
    /// Its arguments, one item each, without shell quoting. Paths stay in the workspace.
    #[serde(default)]
    #[schemars(length(max = MOST_ARGUMENTS), inner(length(max = MAX_PATH_BYTES)))]
    arguments: Vec<String>,
    /// Folder to run in, of the workspace; the workspace itself if left out.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    working_directory: String,
    /// Seconds until it is stopped; 300 if left out, at most 1800.
    #[schemars(range(min = 1, max = LONGEST_TIMEOUT_SECONDS))]
    timeout_seconds: Option<u64>,
}

/// The subcommands that may run.
#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Subcommand {
    New,
    Build,
    Run,
    Test,
    Restore,
    Clean,
    #[serde(rename = "--info")]
    Info,
    #[serde(rename = "--list-sdks")]
    ListSdks,
    #[serde(rename = "--list-runtimes")]
    ListRuntimes,
    #[serde(rename = "--help")]
    Help,
}

/// Configuration of `dotnet`.
#[config]
pub struct DotnetConfig {
    /// The program: a name to look up in PATH, or an absolute path.
    program: PathBuf,
    /// MSBuild properties that calls may set besides those that are always allowed.
    allowed_properties: Vec<String>,
    /// Seconds a call gets when it does not say.
    default_timeout_seconds: u64,
    /// Most seconds a call may ask for.
    max_timeout_seconds: u64,
    /// Most characters of output in a result: half from its beginning, half from its end.
    output_characters: usize,
}

impl Default for DotnetConfig {
    fn default() -> Self {
        Self {
            program: "dotnet".into(),
            allowed_properties: Vec::new(),
            default_timeout_seconds: 300,
            max_timeout_seconds: 1800,
            output_characters: DEFAULT_OUTPUT_LIMIT,
        }
    }
}

impl Subcommand {
    /// As it stands on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Build => "build",
            Self::Run => "run",
            Self::Test => "test",
            Self::Restore => "restore",
            Self::Clean => "clean",
            Self::Info => "--info",
            Self::ListSdks => "--list-sdks",
            Self::ListRuntimes => "--list-runtimes",
            Self::Help => "--help",
        }
    }

    /// Whether it only tells something.
    pub(crate) fn is_info(self) -> bool {
        matches!(self, Self::Info | Self::ListSdks | Self::ListRuntimes | Self::Help)
    }

    fn operation(self) -> &'static str {
        if self.is_info() { INFO } else { self.as_str() }
    }

    fn risk(self) -> Risk {
        match self {
            Self::Info | Self::ListSdks | Self::ListRuntimes | Self::Help => Risk::ReadOnly,
            Self::New | Self::Build | Self::Run | Self::Test | Self::Restore | Self::Clean => Risk::Execute,
        }
    }
}

impl Tool for Dotnet {
    const NAME: &'static str = "dotnet";
    const DESCRIPTION: &'static str = "Run a dotnet subcommand. Safer than run_shell: prefer it for .NET work. Options that run \
                                       other programs, response files and paths outside the workspace are refused.";
    const RISK: Risk = Risk::Execute;
    // `restore` fetches packages, and the test runner talks to its hosts over loopback.
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files().programs().any_network();
    const CLASSIFIES: bool = true;

    type Args = DotnetArgs;
    type Out = Output;
    type Config = DotnetConfig;

    fn run(&self, args: DotnetArgs, cx: &Cx<'_, DotnetConfig>) -> Result<Output> {
        let workspace = cx.workspace()?;
        let Plan { folder, timeout } = Plan::new(&workspace, &args, cx)?;
        let config = cx.config();
        let mut command = Command::new(&config.program)
            .arg(args.subcommand.as_str())
            .args(&args.arguments)
            .in_workspace(&workspace, &folder)?
            .timeout(timeout)
            .output_limit(config.output_characters)
            .background(Background::Kill);
        for (name, value) in NO_SERVERS {
            command = command.env(name, value);
        }
        if cx.risk_profile().is_some() {
            let home = home(&workspace)?;
            command = command.env("DOTNET_CLI_HOME", &home).env("NUGET_PACKAGES", home.join("packages"));
        }
        let output = command.run(cx).map_err(|error| explained(error, &config.program))?;
        report::report(&output, args.subcommand, &folder)
    }

    fn operations() -> Vec<OperationSpec> {
        let spec = |subcommand: Subcommand, description: &str| {
            OperationSpec::new(subcommand.operation(), description).risk(subcommand.risk())
        };
        vec![
            spec(Subcommand::Info, "Tell about the installed SDKs and runtimes, and show help."),
            spec(Subcommand::New, "Make files from a template."),
            spec(Subcommand::Build, "Build a project."),
            spec(Subcommand::Run, "Build and run a project."),
            spec(Subcommand::Test, "Build and run a project's tests."),
            spec(Subcommand::Restore, "Restore a project's packages."),
            spec(Subcommand::Clean, "Delete what a build made."),
        ]
    }

    fn classify(&self, args: &DotnetArgs, cx: &Cx<'_, DotnetConfig>) -> Result<Classification> {
        let mut classification = Classification::operation(args.subcommand.operation());
        for operation in &mut classification.operations {
            operation.risk = Some(args.subcommand.risk());
        }
        let directory = match Plan::new(&cx.workspace()?, args, cx) {
            Ok(plan) => plan.folder.as_path().to_owned(),
            Err(error) => {
                classification.refusal = Some(error.message().to_owned());
                args.working_directory.clone().into()
            }
        };
        classification.preview = Some(Preview::Command { command: shown(args), directory });
        Ok(classification)
    }
}

/// A call that may run.
struct Plan {
    folder: RelPath,
    timeout: Duration,
}

impl Plan {
    fn new(workspace: &Workspace, args: &DotnetArgs, cx: &Cx<'_, DotnetConfig>) -> Result<Self> {
        let config = cx.config();
        let timeout = timeout(args.timeout_seconds, config)?;
        let folder = folder(workspace, &args.working_directory)?;
        let place = Place {
            directory: real(workspace, folder.as_path()).unwrap_or_default(),
            roots: vec![workspace.root().to_owned(), cx.workspace_root().to_owned()],
        };
        arguments::check(args.subcommand, &args.arguments, &config.allowed_properties, &place, |path| {
            real(workspace, path)
        })
        .map_err(|error| Error::refused(error.to_string()))?;
        Ok(Self { folder, timeout })
    }
}

fn timeout(asked: Option<u64>, config: &DotnetConfig) -> Result<Duration> {
    let most = config.max_timeout_seconds.max(1);
    match asked {
        None => Ok(Duration::from_secs(config.default_timeout_seconds.clamp(1, most))),
        Some(0) => Err(Error::invalid_arguments("timeout_seconds is 0; give at least 1")),
        Some(asked) if asked > most => {
            Err(Error::invalid_arguments(format!("timeout_seconds is {asked}; at most {most} are allowed")))
        }
        Some(asked) => Ok(Duration::from_secs(asked)),
    }
}

fn folder(workspace: &Workspace, given: &str) -> Result<RelPath> {
    let given = if given.is_empty() { "." } else { given };
    let path =
        workspace.resolve(given).context("working_directory").map_err(|error| error.executed(false))?;
    workspace.open_directory(&path).context("working_directory").map_err(|error| error.executed(false))?;
    Ok(path)
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

/// Makes the folder for what `dotnet` keeps, with a word to git that it is nobody else's.
fn home(workspace: &Workspace) -> Result<PathBuf> {
    let path = workspace.resolve(HOME)?;
    let rules = workspace.resolve(&format!("{HOME}/.gitignore"))?;
    match workspace.create_new(&rules, b"*\n") {
        Ok(()) | Err(WorkspaceError::AlreadyExists { .. }) => Ok(workspace.absolute(&path)),
        Err(error) => Err(Error::from(error).executed(false)),
    }
}

/// The error of a program that did not start, with what to do when it is not there.
fn explained(error: Error, program: &Path) -> Error {
    if is_there(program) {
        return error;
    }
    let program = program.display();
    Error::failed(format!(
        "`{program}` was not found: install the .NET SDK (https://dotnet.microsoft.com/download, or the package \
         `dotnet-sdk-8.0` or later of the system), or set `program` in this tool's configuration"
    ))
    .executed(false)
}

fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

/// The command line for a person: arguments with anything unusual in them are quoted.
fn shown(args: &DotnetArgs) -> String {
    let plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|character| character.is_alphanumeric() || "-_./:=+,@%".contains(character))
    };
    let quoted = args.arguments.iter().map(|argument| {
        if plain(argument) { argument.clone() } else { format!("'{}'", argument.replace('\'', r"'\''")) }
    });
    let words: Vec<String> =
        ["dotnet".to_owned(), args.subcommand.as_str().to_owned()].into_iter().chain(quoted).collect();
    words.join(" ")
}

fn here() -> String {
    ".".to_owned()
}
