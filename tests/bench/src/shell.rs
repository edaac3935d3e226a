//! What commands cost beside their own work: to be understood before they run, and to be listened to however much they print.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::runtime;
use crate::statistics::{median, microseconds};
use crate::table::Table;
use crate::worker::Worker;

const TOOL: &str = "run_shell";

/// A line as models write them: a folder, a pipe, a redirection, quotes and a substitution.
const LINE: &str = "cd sub && FOO=1 cargo test -p x -- --nocapture 2>&1 | grep -v '^warning' | tail -n 20 > \"$(date +%s).log\" || git status";

/// Classifications of one measurement.
const BATCH: usize = 200;

/// What a flood prints, and how much of it a worker may hold at most.
const FLOOD_BYTES: u64 = 3_000_000_000;
const FLOOD_MEMORY: f64 = 64.0;

const MEBIBYTE: f64 = 1024.0 * 1024.0;

pub(crate) fn measure(host: &Path, plugins: &Path, rounds: usize, table: &mut Table) -> Result<()> {
    runtime()?.block_on(async {
        let worker = Worker::start(host, plugins).await?;
        let arguments = json!({"command": LINE});
        let mut times = Vec::new();
        for round in 0..=rounds {
            for _ in 0..BATCH {
                let time = worker.classify(TOOL, &arguments).await?;
                times.extend((round > 0).then_some(time));
            }
        }
        // With the way to the worker and back.
        table.at_most("a command line is parsed and classified", microseconds(median(times)), "us", 100.0);
        flood(&worker, table).await?;
        worker.stop().await;
        Ok(())
    })
}

/// The worker is the parent of the command, which so can tell how much memory it held.
async fn flood(worker: &Worker, table: &mut Table) -> Result<()> {
    let command = format!("yes | head -c {FLOOD_BYTES}; grep VmHWM /proc/$PPID/status");
    let arguments = json!({"command": command, "timeout_seconds": 600});
    let (time, text) = worker.call(TOOL, &arguments).await?;
    let Some((_, peak)) = text.split_once("VmHWM:") else { bail!("the command says nothing of its parent") };
    let peak = peak.trim().trim_end_matches("kB").trim();
    let kilobytes: f64 = peak.parse().with_context(|| format!("`{peak}` is no number"))?;
    let label = format!("peak memory of a worker whose command prints {} GB", FLOOD_BYTES / 1_000_000_000);
    table.at_most(label, kilobytes / 1024.0, "MiB", FLOOD_MEMORY);
    table.reference("what it prints each second", rate(time), "MiB");
    Ok(())
}

fn rate(time: Duration) -> f64 {
    FLOOD_BYTES as f64 / MEBIBYTE / time.as_secs_f64()
}
