//! The tool `read_many_files`.

use std::fmt::Write;
use std::ops::ControlFlow;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::walk::{Pattern, walk};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::config::FileConfig;
use crate::files::{Call, Files, Place, nothing_done};
use crate::page::Wanted;
use crate::read_file::{read, render};
use crate::text::counted;

/// Most files, and most characters of all of them, in one result.
const MOST_FILES: usize = 50;
const MOST_CHARACTERS: usize = 200_000;
/// Most paths that are named because they did not fit.
const MOST_NAMES: usize = 200;

/// Reads several text files.
#[derive(Debug)]
pub struct ReadManyFiles;

/// Arguments of `read_many_files`.
#[args]
pub struct ReadManyArgs {
    /// Files to read, unless folder is given.
    #[schemars(length(max = MOST_FILES), inner(length(max = MAX_PATH_BYTES)))]
    paths: Option<Vec<String>>,
    /// Folder to read, unless paths are given.
    #[schemars(length(max = MAX_PATH_BYTES))]
    folder: Option<String>,
    /// Glob for the folder such as `*.rs`; all files if left out.
    #[schemars(length(max = MAX_PATH_BYTES))]
    pattern: Option<String>,
}

impl Tool for ReadManyFiles {
    const NAME: &'static str = "read_many_files";
    const DESCRIPTION: &'static str = "Read up to 50 text files, up to 200,000 characters.";
    const RISK: Risk = Risk::ReadOnly;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = ReadManyArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: ReadManyArgs, cx: &Call<'_>) -> Result<String> {
        read_many(&args, cx).map_err(nothing_done)
    }

    fn classify(&self, args: &ReadManyArgs, cx: &Call<'_>) -> Result<Classification> {
        let given = args.paths.iter().flatten().map(String::as_str);
        let places: Vec<_> = match Files::open(cx, true) {
            Ok(files) => given
                .map(|path| (path, files.readable(path).map(|(place, _)| place)))
                .chain(args.folder.iter().map(|folder| (folder.as_str(), files.beginning(folder))))
                .collect(),
            Err(error) => vec![("", Err(error))],
        };
        Ok(reading(Self::NAME, &places))
    }
}

fn read_many(args: &ReadManyArgs, cx: &Call<'_>) -> Result<String> {
    let files = Files::open(cx, true)?;
    let mut left_out = Vec::new();
    let places: Vec<(String, Result<Place>)> = match (&args.paths, &args.folder) {
        (Some(paths), None) if args.pattern.is_none() && !paths.is_empty() => {
            if paths.len() > MOST_FILES {
                return Err(Error::invalid_arguments(format!(
                    "paths has {} items; it may have 1 to {MOST_FILES}",
                    paths.len()
                )));
            }
            paths.iter().map(|path| (path.clone(), files.readable(path).map(|(place, _)| place))).collect()
        }
        (None, Some(folder)) => {
            let found = in_folder(&files, folder, args.pattern.as_deref(), &mut left_out, cx)?;
            found.into_iter().map(|place| (place.to_string(), Ok(place))).collect()
        }
        _ => return Err(Error::invalid_arguments("give either paths, or folder with or without pattern")),
    };
    if places.is_empty() {
        return Ok(left_out.join("\n"));
    }
    let mut texts = Vec::new();
    let mut room = MOST_CHARACTERS;
    let mut unfit: Vec<String> = Vec::new();
    let mut failed = 0;
    for (number, (given, place)) in places.iter().enumerate() {
        cx.check()?;
        if number >= MOST_FILES || room == 0 {
            unfit.push(given.clone());
            continue;
        }
        match place.clone().and_then(|place| one(&place, room, cx)) {
            Ok(text) if text.chars().count() > room && !texts.is_empty() => unfit.push(given.clone()),
            Ok(text) => {
                room = room.saturating_sub(text.chars().count());
                texts.push(text);
            }
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::TimedOut) => {
                return Err(error);
            }
            Err(error) => {
                failed += 1;
                texts.push(format!("not read: {}", error.message()));
            }
        }
    }
    let read = texts.len() - failed;
    let mut text = format!("{} of {} read", read, counted(places.len() as u64, "file"));
    if !unfit.is_empty() {
        let named = unfit.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
        let more = unfit.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = write!(text, "; did not fit: {named}{more}");
    }
    for line in left_out {
        let _ = write!(text, "\n{line}");
    }
    for one in texts {
        let _ = write!(text, "\n\n{one}");
    }
    Ok(text)
}

fn one(place: &Place, room: usize, cx: &Call<'_>) -> Result<String> {
    let config = cx.config();
    let wanted = Wanted {
        first: 1,
        last: None,
        page_characters: config.max_read_characters.min(room),
        line_characters: config.max_line_characters.clamp(1, room.max(1)),
    };
    read(place, wanted, cx).map(|page| render(place, &page))
}

fn in_folder(
    files: &Files<'_>,
    folder: &str,
    pattern: Option<&str>,
    left_out: &mut Vec<String>,
    cx: &Call<'_>,
) -> Result<Vec<Place>> {
    let given = pattern;
    let pattern =
        given.map(Pattern::new).transpose().map_err(|error| Error::invalid_arguments(error.to_string()))?;
    let beginning = files.beginning(folder)?;
    let start = beginning.start()?;
    let denied = |path: &std::path::Path| files.denying_entry(path).is_some();
    let include_hidden = pattern.as_ref().is_some_and(Pattern::names_hidden);
    let rules = files.rules(include_hidden, false, &denied);
    let mut found = Vec::new();
    let mut considered = 0;
    let skipped = walk(beginning.files(), &start, &rules, &|| cx.check(), &mut |item| {
        if item.file_type.is_file() && files.allows_extension(item.path.as_path()) {
            considered += 1;
            if pattern.as_ref().is_none_or(|pattern| pattern.matches(item.below, false)) {
                found.push(beginning.below(item.below.as_ref()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if found.is_empty() {
        left_out.push(match given {
            Some(given) => format!(
                "no file in `{beginning}` matches `{given}` ({} looked at)",
                counted(considered, "file")
            ),
            None => format!("there is no file in `{beginning}`"),
        });
    }
    let skipped = beginning.root.shown_skipped(skipped);
    left_out.extend(skipped.lines("a pattern that begins with a dot", "read"));
    Ok(found)
}
