//! The tool `copy_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::create_file::{exists, nothing_there};
use crate::files::{Call, Files, Place, Use, explained};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification};
use crate::text::counted;

const OPERATION: &str = "copy";

/// Copies a file to where nothing is.
#[derive(Debug)]
pub struct CopyFile;

/// Arguments of `copy_file`.
#[args]
pub struct CopyArgs {
    /// File to copy.
    #[schemars(length(max = MAX_PATH_BYTES))]
    source: String,
    /// Path of the copy; nothing may be there.
    #[schemars(length(max = MAX_PATH_BYTES))]
    destination: String,
}

impl Tool for CopyFile {
    const NAME: &'static str = "copy_file";
    const DESCRIPTION: &'static str = "Copy one file, with its permissions.";
    const RISK: Risk = Risk::Write;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = CopyArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: CopyArgs, cx: &Call<'_>) -> Result<String> {
        let Copying { from, to, size } = Copying::plan(&args, cx)?;
        let mut changes = Changes::of(cx);
        match changes.make(&Change::Copy { from: &from, to: &to }) {
            Ok(()) => Ok(changes.told(format!("copied `{from}` to `{to}` ({})", counted(size, "byte")))),
            Err(WorkspaceError::AlreadyExists { .. }) => Err(exists(&to)),
            Err(error) => Err(to.root.told(error)),
        }
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Copy a file to a path where nothing is.")]
    }

    fn classify(&self, args: &CopyArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.source, &Copying::plan(args, cx)))
    }
}

struct Copying {
    from: Place,
    to: Place,
    size: u64,
}

impl Copying {
    fn plan(args: &CopyArgs, cx: &Call<'_>) -> Result<Self> {
        let files = Files::open(cx, true)?;
        let from = files.target(&args.source, Use::Read)?;
        let to = files.file_entry(&args.destination, Use::Write)?;
        let metadata = from.metadata().map_err(|error| explained(&from.root, error))?;
        if metadata.is_dir() {
            return Err(from.root.told(WorkspaceError::IsADirectory { path: from.path.clone() }));
        }
        if !metadata.is_file() {
            return Err(from.root.told(WorkspaceError::NotAFile { path: from.path.clone() }));
        }
        nothing_there(&to)?;
        Ok(Self { from, to, size: metadata.len() })
    }
}

impl Planned for Copying {
    fn places(&self) -> Vec<&Place> {
        vec![&self.to, &self.from]
    }

    fn preview(&self) -> Preview {
        let Self { from, to, size } = self;
        Preview::Text { text: format!("copy `{from}` to `{to}` ({})", counted(*size, "byte")) }
    }
}
