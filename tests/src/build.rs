//! Finds the built product, and builds it first where the test runner did not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Set by `cargo xtask test`, which builds everything once before it starts the runner.
const ALREADY_BUILT: &str = "FOEHN_TESTS_BUILT";

/// What cargo and nextest set for a test. Build scripts watch some of it: handed on, a build from here and one by hand
/// would undo each other.
const SET_FOR_A_TEST: [&str; 5] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "CARGO_PRIMARY_"];

/// The folder that cargo puts binaries and libraries into.
#[derive(Debug)]
pub struct Built {
    folder: PathBuf,
}

impl Built {
    pub fn foehn(&self) -> PathBuf {
        self.folder.join(format!("foehn{}", std::env::consts::EXE_SUFFIX))
    }

    /// A plugin by the name of its library, such as `scan` or `file_rw`.
    pub fn plugin(&self, library: &str) -> PathBuf {
        self.folder.join(format!("{}{library}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
    }
}

/// What was built, once per process.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        // The runner's own binary lies in `target/PROFILE/deps`.
        let executable = std::env::current_exe().expect("the test binary has a path");
        let folder = executable.parent().and_then(Path::parent).expect("target/PROFILE/deps/test").to_owned();
        if std::env::var_os(ALREADY_BUILT).is_none() {
            build(&folder);
        }
        Built { folder }
    })
}

fn build(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    // As much as `cargo test --workspace` builds: with other targets cargo would resolve other features and compile the
    // whole tree once more.
    let whole = ["build", "--quiet", "--workspace", "--all-targets"];
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(whole);
    for (name, _) in std::env::vars_os() {
        if SET_FOR_A_TEST.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    if folder.file_name().is_some_and(|name| name == "release") {
        cargo.arg("--release");
    }
    cargo.arg("--target-dir").arg(folder.parent().expect("target"));
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "building the product for its tests failed: {cargo:?}");
}
