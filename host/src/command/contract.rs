//! `foehn contract`: what tools promise to a model, looked at before and without one.

mod budget;
mod change;
mod lint;
mod replay;
mod trial;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use foehn_contract::snapshot::Snapshot;
use foehn_plugin_host::PluginSet;
use foehn_ports::Toolbox as _;
use foehn_protocol::ToolSpec;
use foehn_terminal::ExitCode;

use crate::cli::{ContractCommand, SnapshotFile};
use crate::output::remark;
use crate::setup::Setup;

pub(crate) async fn run(setup: &Setup, command: ContractCommand) -> Result<ExitCode> {
    match command {
        ContractCommand::Explain { rule } => lint::explain(rule.as_deref()),
        ContractCommand::Lint { plugin, json, format } => {
            let tools = Tools::load(setup).await?;
            let code = lint::lint(&tools.of_plugin(plugin.as_deref())?, json, format);
            tools.close().await;
            code
        }
        ContractCommand::Budget { snapshot, json } => {
            let tools = Tools::load(setup).await?;
            let code = budget::budget(setup, &tools, &path(setup, &snapshot), json);
            tools.close().await;
            code
        }
        ContractCommand::Snapshot { snapshot, accept } => {
            let tools = Tools::load(setup).await?;
            let code = change::snapshot(&tools.all, &path(setup, &snapshot), accept.as_deref());
            tools.close().await;
            code
        }
        ContractCommand::Check { snapshot, accept, json } => {
            let tools = Tools::load(setup).await?;
            let code = change::check(&tools.all, &path(setup, &snapshot), accept.as_deref(), json);
            tools.close().await;
            code
        }
        ContractCommand::Trial { plugin, json } => {
            let tools = Tools::load(setup).await?;
            let code = trial::trial(setup, &tools, plugin.as_deref(), json);
            tools.close().await;
            code
        }
        ContractCommand::Replay { files, json } => {
            let tools = Tools::load(setup).await?;
            let code = replay::replay(setup, &tools, &files, json).await;
            tools.close().await;
            code
        }
    }
}

/// The tools of all plugins, whichever of them the agent may call.
struct Tools {
    plugins: Arc<PluginSet>,
    all: Vec<Arc<ToolSpec>>,
    /// Names of all plugins, also of those that are not ready.
    names: BTreeSet<String>,
}

impl Tools {
    async fn load(setup: &Setup) -> Result<Self> {
        let plugins = Arc::new(setup.load_plugins(None).await?);
        // A contract that is not looked at must not look sound.
        for warning in plugins.warnings() {
            remark(&format!("warning: {warning}"));
        }
        let names = plugins.listing().into_iter().map(|listed| listed.name).collect();
        Ok(Self { all: plugins.tools(), plugins, names })
    }

    fn of_plugin(&self, plugin: Option<&str>) -> Result<Vec<Arc<ToolSpec>>> {
        let Some(plugin) = plugin else { return Ok(self.all.clone()) };
        if !self.names.contains(plugin) {
            let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
            bail!("there is no plugin `{plugin}`; there are: {}", known.join(", "));
        }
        let tools: Vec<_> = self.all.iter().filter(|tool| tool.plugin == plugin).cloned().collect();
        if tools.is_empty() {
            bail!("plugin `{plugin}` offers no tool; `foehn plugins inspect {plugin}` says why");
        }
        Ok(tools)
    }

    async fn close(&self) {
        self.plugins.shutdown().await;
    }
}

fn path(setup: &Setup, snapshot: &SnapshotFile) -> PathBuf {
    setup.loaded.folder.join(&snapshot.file)
}

/// `None` when there is no file.
fn read(path: &Path) -> Result<Option<Snapshot>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Snapshot::read(&text).with_context(|| path.display().to_string())?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Puts a whole new file in place of the old one, or leaves that as it is.
fn write(path: &Path, snapshot: &Snapshot) -> Result<()> {
    let text = snapshot.write()?;
    let replace = || -> io::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        let mut beside = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // For everybody that the user's own mask lets read: it goes into a repository.
            beside.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut file = beside.prefix(".contract-").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    replace().with_context(|| format!("{} cannot be written", path.display()))
}

/// `1 tool`, `2 tools`.
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
