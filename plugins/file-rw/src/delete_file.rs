//! The tool `delete_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification};
use crate::seen::Seen;
use crate::text::counted;

const OPERATION: &str = "delete";

/// Deletes a file, or a link itself.
#[derive(Debug)]
pub struct DeleteFile;

/// Arguments of `delete_file`.
#[args]
pub struct DeleteArgs {
    /// File to delete; of a link, the link itself.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
}

impl Tool for DeleteFile {
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = "Delete one file. Never a folder.";
    const RISK: Risk = Risk::Destructive;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = DeleteArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: DeleteArgs, cx: &Call<'_>) -> Result<String> {
        let Deletion { place, what } = Deletion::plan(&args, cx)?;
        let mut changes = Changes::of(cx);
        changes.make(&Change::Remove { place: &place }).map_err(|error| place.root.told(error))?;
        Seen::new(cx, &place).forget();
        Ok(changes.told(match what {
            What::Link => format!("deleted the link `{place}`; what it leads to is as it was"),
            What::File(size) => format!("deleted `{place}` ({})", counted(size, "byte")),
        }))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Delete a file or a link.")]
    }

    fn classify(&self, args: &DeleteArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Deletion::plan(args, cx)))
    }
}

struct Deletion {
    place: Place,
    what: What,
}

enum What {
    Link,
    /// Or a device, pipe or socket. Its size in bytes.
    File(u64),
}

impl Deletion {
    fn plan(args: &DeleteArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, true)?.file_entry(&args.path, Use::Write)?;
        let metadata = place.symlink_metadata().map_err(|error| explained(&place.root, error))?;
        if metadata.is_dir() {
            return Err(place.root.told(WorkspaceError::IsADirectory { path: place.path.clone() }));
        }
        let what = if metadata.is_symlink() { What::Link } else { What::File(metadata.len()) };
        Ok(Self { place, what })
    }
}

impl Planned for Deletion {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        let path = &self.place;
        let text = match self.what {
            What::Link => format!("delete the link `{path}`, not what it leads to"),
            What::File(size) => format!("delete `{path}` ({})", counted(size, "byte")),
        };
        Preview::Text { text }
    }
}
