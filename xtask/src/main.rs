//! The workshop: everything that is done *to* the workspace, as one program that needs only Rust.
//!
//! It starts the product, it never links it. What it prints for people goes to stderr; stdout belongs to what it runs.
#![allow(clippy::print_stderr, reason = "a front end: talking to the person at the terminal is its job")]

mod bench;
mod build;
mod dist;
mod new_plugin;
mod run;
mod test;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::build::Profile;
use crate::workspace::Workspace;

#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", about = "Builds, runs, tests, packs and measures Foehn")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build the host and its plugins, then give one task to `foehn run`.
    Run {
        /// Build optimised: a longer build, a faster host.
        #[arg(long)]
        release: bool,
        /// What `foehn run` gets: flags and the task.
        #[arg(last = true, required = true, value_name = "ARGS")]
        arguments: Vec<OsString>,
    },
    /// Build the host and its plugins, put the plugins into `.plugins`, and say where the host is.
    Build {
        /// Build optimised: a longer build, a faster host.
        #[arg(long)]
        release: bool,
    },
    /// Build what the tests need, then run all of them; with arguments, only what they select.
    Test(Passed),
    /// Pack host, plugins and documents into `target/dist/foehn-VERSION-TARGET.tar.gz`.
    Dist {
        /// The cargo profile to build with.
        #[arg(long, value_enum, default_value_t = Profile::Dist)]
        profile: Profile,
        /// Pack what was already built into this folder (target/debug, target/release) instead of building.
        #[arg(long, value_name = "DIR", conflicts_with = "profile")]
        from: Option<PathBuf>,
        /// Folder for the archive [default: target/dist].
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Measure the host against its bars: figure, bar, ratio.
    Bench(Passed),
    /// Check the rules of the repository that no compiler checks.
    Tidy,
    /// Create `plugins/NAME`: a small working plugin with a test, to start from.
    NewPlugin {
        /// Lower-case words joined by `-`: `word-count`.
        name: String,
    },
}

#[derive(Debug, Args)]
struct Passed {
    /// Passed on as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    match perform(Cli::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    match task {
        Task::Run { release, arguments } => return run::run(&workspace, profile(release), &arguments),
        Task::Build { release } => {
            let host = build::install(&workspace, profile(release))?;
            eprintln!(
                "xtask: the host is {}, its plugins are in {}",
                host.display(),
                workspace.plugins().display()
            );
        }
        Task::Test(Passed { arguments }) => test::test(&workspace, &arguments)?,
        Task::Dist { profile, from, to } => {
            let built = match from {
                Some(folder) => build::find(&workspace, &folder)?,
                None => build::build(&workspace, profile, &[])?,
            };
            let archive =
                dist::dist(&workspace, &built, &to.unwrap_or_else(|| workspace.target.join("dist")))?;
            eprintln!("xtask: packed {}", archive.display());
        }
        Task::Bench(Passed { arguments }) => bench::bench(&workspace, &arguments)?,
        Task::Tidy => tidy::tidy(&workspace)?,
        Task::NewPlugin { name } => {
            let created = new_plugin::create(&workspace.root, &name)?;
            eprintln!("xtask: created {}", created.folder.display());
            eprintln!("xtask: test it with `cargo test -p {}`", created.package);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn profile(release: bool) -> Profile {
    if release { Profile::Release } else { Profile::Dev }
}
