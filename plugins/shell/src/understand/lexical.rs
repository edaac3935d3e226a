//! Checks the parser's tokens against the text, so that what it overlooked is noticed.
//!
//! Every byte of a line has to belong to a token or be a blank, and no token may hold what would end it in a shell. What
//! the parser takes for one word is one word then, and what is a command of its own cannot hide in it.

use tree_sitter::Node;

/// Tokens that join or open what is understood.
const PLAIN: &[&str] = &[
    ";", ";;", "&", "&&", "|", "||", "|&", "\n", "(", ")", "{", "}", "$(", "`", "<(", ">(", "!", "if",
    "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
];

/// Operators that a test has in one shell and that end a command in another.
const OPERATORS: &[&str] = &["<", ">", "&&", "||", "(", ")", ";", "|", "&"];

pub(super) fn is_plain_token(kind: &str) -> bool {
    PLAIN.contains(&kind)
}

/// Whether a test holds an operator outside of its substitutions.
pub(super) fn has_operator(test: Node<'_>) -> bool {
    let mut pending = vec![test];
    while let Some(node) = pending.pop() {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                kind if OPERATORS.contains(&kind) => return true,
                "command_substitution" | "string" | "expansion" | "arithmetic_expansion" => {}
                _ => pending.push(child),
            }
        }
    }
    false
}

/// The first place where tokens and text do not agree.
pub(super) fn problem<'t>(root: Node<'t>, line: &str) -> Option<(&'static str, Node<'t>)> {
    let mut cursor = root.walk();
    let mut end = 0;
    let mut quoted_document = false;
    loop {
        let node = cursor.node();
        if node.kind() == "heredoc_start" {
            quoted_document = line.get(node.byte_range())?.contains(['\'', '"', '\\']);
        }
        if !cursor.goto_first_child() {
            let text = line.get(node.byte_range()).unwrap_or_default();
            match line.get(end..node.start_byte()) {
                Some(gap) if is_blank(gap, line, end) => {}
                Some(gap) if is_dash(gap) && node.kind().starts_with("<<") => {}
                Some(_) if is_of_document(node, line, end, quoted_document) => {}
                _ => return Some(("text that is not understood", node)),
            }
            if !is_sound(node, text, line, quoted_document) {
                return Some(("text that is not understood", node));
            }
            end = node.end_byte().max(end);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let rest = line.get(end..).unwrap_or_default();
                    return (!is_blank(rest, line, end)).then_some(("text that is not understood", root));
                }
            }
        }
    }
}

/// A word `-` in front of a here-document, which the parser leaves out.
pub(super) fn is_dash(gap: &str) -> bool {
    gap.len() > 2
        && gap.starts_with([' ', '\t'])
        && gap.ends_with([' ', '\t'])
        && gap.trim_matches([' ', '\t']) == "-"
}

/// Text of a here-document before a token, which the parser leaves out where the document begins.
fn is_of_document(node: Node<'_>, line: &str, start: usize, quoted: bool) -> bool {
    let mut inner = node;
    let body = loop {
        let Some(parent) = inner.parent() else { return false };
        if parent.kind() == "heredoc_body" {
            break parent;
        }
        if parent.start_byte() != node.start_byte() {
            return false;
        }
        inner = parent;
    };
    let middle = body.start_byte().max(start);
    let (before, text) = (line.get(start..middle), line.get(middle..node.start_byte()));
    before.is_some_and(|before| is_blank(before, line, start))
        && text.is_some_and(|text| quoted || is_closed(text, "`"))
}

/// Blanks, line ends, and lines that go on. A line that goes on without a blank joins two words, which the parser does not
/// see.
fn is_blank(gap: &str, line: &str, start: usize) -> bool {
    let mut rest = gap;
    let mut has_blank = false;
    let mut goes_on = false;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\\n") {
            goes_on = true;
            rest = after;
        } else if matches!(letter, ' ' | '\t' | '\n') {
            has_blank = true;
            rest = &rest[1..];
        } else {
            return false;
        }
    }
    !goes_on || has_blank || start == 0 || line.get(..start).is_some_and(|before| before.ends_with('\n'))
}

/// Whether a token holds nothing that a shell would not take into it.
fn is_sound(node: Node<'_>, text: &str, line: &str, quoted_document: bool) -> bool {
    match node.kind() {
        "comment" => {
            let before = line.get(..node.start_byte()).and_then(|text| text.chars().next_back());
            text.starts_with('#')
                && !text.contains('\n')
                && before
                    .is_none_or(|before| matches!(before, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
        }
        "raw_string" => text.len() >= 2 && text.ends_with('\'') && !text[1..text.len() - 1].contains('\''),
        "string_content" => is_closed(text, "\"`"),
        "heredoc_body" | "heredoc_content" => quoted_document || is_closed(text, "`"),
        "heredoc_start" | "heredoc_end" => true,
        _ if node.is_named() => {
            is_closed(text, "`;&|<>()\"' \t\n\r\u{b}\u{c}")
                || (node.kind() == "extglob_pattern" && is_closed(text, "`;&<>()\"'\n"))
        }
        // An anonymous token is spelled in the grammar; a line end may have blanks around it.
        _ => true,
    }
}

/// Whether none of the characters stands in the text without an escape, and no substitution begins in it.
fn is_closed(text: &str, forbidden: &str) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '$' if matches!(letters.peek(), Some('(' | '{')) => return false,
            letter if forbidden.contains(letter) => return false,
            _ => {}
        }
    }
    true
}
