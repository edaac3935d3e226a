//! A plugin in its confined worker, called as the engine calls it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use foehn_plugin_host::{PluginSet, Settings, TrustMode};
use foehn_ports::{CallContext, CancellationToken, OutcomeKind, ToolRequest, Toolbox};
use foehn_protocol::{CallId, SessionId, ToolSpec};
use serde_json::json;
use tempfile::TempDir;

use crate::runtime;
use crate::table::Table;

/// A tool that does next to nothing: what is measured is the way to it.
const TOOL: &str = "len";

/// Counts what a start does that finds every plugin in the cache: nothing but looking.
pub(crate) fn measure_warm_start(host: &Path, plugins: &Path, table: &mut Table) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let settings = settings(host, plugins, folder.path());
    let stats = runtime()?.block_on(async {
        PluginSet::load(settings.clone()).await.shutdown().await;
        let plugins = PluginSet::load(settings).await;
        let stats = plugins.stats();
        plugins.shutdown().await;
        stats
    });
    let work = stats.workers_spawned + stats.hashes_computed;
    table.at_most("workers started and files hashed at a warm start", work as f64, "", 0.0);
    Ok(())
}

fn settings(host: &Path, plugins: &Path, folder: &Path) -> Settings {
    let mut settings = Settings::new(plugins, folder.join("state"), folder);
    settings.trust = TrustMode::Any;
    settings.worker_program = Some(host.to_owned());
    settings
}

/// The smallest plugin, loaded.
#[derive(Debug)]
pub(crate) struct Worker {
    plugins: PluginSet,
    spec: Arc<ToolSpec>,
    _folder: TempDir,
}

impl Worker {
    pub(crate) async fn start(host: &Path, plugins: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let plugins = PluginSet::load(settings(host, plugins, folder.path())).await;
        let spec = plugins.find(TOOL).with_context(|| format!("no plugin brings the tool `{TOOL}`"))?;
        Ok(Self { plugins, spec, _folder: folder })
    }

    pub(crate) async fn call(&self, text: &str) -> Result<Duration> {
        let request = ToolRequest {
            spec: Arc::clone(&self.spec),
            call: CallId::from("bench0000"),
            session: SessionId::from("bench"),
            agent: "default".to_owned(),
            caller: None,
            arguments: json!({"text": text}).to_string(),
            timeout: Duration::from_secs(60),
        };
        let started = Instant::now();
        let context = CallContext { cancel: CancellationToken::new(), progress: &|_| () };
        let outcome = self.plugins.execute(&request, context).await;
        let time = started.elapsed();
        if outcome.kind != OutcomeKind::Ok {
            bail!("the worker's call ended as {:?}: {}", outcome.kind, outcome.message);
        }
        Ok(time)
    }

    pub(crate) async fn stop(self) {
        self.plugins.shutdown().await;
    }
}
