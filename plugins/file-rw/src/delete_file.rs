//! The tool `delete_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::{Planned, classification};
use crate::place::{Place, explained, nothing_done};
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
    type Config = ();

    fn run(&self, args: DeleteArgs, cx: &Cx<'_>) -> Result<String> {
        let workspace = cx.workspace()?;
        let Deletion { place, what } = Deletion::plan(&workspace, &args)?;
        workspace.remove_file(&place.path).map_err(|error| nothing_done(error.into()))?;
        Seen::new(cx, &place.real).forget();
        Ok(match what {
            What::Link => format!("deleted the link `{}`; what it leads to is as it was", place.path),
            What::File(size) => format!("deleted `{}` ({})", place.path, counted(size, "byte")),
        })
    }

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Delete a file or a link.")]
    }

    fn classify(&self, args: &DeleteArgs, cx: &Cx<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Deletion::plan(&cx.workspace()?, args)))
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
    fn plan(workspace: &Workspace, args: &DeleteArgs) -> Result<Self> {
        let place = Place::of_entry(workspace, &args.path)?;
        let metadata =
            workspace.symlink_metadata(&place.path).map_err(|error| explained(workspace, error))?;
        if metadata.is_dir() {
            return Err(nothing_done(WorkspaceError::IsADirectory { path: place.path }.into()));
        }
        let what = if metadata.is_symlink() { What::Link } else { What::File(metadata.len()) };
        Ok(Self { place, what })
    }
}

impl Planned for Deletion {
    fn place(&self) -> &Place {
        &self.place
    }

    fn preview(&self) -> Preview {
        let path = &self.place.path;
        let text = match self.what {
            What::Link => format!("delete the link `{path}`, not what it leads to"),
            What::File(size) => format!("delete `{path}` ({})", counted(size, "byte")),
        };
        Preview::Text { text }
    }
}
