//! Which arguments may reach `dotnet`: everything that stays in the workspace and runs nothing but the subcommand itself.
//!
//! The build runs what the project says, and a project is a file of the workspace; that much is the subcommand's own nature
//! and needs the operator's leave. What is refused here is what an *argument* could add to it: response files, properties
//! that name programs or scripts, loggers loaded from libraries, and template packages. Properties are an allow list, because
//! the ones that end in a started program cannot be listed. Paths are looked at by the SDK.

use crate::{NEW, RUN, TEST};

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

/// Looks at every argument; the error is its index and the reason. `test` and `run` have words of their own after `--`.
pub(crate) fn check(
    subcommand: &str,
    arguments: &[String],
    extra_properties: &[String],
) -> Result<(), (usize, String)> {
    let mut for_program = false;
    let mut expected = Expected::Anything;
    for (index, argument) in arguments.iter().enumerate() {
        // After `--`, `run` hands everything to the program as it is; `test` reads run settings there.
        if for_program && subcommand == RUN {
            continue;
        }
        let option = ArgumentOption::parse(argument);
        let verdict = match (std::mem::take(&mut expected), &option) {
            (Expected::Property, _) => properties(argument, extra_properties),
            (Expected::Scripts, _) => scripts(argument),
            (Expected::Anything, Some(option)) => option.check(subcommand, extra_properties, &mut expected),
            (Expected::Anything, None) => positional(subcommand, index, argument),
        };
        verdict.map_err(|reason| (index, reason))?;
        for_program |= argument == "--";
    }
    Ok(())
}

/// An argument as MSBuild reads a path in it: without quotes, `%2e` as the character it is, a backslash as a slash.
pub(crate) fn read(argument: &str) -> String {
    percent_decoded(&argument.replace('"', "")).replace('\\', "/")
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

    fn check(&self, subcommand: &str, extra: &[String], expected: &mut Expected) -> Result<(), String> {
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
            "logger" | "l" if subcommand != TEST || (name == "logger" && !self.double_dash) => {
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
            "install" | "i" | "uninstall" | "u" | "update-apply" | "update-check" if subcommand == NEW => {
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

fn positional(subcommand: &str, index: usize, argument: &str) -> Result<(), String> {
    if argument.starts_with('@') {
        return Err("a response file hides its arguments; give them one by one".to_owned());
    }
    if subcommand == NEW && index == 0 && matches!(argument, "install" | "uninstall" | "update") {
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

    #[track_caller]
    fn check_ok(subcommand: &str, arguments: &[&str]) {
        check_verdict(subcommand, arguments, Ok(()));
    }

    #[track_caller]
    fn check_refused(subcommand: &str, arguments: &[&str], reason: &str) {
        check_verdict(subcommand, arguments, Err((arguments.len() - 1, reason.to_owned())));
    }

    #[track_caller]
    fn check_verdict(subcommand: &str, arguments: &[&str], expected: Result<(), (usize, String)>) {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        assert_eq!(check(subcommand, &arguments, &["MyFlag".to_owned()]), expected, "{arguments:?}");
    }

    #[test]
    fn ordinary_arguments_pass() {
        check_ok("new", &["console", "--name", "Hello", "-o", "src/Hello", "--framework", "net8.0"]);
        check_ok("new", &["list", "--language", "C#"]);
        check_ok("new", &["webapi", "--allow-scripts", "no"]);
        check_ok(
            "build",
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
            "build",
            &[
                "/ws/app/App.csproj",
                "--property",
                "configuration=Debug;NoWarn=CS1591,CS0168",
                "-p:MyFlag=true",
            ],
        );
        check_ok(
            "test",
            &[
                "--filter",
                "FullyQualifiedName~A.B&(Category=x|Priority=1)",
                "--logger",
                "trx;LogFileName=a.trx",
            ],
        );
        check_ok("test", &["-l", "console;verbosity=detailed", "--", "RunConfiguration.MaxCpuCount=2"]);
        check_ok("run", &["--project", "App", "--", "@x", "/etc/hosts", "--urls", "http://localhost:5000"]);
        check_ok("restore", &["--locked-mode", "--packages", "../packages"]);
        check_ok("clean", &[]);
    }

    #[test]
    fn what_runs_something_else_is_refused() {
        let property = |name| {
            format!(
                "property `{name}` is not among the allowed ones (the operator can add it to `allowed_properties`)"
            )
        };
        check_refused("build", &["@args.rsp"], "a response file hides its arguments; give them one by one");
        check_refused("build", &["-p:PreBuildEvent=id"], &property("PreBuildEvent"));
        check_refused("build", &["-P:Configuration=Debug;PostBuildEvent=id"], &property("PostBuildEvent"));
        check_refused("build", &["--property", "Version=1,CscToolPath=x"], &property("CscToolPath"));
        check_refused(
            "build",
            &["-property:\"CustomBeforeMicrosoftCommonTargets\"=x"],
            &property("CustomBeforeMicrosoftCommonTargets"),
        );
        check_refused("run", &["-pRunCommand=id"], &property("RunCommand"));
        check_refused("restore", &["-rp:RestoreSources=x"], &property("RestoreSources"));
        check_refused(
            "build",
            &["-p:Version=$([System.IO.File]::ReadAllText(a))"],
            "a property's value may not be an MSBuild expression",
        );
        check_refused("build", &["-p", "App.csproj"], "a property is written NAME=VALUE");
        let logger = "a logger is a library that would be loaded and run";
        check_refused("build", &["-logger:Class,lib.dll"], logger);
        check_refused("build", &["--logger"], logger);
        check_refused("test", &["-logger:Class,lib.dll"], logger);
        check_refused("test", &["-dl:A,a.dll"], logger);
        check_refused("run", &["--tool-path=x"], "a tool path runs programs from anywhere");
        check_refused("restore", &["--interactive"], "nobody is there to answer");
        let packages = "template packages are installed for the whole user account, outside the workspace";
        check_refused("new", &["install"], packages);
        check_refused("new", &["-i"], packages);
        check_refused("new", &["console", "--allow-scripts", "Yes"], "a template's scripts may not run");
        check_refused("new", &["console", "--allow-scripts:yes"], "a template's scripts may not run");
    }

    #[test]
    fn paths_in_the_spelling_of_msbuild() {
        for (argument, path) in [
            (r"..\..\out", "../../out"),
            ("%2e%2e/../out", "../../out"),
            ("-p:OutputPath=\"/x\"", "-p:OutputPath=/x"),
        ] {
            assert_eq!(read(argument), path);
        }
    }
}
