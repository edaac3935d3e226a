//! All that is in a folder, links not followed, for what is done to a folder as a whole.
//!
//! It refuses a folder in which something is denied or of which a part cannot be read: what cannot be looked at cannot be
//! answered for.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{EntryKind, KnownFolder};

use crate::files::{Call, Files, Place, nothing_done};
use crate::text::counted;

/// Most entries of such a folder.
const MOST_ENTRIES: usize = 100_000;

/// The entries of a folder, each after what is in it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) entries: Vec<Entry>,
    /// The folders that the entries are in.
    pub(crate) known: Vec<KnownFolder>,
    pub(crate) folders: u64,
    pub(crate) files: u64,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: RelPath,
    pub(crate) is_folder: bool,
    /// The folder that it is in, by its number among the known ones.
    pub(crate) folder: usize,
}

impl Tree {
    pub(crate) fn look(files: &Files<'_>, place: &Place, cx: &Call<'_>) -> Result<Self> {
        let mut tree = Self::default();
        // Not by recursion: how deep a tree is, is not ours to say.
        let mut open = vec![(Entry { path: place.real.clone(), is_folder: true, folder: 0 }, false)];
        while let Some((folder, is_done)) = open.pop() {
            if is_done {
                tree.folders += 1;
                tree.entries.push(folder);
                continue;
            }
            cx.check().map_err(nothing_done)?;
            let (known, entries) =
                place.files().look_into(&folder.path).map_err(|error| place.root.told(error))?;
            let number = tree.known.len();
            tree.known.push(known);
            if folder.path != place.real {
                open.push((folder, true));
            }
            for entry in entries {
                if let Some(glob) = files.denying_entry(entry.path.as_path()) {
                    let inner = place.root.shown(&entry.path);
                    return Err(Error::refused(format!(
                        "`{place}` holds `{}`, which is denied by the configuration (`{glob}`)",
                        inner.display()
                    )));
                }
                if tree.entries.len() + open.len() >= MOST_ENTRIES {
                    return Err(nothing_done(Error::failed(format!(
                        "`{place}` holds more than {MOST_ENTRIES} entries; take the folders in it one by one"
                    ))));
                }
                let is_folder = entry.kind == EntryKind::Directory;
                let entry = Entry { path: entry.path, is_folder, folder: number };
                if is_folder {
                    open.push((entry, false));
                } else {
                    tree.files += 1;
                    tree.entries.push(entry);
                }
            }
        }
        Ok(tree)
    }

    /// `2 files, 1 folder`.
    pub(crate) fn counted(&self) -> String {
        let counts = [(self.files, "file"), (self.folders, "folder")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, what)| counted(count, what)).collect::<Vec<_>>().join(" and ")
    }
}
