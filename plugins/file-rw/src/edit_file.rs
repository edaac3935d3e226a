//! The tool `edit_file`.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::batch::{MOST_EDITS, apply_all};
use crate::change;
use crate::config::FileConfig;
use crate::edit::{Edit, Edited};
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification, diff};
use crate::seen::{Knowledge, Seen};
use crate::text::{BOM, counted};
use crate::{A_FILE_HAS_ANY_LENGTH, LARGEST_CHANGED_BYTES};

const OPERATION: &str = "edit";
/// Lines shown around each change, and most lines shown in all.
const AROUND: u64 = 1;
const MOST_LINES: usize = 60;
/// A longer line is shown in part.
const MOST_CHARACTERS: usize = 300;

/// Replaces exact texts in a file.
#[derive(Debug)]
pub struct EditFile;

/// Arguments of `edit_file`.
#[args]
pub struct EditArgs {
    /// File to edit.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Exact text to replace, without line numbers; must be there once. Needed unless edits are given.
    old_text: Option<String>,
    /// Text to put there, taken literally; needed unless edits are given.
    new_text: Option<String>,
    /// Replace it everywhere.
    #[serde(default)]
    replace_all: bool,
    /// Several edits in order, all or none; a single one if left out.
    #[schemars(length(min = 1, max = MOST_EDITS))]
    edits: Option<Vec<EditStep>>,
}

/// One of several edits.
#[args]
pub struct EditStep {
    /// Text to replace.
    old_text: String,
    /// Text to put there.
    new_text: String,
}

impl EditArgs {
    /// The edits to make, in order.
    fn steps(&self) -> Result<Vec<Edit<'_>>> {
        let all = self.replace_all;
        match (&self.old_text, &self.new_text, &self.edits) {
            (Some(old), Some(new), None) => Ok(vec![Edit { old, new, all }]),
            (None, None, Some(steps)) if (1..=MOST_EDITS).contains(&steps.len()) => {
                Ok(steps.iter().map(|step| Edit { old: &step.old_text, new: &step.new_text, all }).collect())
            }
            (None, None, Some(steps)) => Err(Error::invalid_arguments(format!(
                "edits has {} items; it may have 1 to {MOST_EDITS}",
                steps.len()
            ))),
            (Some(_), None, None) => {
                Err(Error::invalid_arguments("new_text is missing; an empty one deletes old_text"))
            }
            (None, _, None) => Err(Error::invalid_arguments("old_text is missing, the text to replace")),
            (_, _, Some(_)) => {
                Err(Error::invalid_arguments("give either old_text and new_text, or edits, not both"))
            }
        }
    }
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replace exact texts in a file. Line ends are kept.";
    const LINT_EXCEPTIONS: &'static [LintException] = &[
        A_FILE_HAS_ANY_LENGTH.at("/old_text"),
        A_FILE_HAS_ANY_LENGTH.at("/new_text"),
        A_FILE_HAS_ANY_LENGTH.at("/edits/*/old_text"),
        A_FILE_HAS_ANY_LENGTH.at("/edits/*/new_text"),
    ];
    const RISK: Risk = Risk::Write;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = EditArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: EditArgs, cx: &Call<'_>) -> Result<String> {
        let Change { place, before, edited } = Change::plan(&args, cx)?;
        cx.check().map_err(nothing_done)?;
        let change = change::Change::Replace { place: &place, before: &before, after: &edited.bytes };
        let mut changes = Changes::of(cx);
        changes.make(&change).map_err(|error| place.root.told(error))?;
        let seen = Seen::new(cx, &place);
        // Somebody else's change in the same file is still unseen, and must stay so.
        if seen.compare(&blake3::hash(&before)) == Knowledge::Current {
            seen.knows(&blake3::hash(&edited.bytes));
        }
        Ok(changes.told(render(&place, &edited)))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Replace a text in a file.")]
    }

    fn classify(&self, args: &EditArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Change::plan(args, cx)))
    }
}

struct Change {
    place: Place,
    before: Vec<u8>,
    edited: Edited,
}

impl Change {
    fn plan(args: &EditArgs, cx: &Call<'_>) -> Result<Self> {
        let steps = args.steps()?;
        let place = Files::open(cx, true)?.target(&args.path, Use::Write)?;
        let before = place.read(LARGEST_CHANGED_BYTES).map_err(|error| explained(&place.root, error))?;
        let edited = apply_all(&steps, &before)
            .map_err(|problem| nothing_done(Error::from(problem)).context(format_args!("`{place}`")))?;
        Ok(Self { place, before, edited })
    }
}

impl Planned for Change {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        diff(&self.place, &self.before, &self.edited.bytes)
    }
}

fn render(path: &Place, edited: &Edited) -> String {
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
