//! The known name that a wrong one most likely meant. It only suggests; nothing is ever run on a guess.

/// Below this, a suggestion misleads more often than it helps.
const LIKELY: f64 = 0.65;

/// Nobody means a name by a longer one, and to compare it would cost its length times theirs.
const LONGEST: usize = 256;

/// The nearest known name, if one is near enough.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(wrong, known, 1).pop()
}

/// Up to `count` near names, the nearest first; equally near ones by name.
pub(crate) fn nearest_few<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    if wrong.len() > LONGEST {
        return Vec::new();
    }
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (likeness(wrong, name), name))
        .filter(|(score, _)| *score >= LIKELY)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1)));
    scored.into_iter().take(count).map(|(_, name)| name).collect()
}

fn likeness(wrong: &str, known: &str) -> f64 {
    let (left, right) = (folded(wrong), folded(known));
    if left == right {
        return 1.0;
    }
    if words(wrong) == words(known) {
        return 0.95;
    }
    let shorter = left.len().min(right.len());
    if shorter >= 3 && (left.contains(&right) || right.contains(&left)) {
        return 0.8;
    }
    strsim::normalized_damerau_levenshtein(&left, &right)
}

/// Case, `_` and `-` do not count: `replaceAll` is `replace_all`.
fn folded(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name in alphabetical order: `file_read` is `read_file`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = name
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.sort();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near() {
        let known = ["path", "replace_all", "new_text", "old_text"];
        let check =
            |wrong: &str, expected: Option<&str>| assert_eq!(nearest(wrong, known), expected, "{wrong}");
        check("replaceAll", Some("replace_all"));
        check("Path", Some("path"));
        check("file_path", Some("path"));
        check("text_new", Some("new_text"));
        check("olt_text", Some("old_text"));
        check("verbose", None);
        check("", None);
    }
}
