//! The peer of a worker: the same tool behind the protocol's own Rust library, over stdio, server and client.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::json;

/// The hidden command under which this program is its own peer.
pub(crate) const SERVER_COMMAND: &str = "peer-server";

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
        format!("{} bytes", text.len())
    }
}

#[tool_handler]
impl ServerHandler for Server {}

/// Serves until stdin ends.
pub(crate) async fn serve() -> Result<()> {
    Server.serve(stdio()).await.context("the peer cannot serve")?.waiting().await?;
    Ok(())
}

/// A client with its server in a process of its own.
#[derive(Debug)]
pub(crate) struct Peer {
    client: RunningService<RoleClient, ()>,
}

impl Peer {
    pub(crate) async fn start() -> Result<Self> {
        let mut command =
            tokio::process::Command::new(std::env::current_exe().context("cannot tell our own program")?);
        command.arg(SERVER_COMMAND);
        let client = ().serve(TokioChildProcess::new(command)?).await.context("the peer did not start")?;
        Ok(Self { client })
    }

    pub(crate) async fn call(&self, text: &str) -> Result<Duration> {
        let arguments = json!({"text": text}).as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new("len").with_arguments(arguments);
        let started = Instant::now();
        let result = self.client.call_tool(request).await.context("the peer's call failed")?;
        let time = started.elapsed();
        if result.is_error == Some(true) {
            bail!("the peer answered with an error");
        }
        Ok(time)
    }

    pub(crate) async fn stop(self) -> Result<()> {
        self.client.cancel().await?;
        Ok(())
    }
}
