//! The plugin `scan`: lists files and folders of the workspace.
//!
//! It tells four situations apart that are easily taken for one: the folder does not exist, it is empty, nothing matches, or
//! here is what matches. What it leaves out it counts, with the way to see it.

mod ignored;
mod pattern;
mod render;
mod walk;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use ignored::Ignored;
use pattern::Pattern;
use render::render;
use walk::{Wanted, walk};

const DEFAULT_LIMIT: usize = 500;
const MAX_LIMIT: usize = 5000;
const SKIPPED_DIRECTORIES: [&str; 6] = [".git", "node_modules", "target", "bin", "obj", ".foehn"];

export_plugin!(Scan);

/// The tool `scan`.
#[derive(Debug)]
pub struct Scan;

/// Arguments of `scan`.
#[args]
pub struct ScanArgs {
    /// Folder to list; the workspace if left out.
    #[serde(default = "here")]
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Glob. `*.rs` matches names at any depth, `src/*.rs` paths from the folder; `**/` is any number of folders, `{a,b}`
    /// either; a closing `/` means folders only. All entries if left out.
    #[schemars(length(max = MAX_PATH_BYTES))]
    pattern: Option<String>,
    /// Also list what is in subfolders.
    #[serde(default = "yes")]
    recursive: bool,
    /// Most entries to list.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: usize,
    /// Go on after this path, the last one of the list before; unless given, from the start.
    #[schemars(length(max = MAX_PATH_BYTES))]
    after: Option<String>,
    /// Also list hidden entries and those that .gitignore excludes.
    #[serde(default)]
    include_hidden: bool,
}

/// Configuration of `scan`.
#[config]
pub struct ScanConfig {
    /// Names of folders that are not entered unless one is named as path.
    skipped_directories: Vec<String>,
    /// Whether the workspace's `.gitignore` files hold.
    respect_gitignore: bool,
}

impl Default for ScanConfig {
    fn default() -> Self {
        Self { skipped_directories: SKIPPED_DIRECTORIES.map(str::to_owned).into(), respect_gitignore: true }
    }
}

impl Tool for Scan {
    const NAME: &'static str = "scan";
    const DESCRIPTION: &'static str = "List files and folders, sorted, one a line: the size in bytes or the kind, a tab, \
                                       the path in the workspace. Says what was left out.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();

    type Args = ScanArgs;
    type Out = String;
    type Config = ScanConfig;

    fn run(&self, args: ScanArgs, cx: &Cx<'_, ScanConfig>) -> Result<String> {
        // Whatever goes wrong, looking has changed nothing.
        list(&args, cx).map_err(|error| error.executed(false))
    }
}

fn list(args: &ScanArgs, cx: &Cx<'_, ScanConfig>) -> Result<String> {
    if !(1..=MAX_LIMIT).contains(&args.limit) {
        return Err(Error::invalid_arguments(format!("limit is {}; it may be 1 to {MAX_LIMIT}", args.limit)));
    }
    let given = args.pattern.as_deref();
    let pattern = given.map(Pattern::new).transpose();
    let pattern = pattern.map_err(|error| Error::invalid_arguments(error.to_string()))?;
    let workspace = cx.workspace()?;
    let start = Start::open(&workspace, &args.path)?;
    let after = args.after.as_deref().map(|after| workspace.resolve(after)).transpose()?;
    let config = cx.config();
    let wanted = Wanted {
        pattern: pattern.as_ref(),
        recursive: args.recursive,
        limit: args.limit,
        after: after.map(|path| path.as_path().to_owned()),
        include_hidden: args.include_hidden,
        skipped_directories: config.skipped_directories.iter().map(Into::into).collect(),
        respect_gitignore: config.respect_gitignore && !args.include_hidden,
    };
    let ignored = if wanted.respect_gitignore {
        Ignored::above(workspace.dir(), start.path.as_ref())
    } else {
        Ignored::default()
    };
    let found = walk(&start.dir, start.path.as_ref(), ignored, &wanted, &|| cx.check())?;
    let mut text = render(&found, &start.path.to_string(), given, &workspace);
    let is_plain = pattern.is_some_and(|pattern| !pattern.has_wildcard());
    if let (0, true, Some(name)) = (found.matching, is_plain, given) {
        text.push_str(&format!("\na pattern is the whole name: `*{name}*` finds it as a part"));
    }
    Ok(text)
}

/// The folder to list.
struct Start {
    /// As it was asked for: what is listed goes on from there.
    path: RelPath,
    dir: foehn_plugin_sdk::workspace::cap_std::fs::Dir,
}

impl Start {
    fn open(workspace: &Workspace, given: &str) -> Result<Self> {
        let path = workspace.resolve(if given.is_empty() { "." } else { given })?;
        let real = match workspace.metadata(&path) {
            Ok(metadata) if metadata.is_dir() => workspace.real(&path)?,
            Ok(_) => {
                let parent = path.parent().unwrap_or_else(RelPath::root);
                bail!("`{path}` is not a folder; to list the one it is in, scan `{parent}`");
            }
            Err(WorkspaceError::NotFound { .. }) => {
                bail!(
                    "`{path}` does not exist; the nearest folder that does is `{}`",
                    nearest(workspace, &path)
                );
            }
            Err(error) => return Err(error.into()),
        };
        let dir = workspace.dir().open_dir(&real).context(&path)?;
        Ok(Self { path, dir })
    }
}

fn nearest(workspace: &Workspace, path: &RelPath) -> RelPath {
    std::iter::successors(path.parent(), RelPath::parent)
        .find(|path| workspace.exists(path).unwrap_or(false))
        .unwrap_or_else(RelPath::root)
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
