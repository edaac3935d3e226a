//! The tool `create_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::A_FILE_HAS_ANY_LENGTH;
use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification, extent};
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
    content: String,
}

impl Tool for CreateFile {
    const NAME: &'static str = "create_file";
    const DESCRIPTION: &'static str = "Make a new file. Fails if the path exists.";
    const LINT_EXCEPTIONS: &'static [LintException] = &[A_FILE_HAS_ANY_LENGTH.at("/content")];
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = CreateArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: CreateArgs, cx: &Call<'_>) -> Result<String> {
        let Creation { place, content } = Creation::plan(&args, cx)?;
        let mut changes = Changes::of(cx);
        match changes.make(&Change::Create { place: &place, after: content.as_bytes() }) {
            Ok(()) => {}
            Err(WorkspaceError::AlreadyExists { .. }) => return Err(exists(&place)),
            Err(error) => return Err(place.root.told(error)),
        }
        Seen::new(cx, &place).knows(&blake3::hash(content.as_bytes()));
        Ok(changes.told(format!("created `{place}`: {}", extent(content.as_bytes()))))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Make a file that does not exist yet.")]
    }

    fn classify(&self, args: &CreateArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Creation::plan(args, cx)))
    }
}

struct Creation<'a> {
    place: Place,
    content: &'a str,
}

impl<'a> Creation<'a> {
    fn plan(args: &'a CreateArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, true)?.file_entry(&args.path, Use::Write)?;
        nothing_there(&place)?;
        Ok(Self { place, content: &args.content })
    }
}

impl Planned for Creation<'_> {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        Preview::Text { text: self.content.to_owned() }
    }
}

/// Fails when anything stands at a place, be it a link to nothing.
pub(crate) fn nothing_there(place: &Place) -> Result<()> {
    let (workspace, path) = (&place.root.workspace, &place.path);
    match workspace.symlink_metadata(path) {
        Ok(metadata) => {
            let leads_nowhere =
                metadata.is_symlink() && !workspace.exists(path).map_err(|error| place.root.told(error))?;
            let dangling = WorkspaceError::DanglingLink { path: path.clone() };
            Err(if leads_nowhere { place.root.told(dangling) } else { exists(place) })
        }
        Err(WorkspaceError::NotFound { .. }) => Ok(()),
        Err(error) => Err(place.root.told(error)),
    }
}

pub(crate) fn exists(place: &Place) -> Error {
    nothing_done(Error::failed(format!(
        "`{place}` already exists; change a file with edit_file, or replace it with write_file"
    )))
}
