//! What an operator says about the programs of one tool: which environment they get, what they are started through, and
//! what their confinement is. One struct, so that every tool that starts programs has the same keys.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Command;

/// The keys that every tool which starts programs has in its section of the configuration. A tool takes them in with
/// `#[serde(flatten)]` and hands them to [`Command::configured`]:
///
/// ```
/// use foehn_plugin_sdk::prelude::*;
/// use foehn_plugin_sdk::process::{Command, ProgramSettings};
///
/// #[config]
/// #[derive(Default)]
/// struct GreetConfig {
///     /// Whom to greet.
///     name: String,
///     #[serde(flatten)]
///     programs: ProgramSettings,
/// }
/// # fn run(cx: &Cx<'_, GreetConfig>) -> Result<String> {
/// let output = Command::new("echo").arg(&cx.config().name).configured(&cx.config().programs).run(cx)?;
/// # Ok(output.text())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProgramSettings {
    /// Whether programs may use the network: `on` or `off`. Left out, the tool's own default holds.
    pub network: Option<Switch>,
    /// A program and its arguments that every program of this tool is started through, such as `["nice", "-n", "10"]`.
    pub launcher: Vec<String>,
    /// Who confines the programs: the kernel rules of the host, or the launcher alone.
    pub confinement: Boundary,
    /// Environment variables that programs get beside the few harmless ones.
    pub env: BTreeMap<String, String>,
    /// Names of environment variables of the host that programs get as well.
    pub env_pass: Vec<String>,
}

impl ProgramSettings {
    /// Whether the operator says that there is a network, where `default` is what the tool has without a word.
    pub fn has_network(&self, default: bool) -> bool {
        self.network.map_or(default, |switch| switch == Switch::On)
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Switch {
    On,
    Off,
}

/// Who confines the programs of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// The host, by rules of the kernel. They also hold for the launcher.
    #[default]
    Kernel,
    /// The launcher alone. A launcher that mounts or makes namespaces (`bwrap`) needs this: the kernel's file rules forbid
    /// every mount.
    Launcher,
}

impl Command {
    /// As the operator configured it: through the launcher, with the variables of `env` and `env_pass`. What the tool itself
    /// sets later wins over these.
    pub fn configured(mut self, settings: &ProgramSettings) -> Self {
        self.launcher = settings.launcher.iter().map(Into::into).collect();
        self.passed.extend(settings.env_pass.iter().map(Into::into));
        self.environment.splice(0..0, settings.env.iter().map(|(name, value)| (name.into(), value.into())));
        self
    }
}

/// Whether a program is there: at its path, or by its name in `PATH`.
pub(super) fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}
