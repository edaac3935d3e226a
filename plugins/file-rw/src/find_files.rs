//! The tool `find_files`.

use std::fmt::Write;
use std::ops::ControlFlow;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::walk::{MOST_ENTRIES, Pattern, escaped, walk};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;
use rustix::fs::{AtFlags, statat};

use crate::config::FileConfig;
use crate::files::{Call, Files, nothing_done};
use crate::list_directory::here;
use crate::text::counted;

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;

/// Finds files by name.
#[derive(Debug)]
pub struct FindFiles;

/// Arguments of `find_files`.
#[args]
pub struct FindArgs {
    /// Glob: `*.{ts,tsx}` for names at any depth, `src/**/*.rs` for paths below the folder.
    #[schemars(length(max = MAX_PATH_BYTES))]
    pattern: String,
    /// Folder to look in.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Most files to list.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: usize,
    /// Go on after so many.
    #[serde(default)]
    #[schemars(range(max = MOST_ENTRIES))]
    skip: usize,
    /// Also hidden and git-ignored files.
    #[serde(default)]
    include_hidden: bool,
}

impl Tool for FindFiles {
    const NAME: &'static str = "find_files";
    const DESCRIPTION: &'static str = "Find files by name, newest first.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = FindArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: FindArgs, cx: &Call<'_>) -> Result<String> {
        find(&args, cx).map_err(nothing_done)
    }

    fn classify(&self, args: &FindArgs, cx: &Call<'_>) -> Result<Classification> {
        let place = Files::open(cx, true).and_then(|files| files.beginning(&args.path));
        Ok(reading(Self::NAME, &[(&args.path, place)]))
    }
}

/// A file that was found. Ordered as they are listed: newest first, then by path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    age: std::cmp::Reverse<(i64, i64)>,
    path: RelPath,
}

/// The newest files of all that were found, and no more of them than can be shown.
struct Newest {
    wanted: usize,
    found: Vec<Found>,
    total: usize,
}

impl Newest {
    fn add(&mut self, found: Found) {
        self.total += 1;
        self.found.push(found);
        if self.found.len() >= self.wanted.saturating_mul(2).max(MAX_LIMIT) {
            self.found.select_nth_unstable(self.wanted);
            self.found.truncate(self.wanted);
        }
    }

    fn sorted(mut self) -> (Vec<Found>, usize) {
        self.found.sort_unstable();
        (self.found, self.total)
    }
}

fn find(args: &FindArgs, cx: &Call<'_>) -> Result<String> {
    if !(1..=MAX_LIMIT).contains(&args.limit) {
        return Err(Error::invalid_arguments(format!("limit is {}; it may be 1 to {MAX_LIMIT}", args.limit)));
    }
    let pattern = Pattern::new(&args.pattern).map_err(|error| Error::invalid_arguments(error.to_string()))?;
    let files = Files::open(cx, true)?;
    let place = files.beginning(&args.path)?;
    let start = place.start()?;
    let denied = |path: &std::path::Path| files.denying_entry(path).is_some();
    let hidden = args.include_hidden || pattern.names_hidden();
    let rules = files.rules(hidden, args.include_hidden, &denied);
    let mut found = Newest { wanted: args.skip.saturating_add(args.limit), found: Vec::new(), total: 0 };
    let mut considered = 0;
    let skipped = walk(place.files(), &start, &rules, &|| cx.check(), &mut |item| {
        let is_folder = item.file_type.is_dir();
        if !is_folder {
            considered += 1;
        }
        if !is_folder && pattern.matches(item.below, false) {
            // One that has vanished meanwhile counts as the oldest.
            let age = statat(item.dir, item.name, AtFlags::SYMLINK_NOFOLLOW).map_or((i64::MIN, 0), |stat| {
                (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or_default())
            });
            found.add(Found { age: std::cmp::Reverse(age), path: item.path.clone() });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let skipped = place.root.shown_skipped(skipped);
    let (found, total) = found.sorted();
    let shown = found.into_iter().skip(args.skip).take(args.limit);
    let rows: Vec<String> = shown.map(|file| escaped(place.root.shown(&file.path).as_os_str())).collect();
    let given = &args.pattern;
    let mut text = if total == 0 {
        format!("no file in `{place}` matches `{given}` ({} looked at)", counted(considered, "file"))
    } else {
        format!("{} in `{place}` for `{given}`, newest first", counted(total as u64, "file"))
    };
    let last = args.skip + rows.len();
    if total > 0 && rows.is_empty() {
        let _ = write!(text, "; none comes after the first {}", args.skip);
    } else if last < total {
        let _ = write!(text, "; these are {} to {last}, for more set skip to {last}", args.skip + 1);
    } else if args.skip > 0 && total > 0 {
        let _ = write!(text, "; these are {} to {last}, the last ones", args.skip + 1);
    }
    if skipped.stopped {
        let _ = write!(text, "; stopped after {MOST_ENTRIES} entries, name a folder further down");
    }
    if total == 0 && !pattern.has_wildcard() {
        let _ = write!(text, "\na pattern is the whole name: `*{given}*` finds it as a part");
    }
    for line in skipped.lines("include_hidden", "find") {
        let _ = write!(text, "\n{line}");
    }
    for row in rows {
        let _ = write!(text, "\n{row}");
    }
    Ok(text)
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}
