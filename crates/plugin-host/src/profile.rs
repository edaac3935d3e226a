//! From what a tool declares to what its worker may do: the smaller of its risk and its capabilities.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foehn_plugin_sdk::wire::{Capabilities, FileAccess, Network, Risk, ToolSpec};
use foehn_sandbox::{Limits, Profile};
use serde_json::Value;

use crate::settings::SandboxSettings;

/// What one kind of call may do. Calls of one kind share workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Grant {
    pub files: FileAccess,
    pub programs: bool,
    pub network: bool,
    /// The operator leaves the confinement of what it starts to a launcher.
    pub unconfined: bool,
    /// There is one worker for all of these, and it stays.
    pub lasting: bool,
    /// The risk whose limits these are, for the plugin to know.
    pub risk: Risk,
}

impl Grant {
    /// Nothing: enough to say what the plugin is and to read its configuration.
    pub(crate) const NOTHING: Self = Self {
        files: FileAccess::None,
        programs: false,
        network: false,
        unconfined: false,
        lasting: false,
        risk: Risk::ReadOnly,
    };

    /// For running the tool with its section of the configuration.
    pub(crate) fn execute(tool: &ToolSpec, sandbox: &SandboxSettings, section: Option<&Value>) -> Self {
        let risk = tool.risk.effective();
        let Capabilities { files, network, programs, .. } = tool.capabilities;
        let ceiling = if risk >= Risk::Write { FileAccess::Write } else { FileAccess::Read };
        let programs = programs && risk >= Risk::Execute;
        // Whatever else stands there one day, such as a list of hosts, is less than `on`.
        let switched_on = word(section, "network").map(|word| word == Some("on"));
        Self {
            files: known(files).min(ceiling),
            programs,
            network: sandbox.network
                && match network {
                    Network::Any => switched_on.unwrap_or(true),
                    Network::Configured => section.is_some() && switched_on.unwrap_or(true),
                    Network::OptIn => switched_on.unwrap_or(false),
                    Network::None | Network::Unknown => false,
                },
            unconfined: programs
                && word(section, "confinement") == Some(Some("launcher"))
                && section.is_some_and(|section| {
                    section["launcher"].as_array().is_some_and(|words| !words.is_empty())
                }),
            lasting: tool.lasting,
            risk,
        }
    }

    /// What both may do. Lasting tools share a worker, so each runs under what all of them need.
    #[must_use]
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            files: self.files.max(other.files),
            programs: self.programs || other.programs,
            network: self.network || other.network,
            unconfined: self.unconfined || other.unconfined,
            lasting: self.lasting || other.lasting,
            risk: self.risk.max(other.risk),
        }
    }

    /// For looking at a call of the tool: reads at most, no program, no network.
    pub(crate) fn classify(tool: &ToolSpec) -> Self {
        Self { files: known(tool.capabilities.files).min(FileAccess::Read), ..Self::NOTHING }
    }

    pub(crate) fn profile(
        self,
        workspace: &Path,
        scratch: Option<&Path>,
        sandbox: &SandboxSettings,
    ) -> Profile {
        let mut profile = Profile {
            execute_programs: self.programs,
            network: self.network,
            unconfined: self.unconfined,
            limits: Limits {
                // Programs with a runtime of their own reserve far more than they use.
                address_space: sandbox.limits.address_space.filter(|_| !self.programs),
                data: sandbox.limits.data.filter(|_| self.programs),
                // The others can start none.
                processes: sandbox.limits.processes.filter(|_| self.programs),
                ..sandbox.limits
            },
            ..Profile::default()
        };
        if self.files >= FileAccess::Read {
            profile.read.extend(existing(sandbox.read.iter().cloned()));
        }
        match self.files {
            FileAccess::Write => {
                profile.write.push(workspace.to_path_buf());
                profile.write.extend(existing(sandbox.write.iter().cloned()));
            }
            FileAccess::Read => profile.read.push(workspace.to_path_buf()),
            FileAccess::None | FileAccess::Unknown => {}
        }
        if self.programs {
            let user = UserFolders::of_environment();
            profile.read.extend(existing(user.readable().chain(user.caches())));
            profile.write.extend(scratch.map(Path::to_path_buf));
        }
        profile
    }
}

/// A word of a section: `None` when the key is not there, `Some(None)` when something else is.
fn word<'a>(section: Option<&'a Value>, key: &str) -> Option<Option<&'a str>> {
    section?.get(key).filter(|value| !value.is_null()).map(Value::as_str)
}

/// Access in the words of a newer SDK grants nothing.
fn known(files: FileAccess) -> FileAccess {
    if files == FileAccess::Unknown { FileAccess::None } else { files }
}

fn existing(paths: impl IntoIterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    paths.into_iter().filter(|path| path.exists()).collect()
}

/// What programs of the user read outside of the workspace: tools that are installed in the home folder, their settings
/// without secrets, and the caches of package managers. What a cache holds is run by later builds, so a call may write
/// one only where the operator says so.
struct UserFolders {
    home: Option<PathBuf>,
    cargo: Option<PathBuf>,
    rustup: Option<PathBuf>,
    dotnet: Option<PathBuf>,
    path: Vec<PathBuf>,
}

/// Below the home folder. `.cargo` itself holds the token of the registry, so its parts are named.
const HOME_READABLE: &[&str] = &[
    ".dotnet",
    ".gitconfig",
    ".config/git",
    ".local/bin",
    ".local/lib",
    ".nvm/versions",
    ".pyenv",
    ".sdkman/candidates",
    "go/bin",
    ".bun/bin",
    ".deno/bin",
];
const CARGO_READABLE: &[&str] = &["bin", "env", "config", "config.toml"];
const CARGO_CACHES: &[&str] =
    &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"];
const HOME_CACHES: &[&str] = &[
    ".nuget/packages",
    ".local/share/NuGet",
    ".templateengine",
    ".npm/_cacache",
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    "go/pkg/mod",
    ".gradle/caches",
    ".m2/repository",
];

impl UserFolders {
    fn of_environment() -> Self {
        let home = std::env::home_dir();
        let named = |variable: &str, below_home: &str| {
            let named = std::env::var_os(variable).map(PathBuf::from);
            named.or_else(|| home.as_ref().map(|home| home.join(below_home)))
        };
        Self {
            cargo: named("CARGO_HOME", ".cargo"),
            rustup: named("RUSTUP_HOME", ".rustup"),
            dotnet: std::env::var_os("DOTNET_ROOT").map(PathBuf::from),
            path: std::env::var_os("PATH")
                .map(|path| std::env::split_paths(&path).collect())
                .unwrap_or_default(),
            home,
        }
    }

    fn readable(&self) -> impl Iterator<Item = PathBuf> {
        let home = below(self.home.as_deref(), HOME_READABLE);
        let cargo = below(self.cargo.as_deref(), CARGO_READABLE);
        home.chain(cargo).chain(self.rustup.clone()).chain(self.dotnet.clone()).chain(
            self.path
                .iter()
                .filter(|folder| folder.is_absolute() && folder.as_path() != Path::new("/"))
                .cloned(),
        )
    }

    fn caches(&self) -> impl Iterator<Item = PathBuf> {
        below(self.home.as_deref(), HOME_CACHES).chain(below(self.cargo.as_deref(), CARGO_CACHES))
    }
}

fn below(folder: Option<&Path>, names: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    let folder = folder.map(Path::to_path_buf);
    names.iter().filter_map(move |name| folder.as_ref().map(|folder| folder.join(name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(risk: Risk, capabilities: Capabilities, configured: bool, expected: (FileAccess, bool, bool)) {
        let section = json!({});
        let configured = configured.then_some(&section);
        let tool = ToolSpec { risk, capabilities, ..ToolSpec::default() };
        let sandbox = SandboxSettings::default();
        let Grant { files, programs, network, .. } = Grant::execute(&tool, &sandbox, configured);
        assert_eq!((files, programs, network), expected, "{risk:?} {capabilities:?}");
        let offline = SandboxSettings { network: false, ..sandbox };
        assert!(!Grant::execute(&tool, &offline, configured).network);
        let looking = Grant::classify(&tool);
        assert!(looking.files <= FileAccess::Read && !looking.programs && !looking.network);
    }

    #[test]
    fn the_smaller_of_risk_and_capabilities() {
        use FileAccess::{None, Read, Write};
        let everything = Capabilities::NONE.write_files().programs().any_network();
        check(Risk::ReadOnly, Capabilities::NONE, true, (None, false, false));
        check(Risk::ReadOnly, everything, true, (Read, false, true));
        check(Risk::Write, everything, true, (Write, false, true));
        check(Risk::Execute, everything, true, (Write, true, true));
        check(Risk::Destructive, everything, true, (Write, true, true));
        check(Risk::Undefined, everything, true, (Write, true, true));
        check(Risk::Undefined, Capabilities::NONE, true, (None, false, false));
        check(Risk::Execute, Capabilities::NONE.read_files(), true, (Read, false, false));
        check(Risk::ReadOnly, Capabilities::NONE.configured_network(), false, (None, false, false));
        check(Risk::ReadOnly, Capabilities::NONE.configured_network(), true, (None, false, true));
        let unknown =
            Capabilities { files: FileAccess::Unknown, network: Network::Unknown, ..Capabilities::NONE };
        check(Risk::Destructive, unknown, true, (None, false, false));
    }

    #[test]
    fn the_operator_switches_the_network_and_the_confinement() {
        let check = |network, section: Value, expected: (bool, bool)| {
            let capabilities = Capabilities { network, ..Capabilities::NONE.write_files().programs() };
            let tool = ToolSpec { risk: Risk::Execute, capabilities, ..ToolSpec::default() };
            let grant = Grant::execute(&tool, &SandboxSettings::default(), Some(&section));
            assert_eq!((grant.network, grant.unconfined), expected, "{network:?} {section}");
        };
        use Network::{Any, Configured, None, OptIn};
        for (network, untold) in [(Any, true), (Configured, true), (OptIn, false), (None, false)] {
            check(network, json!({}), (untold, false));
            check(network, json!({"network": null}), (untold, false));
            check(network, json!({"network": "off"}), (false, false));
            check(network, json!({"network": ["crates.io"]}), (false, false));
            check(network, json!({"network": "on"}), (network != None, false));
        }
        check(None, json!({"confinement": "launcher", "launcher": ["bwrap"]}), (false, true));
        check(None, json!({"confinement": "launcher", "launcher": []}), (false, false));
        check(None, json!({"confinement": "kernel", "launcher": ["nice"]}), (false, false));
    }

    #[test]
    fn profiles_name_the_workspace_once() {
        let (workspace, sandbox) = (Path::new("/work"), SandboxSettings::default());
        let grant = |files| Grant { files, ..Grant::NOTHING };
        let folders = |files| {
            let profile = grant(files).profile(workspace, None, &sandbox);
            (profile.read, profile.write)
        };
        let here = || vec![workspace.to_path_buf()];
        assert_eq!(folders(FileAccess::None), (vec![], vec![]));
        assert_eq!(folders(FileAccess::Read), (here(), vec![]));
        assert_eq!(folders(FileAccess::Write), (vec![], here()));
        let programs = Grant { programs: true, ..grant(FileAccess::Read) };
        let profile = programs.profile(workspace, Some(Path::new("/scratch")), &sandbox);
        assert!(profile.write.contains(&PathBuf::from("/scratch")) && profile.limits.address_space.is_none());
    }
}
