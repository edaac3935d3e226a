//! The tool `edit_file`.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::LARGEST_CHANGED_BYTES;
use crate::change::{Planned, classification, diff};
use crate::edit::{Edit, Edited};
use crate::place::{Place, explained, nothing_done};
use crate::seen::{Knowledge, Seen};
use crate::text::{BOM, counted};

const OPERATION: &str = "edit";
/// Lines shown around each change, and most lines shown in all.
const AROUND: u64 = 1;
const MOST_LINES: usize = 60;
/// A longer line is shown in part.
const MOST_CHARACTERS: usize = 300;

/// Replaces an exact text in a file.
#[derive(Debug)]
pub struct EditFile;

/// Arguments of `edit_file`.
#[args]
pub struct EditArgs {
    /// File to edit.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Text to replace, exactly as read_file shows it, without line numbers; it must be there just once.
    #[schemars(length(max = LARGEST_CHANGED_BYTES))]
    old_text: String,
    /// Text to put there, taken literally.
    #[schemars(length(max = LARGEST_CHANGED_BYTES))]
    new_text: String,
    /// Replace it everywhere it is.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replace an exact text in a file. Line ends are kept as the file has them. Answers with \
                                       the changed lines.";
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = EditArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: EditArgs, cx: &Cx<'_>) -> Result<String> {
        let workspace = cx.workspace()?;
        let Change { place, before, edited } = Change::plan(&workspace, &args)?;
        cx.check().map_err(nothing_done)?;
        workspace.write_atomic(&place.path, &edited.bytes).map_err(|error| nothing_done(error.into()))?;
        let seen = Seen::new(cx, &place.real);
        // Somebody else's change in the same file is still unseen, and must stay so.
        if seen.compare(&blake3::hash(&before)) == Knowledge::Current {
            seen.knows(&blake3::hash(&edited.bytes));
        }
        Ok(render(&place.path, &edited))
    }

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Replace a text in a file.")]
    }

    fn classify(&self, args: &EditArgs, cx: &Cx<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Change::plan(&cx.workspace()?, args)))
    }
}

struct Change {
    place: Place,
    before: Vec<u8>,
    edited: Edited,
}

impl Change {
    fn plan(workspace: &Workspace, args: &EditArgs) -> Result<Self> {
        let place = Place::of_target(workspace, &args.path)?;
        let before = workspace
            .read(&place.path, LARGEST_CHANGED_BYTES)
            .map_err(|error| explained(workspace, error))?;
        let edit = Edit { old: &args.old_text, new: &args.new_text, all: args.replace_all };
        let edited = edit.apply(&before).map_err(|problem| {
            nothing_done(Error::from(problem)).context(format_args!("`{}`", place.path))
        })?;
        Ok(Self { place, before, edited })
    }
}

impl Planned for Change {
    fn place(&self) -> &Place {
        &self.place
    }

    fn preview(&self) -> Preview {
        diff(&self.place, &self.before, &self.edited.bytes)
    }
}

fn render(path: &RelPath, edited: &Edited) -> String {
    let places = edited.changed.len() as u64;
    let mut text = format!("edited `{path}` in {}", counted(places, "place"));
    let bytes = edited.bytes.strip_prefix(BOM).unwrap_or(&edited.bytes);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let shown = shown_lines(&edited.changed, lines.len() as u64);
    let mut last = None;
    for &number in shown.iter().take(MOST_LINES) {
        if last.is_some_and(|last| number > last + 1) {
            text.push_str("\n…");
        }
        last = Some(number);
        let line = lines.get(number as usize - 1).copied().unwrap_or_default();
        let _ = write!(text, "\n{number}|{}", shown_line(line));
    }
    if shown.len() > MOST_LINES {
        let _ = write!(text, "\n… and {} more", counted((shown.len() - MOST_LINES) as u64, "line"));
    }
    text
}

/// Numbers of the lines to show, each once and in order.
fn shown_lines(changed: &[(u64, u64)], lines: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::new();
    for &(first, last) in changed {
        let from = first.saturating_sub(AROUND).max(numbers.last().map_or(1, |last| last + 1));
        numbers.extend(from..=(last.max(first) + AROUND).min(lines));
    }
    numbers
}

fn shown_line(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}
