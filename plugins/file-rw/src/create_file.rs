//! The tool `create_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::LARGEST_CHANGED_BYTES;
use crate::change::{Planned, classification, extent};
use crate::place::{Place, nothing_done};
use crate::seen::Seen;

const OPERATION: &str = "create";

/// Makes a new file.
#[derive(Debug)]
pub struct CreateFile;

/// Arguments of `create_file`.
#[args]
pub struct CreateArgs {
    /// File to make; folders above it are made too.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Its whole content.
    #[schemars(length(max = LARGEST_CHANGED_BYTES))]
    content: String,
}

impl Tool for CreateFile {
    const NAME: &'static str = "create_file";
    const DESCRIPTION: &'static str = "Make a new file. Fails if the path exists.";
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = CreateArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: CreateArgs, cx: &Cx<'_>) -> Result<String> {
        let workspace = cx.workspace()?;
        let Creation { place, content } = Creation::plan(&workspace, &args)?;
        match workspace.create_new(&place.path, content.as_bytes()) {
            Ok(()) => {}
            Err(WorkspaceError::AlreadyExists { .. }) => return Err(exists(&place.path)),
            Err(error) => return Err(error.into()),
        }
        Seen::new(cx, &place.real).knows(&blake3::hash(content.as_bytes()));
        Ok(format!("created `{}`: {}", place.path, extent(content.as_bytes())))
    }

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Make a file that does not exist yet.")]
    }

    fn classify(&self, args: &CreateArgs, cx: &Cx<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Creation::plan(&cx.workspace()?, args)))
    }
}

struct Creation<'a> {
    place: Place,
    content: &'a str,
}

impl<'a> Creation<'a> {
    fn plan(workspace: &Workspace, args: &'a CreateArgs) -> Result<Self> {
        let place = Place::of_entry(workspace, &args.path)?;
        match workspace.symlink_metadata(&place.path) {
            Ok(metadata) if metadata.is_symlink() && !workspace.exists(&place.path)? => {
                Err(WorkspaceError::DanglingLink { path: place.path }.into())
            }
            Ok(_) => Err(exists(&place.path)),
            Err(WorkspaceError::NotFound { .. }) => Ok(Self { place, content: &args.content }),
            Err(error) => Err(nothing_done(error.into())),
        }
    }
}

impl Planned for Creation<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn preview(&self) -> Preview {
        Preview::Text { text: self.content.to_owned() }
    }
}

fn exists(path: &RelPath) -> Error {
    nothing_done(Error::failed(format!(
        "`{path}` already exists; change a file with edit_file, or replace it with write_file"
    )))
}
