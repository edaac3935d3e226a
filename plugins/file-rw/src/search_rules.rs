//! What the tools that go through folders enter and leave out: the same for all of them.

use std::path::Path;

use foehn_plugin_sdk::walk::Rules;

use crate::config::FileConfig;

/// `show_hidden` is for names that begin with a dot, `show_ignored` for what a `.gitignore` excludes.
pub(crate) fn rules<'a>(
    config: &FileConfig,
    show_hidden: bool,
    show_ignored: bool,
    denied: &'a (dyn Fn(&Path) -> bool + Sync),
) -> Rules<'a> {
    Rules {
        recursive: true,
        include_hidden: show_hidden,
        skipped_directories: config.skipped_directories.iter().map(Into::into).collect(),
        respect_gitignore: config.respect_gitignore && !show_ignored,
        denied: Some(denied),
    }
}
