//! The tool `move_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::create_file::{exists, nothing_there};
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification};
use crate::seen::Seen;
use crate::tree::Tree;

const OPERATION: &str = "move";

/// Gives a file, folder or link another name.
#[derive(Debug)]
pub struct MoveFile;

/// Arguments of `move_file`.
#[args]
pub struct MoveArgs {
    /// File or folder to move; of a link, the link itself.
    #[schemars(length(max = MAX_PATH_BYTES))]
    source: String,
    /// Its new path; nothing may be there.
    #[schemars(length(max = MAX_PATH_BYTES))]
    destination: String,
}

impl Tool for MoveFile {
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = "Move or rename a file or folder.";
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = MoveArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: MoveArgs, cx: &Call<'_>) -> Result<String> {
        let Moving { from, to, what } = Moving::plan(&args, cx)?;
        let mut changes = Changes::of(cx);
        match changes.make(&Change::Move { from: &from, to: &to }) {
            Ok(()) => {}
            Err(WorkspaceError::AlreadyExists { .. }) => return Err(exists(&to)),
            Err(error) => return Err(from.root.told(error)),
        }
        Seen::new(cx, &from).forget();
        Ok(changes.told(format!("moved {what} `{from}` to `{to}`")))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Give a file, folder or link another name.")]
    }

    fn classify(&self, args: &MoveArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.source, &Moving::plan(args, cx)))
    }
}

struct Moving {
    from: Place,
    to: Place,
    what: &'static str,
}

impl Moving {
    fn plan(args: &MoveArgs, cx: &Call<'_>) -> Result<Self> {
        let files = Files::open(cx, true)?;
        let from = files.entry(&args.source, Use::Write)?;
        let to = files.entry(&args.destination, Use::Write)?;
        if from.path.is_root() || to.path.is_root() {
            return Err(nothing_done(WorkspaceError::IsTheRoot.into()));
        }
        let metadata = from.symlink_metadata().map_err(|error| explained(&from.root, error))?;
        let what = if metadata.is_dir() {
            if to.real.as_path().starts_with(from.real.as_path()) && from.files().root() == to.files().root()
            {
                return Err(nothing_done(Error::failed(format!(
                    "`{from}` cannot be moved into itself, `{to}`"
                ))));
            }
            Tree::look(&files, &from, cx)?;
            "the folder"
        } else {
            files.allowed_extension(&from)?;
            files.allowed_extension(&to)?;
            if metadata.is_symlink() { "the link" } else { "the file" }
        };
        if from.files().root() != to.files().root() {
            return Err(nothing_done(Error::failed(format!(
                "`{from}` and `{to}` lie in different folders of the configuration; copy the file and delete the old one"
            ))));
        }
        nothing_there(&to)?;
        Ok(Self { from, to, what })
    }
}

impl Planned for Moving {
    fn places(&self) -> Vec<&Place> {
        vec![&self.from, &self.to]
    }

    fn preview(&self) -> Preview {
        let Self { from, to, what } = self;
        Preview::Text { text: format!("move {what} `{from}` to `{to}`") }
    }
}
