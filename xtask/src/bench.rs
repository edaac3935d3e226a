//! `cargo xtask bench`: builds what is measured as it is shipped, then lets `tests/bench` measure it.

use std::ffi::OsString;

use anyhow::Result;

use crate::build::{self, Profile};
use crate::workspace::{Workspace, succeed};

/// The package that measures; it knows the peers and the bars, we only know how to start it.
const BENCH_PACKAGE: &str = "foehn-bench";

/// A plugin that does next to nothing, to measure the way to it.
const SMALLEST_PLUGIN: &str = "foehn-plugin-len";

/// The table goes to stdout. Arguments go to the bench: `--help` lists them.
pub(crate) fn bench(workspace: &Workspace, arguments: &[OsString]) -> Result<()> {
    let built = build::build(workspace, Profile::Dist, &[SMALLEST_PLUGIN])?;
    let plugins = workspace.target.join("bench/plugins");
    build::place(&built.plugins, &plugins)?;
    let mut command = workspace.cargo();
    command
        .args([
            "run",
            "--quiet",
            "--profile",
            Profile::Dist.name(),
            "--package",
            BENCH_PACKAGE,
            "--",
            "--host",
        ])
        .arg(&built.host);
    succeed(command.arg("--plugins").arg(&plugins).args(arguments))
}
