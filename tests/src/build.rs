//! Finds the built product, and builds it first where the test runner did not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Set by `cargo xtask test`, which builds everything once before it starts the runner.
const ALREADY_BUILT: &str = "FOEHN_TESTS_BUILT";

/// Packages that the tests start or load.
const PACKAGES: [&str; 11] = [
    "foehn",
    "foehn-plugin-scan",
    "foehn-plugin-file-rw",
    "foehn-plugin-shell",
    "foehn-plugin-dotnet",
    "foehn-plugin-rooms",
    "foehn-fixture-echo",
    "foehn-fixture-hostile",
    "foehn-fixture-sdk-two",
    "foehn-fixture-no-root",
    "foehn-fixture-upcalls",
];

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
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet"]);
    for package in PACKAGES {
        cargo.args(["--package", package]);
    }
    if folder.file_name().is_some_and(|name| name == "release") {
        cargo.arg("--release");
    }
    cargo.arg("--target-dir").arg(folder.parent().expect("target"));
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "building the product for its tests failed: {cargo:?}");
}
