//! The plugin `dotnet`: runs allowed subcommands of the `dotnet` command line.
//!
//! The frame is the SDK's: a list of subcommands, arguments that go to the program one by one and never through a shell,
//! paths that stay in the workspace. Here stands what is special about `dotnet`: which of its options would run something
//! else, what keeps its servers from outliving a call, and what of its output is news.

mod arguments;
mod news;

use std::borrow::Cow;
use std::path::PathBuf;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::Command;
use foehn_plugin_sdk::process::wrapper::{Subcommand, Unlisted, Wrapper, WrapperConfig};
use foehn_plugin_sdk::workspace::WorkspaceError;

pub(crate) const NEW: &str = "new";
pub(crate) const RUN: &str = "run";
pub(crate) const TEST: &str = "test";
/// The operation of the subcommands that only tell something.
const INFO: &str = "info";
const ABOUT_INFO: &str = "Tell about the installed SDKs and runtimes, and show help.";
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

/// What the operator may say beside what every wrapped program takes.
#[config]
#[derive(Clone, Default)]
pub struct DotnetSettings {
    /// MSBuild properties that calls may set besides those that are always allowed.
    allowed_properties: Vec<String>,
}

impl Wrapper for Dotnet {
    const NAME: &'static str = "dotnet";
    const PROGRAM: &'static str = "dotnet";
    const DESCRIPTION: &'static str = "Run a dotnet subcommand. Prefer it to run_shell for .NET work.";
    const INSTALL: &'static str = "install the .NET SDK (https://dotnet.microsoft.com/download, or the package \
                                   `dotnet-sdk-8.0` or later of the system)";
    const SUBCOMMANDS: &'static [Subcommand] = &[
        Subcommand::new(NEW, "Make files from a template."),
        Subcommand::new("build", "Build a project."),
        Subcommand::new(RUN, "Build and run a project.").rest_to_program(),
        Subcommand::new(TEST, "Build and run a project's tests."),
        Subcommand::new("restore", "Restore a project's packages."),
        Subcommand::new("clean", "Delete what a build made."),
        Subcommand::new("format", "Format the sources of a project."),
        Subcommand::telling("--info", INFO, ABOUT_INFO),
        Subcommand::telling("--list-sdks", INFO, ABOUT_INFO),
        Subcommand::telling("--list-runtimes", INFO, ABOUT_INFO),
        Subcommand::telling("--help", INFO, ABOUT_INFO),
    ];
    // Templates and MSBuild bring options of their own, so they cannot be listed; `check` knows the dangerous ones.
    const UNLISTED: Unlisted = Unlisted::Passed;
    // `restore` fetches packages. The test runner speaks with its hosts over loopback, which not every system gives apart.
    const MISSES_NETWORK: &'static [&'static str] = &[
        "error NU1301",
        "warning NU1301",
        "Unable to load the service index",
        "SocketException",
        "Failed to connect to testhost",
        "failed to connect to testhost",
    ];

    type Settings = DotnetSettings;

    fn check(
        &self,
        subcommand: &Subcommand,
        arguments: &[String],
        settings: &DotnetSettings,
    ) -> std::result::Result<(), (usize, String)> {
        arguments::check(subcommand.name(), arguments, &settings.allowed_properties)
    }

    fn read(argument: &str) -> String {
        arguments::read(argument)
    }

    fn prepare(
        &self,
        mut command: Command,
        workspace: &Workspace,
        cx: &Cx<'_, WrapperConfig<DotnetSettings>>,
    ) -> Result<Command> {
        for (name, value) in NO_SERVERS {
            command = command.env(name, value);
        }
        if !cx.config().programs.has_network(false) {
            // Without a network it would try for long to learn which packages are known to be unsafe.
            command = command.env("NuGetAudit", "false");
        }
        if cx.risk_profile().is_none() {
            return Ok(command);
        }
        let home = home(workspace)?;
        Ok(command.env("DOTNET_CLI_HOME", &home).env("NUGET_PACKAGES", home.join("packages")))
    }

    fn reduce<'a>(&self, subcommand: &Subcommand, output: &'a str) -> Cow<'a, str> {
        news::reduce(subcommand, output)
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
