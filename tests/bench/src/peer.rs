//! The peer of a worker call: the same tool behind the protocol's own Rust library, over stdio, server and client.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::json;

use crate::statistics::{median, microseconds};
use crate::table::Table;

/// The hidden command under which this program is its own peer.
pub(crate) const SERVER_COMMAND: &str = "peer-server";

/// Calls before the measured ones, so that both sides have their memory and their caches.
const WARM_UP: usize = 200;

const CALLS_EACH_ROUND: usize = 200;

#[derive(Debug, Clone, Copy)]
struct Server;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct LenArgs {
    /// Text to measure.
    text: String,
}

#[tool_router]
impl Server {
    #[tool(description = "Count the bytes of a text.")]
    async fn len(&self, Parameters(LenArgs { text }): Parameters<LenArgs>) -> String {
        format!("len={}", text.len())
    }
}

#[tool_handler]
impl ServerHandler for Server {}

/// Serves until stdin ends.
pub(crate) fn serve() -> Result<()> {
    runtime()?.block_on(async {
        Server.serve(stdio()).await.context("the peer cannot serve")?.waiting().await?;
        Ok(())
    })
}

pub(crate) fn measure(rounds: usize, table: &mut Table) -> Result<()> {
    let program = std::env::current_exe().context("cannot tell our own program")?;
    runtime()?.block_on(async {
        let mut command = tokio::process::Command::new(program);
        command.arg(SERVER_COMMAND);
        let client = ().serve(TokioChildProcess::new(command)?).await.context("the peer did not start")?;
        for (name, size) in [("100 B", 100), ("100 KB", 100_000)] {
            let time = calls(&client, rounds, size).await?;
            table.reference(format!("rmcp stdio call, {name} of arguments"), microseconds(time), "us");
        }
        client.cancel().await?;
        Ok(())
    })
}

async fn calls(client: &RunningService<RoleClient, ()>, rounds: usize, size: usize) -> Result<Duration> {
    let text = "x".repeat(size);
    let mut times = Vec::new();
    for index in 0..WARM_UP + rounds * CALLS_EACH_ROUND {
        let arguments = json!({"text": text}).as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new("len").with_arguments(arguments);
        let started = Instant::now();
        let result = client.call_tool(request).await.context("the peer's call failed")?;
        let time = started.elapsed();
        if result.is_error == Some(true) {
            bail!("the peer answered with an error");
        }
        if index >= WARM_UP {
            times.push(time);
        }
    }
    Ok(median(times))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")
}
