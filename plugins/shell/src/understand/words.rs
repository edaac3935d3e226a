//! What a word of a command line is once the shell has taken its quotes away.

use tree_sitter::Node;

/// Kinds of nodes that are words.
pub(super) const KINDS: &[&str] = &[
    "word",
    "number",
    "raw_string",
    "string",
    "concatenation",
    "simple_expansion",
    "expansion",
    "arithmetic_expansion",
    "command_substitution",
    "process_substitution",
    "brace_expression",
    "ansi_c_string",
    "translated_string",
    "extglob_pattern",
    "regex",
    "test_operator",
    "special_variable_name",
];

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// What the program gets; the text as it was written where that is known only at run time.
    pub text: String,
    /// Whether the text is what the program gets.
    pub is_literal: bool,
    /// Whether it was written without any quote or escape, or with quotes that change nothing of what it means: false for
    /// a pattern of file names, whose matches are not known.
    pub is_pattern: bool,
    /// Whether it begins with the home folder.
    pub is_home: bool,
}

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), is_literal: true, ..Self::default() }
    }

    pub(super) fn computed(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Whether the program gets exactly one word for it: an expansion outside of quotes may become several, or none.
    pub(super) fn is_one(&self) -> bool {
        let is_quoted = self.text.len() > 1 && self.text.starts_with('"') && self.text.ends_with('"');
        self.exact().is_some() || (!self.is_literal && is_quoted && !self.text.contains('@'))
    }

    /// Whether the program may take it for an option although none is written there.
    pub(super) fn may_be_option(&self) -> bool {
        !self.is_literal && self.text.trim_start_matches('"').starts_with(['$', '`'])
    }

    /// The text, when it is exactly what the program gets.
    pub(super) fn exact(&self) -> Option<&str> {
        (self.is_literal && !self.is_pattern && !self.is_home).then_some(&self.text)
    }
}

/// Reads a word, or says what about it is not understood.
pub(super) fn read(node: Node<'_>, line: &str) -> Result<Word, &'static str> {
    let mut word = Word { is_literal: true, ..Word::default() };
    let mut plain = String::new();
    piece(node, line, &mut word, &mut plain)?;
    word.is_home = word.is_literal && plain.starts_with('~');
    if !word.is_literal {
        word.text = line.get(node.byte_range()).unwrap_or_default().to_owned();
    }
    // One shell makes several words of it, another takes it as it is.
    if has_alternatives(&plain) {
        word.is_literal = false;
    }
    Ok(word)
}

/// Adds one piece of a word. `plain` gets what stands outside of quotes, with a NUL for all that is quoted.
fn piece(node: Node<'_>, line: &str, word: &mut Word, plain: &mut String) -> Result<(), &'static str> {
    let text = line.get(node.byte_range()).unwrap_or_default();
    let goes_on = |quote: &[char]| line.get(node.end_byte()..).is_some_and(|rest| rest.starts_with(quote));
    match node.kind() {
        "word" | "number" | "$" if text.ends_with('$') && goes_on(&['"', '\'']) => {
            return Err("a quote that shells read differently");
        }
        "word" | "number" | "test_operator" if node.child_count() == 0 => unquoted(text, word, plain),
        "$" => unquoted(text, word, plain),
        "raw_string" => {
            let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            word.text.push_str(inner.ok_or("a quote without its end")?);
            plain.push('\0');
        }
        "string" => {
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let inner = inner.ok_or("a quote without its end")?;
            let mut cursor = node.walk();
            let is_computed = node.named_children(&mut cursor).any(|child| child.kind() != "string_content");
            if is_computed {
                word.is_literal = false;
            }
            double_quoted(inner, word);
            plain.push('\0');
        }
        "concatenation" => {
            let mut cursor = node.walk();
            let mut end = node.start_byte();
            for child in node.children(&mut cursor) {
                if child.start_byte() != end {
                    return Err("a word in pieces");
                }
                end = child.end_byte();
                piece(child, line, word, plain)?;
            }
        }
        "simple_expansion"
        | "expansion"
        | "arithmetic_expansion"
        | "command_substitution"
        | "process_substitution"
        | "brace_expression"
        | "number" => {
            word.is_literal = false;
            plain.push('\0');
        }
        "extglob_pattern" | "regex" => {
            word.is_literal = false;
            word.is_pattern = true;
        }
        "ansi_c_string" | "translated_string" => return Err("a quote that shells read differently"),
        _ => return Err("a word that is not understood"),
    }
    Ok(())
}

fn unquoted(text: &str, word: &mut Word, plain: &mut String) {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            match letters.next() {
                // The line goes on.
                Some('\n') | None => {}
                Some(escaped) => {
                    word.text.push(escaped);
                    plain.push('\0');
                }
            }
            continue;
        }
        if matches!(letter, '*' | '?' | '[') {
            word.is_pattern = true;
        }
        word.text.push(letter);
        plain.push(letter);
    }
}

fn double_quoted(text: &str, word: &mut Word) {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\n')) => drop(letters.next()),
            ('\\', Some('$' | '`' | '"' | '\\')) => word.text.extend(letters.next()),
            _ => word.text.push(letter),
        }
    }
}

fn has_alternatives(plain: &str) -> bool {
    plain
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .any(|(inner, _)| inner.contains(',') || inner.contains(".."))
}
