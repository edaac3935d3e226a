//! Names and texts as words, the same for every rule: `readFile`, `read-file` and "Reads the files" have much in common.

/// The words of a name, in lower case: split at `_`, `-`, other signs, and where a capital letter begins.
pub(super) fn of_name(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The words of a text, in lower case and without signs.
pub(super) fn of_text(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// A word without the endings that change with grammar; only for comparing.
pub(super) fn stem(word: &str) -> &str {
    for (ending, least) in [("ies", 5), ("ing", 6), ("es", 5), ("ed", 5), ("s", 4), ("e", 4)] {
        if word.len() >= least
            && !word.ends_with("ss")
            && let Some(stem) = word.strip_suffix(ending)
        {
            return stem;
        }
    }
    word.strip_suffix('y').filter(|_| word.len() >= 4).unwrap_or(word)
}

/// A name without separators and case: what a model confuses.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether `text` says only what `name` says already.
pub(super) fn only_repeats(text: &str, name: &str) -> bool {
    const EMPTY: &[&str] = &[
        "a",
        "an",
        "the",
        "of",
        "to",
        "for",
        "this",
        "that",
        "its",
        "it",
        "is",
        "tool",
        "function",
        "used",
        "use",
        "with",
        "and",
        "one",
        "some",
        "given",
        "value",
        "parameter",
        "argument",
        "which",
        "will",
        "can",
        "you",
        "be",
    ];
    let known = of_name(name);
    let known: Vec<&str> = known.iter().map(|word| stem(word)).collect();
    of_text(text).iter().all(|word| EMPTY.contains(&word.as_str()) || known.contains(&stem(word)))
}

/// Whether any of `phrases`, in lower case, stands in `text` as whole words.
pub(super) fn says(text: &str, phrases: &[&str]) -> bool {
    let spaced = format!(" {} ", of_text(text).join(" "));
    phrases.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")))
}

/// The first of `words` that is one of the words of `name`.
pub(super) fn any_word<'w>(name: &str, words: &[&'w str]) -> Option<&'w str> {
    let name = of_name(name);
    words.iter().copied().find(|word| name.iter().any(|own| own == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_into_words() {
        for name in ["read_fileList", "ReadFileList", "read-file--list"] {
            assert_eq!(of_name(name), ["read", "file", "list"], "{name}");
        }
        assert_eq!(of_name("SHA256sum"), ["sha256sum"]);
    }

    #[test]
    fn grammar_does_not_hide_a_repetition() {
        assert!(only_repeats("Reads the files.", "read_file"));
        assert!(only_repeats("Used for deleting a directory", "delete_directories"));
        assert!(!only_repeats("Delete one file. Never a folder.", "delete_file"));
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(says("Required: the path.", &["required"]));
        assert!(says("It is `if left-out` fine", &["if left out"]));
        assert!(!says("Not requiredness", &["required"]));
    }
}
