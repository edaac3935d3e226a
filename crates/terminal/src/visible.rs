//! Makes text of unknown origin safe to show: what a person sees is what is there.
//!
//! A terminal obeys what it prints. An escape sequence can erase the line above, a direction mark can turn a file
//! name round, a zero-width blank can hide in a word. All of these are shown as escapes; the bytes that run stay the
//! original ones.

use std::borrow::Cow;

/// `text` with every character that would move, hide or disguise something written as an escape such as `\u{202e}`.
/// Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_deceptive(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        _ if character.is_control() => true,
        // Soft hyphen, zero-width and joining characters, direction marks and isolates, invisible operators,
        // the byte order mark, and tag characters.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        // Blanks that look like the plain one, or like many.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn plain_text_stays() {
        check("Größe\tπ\n日本語 👍", "Größe\tπ\n日本語 👍");
    }

    #[test]
    fn what_moves_the_cursor_is_written_out() {
        check("rm x\u{1b}[2K\u{1b}[1A\rls", "rm x\\u{1b}[2K\\u{1b}[1A\\rls");
    }

    #[test]
    fn what_hides_or_turns_is_written_out() {
        check("a\u{202e}txt.exe", "a\\u{202e}txt.exe");
        check("pass\u{200b}word", "pass\\u{200b}word");
        check("a\u{3000}b", "a\\u{3000}b");
    }
}
