//! The tool `remove_directory`.

use std::sync::Arc;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{KnownFolder, MAX_PATH_BYTES, OpenFolder, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification};
use crate::text::counted;
use crate::tree::Tree;

const OPERATION: &str = "remove_directory";

/// Removes a folder.
#[derive(Debug)]
pub struct RemoveDirectory;

/// Arguments of `remove_directory`.
#[args]
pub struct RemoveArgs {
    /// Folder to remove.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Also remove all that is in it.
    #[serde(default)]
    recursive: bool,
}

impl Tool for RemoveDirectory {
    const NAME: &'static str = "remove_directory";
    const DESCRIPTION: &'static str = "Remove a folder, which must be empty unless recursive is set.";
    const RISK: Risk = Risk::Destructive;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = RemoveArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: RemoveArgs, cx: &Call<'_>) -> Result<String> {
        let removal = Removal::plan(&args, cx)?;
        let Removal { place, above, tree } = &removal;
        let mut changes = Changes::of(cx);
        let mut opened: Option<(usize, OpenFolder)> = None;
        let all = tree.entries.len();
        for (done, entry) in tree.entries.iter().enumerate() {
            let removed = cx.check().and_then(|()| {
                let folder = match opened.take() {
                    Some((number, folder)) if number == entry.folder => folder,
                    _ => removal.open(entry.folder)?,
                };
                let (_, folder) = opened.insert((entry.folder, folder));
                let inner = Place {
                    root: Arc::clone(&place.root),
                    path: entry.path.clone(),
                    real: entry.path.clone(),
                };
                let change = Change::RemoveIn { folder, place: &inner, is_folder: entry.is_folder };
                changes.make(&change).map_err(|error| place.root.told(error))
            });
            removed.map_err(|error| interrupted(error, done, all))?;
        }
        drop(opened);
        let removed = place
            .files()
            .open_known(above)
            .and_then(|folder| changes.make(&Change::RemoveIn { folder: &folder, place, is_folder: true }));
        removed.map_err(|error| interrupted(place.root.told(error), all, all))?;
        Ok(changes.told(format!("removed the folder `{place}`{}", removal.inside())))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Remove a folder, maybe with all that is in it.")]
    }

    fn classify(&self, args: &RemoveArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Removal::plan(args, cx)))
    }
}

struct Removal {
    place: Place,
    /// The folder that it is in.
    above: KnownFolder,
    tree: Tree,
}

impl Removal {
    fn plan(args: &RemoveArgs, cx: &Call<'_>) -> Result<Self> {
        let files = Files::open(cx, true)?;
        let place = files.entry(&args.path, Use::Write)?;
        if place.path.is_root() {
            return Err(nothing_done(WorkspaceError::IsTheRoot.into()));
        }
        let metadata = place.symlink_metadata().map_err(|error| explained(&place.root, error))?;
        if metadata.is_symlink() {
            return Err(nothing_done(Error::failed(format!(
                "`{place}` is a link, which delete_file deletes; what it leads to stays"
            ))));
        }
        if !metadata.is_dir() {
            return Err(place.root.told(WorkspaceError::NotADirectory { path: place.path.clone() }));
        }
        let parent = place.real.parent().unwrap_or_else(RelPath::root);
        let (above, _) = place.files().look_into(&parent).map_err(|error| place.root.told(error))?;
        let tree = Tree::look(&files, &place, cx)?;
        if !args.recursive && !tree.entries.is_empty() {
            return Err(nothing_done(Error::failed(format!(
                "`{place}` is not empty: it holds {}; recursive removes them too",
                tree.counted()
            ))));
        }
        Ok(Self { place, above, tree })
    }

    fn open(&self, number: usize) -> Result<OpenFolder> {
        let known =
            self.tree.known.get(number).ok_or_else(|| nothing_done(WorkspaceError::IsTheRoot.into()))?;
        self.place.files().open_known(known).map_err(|error| self.place.root.told(error))
    }

    fn inside(&self) -> String {
        if self.tree.entries.is_empty() {
            String::new()
        } else {
            format!(" with {} in it", self.tree.counted())
        }
    }
}

impl Planned for Removal {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        const NAMED: usize = 20;
        let mut text = format!("remove the folder `{}`{}", self.place, self.inside());
        for entry in self.tree.entries.iter().take(NAMED) {
            let end = if entry.is_folder { "/" } else { "" };
            text.push_str(&format!("\n{}{end}", self.place.root.shown(&entry.path).display()));
        }
        if self.tree.entries.len() > NAMED {
            text.push_str(&format!("\n… and {} more", self.tree.entries.len() - NAMED));
        }
        Preview::Text { text }
    }
}

/// An error after some of many were removed.
fn interrupted(error: Error, done: usize, all: usize) -> Error {
    if done == 0 {
        return nothing_done(error);
    }
    let done = counted(done as u64, "entry").replace("entrys", "entries");
    Error::new(error.kind(), format!("{} ({done} of {all} were removed before)", error.message()))
        .executed(true)
}
