//! One call of one tool in another process: our worker beside its peer, in turns, so that both meet the same machine.

use std::path::Path;

use anyhow::Result;

use crate::echo::Echo;
use crate::peer::Peer;
use crate::runtime;
use crate::statistics::{median, microseconds};
use crate::table::Table;
use crate::worker::Worker;

/// Calls of one side before the other's turn.
const TURN: usize = 200;

/// Argument sizes in bytes, each with the bar of the worker in microseconds.
const SIZES: [(&str, usize, f64); 2] = [("100 B", 100, 20.0), ("100 KB", 100_000, 45.0)];

/// A worker's call costs at most this part of the peer's.
const SHARE_OF_PEER: f64 = 0.5;

pub(crate) fn measure(host: &Path, plugins: &Path, rounds: usize, table: &mut Table) -> Result<()> {
    runtime()?.block_on(async {
        let worker = Worker::start(host, plugins).await?;
        let peer = Peer::start().await?;
        for (name, size, bar) in SIZES {
            let text = "x".repeat(size);
            let mut echo = Echo::start(size)?;
            let (mut ours, mut theirs, mut floor) = (Vec::new(), Vec::new(), Vec::new());
            // The first turn of each side fills its caches.
            for round in 0..=rounds {
                for _ in 0..TURN {
                    let time = worker.call_smallest(&text).await?;
                    ours.extend((round > 0).then_some(time));
                }
                for _ in 0..TURN {
                    let time = peer.call(&text).await?;
                    theirs.extend((round > 0).then_some(time));
                }
                for _ in 0..TURN {
                    let time = echo.call()?;
                    floor.extend((round > 0).then_some(time));
                }
            }
            echo.stop()?;
            let (ours, theirs) = (microseconds(median(ours)), microseconds(median(theirs)));
            table.reference(
                format!("floor: {name} to another process and an answer"),
                microseconds(median(floor)),
                "us",
            );
            table.at_most(format!("worker call, {name} of arguments"), ours, "us", bar);
            table.reference(format!("rmcp stdio call, {name} of arguments"), theirs, "us");
            table.at_most(format!("worker call / rmcp call, {name}"), ours / theirs, "", SHARE_OF_PEER);
        }
        worker.stop().await;
        peer.stop().await
    })
}
