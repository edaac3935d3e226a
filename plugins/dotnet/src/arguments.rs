//! Which arguments may reach `dotnet`: everything that stays in the workspace and runs nothing but the subcommand itself.
//!
//! The build runs what the project says, and a project is a file of the workspace; that much is the subcommand's own nature
//! and needs the operator's leave. What is refused here is what an *argument* could add to it: response files, properties
//! that name programs or scripts, loggers loaded from libraries, template packages, and paths outside. Properties are an
//! allow list, because the ones that end in a started program cannot be listed.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::Subcommand;

/// Most arguments of one call, and most bytes of all together.
const MOST_ARGUMENTS: usize = 256;
const MOST_BYTES: usize = 64 * 1024;

/// MSBuild properties that choose how to build, not what to run; compared without regard to case.
const HARMLESS_PROPERTIES: [&str; 58] = [
    "AnalysisLevel",
    "AnalysisMode",
    "ArtifactsPath",
    "AssemblyName",
    "AssemblyVersion",
    "Authors",
    "BaseIntermediateOutputPath",
    "BaseOutputPath",
    "CheckForOverflowUnderflow",
    "CollectCoverage",
    "Configuration",
    "ContinuousIntegrationBuild",
    "CoverletOutput",
    "CoverletOutputFormat",
    "DebugSymbols",
    "DebugType",
    "DefineConstants",
    "Deterministic",
    "EmbedUntrackedSources",
    "EnforceCodeStyleInBuild",
    "EnableNETAnalyzers",
    "FileVersion",
    "GenerateDocumentationFile",
    "ImplicitUsings",
    "IncludeSymbols",
    "InformationalVersion",
    "InvariantGlobalization",
    "IsPackable",
    "IsTestProject",
    "LangVersion",
    "MSBuildTreatWarningsAsErrors",
    "NoWarn",
    "Nullable",
    "NuGetAudit",
    "Optimize",
    "OutDir",
    "OutputPath",
    "PackageVersion",
    "Platform",
    "PlatformTarget",
    "PublishAot",
    "PublishReadyToRun",
    "PublishSingleFile",
    "PublishTrimmed",
    "RestoreLockedMode",
    "RestorePackagesWithLockFile",
    "RunAnalyzers",
    "RuntimeIdentifier",
    "SelfContained",
    "TargetFramework",
    "Threshold",
    "TreatWarningsAsErrors",
    "UseAppHost",
    "Version",
    "VersionPrefix",
    "VersionSuffix",
    "WarningLevel",
    "WarningsAsErrors",
];

/// Why an argument does not reach `dotnet`.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ArgumentError {
    #[error("`dotnet {0}` takes no arguments")]
    NoneTaken(&'static str),
    #[error("there are more than {MOST_ARGUMENTS} arguments, or more than {} KiB of them", MOST_BYTES / 1024)]
    TooMany,
    #[error("arguments[{index}] has a NUL character")]
    Nul { index: usize },
    #[error("arguments[{index}] `{argument}` is refused: {reason}")]
    Refused { index: usize, argument: String, reason: String },
}

/// The folder that arguments are relative to, and the folder that they must stay in.
#[derive(Debug)]
pub(crate) struct Place {
    /// The working folder, relative to the workspace.
    pub(crate) directory: PathBuf,
    /// The workspace, in each spelling it is known by.
    pub(crate) roots: Vec<PathBuf>,
}

impl Place {
    /// Whether a text, taken for a path, leads out of the workspace. `real` follows the links of a path inside; its answer
    /// is `None` when they lead out.
    fn leads_out(&self, text: &str, real: &impl Fn(&Path) -> Option<PathBuf>) -> bool {
        self.follow(text, real).is_none()
    }

    fn follow(&self, text: &str, real: &impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
        // MSBuild takes a backslash for a slash on every system.
        let slashed = text.replace('\\', "/");
        let path = Path::new(&slashed);
        let mut place = self.directory.clone();
        let relative = if path.is_absolute() {
            place.clear();
            self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?
        } else {
            path
        };
        for component in relative.components() {
            match component {
                Component::Normal(name) => place.push(name),
                // The system goes up from where a link leads, not from where it stands.
                Component::ParentDir => {
                    place = real(&place)?;
                    if !place.pop() {
                        return None;
                    }
                }
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        real(&place)
    }
}

/// Looks at every argument. `real` follows the links of a path of the workspace; `None` = they lead out.
pub(crate) fn check(
    subcommand: Subcommand,
    arguments: &[String],
    extra_properties: &[String],
    place: &Place,
    real: impl Fn(&Path) -> Option<PathBuf>,
) -> Result<(), ArgumentError> {
    if subcommand.is_info() && !arguments.is_empty() {
        return Err(ArgumentError::NoneTaken(subcommand.as_str()));
    }
    if arguments.len() > MOST_ARGUMENTS || arguments.iter().map(String::len).sum::<usize>() > MOST_BYTES {
        return Err(ArgumentError::TooMany);
    }
    let mut for_program = false;
    let mut expected = Expected::Anything;
    for (index, argument) in arguments.iter().enumerate() {
        if argument.contains('\0') {
            return Err(ArgumentError::Nul { index });
        }
        // After `--`, `run` hands everything to the program as it is; `test` reads run settings there.
        if for_program && subcommand == Subcommand::Run {
            continue;
        }
        let refused = |reason| ArgumentError::Refused { index, argument: argument.clone(), reason };
        let option = ArgumentOption::parse(argument);
        let verdict = match (std::mem::take(&mut expected), &option) {
            (Expected::Property, _) => properties(argument, extra_properties),
            (Expected::Scripts, _) => scripts(argument),
            (Expected::Anything, Some(option)) => option.check(subcommand, extra_properties, &mut expected),
            (Expected::Anything, None) => positional(subcommand, index, argument),
        };
        verdict.map_err(refused)?;
        for_program |= argument == "--";
        paths_stay(argument, place, &real).map_err(refused)?;
    }
    Ok(())
}

/// What the argument before asks of this one.
#[derive(Default)]
enum Expected {
    #[default]
    Anything,
    /// `NAME=VALUE` after `--property`.
    Property,
    /// `yes`, `no` or `prompt` after `--allow-scripts`.
    Scripts,
}

/// An argument that begins with a dash: its name in lower case, and its value if that is in the same argument.
struct ArgumentOption<'a> {
    name: String,
    value: Option<&'a str>,
    double_dash: bool,
}

impl<'a> ArgumentOption<'a> {
    fn parse(argument: &'a str) -> Option<Self> {
        let rest = argument.strip_prefix('-')?;
        let (rest, double_dash) = rest.strip_prefix('-').map_or((rest, false), |rest| (rest, true));
        let (name, value) = match rest.split_once([':', '=']) {
            Some((name, value)) => (name, Some(value)),
            None => (rest, None),
        };
        // `-pNAME=VALUE`: a one-letter option takes its value without anything in between.
        if !double_dash
            && name.len() > 1
            && name.starts_with(['p', 'P'])
            && rest.as_bytes().get(name.len()) == Some(&b'=')
            && !is_property_option(&name.to_lowercase())
        {
            return Some(Self { name: "p".to_owned(), value: Some(&rest[1..]), double_dash });
        }
        Some(Self { name: name.to_lowercase(), value, double_dash })
    }

    fn check(&self, subcommand: Subcommand, extra: &[String], expected: &mut Expected) -> Result<(), String> {
        let name = self.name.as_str();
        if is_property_option(name) {
            match self.value {
                Some(value) => return properties(value, extra),
                None => *expected = Expected::Property,
            }
        }
        match name {
            "tool-path" => Err("a tool path runs programs from anywhere".to_owned()),
            "interactive" => Err("nobody is there to answer".to_owned()),
            "logger" | "l" if subcommand != Subcommand::Test || (name == "logger" && !self.double_dash) => {
                Err("a logger is a library that would be loaded and run".to_owned())
            }
            "distributedlogger" | "dl" => {
                Err("a logger is a library that would be loaded and run".to_owned())
            }
            "allow-scripts" => match self.value {
                Some(value) => scripts(value),
                None => {
                    *expected = Expected::Scripts;
                    Ok(())
                }
            },
            "install" | "i" | "uninstall" | "u" | "update-apply" | "update-check"
                if subcommand == Subcommand::New =>
            {
                Err("template packages are installed for the whole user account, outside the workspace"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn is_property_option(name: &str) -> bool {
    matches!(name, "p" | "property" | "rp" | "restoreproperty")
}

fn positional(subcommand: Subcommand, index: usize, argument: &str) -> Result<(), String> {
    if argument.starts_with('@') {
        return Err("a response file hides its arguments; give them one by one".to_owned());
    }
    if subcommand == Subcommand::New && index == 0 && matches!(argument, "install" | "uninstall" | "update") {
        return Err(
            "template packages are installed for the whole user account, outside the workspace".to_owned()
        );
    }
    Ok(())
}

/// `NAME=VALUE`, or several of them with `;` between.
fn properties(text: &str, extra: &[String]) -> Result<(), String> {
    if text.contains("$(") || text.contains("@(") || text.contains('%') {
        return Err("a property's value may not be an MSBuild expression".to_owned());
    }
    let text = text.replace('"', "");
    if !text.contains('=') {
        return Err("a property is written NAME=VALUE".to_owned());
    }
    for piece in text.split([';', ',']) {
        // A piece without `=` goes on with the value before it, as in `NoWarn=1;2`.
        let Some((name, _)) = piece.split_once('=') else { continue };
        let name = name.trim();
        let same = |known: &str| known.eq_ignore_ascii_case(name);
        if !HARMLESS_PROPERTIES.into_iter().any(same) && !extra.iter().any(|known| same(known)) {
            return Err(format!(
                "property `{name}` is not among the allowed ones (the operator can add it to `allowed_properties`)"
            ));
        }
    }
    Ok(())
}

fn scripts(value: &str) -> Result<(), String> {
    if value.eq_ignore_ascii_case("no") { Ok(()) } else { Err("a template's scripts may not run".to_owned()) }
}

/// Every part of an argument that could be taken for a path must stay in the workspace.
fn paths_stay(argument: &str, place: &Place, real: &impl Fn(&Path) -> Option<PathBuf>) -> Result<(), String> {
    let decoded = percent_decoded(&argument.replace('"', ""));
    let whole = std::iter::once(decoded.as_str());
    // The value of a one-letter option may follow without anything in between.
    let attached =
        decoded.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let mut candidates = whole.chain(attached).chain(decoded.split([';', ',', '=', ':', '|'])).map(str::trim);
    match candidates.find(|candidate| place.leads_out(candidate, real)) {
        Some(candidate) => Err(format!("`{candidate}` leads out of the workspace{}", hint(candidate))),
        None => Ok(()),
    }
}

fn hint(candidate: &str) -> &'static str {
    if candidate.starts_with("//") {
        "; addresses are not taken either, except by `run` after `--`"
    } else if candidate.starts_with('/') {
        "; options are written with a dash"
    } else {
        ""
    }
}

/// MSBuild writes special characters as `%2e`.
fn percent_decoded(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        decoded.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(subcommand: Subcommand, arguments: &[&str]) -> String {
        let place = Place { directory: "app".into(), roots: vec!["/ws".into()] };
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        // `app/out` is a link that leads out, `app/up` one to the workspace itself.
        let real = |path: &Path| match path.strip_prefix("app/up") {
            Ok(below) => Some(below.to_owned()),
            Err(_) => (!path.starts_with("app/out")).then(|| path.to_owned()),
        };
        match check(subcommand, &arguments, &["MyFlag".to_owned()], &place, real) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[track_caller]
    fn check_ok(subcommand: Subcommand, arguments: &[&str]) {
        assert_eq!(verdict(subcommand, arguments), "ok", "{arguments:?}");
    }

    #[track_caller]
    fn check_refused(subcommand: Subcommand, arguments: &[&str], reason: &str) {
        let index = arguments.len() - 1;
        let expected = format!("arguments[{index}] `{}` is refused: {reason}", arguments[index]);
        assert_eq!(verdict(subcommand, arguments), expected);
    }

    #[test]
    fn ordinary_arguments_pass() {
        use Subcommand::{Build, Clean, New, Restore, Run, Test};
        check_ok(New, &["console", "--name", "Hello", "-o", "src/Hello", "--framework", "net8.0"]);
        check_ok(New, &["list", "--language", "C#"]);
        check_ok(New, &["webapi", "--allow-scripts", "no"]);
        check_ok(
            Build,
            &[
                "../app/App.csproj",
                "-c",
                "Release",
                "--no-restore",
                "-v:q",
                "-p:Version=1.2.3",
                "-bl:logs/log.binlog",
            ],
        );
        check_ok(
            Build,
            &[
                "/ws/app/App.csproj",
                "--property",
                "configuration=Debug;NoWarn=CS1591,CS0168",
                "-p:MyFlag=true",
            ],
        );
        check_ok(
            Test,
            &[
                "--filter",
                "FullyQualifiedName~A.B&(Category=x|Priority=1)",
                "--logger",
                "trx;LogFileName=a.trx",
            ],
        );
        check_ok(Test, &["-l", "console;verbosity=detailed", "--", "RunConfiguration.MaxCpuCount=2"]);
        check_ok(Run, &["--project", "App", "--", "@x", "/etc/hosts", "--urls", "http://localhost:5000"]);
        check_ok(Restore, &["--locked-mode", "--packages", "../packages"]);
        check_ok(Clean, &[]);
    }

    #[test]
    fn what_runs_something_else_is_refused() {
        use Subcommand::{Build, New, Restore, Run, Test};
        let property = |name| {
            format!(
                "property `{name}` is not among the allowed ones (the operator can add it to `allowed_properties`)"
            )
        };
        check_refused(Build, &["@args.rsp"], "a response file hides its arguments; give them one by one");
        check_refused(Build, &["-p:PreBuildEvent=id"], &property("PreBuildEvent"));
        check_refused(Build, &["-P:Configuration=Debug;PostBuildEvent=id"], &property("PostBuildEvent"));
        check_refused(Build, &["--property", "Version=1,CscToolPath=x"], &property("CscToolPath"));
        check_refused(
            Build,
            &["-property:\"CustomBeforeMicrosoftCommonTargets\"=x"],
            &property("CustomBeforeMicrosoftCommonTargets"),
        );
        check_refused(Run, &["-pRunCommand=id"], &property("RunCommand"));
        check_refused(Restore, &["-rp:RestoreSources=x"], &property("RestoreSources"));
        check_refused(
            Build,
            &["-p:Version=$([System.IO.File]::ReadAllText(a))"],
            "a property's value may not be an MSBuild expression",
        );
        check_refused(Build, &["-p", "App.csproj"], "a property is written NAME=VALUE");
        let logger = "a logger is a library that would be loaded and run";
        check_refused(Build, &["-logger:Class,lib.dll"], logger);
        check_refused(Build, &["--logger"], logger);
        check_refused(Test, &["-logger:Class,lib.dll"], logger);
        check_refused(Test, &["-dl:A,a.dll"], logger);
        check_refused(Run, &["--tool-path=x"], "a tool path runs programs from anywhere");
        check_refused(Restore, &["--interactive"], "nobody is there to answer");
        let packages = "template packages are installed for the whole user account, outside the workspace";
        check_refused(New, &["install"], packages);
        check_refused(New, &["-i"], packages);
        check_refused(New, &["console", "--allow-scripts", "Yes"], "a template's scripts may not run");
        check_refused(New, &["console", "--allow-scripts:yes"], "a template's scripts may not run");
    }

    #[test]
    fn what_leaves_the_workspace_is_refused() {
        use Subcommand::{Build, New, Restore, Test};
        check_refused(Build, &["../../x.csproj"], "`../../x.csproj` leads out of the workspace");
        check_refused(Build, &["-o", r"..\..\out"], r"`..\..\out` leads out of the workspace");
        check_refused(Build, &["-o", "%2e%2e/../out"], "`../../out` leads out of the workspace");
        check_refused(
            New,
            &["console", "-o", "/tmp/x"],
            "`/tmp/x` leads out of the workspace; options are written with a dash",
        );
        check_refused(
            New,
            &["console", "-o/tmp/x"],
            "`/tmp/x` leads out of the workspace; options are written with a dash",
        );
        check_refused(
            Build,
            &["/ws-evil/x"],
            "`/ws-evil/x` leads out of the workspace; options are written with a dash",
        );
        check_refused(
            Build,
            &["/p:Version=1"],
            "`/p:Version=1` leads out of the workspace; options are written with a dash",
        );
        check_refused(
            Build,
            &["-p:OutputPath=\"/tmp/x\""],
            "`/tmp/x` leads out of the workspace; options are written with a dash",
        );
        check_refused(Test, &["--results-directory", "out/x"], "`out/x` leads out of the workspace");
        check_refused(Build, &["up/../x"], "`up/../x` leads out of the workspace");
        check_ok(Build, &["up/x", "a/../../x"]);
        check_refused(
            Test,
            &["--", "RunConfiguration.TestAdaptersPaths=/out"],
            "`/out` leads out of the workspace; options are written with a dash",
        );
        check_refused(
            Restore,
            &["--source", "https://packages.example/v3"],
            "`//packages.example/v3` leads out of the workspace; addresses are not taken either, except by `run` after `--`",
        );
    }

    #[test]
    fn faults_of_the_list_itself() {
        assert_eq!(verdict(Subcommand::Info, &["x"]), "`dotnet --info` takes no arguments");
        assert_eq!(verdict(Subcommand::Build, &["a\0b"]), "arguments[0] has a NUL character");
        assert_eq!(
            verdict(Subcommand::Build, &["x"; MOST_ARGUMENTS + 1]),
            "there are more than 256 arguments, or more than 64 KiB of them"
        );
    }
}
