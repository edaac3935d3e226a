//! The tool `make_directory`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification};

const OPERATION: &str = "make_directory";

/// Makes a folder.
#[derive(Debug)]
pub struct MakeDirectory;

/// Arguments of `make_directory`.
#[args]
pub struct MakeArgs {
    /// Folder to make.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
}

impl Tool for MakeDirectory {
    const NAME: &'static str = "make_directory";
    const DESCRIPTION: &'static str = "Make a folder, and those above it.";
    const RISK: Risk = Risk::Write;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = MakeArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: MakeArgs, cx: &Call<'_>) -> Result<String> {
        let Making { place, is_there } = Making::plan(&args, cx)?;
        if is_there {
            return Ok(format!("the folder `{place}` is there already"));
        }
        let mut changes = Changes::of(cx);
        changes.make(&Change::MakeFolder { place: &place }).map_err(|error| place.root.told(error))?;
        Ok(changes.told(format!("made the folder `{place}`")))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Make a folder and those above it.")]
    }

    fn classify(&self, args: &MakeArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Making::plan(args, cx)))
    }
}

struct Making {
    place: Place,
    is_there: bool,
}

impl Making {
    fn plan(args: &MakeArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, true)?.entry(&args.path, Use::Write)?;
        // A link to a folder is as good as one.
        match place.root.workspace.metadata(&place.path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self { place, is_there: true }),
            Ok(_) => Err(nothing_done(Error::failed(format!("`{place}` is there already, and no folder")))),
            Err(WorkspaceError::NotFound { .. }) if place.symlink_metadata().is_ok() => {
                Err(place.root.told(WorkspaceError::DanglingLink { path: place.path }))
            }
            Err(WorkspaceError::NotFound { .. }) => Ok(Self { place, is_there: false }),
            Err(error) => Err(place.root.told(error)),
        }
    }
}

impl Planned for Making {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        Preview::Text { text: format!("make the folder `{}`", self.place) }
    }
}
