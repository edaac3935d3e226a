//! Maps a plugin and finds its root module. The one place that does, for workers and for this process.
//!
//! Through the header symbol and not abi_stable's own loader, which gives the first library's module for every later one;
//! with every symbol resolved at once, so that a missing one shows here and not in the middle of a call. A library is never
//! unmapped: its thread-locals and constructors have left pointers into it everywhere.
#![allow(unsafe_code, reason = "mapping a library and reading its one symbol is what this module is for")]

use std::path::Path;

use abi_stable::library::{AbiHeaderRef, LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL};
use abi_stable::std_types::RSlice;
use foehn_plugin_sdk::abi::{ABI_VERSION, PluginBox, PluginRootRef};
use foehn_plugin_sdk::wire::Manifest;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// A mapped plugin, not yet opened.
pub(crate) struct Loaded {
    root: PluginRootRef,
    /// As the plugin wrote it.
    pub manifest_text: Vec<u8>,
}

/// Each text completes "plugin `x` ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("cannot be loaded: {0}")]
    Open(String),
    #[error("has no Foehn root module: it is not a plugin, or lacks `export_plugin!`")]
    NoRootModule,
    #[error("is built with another version of abi_stable than this host: rebuild it with foehn-plugin-sdk {major}.x", major = HOST_SDK_MAJOR)]
    AbiStable,
    #[error("is built for SDK {found}, this host speaks {major}.x: rebuild it with foehn-plugin-sdk {major}.x", major = HOST_SDK_MAJOR)]
    SdkMajor { found: String },
    #[error(
        "was built with a changed foehn-plugin-sdk {found}: its ABI does not fit; rebuild it with the released one"
    )]
    Layout { found: String },
    #[error("failed while it was loaded: {0}")]
    Root(String),
    #[error("has a manifest that cannot be read: {0}")]
    Manifest(String),
    #[error("speaks ABI {found}, this host {ABI_VERSION}: rebuild it with foehn-plugin-sdk {major}.x", major = HOST_SDK_MAJOR)]
    Abi { found: u32 },
}

/// The SDK starts at 1.0 and its ABI is frozen for the whole of a major version.
const HOST_SDK_MAJOR: u32 = 1;

/// Maps the library at `path`, which runs its constructors, and asks for its manifest.
pub(crate) fn load(path: &Path) -> Result<Loaded, LoadError> {
    // SAFETY: mapping runs foreign code, which nothing can make safe: it passed the preflight, its bytes are accepted by the
    // operator, and it is confined unless the operator asked for this process.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LoadError::Open(loader_text(path, &error)))?;
    // SAFETY: every library with this symbol got it from abi_stable, which gives it this type; the header begins with a
    // magic string and its own version, and `upgrade` checks both before anything else is read.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|_| LoadError::NoRootModule)?;
    // Never unmapped, see above.
    std::mem::forget(library);

    let header = header.upgrade().map_err(|_| LoadError::AbiStable)?;
    let found = header.version_strings().version.as_str().to_owned();
    if major(&found) != Some(HOST_SDK_MAJOR) {
        return Err(LoadError::SdkMajor { found: in_short(&found) });
    }
    let root = header.init_root_module::<PluginRootRef>().map_err(|error| match error {
        LibraryError::IncompatibleVersionNumber { .. } => LoadError::SdkMajor { found: in_short(&found) },
        LibraryError::AbiInstability(_) | LibraryError::InvalidCAbi { .. } => LoadError::Layout { found },
        LibraryError::InvalidAbiHeader(_) => LoadError::AbiStable,
        other => LoadError::Root(first_line(&other.to_string())),
    })?;

    let manifest_text = root.manifest()().into_vec();
    let loaded = Loaded { root, manifest_text };
    loaded.manifest()?;
    Ok(loaded)
}

impl Loaded {
    pub(crate) fn manifest(&self) -> Result<Manifest, LoadError> {
        parse_manifest(&self.manifest_text)
    }

    /// Hands over the configuration; an error is the plugin's own text for the operator.
    pub(crate) fn open(&self, config: &[u8]) -> Result<PluginBox, String> {
        self.root.open()(RSlice::from_slice(config)).into_result().map_err(|text| text.into_string())
    }
}

pub(crate) fn parse_manifest(text: &[u8]) -> Result<Manifest, LoadError> {
    let manifest: Manifest =
        serde_json::from_slice(text).map_err(|error| LoadError::Manifest(error.to_string()))?;
    if let Some(error) = manifest.error {
        return Err(LoadError::Manifest(error));
    }
    if manifest.abi != ABI_VERSION {
        return Err(LoadError::Abi { found: manifest.abi });
    }
    Ok(manifest)
}

/// `2.0.0` as `2.x`: only the major version matters to the reader.
fn in_short(version: &str) -> String {
    major(version).map_or_else(|| version.to_owned(), |major| format!("{major}.x"))
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// The loader's text without the descriptor's name, which says nothing.
fn loader_text(path: &Path, error: &libloading::Error) -> String {
    let source = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let text = source.replace(&format!("{}: ", path.display()), "");
    first_line(&text)
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use abi_stable::library::RootModule;

    use super::*;

    #[test]
    fn this_host_speaks_the_sdk_it_is_built_with() {
        let version = <PluginRootRef as RootModule>::VERSION_STRINGS.version;
        assert_eq!(major(version.as_str()), Some(HOST_SDK_MAJOR));
    }

    #[test]
    fn versions_in_short() {
        assert_eq!(["2.0.0", "10.3.1", "odd"].map(in_short), ["2.x", "10.x", "odd"]);
    }

    #[test]
    fn manifests_that_cannot_be_used() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_manifest(text.as_bytes()).unwrap_err().to_string(), expected);
        };
        check(r#"{"abi":1,"error":"two tools"}"#, "has a manifest that cannot be read: two tools");
        check(r#"{"abi":2}"#, "speaks ABI 2, this host 1: rebuild it with foehn-plugin-sdk 1.x");
        check("", "has a manifest that cannot be read: EOF while parsing a value at line 1 column 0");
    }
}
