//! Where things are. Asks cargo instead of guessing paths, and runs cargo the way the outer cargo was run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

/// The package that is the product's binary.
pub(crate) const HOST_PACKAGE: &str = "foehn";

/// The folder of the plugins' sources, below the root.
pub(crate) const PLUGIN_SOURCES: &str = "plugins";

/// What `cargo run` sets for the program that it starts, beside `CARGO_PKG_*`.
const ADDED_BY_CARGO: [&str; 5] = [
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
];

/// The packages of this repository, without their dependencies.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

impl Workspace {
    /// The workspace that this program was built in.
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable for what it runs; without it the place of compilation is the best answer.
        let manifest_folder = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let Some(root) = manifest_folder.parent() else {
            bail!(
                "{} has no parent folder; run `cargo xtask` inside the workspace",
                manifest_folder.display()
            );
        };
        Self::at(root)
    }

    fn at(root: &Path) -> Result<Self> {
        let Metadata { packages, workspace_root, target_directory, .. } = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .with_context(|| format!("cannot read the workspace at {}", root.display()))?;
        Ok(Self { root: workspace_root.into(), target: target_directory.into(), packages })
    }

    /// The packages below `plugins/`, by name.
    pub(crate) fn plugin_packages(&self) -> Vec<&Package> {
        let mut plugins: Vec<_> = self
            .packages
            .iter()
            .filter(|package| {
                package.manifest_path.as_std_path().starts_with(self.root.join(PLUGIN_SOURCES))
                    && package.targets.iter().any(|target| target.is_kind(TargetKind::CDyLib))
            })
            .collect();
        plugins.sort_by(|left, right| left.name.cmp(&right.name));
        plugins
    }

    /// Where the host looks for built plugins.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.root.join(".plugins")
    }

    /// The cargo that runs us, in the root.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command
    }
}

/// A program in the environment of whoever started us, without what cargo added to run us. Build scripts watch some of
/// these variables: handed on, a build from here and one by hand would undo each other.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    let added = |name: &OsStr| {
        let name = name.to_string_lossy();
        ADDED_BY_CARGO.contains(&&*name) || name.starts_with("CARGO_PKG_")
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| added(name)) {
        command.env_remove(name);
    }
    command
}

/// Runs to the end; anything but success is an error that names the command.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line_of(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", line_of(command));
    }
    Ok(())
}

/// The command as a person would type it.
pub(crate) fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
