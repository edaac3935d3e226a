//! The file tools beside the programs that people know for their speed, over one tree, by the same rules and with two threads
//! each. Ours are called through the worker, with their result; the others are started, which is how they are used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::memory;
use crate::runtime;
use crate::statistics::{median, milliseconds};
use crate::table::Table;
use crate::tree::{self, Tree};
use crate::worker::Worker;

/// A search may take this much of the peer's time.
const TIMES_OF_PEER: f64 = 1.2;
/// A peer does not know a `.gitignore` without a repository around it, and knows ones that are not the tree's; ours is the
/// other way round.
const RULES: [&str; 3] = ["--no-require-git", "--no-ignore-parent", "--threads=2"];
const MEBIBYTE: f64 = 1024.0 * 1024.0;
const LARGE_FILE: usize = 10 * 1024 * 1024;

/// What a tool is measured against.
struct Peer {
    program: &'static str,
    /// Its package, for whoever has not got it.
    package: &'static str,
    /// Names another place than `PATH`.
    variable: &'static str,
}

const FD: Peer = Peer { program: "fd", package: "fd-find", variable: "FOEHN_BENCH_FD" };
const RG: Peer = Peer { program: "rg", package: "ripgrep", variable: "FOEHN_BENCH_RG" };

struct Contest {
    what: &'static str,
    tool: &'static str,
    arguments: Value,
    /// The beginning of the result, so that nothing else is measured.
    answer: String,
    peer: Peer,
    peer_arguments: Vec<String>,
}

pub(crate) fn measure(host: &Path, plugins: &Path, rounds: usize, table: &mut Table) -> Result<()> {
    let rounds = rounds.div_ceil(3);
    let tree = Tree::make()?;
    let (shown, found) = (tree.shown(), tree.ending_in_7());
    let contests = [
        Contest {
            what: "scan of the whole tree",
            tool: "scan",
            arguments: json!({}),
            answer: format!("{} entries", shown + tree::FOLDERS),
            peer: FD,
            peer_arguments: vec![".".into()],
        },
        Contest {
            what: "find_files, one file in twenty",
            tool: "find_files",
            arguments: json!({"pattern": "*7.txt"}),
            answer: format!("{found} files"),
            peer: FD,
            peer_arguments: ["--type=file", "--glob", "*7.txt"].map(str::to_owned).into(),
        },
        Contest {
            what: "search_files, a text that is nowhere",
            tool: "search_files",
            arguments: json!({"pattern": "needle_that_is_nowhere"}),
            answer: "`needle_that_is_nowhere` is not in any".into(),
            peer: RG,
            peer_arguments: vec!["needle_that_is_nowhere".into(), ".".into()],
        },
        Contest {
            what: "search_files, an expression, names of files",
            tool: "search_files",
            arguments: json!({"pattern": "need.e[0-9]+x", "mode": "files", "limit": 1000}),
            answer: format!("`need.e[0-9]+x` is in {} files", tree::FILES_WITH_NEEDLE),
            peer: RG,
            peer_arguments: ["--files-with-matches", "need.e[0-9]+x", "."].map(str::to_owned).into(),
        },
    ];
    runtime()?.block_on(async {
        let worker = Worker::start_in(host, plugins, tree.path()).await?;
        for contest in &contests {
            contest.run(&worker, tree.path(), rounds, table).await?;
        }
        let peak = memory::highest_of_descendants()? as f64 / MEBIBYTE;
        table.at_most("peak memory of the worker of these", peak, "MiB", 40.0);
        worker.stop().await;
        table.at_most(
            "edit_file in a file of 10 MiB",
            milliseconds(edit_large(host, plugins, rounds).await?),
            "ms",
            50.0,
        );
        let first = milliseconds(first_read(host, plugins, rounds).await?);
        table.at_most("first read_file of a worker that has started", first, "ms", 1.0);
        Ok(())
    })
}

impl Contest {
    async fn run(&self, worker: &Worker, folder: &Path, rounds: usize, table: &mut Table) -> Result<()> {
        let Self { what, peer, .. } = self;
        let program = peer.find();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        // The first turn of each side fills its caches.
        for round in 0..=rounds {
            let (time, text) = worker.call(self.tool, &self.arguments).await?;
            if !text.starts_with(&self.answer) {
                bail!("{what}: {}", text.lines().next().unwrap_or_default());
            }
            ours.extend((round > 0).then_some(time));
            if let Some(program) = &program {
                let time = self.start_peer(program, folder)?;
                theirs.extend((round > 0).then_some(time));
            }
        }
        let ours = milliseconds(median(ours));
        table.reference(*what, ours, "ms");
        if program.is_none() {
            let Peer { program, package, .. } = peer;
            table.missing(format!("{what} / {program}"), format!("cargo install {package} --locked"));
            return Ok(());
        }
        let theirs = milliseconds(median(theirs));
        table.reference(format!("{} for the same", peer.program), theirs, "ms");
        table.at_most(format!("{what} / {}", peer.program), ours / theirs, "", TIMES_OF_PEER);
        Ok(())
    }

    /// What it prints goes through a pipe, as whoever used it for a model would have it.
    fn start_peer(&self, program: &Path, folder: &Path) -> Result<Duration> {
        let started = Instant::now();
        let output = Command::new(program)
            .args(RULES)
            .args(&self.peer_arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let time = started.elapsed();
        // 1 is what a search says that found nothing.
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(time)
    }
}

impl Peer {
    fn find(&self) -> Option<PathBuf> {
        if let Some(named) = std::env::var_os(self.variable) {
            return Some(named.into());
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(self.program)).find(|program| program.is_file())
    }
}

/// An edit there and one back, so that each round meets the same file.
async fn edit_large(host: &Path, plugins: &Path, rounds: usize) -> Result<Duration> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let line = "a line of some ordinary length, as code and logs have it\n";
    let mut text = line.repeat(LARGE_FILE / line.len());
    text.insert_str(LARGE_FILE / 2 / line.len() * line.len(), "the only place: AAA\n");
    fs::write(folder.path().join("large.txt"), text)?;
    let worker = Worker::start_in(host, plugins, folder.path()).await?;
    let mut times = Vec::new();
    for round in 0..=rounds * 2 {
        let (old, new) = if round % 2 == 0 { ("AAA", "BBB") } else { ("BBB", "AAA") };
        let arguments = json!({"path": "large.txt", "old_text": format!("place: {old}"), "new_text": format!("place: {new}")});
        let (time, _) = worker.call("edit_file", &arguments).await?;
        times.extend((round > 0).then_some(time));
    }
    worker.stop().await;
    Ok(median(times))
}

/// Another tool of the same worker is called first: the start itself is measured elsewhere.
async fn first_read(host: &Path, plugins: &Path, rounds: usize) -> Result<Duration> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    fs::write(folder.path().join("notes.txt"), "a note\n".repeat(20))?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let worker = Worker::start_in(host, plugins, folder.path()).await?;
        worker.call("list_directory", &json!({})).await?;
        times.push(worker.call("read_file", &json!({"path": "notes.txt"})).await?.0);
        worker.stop().await;
    }
    Ok(median(times))
}
