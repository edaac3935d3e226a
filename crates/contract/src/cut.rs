//! Shortens text without breaking a character, and says how much is missing.

/// How much of a shortened text is its beginning; the rest is its end, where a program's last words stand.
const HEAD_IN_QUARTERS: usize = 3;

/// Characters, not bytes: what a limit counts.
pub(crate) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Whether `text` has more than `limit` characters, without counting when its bytes already answer.
pub(crate) fn exceeds(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().nth(limit).is_some()
}

/// Keeps the first and the last part of a text that exceeds `limit` characters, with a mark between them that tells
/// how much is gone. `None` when it fits. The mark itself does not count.
pub(crate) fn middle(text: &str, limit: usize) -> Option<String> {
    if !exceeds(text, limit) {
        return None;
    }
    let total = characters(text);
    let head = limit / 4 * HEAD_IN_QUARTERS + limit % 4;
    let tail = limit - head;
    let head_end = byte_of(text, head);
    let tail_start = byte_of(text, total - tail);
    let missing = total - limit;
    let (start, end) = (text.get(..head_end)?, text.get(tail_start..)?);
    Some(format!("{start}\n[... {missing} characters left out here ...]\n{end}"))
}

/// Keeps the start of a text, for short displays.
pub(crate) fn end(text: &str, limit: usize) -> String {
    if !exceeds(text, limit) {
        return text.to_owned();
    }
    let mut short = text.get(..byte_of(text, limit)).unwrap_or_default().to_owned();
    short.push_str("...");
    short
}

fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_and_whole_characters() {
        assert_eq!(middle("abcdefgh", 8), None);
        assert_eq!(middle("äöüß", 4), None);
        assert_eq!(middle("äbcdefghij", 4).as_deref(), Some("äbc\n[... 6 characters left out here ...]\nj"));
        assert_eq!(middle("abc", 0).as_deref(), Some("\n[... 3 characters left out here ...]\n"));
        assert_eq!(end("äbcdef", 3), "äbc...");
        assert_eq!(end("äbc", 3), "äbc");
    }
}
