//! Which names are meant: a glob with one documented meaning for all tools that take one, and errors that point at the fault.
//!
//! A pattern without a slash (`*.rs`) is matched against the name, at any depth. One with a slash (`src/*.rs`) is matched
//! against the whole path below the walked folder, where `*` stays within one name and `**/` stands for any number of
//! folders, also none. A backslash is taken for a slash, so there is no escape character: `[*]` is a literal star. Letter
//! case counts.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use thiserror::Error;

use super::name::{Shape, last_part};

/// A compiled pattern. Without a slash (`*.rs`) it is about names at any depth; with one (`src/*.rs`) about paths from the
/// walked folder; a closing slash asks for folders only.
#[derive(Debug)]
pub struct Pattern {
    matcher: Matcher,
    folders_only: bool,
    names_hidden: bool,
    has_wildcard: bool,
}

#[derive(Debug)]
enum Matcher {
    Shape(Shape),
    Glob(GlobMatcher),
}

/// Why a pattern is not one.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what each one is")]
pub enum PatternError {
    #[error("the pattern is empty; leave it out to list everything")]
    Empty,
    #[error("bad pattern `{pattern}` at character {position}: {reason}")]
    Syntax { pattern: String, position: usize, reason: String },
    #[error("bad pattern `{pattern}`: {reason}")]
    Unusable { pattern: String, reason: String },
}

impl Pattern {
    /// Compiles a pattern as somebody wrote it.
    ///
    /// # Errors
    /// When it is none; the message names the character.
    pub fn new(given: &str) -> Result<Self, PatternError> {
        let Parsed { core, glob, shape, folders_only } = Parsed::new(given)?;
        Ok(Self {
            matcher: shape.map_or_else(|| Matcher::Glob(glob.compile_matcher()), Matcher::Shape),
            folders_only,
            names_hidden: names_hidden(&core),
            has_wildcard: core.contains(['*', '?', '[', '{']),
        })
    }

    /// Whether an entry is shown. `path` is relative to the walked folder.
    pub fn matches(&self, path: &Path, is_folder: bool) -> bool {
        (is_folder || !self.folders_only)
            && match &self.matcher {
                Matcher::Shape(shape) => shape.matches(last_part(path)),
                Matcher::Glob(glob) => glob.is_match(path),
            }
    }

    /// Whether the pattern itself asks for names that begin with a dot, as `.github/**` does.
    pub fn names_hidden(&self) -> bool {
        self.names_hidden
    }

    /// Whether it is more than one plain name.
    pub fn has_wildcard(&self) -> bool {
        self.has_wildcard
    }
}

/// Several patterns that are asked at once, which costs little more than asking one.
#[derive(Debug)]
pub struct PatternSet {
    /// Those that are about a name alone and simple, which nearly all are, with their numbers.
    shapes: Vec<(Shape, usize)>,
    globs: GlobSet,
    numbers: Vec<usize>,
}

impl PatternSet {
    /// Compiles patterns; see [`Pattern::new`].
    ///
    /// # Errors
    /// When one of them is none.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, PatternError> {
        let mut globs = GlobSetBuilder::new();
        let (mut shapes, mut numbers) = (Vec::new(), Vec::new());
        for (number, pattern) in patterns.into_iter().enumerate() {
            match Parsed::new(pattern)? {
                Parsed { shape: Some(shape), .. } => shapes.push((shape, number)),
                Parsed { glob, .. } => {
                    globs.add(glob);
                    numbers.push(number);
                }
            }
        }
        let globs = globs.build().map_err(|error| unusable(error.glob().unwrap_or_default(), &error))?;
        Ok(Self { shapes, globs, numbers })
    }

    /// The number of the first pattern that matches a path; a closing slash of a pattern does not count here.
    pub fn first_match(&self, path: &Path) -> Option<usize> {
        let name = last_part(path);
        let by_shape = self.shapes.iter().find(|(shape, _)| shape.matches(name)).map(|(_, number)| *number);
        if self.is_about_names() || !self.globs.is_match(path) {
            return by_shape;
        }
        let by_glob = self.globs.matches(path).into_iter().filter_map(|at| self.numbers.get(at).copied());
        by_shape.into_iter().chain(by_glob).min()
    }

    /// Whether nothing but the last name of a path counts.
    pub(crate) fn is_about_names(&self) -> bool {
        self.globs.is_empty()
    }
}

/// A pattern that was understood but not compiled, which takes much longer.
struct Parsed {
    /// Without what says where it holds.
    core: String,
    glob: Glob,
    /// Where it is about a name alone, and simple.
    shape: Option<Shape>,
    folders_only: bool,
}

impl Parsed {
    fn new(given: &str) -> Result<Self, PatternError> {
        let slashed = given.trim().replace('\\', "/");
        if let Some((position, reason)) = fault(&slashed) {
            return Err(PatternError::Syntax { pattern: given.to_owned(), position, reason });
        }
        let anchored = slashed.trim_start_matches("./");
        let core = anchored.trim_matches('/');
        if core.is_empty() {
            return Err(PatternError::Empty);
        }
        let is_path = anchored.trim_end_matches('/').contains('/');
        let name = if is_path { core.strip_prefix("**/") } else { Some(core) };
        let glob = if is_path { core.to_owned() } else { format!("**/{core}") };
        let glob = GlobBuilder::new(&glob)
            .literal_separator(true)
            .backslash_escape(false)
            .empty_alternates(true)
            .build()
            .map_err(|error| unusable(given, &error))?;
        let folders_only = anchored.ends_with('/');
        Ok(Self { core: core.to_owned(), glob, shape: name.and_then(Shape::of), folders_only })
    }
}

fn unusable(pattern: &str, error: &globset::Error) -> PatternError {
    PatternError::Unusable { pattern: pattern.to_owned(), reason: error.kind().to_string() }
}

fn names_hidden(glob: &str) -> bool {
    glob.split(['/', '{', ',']).any(|piece| piece.starts_with('.') && !matches!(piece, "." | ".."))
}

/// The first fault and the character (from 1) where it is. `globset` names the kind of a fault but not its place, so its
/// grammar is walked again here, for the kinds that have a place.
fn fault(pattern: &str) -> Option<(usize, String)> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut open_braces = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        match character {
            '{' => open_braces.push(at),
            '}' if open_braces.pop().is_none() => {
                return Some((at + 1, "`}` without a `{` before it; a literal one is `[}]`".to_owned()));
            }
            '[' => match class_end(&characters, at) {
                Ok(end) => at = end,
                Err(reason) => return Some((at + 1, reason)),
            },
            _ => {}
        }
        at += 1;
    }
    let open = open_braces.first()?;
    Some((open + 1, "`{` is never closed; a literal one is `[{]`".to_owned()))
}

/// Index of the `]` that closes the class opened at `open`.
fn class_end(characters: &[char], open: usize) -> Result<usize, String> {
    let mut at = open + 1;
    if matches!(characters.get(at), Some('!' | '^')) {
        at += 1;
    }
    let first = at;
    while let Some(&character) = characters.get(at) {
        if character == ']' && at > first {
            return Ok(at);
        }
        if let (Some('-'), Some(&last)) = (characters.get(at + 1), characters.get(at + 2))
            && last != ']'
        {
            if last < character {
                return Err(format!("the range `{character}-{last}` runs backwards"));
            }
            at += 2;
        }
        at += 1;
    }
    Err("`[` is never closed; a literal one is `[[]`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: [&str; 8] = [
        "x.rs",
        "a/b/y.rs",
        "src/a/one.ts",
        "src/b/two.tsx",
        "src/a{b.ts",
        "b/z.rs",
        ".github/ci.yml",
        "notes.md",
    ];

    #[track_caller]
    fn check(pattern: &str, expected: &[&str]) {
        let compiled = Pattern::new(pattern).unwrap();
        let found: Vec<&str> =
            TREE.into_iter().filter(|path| compiled.matches(Path::new(path), false)).collect();
        assert_eq!(found, expected, "{pattern}");
    }

    #[track_caller]
    fn check_error(pattern: &str, expected: &str) {
        assert_eq!(Pattern::new(pattern).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_name_matches_at_any_depth_and_a_path_from_the_folder() {
        check("*.rs", &["x.rs", "a/b/y.rs", "b/z.rs"]);
        check("**/*.rs", &["x.rs", "a/b/y.rs", "b/z.rs"]);
        check("./**/*.rs", &["x.rs", "a/b/y.rs", "b/z.rs"]);
        check("**/b/*.rs", &["a/b/y.rs", "b/z.rs"]);
        check("b/*.rs", &["b/z.rs"]);
        check("/*.rs", &["x.rs"]);
        check(r"a\b\*.rs", &["a/b/y.rs"]);
        check("y.rs", &["a/b/y.rs"]);
        check("*.RS", &[]);
    }

    /// Names that are told apart without a glob are told apart as the glob would.
    #[test]
    fn a_simple_name_means_what_its_glob_means() {
        let names =
            ["a", "ab", "ba", "aba", ".a", "a.", "b", "a/b", "b/a", "a/ba", "ab/b", "\u{e4}a", "a\u{e4}"];
        for pattern in
            ["a", "a*", "*a", "*", "**", "a**", "**a", "a*b", "*a*", "?a", "**/a", "**/*a", "**/a*"]
        {
            let core = pattern.trim_start_matches("**/");
            let builder = |glob: &str| {
                GlobBuilder::new(glob).literal_separator(true).backslash_escape(false).build().unwrap()
            };
            let glob = builder(&format!("**/{core}")).compile_matcher();
            let (one, set) = (Pattern::new(pattern).unwrap(), PatternSet::new([pattern]).unwrap());
            for name in names.map(Path::new) {
                let expected = glob.is_match(name);
                let found = (one.matches(name, false), set.first_match(name).is_some());
                assert_eq!(found, (expected, expected), "{pattern} {name:?}");
            }
        }
    }

    #[test]
    fn braces_also_nested() {
        check("**/*.{ts,tsx}", &["src/a/one.ts", "src/b/two.tsx", "src/a{b.ts"]);
        check("src/{a,b}/**", &["src/a/one.ts", "src/b/two.tsx"]);
        check("{x,{y,z}}.rs", &["x.rs", "a/b/y.rs", "b/z.rs"]);
        check("a[{]b.ts", &["src/a{b.ts"]);
    }

    #[test]
    fn a_closing_slash_asks_for_folders() {
        let pattern = Pattern::new("src/").unwrap();
        assert_eq!(
            [true, false].map(|is_folder| pattern.matches(Path::new("a/src"), is_folder)),
            [true, false]
        );
    }

    #[test]
    fn hidden_names_are_asked_for_by_their_dot() {
        let asked = |pattern| Pattern::new(pattern).unwrap().names_hidden();
        assert_eq!(
            [".github/**", "**/.env", "{.a,b}", "*.rs", "./a", "a.b"].map(asked),
            [true, true, true, false, false, false]
        );
    }

    #[test]
    fn faults_have_a_place() {
        check_error(
            "*.{ts",
            "bad pattern `*.{ts` at character 3: `{` is never closed; a literal one is `[{]`",
        );
        check_error(
            "a}b",
            "bad pattern `a}b` at character 2: `}` without a `{` before it; a literal one is `[}]`",
        );
        check_error("ä[b", "bad pattern `ä[b` at character 2: `[` is never closed; a literal one is `[[]`");
        check_error("[z-a]", "bad pattern `[z-a]` at character 1: the range `z-a` runs backwards");
        check_error(" ", "the pattern is empty; leave it out to list everything");
        check_error("./", "the pattern is empty; leave it out to list everything");
    }
}
