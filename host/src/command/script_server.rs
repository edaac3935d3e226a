//! `foehn script-server`: the stand-in's scripts over HTTP on loopback, so that a client's real wire code can be tested.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use foehn_provider::offline::{Script, serve};
use foehn_terminal::ExitCode;

use crate::interrupt::Interrupts;
use crate::output::text;

/// Prints its base URL as the first line and serves until it is interrupted. With `requests`, each request is appended
/// to that file as one line of JSON before it is answered.
pub(crate) async fn run(script: &Path, port: u16, requests: Option<PathBuf>) -> Result<ExitCode> {
    let interrupts = Interrupts::listen().context("cannot listen for signals")?;
    let script = Script::load(script)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let serving = serve(script, address, requests, |url| {
        // Whoever started this and does not read its output has no use for the address.
        let _ = text(&url);
    });
    tokio::select! {
        served = serving => served.context("cannot serve the script")?,
        () = interrupts.next() => {}
    }
    Ok(0)
}
