//! Which files no tool touches, whatever the permissions say: names on the list of the denied.
//!
//! A name is compared as no file system would tell it apart from the listed one: without letter case, without Unicode form,
//! and without characters that show nothing. So it errs towards refusing; it never widens what may be touched.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::walk::{PatternSet, last_part};

/// The compiled list.
#[derive(Debug)]
pub(crate) struct Guard {
    denied: PatternSet,
    /// Of each pattern, the glob that an operator wrote.
    globs: Vec<String>,
}

impl Guard {
    pub(super) fn new(list: &[String]) -> Result<Self> {
        let mut patterns = Vec::new();
        let mut globs = Vec::new();
        for glob in list {
            let folded = folded(glob);
            let is_anchored = folded.starts_with('/') || !folded.contains('/');
            let anywhere = if is_anchored { folded } else { format!("**/{folded}").into() };
            // What is below a denied folder is denied, and so is the folder: it could be moved away else. The folder alone is
            // enough: it is asked about before what is in it.
            patterns.push(anywhere.strip_suffix("/**").unwrap_or(&anywhere).to_owned());
            globs.push(glob.clone());
        }
        let denied = PatternSet::new(patterns.iter().map(String::as_str))
            .map_err(|error| Error::failed(format!("configuration, `denied`: {error}")).executed(false))?;
        Ok(Self { denied, globs })
    }

    /// The glob that denies a path of a root, or a folder above it.
    pub(super) fn denying(&self, path: &Path) -> Option<&str> {
        let mut places: Vec<&Path> =
            path.ancestors().filter(|path| !matches!(path.to_str(), Some("" | "."))).collect();
        places.reverse();
        places.into_iter().find_map(|path| self.denying_entry(path))
    }

    /// The glob that denies an entry of a folder that is not denied.
    pub(super) fn denying_entry(&self, path: &Path) -> Option<&str> {
        // Of the whole path only what is needed: this is asked of every entry of a large tree.
        let path = if self.denied.is_about_names() { last_part(path) } else { path.as_os_str().as_bytes() };
        let text = String::from_utf8_lossy(path);
        let matching = self.denied.first_match(Path::new(folded(&text).as_ref()));
        matching.and_then(|number| self.globs.get(number)).map(String::as_str)
    }
}

/// A name without what file systems and readers do not see: letter case, Unicode form, and characters that show nothing.
pub fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_upper { text.to_ascii_lowercase().into() } else { text.into() };
    }
    let lower: String = text.nfkc().filter(|&character| !shows_nothing(character)).collect();
    lower.to_lowercase().nfkc().collect::<String>().into()
}

fn shows_nothing(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(denied: &[&str], path: &str, expected: Option<&str>) {
        let denied: Vec<String> = denied.iter().map(|&glob| glob.to_owned()).collect();
        let guard = Guard::new(&denied).unwrap();
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
        // A name is what a reader takes for one, also where the system sees a single one.
        check(&[".env"], "a/b\u{FF0F}.env", Some(".env"));
        check(&["*.pem", "secret/**", "a/**/c"], "secret/a.pem", Some("secret/**"));
        check(&["*.pem", "secret/**", "a/**/c"], "a/b/c/d", Some("a/**/c"));
    }
}
