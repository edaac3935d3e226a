//! Builds the host and the plugins in one cargo call, so that shared crates compile once, and installs the plugins.

use std::io::{BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Artifact, CrateType, Message};
use clap::ValueEnum;

use crate::workspace::{HOST_PACKAGE, Workspace, line_of, program};

/// A cargo profile of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    Dev,
    Release,
    Dist,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

/// What one build made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) host: PathBuf,
    /// The plugins' libraries, by file name.
    pub(crate) plugins: Vec<PathBuf>,
}

/// Builds, copies the plugins to `.plugins` and has the host trust exactly what was copied. Returns the host's path.
pub(crate) fn install(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    let built = build(workspace, profile, &[])?;
    let folder = workspace.plugins();
    place(&built.plugins, &folder)?;
    trust(workspace, &built)?;
    Ok(built.host)
}

/// Builds the host and all plugins, and with them the packages of further plugins.
pub(crate) fn build(workspace: &Workspace, profile: Profile, further: &[&str]) -> Result<Built> {
    let mut command = workspace.cargo();
    command
        .args([
            "build",
            "--quiet",
            "--message-format",
            "json-render-diagnostics",
            "--profile",
            profile.name(),
        ])
        .args(["--package", HOST_PACKAGE]);
    let plugins = workspace.plugin_packages().into_iter().map(|plugin| plugin.name.as_str());
    for plugin in plugins.chain(further.iter().copied()) {
        command.args(["--package", plugin]);
    }
    collect(&run_cargo(&mut command)?)
}

/// What lies built in a folder such as `target/debug`.
pub(crate) fn find(workspace: &Workspace, folder: &Path) -> Result<Built> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
    let file = |name: String| {
        let path = folder.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            bail!("{} is not built; build the workspace first", path.display())
        }
    };
    let mut plugins = Vec::new();
    for plugin in workspace.plugin_packages() {
        for library in plugin.targets.iter().filter(|target| target.crate_types.contains(&CrateType::CDyLib))
        {
            plugins.push(file(format!("{DLL_PREFIX}{}{DLL_SUFFIX}", library.name))?);
        }
    }
    plugins.sort();
    Ok(Built { host: file(format!("{HOST_PACKAGE}{EXE_SUFFIX}"))?, plugins })
}

/// Copies what changed. A file is put in place by a rename, so that a host that is running never sees half of one.
pub(crate) fn place(libraries: &[PathBuf], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for library in libraries {
        let target = folder.join(library.file_name().unwrap_or_default());
        copy_if_changed(library, &target)
            .with_context(|| format!("cannot copy {} to {}", library.display(), target.display()))?;
    }
    Ok(())
}

fn copy_if_changed(source: &Path, target: &Path) -> io::Result<()> {
    let bytes = fs::read(source)?;
    if fs::read(target).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let half = target.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&half, bytes)?;
    fs::rename(&half, target).inspect_err(|_| {
        // The first error is the one to tell; a file that is left over only wastes space.
        let _ = fs::remove_file(&half);
    })
}

/// What we built ourselves needs no question: the host records the hashes as accepted by this user.
fn trust(workspace: &Workspace, built: &Built) -> Result<()> {
    let mut command = program(&built.host);
    command.current_dir(&workspace.root).args(["plugins", "trust", "--plugins"]).arg(workspace.plugins());
    command.args(built.plugins.iter().map(|library| plugin_name(library)));
    let output = command.output().with_context(|| format!("cannot start {}", built.host.display()))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", line_of(&command), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// The name that the host gives to a library: `libfile_rw.so` is `file-rw`.
fn plugin_name(library: &Path) -> String {
    let stem = library.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix(std::env::consts::DLL_PREFIX).unwrap_or(&stem).replace('_', "-")
}

/// Runs a cargo build that reports in JSON, and tells how far it is.
fn run_cargo(command: &mut Command) -> Result<Vec<Artifact>> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", line_of(command)))?;
    let stdout = child.stdout.take().context("cargo has no stdout")?;
    let mut progress = Progress::default();
    let mut artifacts = Vec::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read cargo's messages")? {
            progress.step(&artifact);
            artifacts.push(artifact);
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    progress.end();
    if !status.success() {
        bail!("the build failed: `{}`", line_of(command));
    }
    Ok(artifacts)
}

fn collect(artifacts: &[Artifact]) -> Result<Built> {
    let host = artifacts
        .iter()
        .find_map(|artifact| artifact.executable.as_ref().filter(|_| artifact.target.name == HOST_PACKAGE));
    let Some(host) = host else {
        bail!("cargo built no program called `{HOST_PACKAGE}`");
    };
    let mut plugins: Vec<PathBuf> = artifacts
        .iter()
        .filter(|artifact| artifact.target.crate_types.contains(&CrateType::CDyLib))
        .flat_map(|artifact| &artifact.filenames)
        .filter(|file| file.extension() == Some(std::env::consts::DLL_EXTENSION))
        .map(|file| file.as_std_path().to_path_buf())
        .collect();
    plugins.sort();
    Ok(Built { host: host.into(), plugins })
}

/// Tells a person that a long build lives, without cargo's line for every crate.
#[derive(Debug, Default)]
struct Progress {
    compiled: usize,
}

impl Progress {
    /// Without a terminal one line for so many crates, so that a log shows life and stays short.
    const LINE_EVERY: usize = 100;

    fn step(&mut self, artifact: &Artifact) {
        if artifact.fresh {
            return;
        }
        self.compiled += 1;
        if self.compiled == 1 {
            eprintln!("xtask: building the host and its plugins; the first time takes some minutes");
        }
        if io::stderr().is_terminal() {
            eprint!("\rxtask: {} targets built", self.compiled);
        } else if self.compiled.is_multiple_of(Self::LINE_EVERY) {
            eprintln!("xtask: {} targets built", self.compiled);
        }
    }

    fn end(&self) {
        if self.compiled > 0 && io::stderr().is_terminal() {
            eprintln!();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_named_as_the_host_names_it() {
        let library = format!("{}file_rw.{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_EXTENSION);
        assert_eq!(plugin_name(Path::new(&library)), "file-rw");
    }

    #[cfg(unix)]
    #[test]
    fn only_what_changed_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("libx.so"), folder.path().join("out/libx.so"));
        let place_and_read = |content: &str| {
            fs::write(&source, content).unwrap();
            place(std::slice::from_ref(&source), &folder.path().join("out")).unwrap();
            fs::read_to_string(&target).unwrap()
        };
        assert_eq!(place_and_read("one"), "one");
        let first = fs::File::open(&target).unwrap();
        assert_eq!(place_and_read("one"), "one");
        assert_eq!(same_file(&first, &target), Some(true));
        assert_eq!(place_and_read("two"), "two");
        assert_eq!(same_file(&first, &target), Some(false));
        let left: Vec<_> =
            fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["libx.so"]);
    }

    #[cfg(unix)]
    fn same_file(open: &fs::File, path: &Path) -> Option<bool> {
        use std::os::unix::fs::MetadataExt;
        Some(open.metadata().ok()?.ino() == fs::metadata(path).ok()?.ino())
    }
}
