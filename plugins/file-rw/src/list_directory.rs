//! The tool `list_directory`.

use std::fmt::Write;
use std::ops::ControlFlow;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::walk::{Item, Rules, Skipped, escaped, walk};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::config::FileConfig;
use crate::files::{Call, Files, Place, nothing_done};
use crate::text::counted;

/// Most entries that are listed.
const MOST_ROWS: usize = 1000;

/// Lists one folder.
#[derive(Debug)]
pub struct ListDirectory;

/// Arguments of `list_directory`.
#[args]
pub struct ListArgs {
    /// Folder to list.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = "List one folder: folders first, files with sizes in bytes.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = ListArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: ListArgs, cx: &Call<'_>) -> Result<String> {
        list(&args, cx).map_err(nothing_done)
    }

    fn classify(&self, args: &ListArgs, cx: &Call<'_>) -> Result<Classification> {
        let place = Files::open(cx, true).and_then(|files| files.beginning(&args.path));
        Ok(reading(Self::NAME, &[(&args.path, place)]))
    }
}

fn list(args: &ListArgs, cx: &Call<'_>) -> Result<String> {
    let files = Files::open(cx, true)?;
    let place = files.beginning(&args.path)?;
    let start = place.start()?;
    let denied = |path: &std::path::Path| files.denying_entry(path).is_some();
    let rules = Rules { include_hidden: true, denied: Some(&denied), ..Rules::default() };
    let (mut folders, mut others) = (Vec::new(), Vec::new());
    let skipped = walk(place.files(), &start, &rules, &|| cx.check(), &mut |item| {
        let shown = escaped(place.root.shown(item.path).as_os_str());
        if item.file_type.is_dir() {
            folders.push(format!("dir\t{shown}/"));
        } else {
            others.push(row(&item, &shown));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(render(&place, &folders, &others, &place.root.shown_skipped(skipped)))
}

fn row(item: &Item<'_>, shown: &str) -> String {
    let Item { dir, name, file_type, .. } = item;
    if file_type.is_symlink() {
        let target = dir.read_link_contents(name).map(|target| escaped(target.as_os_str()));
        format!("link\t{shown} -> {}", target.unwrap_or_else(|_| "?".to_owned()))
    } else if file_type.is_file() {
        let size = dir.symlink_metadata(name).map(|metadata| metadata.len().to_string());
        format!("{}\t{shown}", size.unwrap_or_else(|_| "?".to_owned()))
    } else if file_type.is_fifo() {
        format!("fifo\t{shown}")
    } else if file_type.is_socket() {
        format!("socket\t{shown}")
    } else {
        format!("device\t{shown}")
    }
}

fn render(place: &Place, folders: &[String], others: &[String], skipped: &Skipped) -> String {
    let count = folders.len() + others.len();
    let mut text = if count == 0 && skipped.is_empty() {
        format!("`{place}` is empty")
    } else {
        let folders = counted(folders.len() as u64, "folder");
        format!(
            "`{place}`: {folders}, {}",
            counted(others.len() as u64, "other entry").replace("entrys", "entries")
        )
    };
    if count > MOST_ROWS {
        let _ = write!(text, "; these are the first {MOST_ROWS}, find_files finds the others by name");
    }
    for line in skipped.lines("", "list") {
        let _ = write!(text, "\n{line}");
    }
    for row in folders.iter().chain(others).take(MOST_ROWS) {
        let _ = write!(text, "\n{row}");
    }
    text
}

pub(crate) fn here() -> String {
    ".".to_owned()
}
