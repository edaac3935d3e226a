//! A request taken apart: its words, what it quotes, the paths and numbers it names, and what it wants to know.

use super::words::{is_stop_word, stem};

/// What a request asks about a list of things with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Largest,
    Smallest,
}

#[derive(Debug, Default)]
pub(super) struct Prompt {
    pub(super) text: String,
    /// Stems of the words that are neither quoted nor paths nor filling.
    pub(super) stems: Vec<String>,
    /// What stands in backticks or quotation marks.
    pub(super) quoted: Vec<String>,
    /// What looks like a file or folder.
    pub(super) paths: Vec<String>,
    pub(super) numbers: Vec<u64>,
    pub(super) order: Option<Order>,
    pub(super) counts: bool,
    pub(super) about_source: bool,
}

/// Names of files without an ending, also with a suffix such as `-MIT`.
const BARE_FILES: [&str; 9] =
    ["Makefile", "Dockerfile", "Justfile", "README", "LICENSE", "NOTICE", "AUTHORS", "CHANGELOG", "COPYING"];

/// Words after which a folder is named.
const FOLDER_WORDS: [&str; 5] = ["in", "under", "below", "inside", "within"];

impl Prompt {
    pub(super) fn read(text: &str) -> Self {
        let (quoted, bare) = unquoted(text);
        let mut prompt = Self { text: text.trim().to_owned(), ..Self::default() };
        prompt.paths = quoted.iter().filter(|quote| is_path(quote)).cloned().collect();
        prompt.quoted = quoted;
        let words: Vec<&str> = bare.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
        for (position, word) in words.iter().enumerate() {
            if is_path(word) {
                prompt.paths.push((*word).to_owned());
                continue;
            }
            if let Ok(number) = word.parse() {
                prompt.numbers.push(number);
            }
            let before = position.checked_sub(1).map(|before| words[before].to_lowercase());
            let lower = word.to_lowercase();
            let after_folder_word = before.is_some_and(|before| FOLDER_WORDS.contains(&before.as_str()));
            let is_name = word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
            if after_folder_word && is_name && !is_stop_word(&lower) && word.parse::<u64>().is_err() {
                prompt.paths.push((*word).to_owned());
                continue;
            }
            let stems = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
            prompt.stems.extend(stems.map(stem));
        }
        // "What does README.md say?" names no deed, but there is only one to do with a file, or with a folder.
        if let Some(path) = prompt.paths.first().filter(|_| words.first().is_some_and(|word| is_what(word))) {
            prompt.stems.push(if path.contains('.') { "read" } else { "list" }.to_owned());
        }
        let has = |wanted: &[&str]| prompt.stems.iter().any(|stem| wanted.contains(&stem.as_str()));
        prompt.order = if has(&["largest", "biggest", "longest", "heaviest", "bigger", "larger"]) {
            Some(Order::Largest)
        } else if has(&["smallest", "shortest", "smaller"]) {
            Some(Order::Smallest)
        } else {
            None
        };
        prompt.counts = text.to_lowercase().contains("how many");
        prompt.about_source = has(&["source", "code"]);
        prompt
    }

    pub(super) fn has(&self, wanted: &str) -> bool {
        self.stems.iter().any(|stem| stem == wanted)
    }

    /// The rest of the text after the first of `marks`, without quotation marks and the stop at its end.
    pub(super) fn after(&self, marks: &[&str]) -> Option<String> {
        let lower = self.text.to_lowercase();
        // Lower-casing keeps the length only for plain letters; otherwise positions would not fit.
        if lower.len() != self.text.len() {
            return None;
        }
        let end = marks.iter().filter_map(|mark| Some(word_at(&lower, mark)? + mark.len())).min()?;
        let rest = self.text.get(end..)?.trim().trim_start_matches(':').trim();
        let (quoted, _) = unquoted(rest);
        if let Some(first) = quoted.first().filter(|_| rest.starts_with(['`', '"', '\'', '“'])) {
            return Some(first.clone());
        }
        let rest = rest.trim_end_matches(['.', '?', '!']).trim();
        (!rest.is_empty()).then(|| rest.to_owned())
    }
}

/// Where `mark` stands as a word of its own.
fn word_at(text: &str, mark: &str) -> Option<usize> {
    text.match_indices(mark).map(|(position, _)| position).find(|position| {
        let before = text[..*position].chars().next_back();
        let after = text[position + mark.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// The quoted pieces of a text, and the text without them.
fn unquoted(text: &str) -> (Vec<String>, String) {
    let mut quoted = Vec::new();
    let mut bare = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let close = match letter {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            // An apostrophe within a word opens nothing.
            '\'' if !bare.ends_with(char::is_alphanumeric) => Some('\''),
            _ => None,
        };
        let inner = rest.get(letter.len_utf8()..).unwrap_or_default();
        match close.and_then(|close| inner.split_once(close)) {
            Some((quote, after)) if !quote.is_empty() => {
                quoted.push(quote.to_owned());
                bare.push(' ');
                rest = after;
            }
            _ => {
                bare.push(letter);
                rest = inner;
            }
        }
    }
    (quoted, bare)
}

fn is_what(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "what" | "what's" | "whats")
}

fn trimmed(word: &str) -> &str {
    word.trim_end_matches([',', '.', ';', ':', '!', '?', ')']).trim_start_matches(['(', ','])
}

fn is_path(word: &str) -> bool {
    if word.contains(char::is_whitespace)
        || word.contains("://")
        || word.contains(['*', '=', '|', '>', '<', '$'])
    {
        return false;
    }
    let is_bare =
        |name: &&str| word.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if word.contains('/') || BARE_FILES.iter().any(is_bare) {
        return word.chars().any(char::is_alphanumeric) || matches!(word, "./" | "../" | "/");
    }
    let Some((name, ending)) = word.rsplit_once('.') else { return false };
    let is_ending = (1..=8).contains(&ending.len())
        && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
        && ending.chars().any(|letter| letter.is_ascii_alphabetic());
    // `.gitignore` is a file, `e.g` is none.
    is_ending && (name.is_empty() || name.len() > 1 || ending.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, paths: &[&str], quoted: &[&str], stems: &[&str]) {
        let prompt = Prompt::read(text);
        assert_eq!(
            (prompt.paths, prompt.quoted, prompt.stems),
            (own(paths), own(quoted), own(stems)),
            "{text}"
        );
    }

    fn own(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn paths_quotes_and_words_are_told_apart() {
        check("Read src/main.rs, please.", &["src/main.rs"], &[], &["read", "please"]);
        check(
            "what's in `a b.txt` and notes.md?",
            &["notes.md"],
            &["a b.txt"],
            &["what", "s", "in", "and", "read"],
        );
        check("list files in src", &["src"], &[], &["list", "file", "in"]);
        check("list the files in the project", &[], &[], &["list", "the", "file", "in", "the", "project"]);
        check("Create \"x.txt\" with 'hi'", &["x.txt"], &["x.txt", "hi"], &["create", "with"]);
        check("read LICENSE-MIT or AUTHORS", &["LICENSE-MIT", "AUTHORS"], &[], &["read", "or"]);
        check("version 1.5, e.g. this", &[], &[], &["version", "1", "5", "e", "g", "thi"]);
    }

    #[test]
    fn the_rest_after_a_word() {
        let rows: [(&str, &[&str], Option<&str>); 5] = [
            ("run cargo --version.", &["run"], Some("cargo --version")),
            ("please run `ls -la` now", &["run"], Some("ls -la")),
            ("create a.txt with hello world", &["with"], Some("hello world")),
            ("rerun it", &["run"], None),
            ("run", &["run"], None),
        ];
        for (text, marks, expected) in rows {
            assert_eq!(Prompt::read(text).after(marks).as_deref(), expected, "{text}");
        }
    }
}
