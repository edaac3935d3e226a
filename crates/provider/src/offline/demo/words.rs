//! Which tool fits a request: the words they share, with a few everyday synonyms, weighed by how few tools use a word.

use foehn_ports::ToolDefinition;

use super::prompt::Prompt;

/// Words for one thing. A request that uses one of them means the others too, a little less.
const SYNONYMS: [&[&str]; 8] = [
    &["read", "open", "show", "print", "display", "cat", "view", "content"],
    &["list", "which", "many", "find", "scan", "tree", "where", "folder", "directory"],
    &[
        "size", "large", "largest", "big", "biggest", "small", "smallest", "long", "longest", "heaviest",
        "byte",
    ],
    &["create", "make", "new", "add", "touch"],
    &["write", "overwrite", "save", "put"],
    &["edit", "change", "replace", "modify", "update", "fix"],
    &["delete", "remove", "erase", "rm"],
    &["run", "execute", "command", "shell", "launch", "invoke", "start"],
];

/// Words that say nothing about a tool.
const STOP_WORDS: [&str; 58] = [
    "a", "all", "am", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "doe", "does",
    "for", "from", "give", "have", "here", "how", "i", "if", "in", "into", "is", "it", "its", "me", "much",
    "my", "not", "of", "on", "one", "or", "our", "out", "please", "s", "tell", "that", "the", "them",
    "there", "these", "this", "thi", "to", "up", "us", "was", "we", "what", "will", "with", "you",
];

const IN_NAME: f64 = 3.0;
const IN_DESCRIPTION: f64 = 1.0;
const AS_SYNONYM: f64 = 0.7;

/// The first word of a request is mostly what to do.
const FIRST_WORD: f64 = 2.0;

/// For "which are the largest?", a tool that looks into subfolders knows more than one that lists a single folder.
const SEES_ALL: f64 = 2.0;

/// Less than this is chance.
const ENOUGH: f64 = 0.6;

/// The tools that fit, best first; equal ones by name.
pub(super) fn ranked<'a>(prompt: &Prompt, tools: &'a [ToolDefinition]) -> Vec<&'a ToolDefinition> {
    let known: Vec<Known<'a>> = tools.iter().map(Known::of).collect();
    let mut scored: Vec<(f64, &'a ToolDefinition)> = known
        .iter()
        .map(|tool| (score(prompt, tool, &known), tool.tool))
        .filter(|(score, _)| *score >= ENOUGH)
        .collect();
    scored.sort_by(|(left_score, left), (right_score, right)| {
        right_score.total_cmp(left_score).then_with(|| left.name.cmp(&right.name))
    });
    scored.into_iter().map(|(_, tool)| tool).collect()
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// A word without its commonest endings.
pub(super) fn stem(word: &str) -> String {
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    if let Some(rest) = cut("ies", 2) {
        return format!("{rest}y");
    }
    if let Some(rest) = cut("ing", 4) {
        return rest.to_owned();
    }
    if word.ends_with("ss") {
        return word.to_owned();
    }
    cut("s", 3).unwrap_or(word).to_owned()
}

struct Known<'a> {
    tool: &'a ToolDefinition,
    name: Vec<String>,
    description: Vec<String>,
}

impl<'a> Known<'a> {
    fn of(tool: &'a ToolDefinition) -> Self {
        Self { tool, name: stems(&tool.name), description: stems(&tool.description) }
    }

    /// How strongly the tool goes by this word.
    fn weight(&self, word: &str) -> f64 {
        let holds = |words: &[String], word: &str| words.iter().any(|own| own == word);
        if holds(&self.name, word) {
            IN_NAME
        } else if holds(&self.description, word) {
            IN_DESCRIPTION
        } else {
            0.0
        }
    }
}

fn stems(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| stem(&word.to_lowercase())).collect()
}

fn score(prompt: &Prompt, tool: &Known<'_>, all: &[Known<'_>]) -> f64 {
    let mut total = 0.0;
    let mut seen: Vec<&str> = Vec::new();
    for (position, word) in prompt.stems.iter().enumerate() {
        if is_stop_word(word) || seen.contains(&word.as_str()) {
            continue;
        }
        seen.push(word);
        let emphasis = if position == 0 { FIRST_WORD } else { 1.0 };
        total += emphasis * shared(word, tool, all);
    }
    let asks_for_size = prompt.order.is_some() && tool.weight("size") > 0.0;
    if asks_for_size && tool.tool.parameters.pointer("/properties/recursive").is_some() {
        total += SEES_ALL;
    }
    total
}

/// What one word of the request tells for a tool: itself, or the best of its synonyms.
fn shared(word: &str, tool: &Known<'_>, all: &[Known<'_>]) -> f64 {
    // A word that every tool uses tells nothing between them.
    let rarity = |word: &str| {
        let users = all.iter().filter(|tool| tool.weight(word) > 0.0).count();
        1.0 / users.max(1) as f64
    };
    let own = tool.weight(word) * rarity(word);
    let synonyms = SYNONYMS.iter().filter(|group| group.contains(&word)).flat_map(|group| group.iter());
    let related =
        synonyms.map(|synonym| AS_SYNONYM * tool.weight(synonym) * rarity(synonym)).fold(0.0, f64::max);
    own.max(related)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_cut_alike_on_both_sides() {
        let rows = [
            ("files", "file"),
            ("directories", "directory"),
            ("listing", "list"),
            ("pass", "pass"),
            ("is", "is"),
            ("run", "run"),
            ("string", "string"),
        ];
        for (word, expected) in rows {
            assert_eq!(stem(word), expected);
        }
    }
}
