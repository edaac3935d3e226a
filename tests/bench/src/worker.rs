//! A plugin in its confined worker, called as the engine calls it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use foehn_plugin_host::{PluginSet, Settings, TrustMode};
use foehn_ports::{CallContext, CancellationToken, OutcomeKind, ToolRequest, Toolbox};
use foehn_protocol::{CallId, Part, SessionId};
use serde_json::{Value, json};
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

/// The plugins of a folder, loaded.
#[derive(Debug)]
pub(crate) struct Worker {
    plugins: PluginSet,
    _folder: TempDir,
}

impl Worker {
    /// With an empty workspace.
    pub(crate) async fn start(host: &Path, plugins: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let plugins = PluginSet::load(settings(host, plugins, folder.path())).await;
        Ok(Self { plugins, _folder: folder })
    }

    pub(crate) async fn start_in(host: &Path, plugins: &Path, workspace: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut settings = Settings::new(plugins, folder.path().join("state"), workspace);
        settings.trust = TrustMode::Any;
        settings.worker_program = Some(host.to_owned());
        Ok(Self { plugins: PluginSet::load(settings).await, _folder: folder })
    }

    /// The time of the smallest tool's call.
    pub(crate) async fn call_smallest(&self, text: &str) -> Result<Duration> {
        Ok(self.call(TOOL, &json!({"text": text})).await?.0)
    }

    /// How long it takes to learn what a call would do.
    pub(crate) async fn classify(&self, tool: &str, arguments: &Value) -> Result<Duration> {
        let request = self.request(tool, arguments)?;
        let started = Instant::now();
        let classification = self.plugins.classify(&request).await;
        let time = started.elapsed();
        let classification = classification.context("the worker does not classify")?;
        if classification.operations.is_empty() {
            bail!("the worker found nothing in {arguments}");
        }
        Ok(time)
    }

    fn request(&self, tool: &str, arguments: &Value) -> Result<ToolRequest> {
        let spec = self.plugins.find(tool).with_context(|| format!("no plugin brings the tool `{tool}`"))?;
        Ok(ToolRequest {
            spec,
            call: CallId::from("bench0000"),
            session: SessionId::from("bench"),
            agent: "default".to_owned(),
            caller: None,
            arguments: arguments.to_string(),
            timeout: Duration::from_secs(600),
        })
    }

    /// The time of a call, and what it answered.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Result<(Duration, String)> {
        let request = self.request(tool, arguments)?;
        let started = Instant::now();
        let context = CallContext { cancel: CancellationToken::new(), progress: &|_| () };
        let outcome = self.plugins.execute(&request, context).await;
        let time = started.elapsed();
        if outcome.kind != OutcomeKind::Ok {
            bail!("the call of `{tool}` ended as {:?}: {}", outcome.kind, outcome.message);
        }
        let texts = outcome.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok((time, texts.collect()))
    }

    pub(crate) async fn stop(self) {
        self.plugins.shutdown().await;
    }
}
