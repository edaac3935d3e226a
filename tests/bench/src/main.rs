//! Measures the built host from outside, and its worker call against a tool server of the Model Context Protocol.
//!
//! Everything is measured in one run of one machine, so read the ratios: a figure alone says as much about the machine
//! as about the host. A missed bar is told, not failed; only what could not be measured is an error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a front end: its table is its product")]

mod calls;
mod contract;
mod echo;
mod endpoint;
mod files;
mod journey;
mod memory;
mod peer;
mod shell;
mod statistics;
mod table;
mod ten;
mod tree;
mod worker;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::table::Table;
use crate::ten::TenPlugins;

#[derive(Debug, Parser)]
#[command(about = "Measures the built host against its bars and its peers")]
struct Cli {
    /// The built host.
    #[arg(long)]
    host: Option<PathBuf>,

    /// The folder with the built plugins.
    #[arg(long)]
    plugins: Option<PathBuf>,

    /// How often each figure is taken; the median counts.
    #[arg(long, default_value_t = 31)]
    rounds: usize,

    /// Measure the file tools alone.
    #[arg(long)]
    files: bool,

    /// Print one JSON object a figure.
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// The peer: serve one tool over stdio.
    #[command(name = peer::SERVER_COMMAND, hide = true)]
    PeerServer,
    /// The floor: answer messages of one size.
    #[command(name = echo::COMMAND, hide = true)]
    EchoServer { size: usize },
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    match cli.part {
        Some(Part::PeerServer) => return runtime()?.block_on(peer::serve()),
        Some(Part::EchoServer { size }) => return echo::serve(size),
        None => {}
    }
    let (Some(host), Some(plugins)) = (&cli.host, &cli.plugins) else {
        anyhow::bail!("needs `--host` and `--plugins`; `cargo xtask bench` builds both and gives them");
    };
    let mut table = Table::default();
    if !cli.files {
        let ten = TenPlugins::copy(plugins)?;
        journey::measure(host, &ten, cli.rounds, &mut table)?;
        worker::measure_warm_start(host, ten.path(), &mut table)?;
        contract::measure(cli.rounds, &mut table)?;
        calls::measure(host, plugins, cli.rounds, &mut table)?;
        shell::measure(host, plugins, cli.rounds, &mut table)?;
    }
    files::measure(host, plugins, cli.rounds, &mut table)?;
    print!("{}", if cli.json { table.json()? } else { table.text() });
    Ok(())
}

/// One thread, as the host has and as suits the peer best.
fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")
}
