//! The host as its user meets it: one process from the command line to the answer, with a model that answers at once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::endpoint::{Answer, Endpoint, Record};
use crate::statistics::{median, milliseconds};
use crate::table::Table;
use crate::ten::{FILLING, TenPlugins};

/// Model calls of the long run: the host's own limit.
const STEPS: usize = 30;

const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// Adds every figure of the whole process.
pub(crate) fn measure(host: &Path, plugins: &TenPlugins, rounds: usize, table: &mut Table) -> Result<()> {
    let journey = Journey::prepare(host, plugins)?;
    let read = calls("read_file", |index| json!({"path": format!("notes-{index}.txt")}));
    let shell = calls("run_shell", |index| json!({"command": format!("echo {index}")}));
    let at_once = vec![Answer::Text("done".to_owned())];

    let floor = repeat(rounds, floor)?;
    let start = repeat(rounds, || journey.run(&at_once, false)?.to_first_request())?;
    let long_rounds = rounds.div_ceil(3);
    let reads = many(long_rounds, || journey.run(&read, false))?;
    let shells = many(long_rounds, || journey.run(&shell, false))?;
    let weighed = journey.run(&[&shell[..2], &read[2..]].concat(), true)?;
    let definitions = definitions(&weighed)?;

    table.reference("floor: start and end of an empty program", milliseconds(floor), "ms");
    table.at_most("process start to first request, ten plugins, warm cache", milliseconds(start), "ms", 4.0);
    table.at_most("host time of a step: one file read", milliseconds(step(&reads)), "ms", 0.5);
    table.at_most("host time of a step: one shell command", milliseconds(step(&shells)), "ms", 1.2);
    table.at_most(
        format!("{STEPS} steps of one file read, whole process"),
        milliseconds(wall(&reads)),
        "ms",
        40.0,
    );
    table.at_most("peak memory, host and workers", weighed.record.heaviest as f64 / MEBIBYTE, "MiB", 16.0);
    table.at_most("connections of one run", weighed.record.connections as f64, "", 1.0);
    table.at_most("tool definitions of the default agent", definitions as f64, "chars", 8_000.0);
    Ok(())
}

/// A run of the host that ended well.
#[derive(Debug)]
struct Run {
    started: Instant,
    ended: Instant,
    record: Record,
}

impl Run {
    fn to_first_request(&self) -> Result<Duration> {
        let first = self.record.exchanges.first().context("the host sent no request")?;
        Ok(first.arrived - self.started)
    }

    /// From the end of each answer to the arrival of the next request, without the first step, which starts a worker.
    fn steps(&self) -> impl Iterator<Item = Duration> {
        self.record.exchanges.windows(2).skip(1).map(|pair| pair[1].arrived - pair[0].answered)
    }
}

/// A machine of its own: workspace, home and state in a temporary folder.
#[derive(Debug)]
struct Journey {
    host: PathBuf,
    plugins: PathBuf,
    folder: TempDir,
    endpoint: Endpoint,
}

impl Journey {
    fn prepare(host: &Path, plugins: &TenPlugins) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        for part in ["workspace", "home", "state"] {
            fs::create_dir(folder.path().join(part))?;
        }
        for index in 0..STEPS {
            fs::write(folder.path().join(format!("workspace/notes-{index}.txt")), "a note\n".repeat(20))?;
        }
        let journey = Self {
            host: fs::canonicalize(host).with_context(|| format!("no host at {}", host.display()))?,
            plugins: plugins.path().to_owned(),
            folder,
            endpoint: Endpoint::start()?,
        };
        journey.finish(journey.command().args(["plugins", "trust"]).args(&plugins.names))?;
        // The first run fills the cache of manifests and creates the store, as any machine has done after one day.
        journey.run(&[Answer::Text("warm".to_owned())], false)?;
        Ok(journey)
    }

    fn run(&self, answers: &[Answer], weigh: bool) -> Result<Run> {
        self.endpoint.play(answers.to_vec(), weigh);
        let mut command = self.command();
        command.args(["run", "--yes", "--provider", "openai-compatible", "--model", "bench", "--base-url"]);
        command.arg(format!("http://{}/v1", self.endpoint.address)).arg("Do it.");
        let started = Instant::now();
        self.finish(&mut command)?;
        let ended = Instant::now();
        let run = Run { started, ended, record: self.endpoint.record() };
        let requests = run.record.exchanges.len();
        let worked = run.record.exchanges.last().map_or(0, |last| successes(&last.body));
        if requests != answers.len() || worked + 1 != answers.len() {
            bail!("{requests} of {} requests came, {worked} calls worked: {}", answers.len(), self.talk());
        }
        Ok(run)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.host);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.current_dir(self.folder.path().join("workspace")).env_clear().env("PATH", path);
        command
            .env("HOME", self.folder.path().join("home"))
            .env("FOEHN_STATE_DIR", self.folder.path().join("state"));
        command.arg("--plugins").arg(&self.plugins);
        command
    }

    fn finish(&self, command: &mut Command) -> Result<()> {
        let talk = File::create(self.folder.path().join("talk"))?;
        let status = command
            .stdin(Stdio::null())
            .stdout(talk.try_clone()?)
            .stderr(talk)
            .status()
            .with_context(|| format!("cannot start {}", self.host.display()))?;
        if !status.success() {
            bail!("the host ended with {status}: {}", self.talk());
        }
        Ok(())
    }

    fn talk(&self) -> String {
        fs::read_to_string(self.folder.path().join("talk")).unwrap_or_default()
    }
}

/// One call a step, each with other arguments, and the answer at the end.
fn calls(tool: &'static str, arguments: impl Fn(usize) -> Value) -> Vec<Answer> {
    let mut answers: Vec<_> =
        (1..STEPS).map(|index| Answer::Call { tool, arguments: arguments(index) }).collect();
    answers.push(Answer::Text("done".to_owned()));
    answers
}

fn step(runs: &[Run]) -> Duration {
    median(runs.iter().flat_map(Run::steps).collect())
}

fn wall(runs: &[Run]) -> Duration {
    median(runs.iter().map(|run| run.ended - run.started).collect())
}

fn many(rounds: usize, run: impl Fn() -> Result<Run>) -> Result<Vec<Run>> {
    (0..rounds).map(|_| run()).collect()
}

fn repeat(rounds: usize, measure: impl Fn() -> Result<Duration>) -> Result<Duration> {
    Ok(median((0..rounds).map(|_| measure()).collect::<Result<_>>()?))
}

/// What no program can be faster than.
fn floor() -> Result<Duration> {
    let started = Instant::now();
    Command::new("true").status().context("cannot start `true`")?;
    Ok(started.elapsed())
}

/// The characters of the tools as they were sent.
fn definitions(run: &Run) -> Result<usize> {
    let first = run.record.exchanges.first().context("the host sent no request")?;
    let request: Value = serde_json::from_str(&first.body).context("the request is not JSON")?;
    let mut tools = request["tools"].as_array().context("the host offers no tools")?.clone();
    // What fills up the folder is no tool of an ordinary user.
    tools.retain(|tool| tool["function"]["name"] != FILLING);
    Ok(Value::from(tools).to_string().chars().count())
}

/// The calls whose result a request holds, as far as they succeeded.
fn successes(body: &str) -> usize {
    let request: Value = serde_json::from_str(body).unwrap_or_default();
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let succeeded = |message: &&Value| {
        message["role"] == "tool"
            && message["content"].as_str().is_some_and(|text| text.starts_with(r#"{"ok":true"#))
    };
    messages.iter().filter(succeeded).count()
}
