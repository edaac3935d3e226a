//! Which files no tool touches, whatever the permissions say: names on the list of the denied, and endings that are not
//! allowed.
//!
//! A name is compared as no file system would tell it apart from the listed one: without letter case, without Unicode form,
//! and without characters that show nothing. So it errs towards refusing; it never widens what may be touched.

use std::path::Path;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::walk::Pattern;
use unicode_normalization::UnicodeNormalization;

use crate::config::FileConfig;

/// The compiled lists.
#[derive(Debug)]
pub(crate) struct Guard {
    denied: Vec<Denied>,
    extensions: Vec<String>,
}

#[derive(Debug)]
struct Denied {
    /// As the operator wrote it.
    glob: String,
    pattern: Pattern,
}

impl Guard {
    pub(crate) fn new(config: &FileConfig) -> Result<Self> {
        let mut denied = Vec::new();
        for glob in &config.denied {
            let folded = folded(glob);
            let anywhere = if folded.contains('/') && !folded.starts_with('/') {
                format!("**/{folded}")
            } else {
                folded
            };
            // What is below a denied folder is denied, and so is the folder: it could be moved away else.
            let folder = anywhere.strip_suffix("/**").map(str::to_owned);
            for pattern in folder.into_iter().chain([anywhere]) {
                let pattern = Pattern::new(&pattern).map_err(|error| {
                    Error::failed(format!("configuration, `denied`: {error}")).executed(false)
                })?;
                denied.push(Denied { glob: glob.clone(), pattern });
            }
        }
        let extensions =
            config.allowed_extensions.iter().map(|ending| folded(ending.trim_start_matches('.'))).collect();
        Ok(Self { denied, extensions })
    }

    /// The glob that denies a path of a root, or a folder above it.
    pub(crate) fn denying(&self, path: &Path) -> Option<&str> {
        let folded = folded(&path.to_string_lossy());
        let above = Path::new(&folded).ancestors().filter(|path| !path.as_os_str().is_empty());
        let mut places: Vec<&Path> = above.collect();
        places.reverse();
        self.denied
            .iter()
            .find(|denied| places.iter().any(|path| denied.pattern.matches(path, true)))
            .map(|denied| denied.glob.as_str())
    }

    /// Whether a file of this name may be used.
    pub(crate) fn allows_extension(&self, path: &Path) -> bool {
        self.extensions.is_empty()
            || path
                .extension()
                .is_some_and(|ending| self.extensions.contains(&folded(&ending.to_string_lossy())))
    }

    pub(crate) fn extensions(&self) -> String {
        self.extensions.iter().map(|ending| format!("`.{ending}`")).collect::<Vec<_>>().join(", ")
    }
}

/// A text without what file systems and readers do not see.
fn folded(text: &str) -> String {
    let lower: String = text.nfkc().filter(|&character| !shows_nothing(character)).collect();
    lower.to_lowercase().nfkc().collect()
}

fn shows_nothing(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(denied: &[&str], path: &str, expected: Option<&str>) {
        let config = FileConfig {
            denied: denied.iter().map(|&glob| glob.to_owned()).collect(),
            ..FileConfig::default()
        };
        let guard = Guard::new(&config).unwrap();
        assert_eq!(guard.denying(Path::new(path)), expected, "{path}");
    }

    #[test]
    fn names_are_denied_in_any_case_and_form_and_no_more() {
        let names = [".git", ".env"];
        for (path, glob) in [
            (".GIT/config", ".git"),
            (".Env", ".env"),
            ("sub/.gIt/hooks/pre-commit", ".git"),
            (".g\u{200C}it/config", ".git"),
            ("\u{FF0E}env", ".env"),
        ] {
            check(&names, path, Some(glob));
        }
        for path in [".gitignore", ".environment", "git/config", "a.env", "env"] {
            check(&names, path, None);
        }
        check(&["größe.txt"], "GRO\u{308}ßE.TXT", Some("größe.txt"));
    }

    #[test]
    fn globs_hold_at_any_depth() {
        check(&[".git/**"], "a/.git", Some(".git/**"));
        check(&[".git/**"], "a/.git/objects/00", Some(".git/**"));
        check(&["*.pem"], "keys/Server.PEM", Some("*.pem"));
        check(&["/top/**"], "sub/top/x", None);
        check(&["/top/**"], "top/x", Some("/top/**"));
        check(&["secret/*.txt"], "a/secret/b.txt", Some("secret/*.txt"));
    }
}
