//! The plugin `scan`: lists files and folders of the workspace.
//!
//! It tells four situations apart that are easily taken for one: the folder does not exist, it is empty, nothing matches, or
//! here is what matches. What it leaves out it counts, with the way to see it.

mod found;
mod render;

use std::ops::ControlFlow;
use std::path::Path;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::{FolderSettings, Roots, reading};
use foehn_plugin_sdk::walk::{Pattern, Rules, walk};
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use found::{Found, Wanted};
use render::render;

const DEFAULT_LIMIT: usize = 500;
const MAX_LIMIT: usize = 5000;

export_plugin!(Scan);

/// The tool `scan`.
#[derive(Debug)]
pub struct Scan;

/// Arguments of `scan`.
#[args]
pub struct ScanArgs {
    /// Folder to list.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Glob such as `*.rs`, `src/**/*.rs` or `*/` (folders); all entries if left out.
    #[schemars(length(max = MAX_PATH_BYTES))]
    pattern: Option<String>,
    /// Also list what is in subfolders.
    #[serde(default = "yes")]
    recursive: bool,
    /// Most entries to list.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: usize,
    /// Go on after this path; from the start if left out.
    #[schemars(length(max = MAX_PATH_BYTES))]
    after: Option<String>,
    /// Also hidden and git-ignored entries.
    #[serde(default)]
    include_hidden: bool,
}

/// Configuration of `scan`.
#[config]
#[derive(Default)]
pub struct ScanConfig {
    #[serde(flatten)]
    folders: FolderSettings,
}

impl Tool for Scan {
    const NAME: &'static str = "scan";
    const DESCRIPTION: &'static str =
        "List files and folders, sorted, one a line: size in bytes or kind, a tab, the path.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = ScanArgs;
    type Out = String;
    type Config = ScanConfig;

    fn run(&self, args: ScanArgs, cx: &Cx<'_, ScanConfig>) -> Result<String> {
        // Whatever goes wrong, looking has changed nothing.
        list(&args, cx).map_err(|error| error.executed(false))
    }

    fn classify(&self, args: &ScanArgs, cx: &Cx<'_, ScanConfig>) -> Result<Classification> {
        let place = Roots::open(cx, &cx.config().folders).and_then(|roots| roots.beginning(&args.path));
        Ok(reading(Self::NAME, &[(&args.path, place)]))
    }
}

fn list(args: &ScanArgs, cx: &Cx<'_, ScanConfig>) -> Result<String> {
    if !(1..=MAX_LIMIT).contains(&args.limit) {
        return Err(Error::invalid_arguments(format!("limit is {}; it may be 1 to {MAX_LIMIT}", args.limit)));
    }
    let given = args.pattern.as_deref();
    let pattern = given.map(Pattern::new).transpose();
    let pattern = pattern.map_err(|error| Error::invalid_arguments(error.to_string()))?;
    let roots = Roots::open(cx, &cx.config().folders)?;
    let place = roots.beginning(&args.path)?;
    let start = place.start()?;
    let after = args.after.as_deref().map(|after| place.files().resolve(after)).transpose()?;
    let wanted = Wanted {
        pattern: pattern.as_ref(),
        limit: args.limit,
        after: after.map(|path| path.as_path().to_owned()),
    };
    let denied = |path: &Path| roots.denying_entry(path).is_some();
    let show_hidden = args.include_hidden || pattern.as_ref().is_some_and(Pattern::names_hidden);
    let rules = Rules { recursive: args.recursive, ..roots.rules(show_hidden, args.include_hidden, &denied) };
    let mut found = Found::default();
    let skipped = walk(place.files(), &start, &rules, &|| cx.check(), &mut |item| {
        found.add(&item, &wanted);
        Ok(ControlFlow::Continue(()))
    })?;
    found.skipped = place.root.shown_skipped(skipped);
    let mut text = render(&found, &place, given);
    let is_plain = pattern.is_some_and(|pattern| !pattern.has_wildcard());
    if let (0, true, Some(name)) = (found.matching, is_plain, given) {
        text.push_str(&format!("\na pattern is the whole name: `*{name}*` finds it as a part"));
    }
    Ok(text)
}

fn here() -> String {
    ".".to_owned()
}

fn yes() -> bool {
    true
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}
