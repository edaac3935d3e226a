//! The tool `search_files`.
//!
//! Four situations have four answers: the path is not there, no file passed the filter, the pattern is in none of so many
//! files, and the hits.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::walk::{Pattern, Skipped, escaped};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::config::FileConfig;
use crate::files::{Call, Files, Place, explained, nothing_done};
use crate::list_directory::here;
use crate::query;
use crate::search::{Found, Hits, Keep, Line, Wanted, search, search_one};
use crate::text::{BOM, counted};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;
const MAX_CONTEXT: usize = 10;
const MAX_PATTERN: usize = 4096;

/// Searches the content of files.
#[derive(Debug)]
pub struct SearchFiles;

/// Arguments of `search_files`.
#[args]
pub struct SearchArgs {
    /// Regular expression for one line, such as `fn \w+`.
    #[schemars(length(min = 1, max = MAX_PATTERN))]
    pattern: String,
    /// File or folder to search.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Glob such as `*.rs`; all files if left out.
    #[schemars(length(max = MAX_PATH_BYTES))]
    include: Option<String>,
    /// Matching lines, names of files, or numbers of lines.
    #[serde(default)]
    #[schemars(extend("default" = "lines"))]
    mode: Mode,
    /// The pattern is plain text.
    #[serde(default)]
    literal: bool,
    /// Ignore letter case.
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show around each.
    #[serde(default)]
    #[schemars(range(max = MAX_CONTEXT))]
    context_lines: usize,
    /// Most matching lines, or files.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: usize,
    /// Also hidden and git-ignored files.
    #[serde(default)]
    include_hidden: bool,
}

/// What a search answers.
#[args]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Lines,
    Files,
    Counts,
}

impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = "Search the content of text files.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;
    const LINT_EXCEPTIONS: &'static [LintException] = &[LintException::new(
        "tool-near-duplicate",
        "To find is by name, to search by content; both say so at once.",
    )];

    type Args = SearchArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: SearchArgs, cx: &Call<'_>) -> Result<String> {
        find(&args, cx).map_err(nothing_done)
    }

    fn classify(&self, args: &SearchArgs, cx: &Call<'_>) -> Result<Classification> {
        let place = Files::open(cx, true).and_then(|files| files.beginning(&args.path));
        Ok(reading(Self::NAME, &[(&args.path, place)]))
    }
}

fn find(args: &SearchArgs, cx: &Call<'_>) -> Result<String> {
    if !(1..=MAX_LIMIT).contains(&args.limit) {
        return Err(Error::invalid_arguments(format!("limit is {}; it may be 1 to {MAX_LIMIT}", args.limit)));
    }
    if args.context_lines > MAX_CONTEXT {
        let given = args.context_lines;
        return Err(Error::invalid_arguments(format!(
            "context_lines is {given}; it may be 0 to {MAX_CONTEXT}"
        )));
    }
    let bad = |error: &dyn std::fmt::Display| Error::invalid_arguments(error.to_string());
    let matcher =
        query::matcher(&args.pattern, args.literal, args.ignore_case).map_err(|error| bad(&error))?;
    let include = args.include.as_deref().map(Pattern::new).transpose();
    let include = include.map_err(|error| bad(&error).context("include"))?;
    let files = Files::open(cx, true)?;
    let place = files.beginning(&args.path)?;
    let (context_lines, keep) = match args.mode {
        Mode::Lines => (args.context_lines, Keep::Lines(args.limit)),
        Mode::Files => (0, Keep::Nothing),
        Mode::Counts => (0, Keep::Count),
    };
    let wanted = Wanted { matcher, context_lines, keep, files: args.limit };
    let mut considered = 0;
    let is_folder = place.metadata().is_ok_and(|metadata| metadata.is_dir());
    let (found, skipped) = if is_folder {
        let start = place.start()?;
        let denied = |path: &std::path::Path| files.denying_entry(path).is_some();
        let hidden = args.include_hidden || include.as_ref().is_some_and(Pattern::names_hidden);
        let rules = files.rules(hidden, args.include_hidden, &denied);
        search(place.files(), &start, &rules, &wanted, &|| cx.check(), &mut |item| {
            considered += 1;
            files.allows_extension(item.path.as_path())
                && include.as_ref().is_none_or(|include| include.matches(item.below, false))
        })?
    } else {
        files.allowed_extension(&place)?;
        let file = place.open_file().map_err(|error| explained(&place.root, error))?;
        considered = 1;
        let name = place.path.file_name().unwrap_or_default();
        let passes = include.as_ref().is_none_or(|include| include.matches(name.as_ref(), false));
        let found = if passes { search_one(&place.path, &file, &wanted) } else { Found::default() };
        (found, Skipped::default())
    };
    let skipped = place.root.shown_skipped(skipped);
    Ok(render(args, &place, considered, &found, &skipped, files.config))
}

fn render(
    args: &SearchArgs,
    place: &Place,
    considered: u64,
    found: &Found,
    skipped: &Skipped,
    config: &FileConfig,
) -> String {
    let mut text = header(args, place, considered, found);
    if skipped.stopped {
        text.push_str("; the tree is too large and was not searched to its end, name a folder further down");
    }
    for line in left_out(found, skipped) {
        let _ = write!(text, "\n{line}");
    }
    let shown = |hits: &Hits| escaped(place.root.shown(&hits.path).as_os_str());
    let mut wrong = 0;
    let mut room = config.max_read_characters;
    for (number, hits) in found.files.iter().enumerate() {
        let one = match args.mode {
            Mode::Files => shown(hits),
            Mode::Counts => format!("{}\t{}", hits.count, shown(hits)),
            Mode::Lines => lines(&shown(hits), hits, config.max_line_characters.max(1), &mut wrong),
        };
        let characters = one.chars().count() + 1;
        if characters > room && number > 0 {
            let left = counted((found.files.len() - number) as u64, "file");
            let _ = write!(
                text,
                "\n… and {left} more, which did not fit into {} characters",
                config.max_read_characters
            );
            break;
        }
        match one.char_indices().nth(room) {
            Some((cut, _)) => {
                let _ = write!(text, "\n{}…", &one[..cut]);
            }
            None => {
                let _ = write!(text, "\n{one}");
            }
        }
        room = room.saturating_sub(characters);
    }
    if wrong > 0 {
        let _ = write!(text, "\n({} not UTF-8; what is not is shown as \u{FFFD})", lines_are(wrong));
    }
    text
}

fn header(args: &SearchArgs, place: &Place, considered: u64, found: &Found) -> String {
    let pattern = &args.pattern;
    let failed = found.binary + found.long_lines.count + found.unreadable.count;
    if found.files.is_empty() {
        return match (&args.include, found.searched) {
            (Some(include), 0) if failed == 0 => {
                format!("no file in `{place}` passes `{include}` ({} looked at)", counted(considered, "file"))
            }
            (None, 0) if failed == 0 => format!("there is no file to search in `{place}`"),
            (_, searched) => {
                let hint = if !args.literal && query::has_doubled_escape(pattern) {
                    "\nthe pattern has two backslashes in a row, which stand for one in the text; write one"
                } else {
                    ""
                };
                format!("`{pattern}` is not in {}{hint}", of_files(searched, place))
            }
        };
    }
    let files = counted(found.files.len() as u64, "file");
    let matching: usize =
        found.files.iter().map(|hits| hits.lines.iter().filter(|line| line.is_match).count()).sum();
    match (args.mode, found.more) {
        (Mode::Lines, true) => format!(
            "the first {} with `{pattern}`, in {files}; there are more: narrow the search, or raise limit",
            counted(matching as u64, "line")
        ),
        (_, true) => {
            format!("the first {files} with `{pattern}`; there are more: narrow the search, or raise limit")
        }
        (Mode::Lines, false) => {
            format!("{} with `{pattern}` in {files} of {}", counted(matching as u64, "line"), found.searched)
        }
        (_, false) => format!("`{pattern}` is in {files} of {}", found.searched),
    }
}

fn of_files(searched: u64, place: &Place) -> String {
    match searched {
        1 => format!("the 1 file of `{place}` that was searched"),
        _ => format!("any of the {searched} files of `{place}` that were searched"),
    }
}

fn left_out(found: &Found, skipped: &Skipped) -> Vec<String> {
    let mut lines = Vec::new();
    if found.binary > 0 {
        lines.push(format!(
            "not searched: {} that {} binary",
            counted(found.binary, "file"),
            if found.binary == 1 { "is" } else { "are" }
        ));
    }
    found.long_lines.line(&mut lines, "not searched, lines too long", "");
    found.unreadable.line(&mut lines, "not readable", "");
    lines.extend(skipped.lines("include_hidden", "search"));
    lines
}

/// The lines of one file under its name: matching ones as read_file shows them, others with `-`.
fn lines(name: &str, hits: &Hits, most_characters: usize, wrong: &mut u64) -> String {
    let mut text = name.to_owned();
    let mut last = None;
    for Line { number, is_match, bytes } in &hits.lines {
        if last.is_some_and(|last| *number > last + 1) && hits.lines.iter().any(|line| !line.is_match) {
            text.push_str("\n…");
        }
        last = Some(*number);
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = if *number == 1 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
        let line = String::from_utf8_lossy(bytes);
        *wrong += u64::from(matches!(line, std::borrow::Cow::Owned(_)));
        let mark = if *is_match { '|' } else { '-' };
        match line.char_indices().nth(most_characters) {
            Some((cut, _)) => {
                let _ = write!(text, "\n{number}{mark}{}…", &line[..cut]);
            }
            None => {
                let _ = write!(text, "\n{number}{mark}{line}");
            }
        }
    }
    text
}

fn lines_are(number: u64) -> String {
    if number == 1 { "1 line is".to_owned() } else { format!("{number} lines are") }
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}
