//! A plugin in its confined worker, called as the engine calls it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use foehn_plugin_host::{PluginSet, Settings, TrustMode};
use foehn_ports::{CallContext, CancellationToken, OutcomeKind, ToolRequest, Toolbox};
use foehn_protocol::{CallId, Part, SessionId, ToolSpec};
use serde_json::Value;
use tempfile::TempDir;

use crate::runtime;
use crate::table::Table;

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

/// One tool of the plugins in a folder, with whatever worker it needs.
#[derive(Debug)]
pub(crate) struct Worker {
    plugins: PluginSet,
    spec: Arc<ToolSpec>,
    _folder: TempDir,
}

impl Worker {
    pub(crate) async fn start(host: &Path, plugins: &Path, tool: &str) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let plugins = PluginSet::load(settings(host, plugins, folder.path())).await;
        let spec = plugins.find(tool).with_context(|| format!("no plugin brings the tool `{tool}`"))?;
        Ok(Self { plugins, spec, _folder: folder })
    }

    /// How long a call takes.
    pub(crate) async fn call(&self, arguments: &Value) -> Result<Duration> {
        Ok(self.execute(arguments).await?.0)
    }

    /// What a call answers with.
    pub(crate) async fn run(&self, arguments: &Value) -> Result<String> {
        Ok(self.execute(arguments).await?.1)
    }

    /// How long it takes to learn what a call would do.
    pub(crate) async fn classify(&self, arguments: &Value) -> Result<Duration> {
        let request = self.request(arguments);
        let started = Instant::now();
        let classification = self.plugins.classify(&request).await;
        let time = started.elapsed();
        let classification = classification.context("the worker does not classify")?;
        if classification.operations.is_empty() {
            bail!("the worker found nothing in {arguments}");
        }
        Ok(time)
    }

    async fn execute(&self, arguments: &Value) -> Result<(Duration, String)> {
        let request = self.request(arguments);
        let started = Instant::now();
        let context = CallContext { cancel: CancellationToken::new(), progress: &|_| () };
        let outcome = self.plugins.execute(&request, context).await;
        let time = started.elapsed();
        if outcome.kind != OutcomeKind::Ok {
            bail!("the worker's call ended as {:?}: {}", outcome.kind, outcome.message);
        }
        let texts = outcome.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok((time, texts.collect()))
    }

    fn request(&self, arguments: &Value) -> ToolRequest {
        ToolRequest {
            spec: Arc::clone(&self.spec),
            call: CallId::from("bench0000"),
            session: SessionId::from("bench"),
            agent: "default".to_owned(),
            caller: None,
            arguments: arguments.to_string(),
            timeout: Duration::from_secs(600),
        }
    }

    pub(crate) async fn stop(self) {
        self.plugins.shutdown().await;
    }
}
