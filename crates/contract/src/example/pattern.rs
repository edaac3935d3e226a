//! The shortest plain text that a regular expression matches. It refuses what has no such text or is not known to have
//! one: look-around and references back are not in the language that is read here.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// What may be repeated is repeated so often at most, in search of a text that is long enough.
const REPEATED: u32 = 256;

/// No example is longer.
const LONGEST: usize = 4_096;

/// Letters that read well, in the order in which a class of letters gives them.
const PLAIN: &str = "aAx0_- ./:";

/// The first text that matches and `fits`, from short to long.
pub(crate) fn matching(pattern: &str, fits: &dyn Fn(&String) -> bool) -> Option<String> {
    let hir = Parser::new().parse(pattern).ok()?;
    // A pattern is searched for, not matched as a whole, so the text around it may be empty.
    (0..=REPEATED).find_map(|more| {
        let mut text = String::new();
        write(&hir, more, &mut text).filter(|()| fits(&text))?;
        Some(text)
    })
}

/// `more` is how often what may be repeated is repeated beyond its least.
fn write(hir: &Hir, more: u32, text: &mut String) -> Option<()> {
    if text.len() > LONGEST {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(class) => {
            text.push(one_of(class)?);
            Some(())
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let times = repetition.min.saturating_add(more).min(most);
            (0..times).try_for_each(|_| write(&repetition.sub, more, text))
        }
        HirKind::Capture(capture) => write(&capture.sub, more, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, more, text)),
        HirKind::Alternation(choices) => write(choices.first()?, more, text),
    }
}

fn one_of(class: &Class) -> Option<char> {
    match class {
        Class::Unicode(class) => {
            let holds = |letter: &char| {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(letter))
            };
            PLAIN.chars().find(holds).or_else(|| class.ranges().first().map(|range| range.start()))
        }
        Class::Bytes(class) => class.ranges().first().map(|range| char::from(range.start())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_that_match() {
        let check = |pattern: &str, least: usize, expected: Option<&str>| {
            let text = matching(pattern, &|text| text.chars().count() >= least);
            assert_eq!(text.as_deref(), expected, "{pattern}");
        };
        check("^[a-z]{2,20}$", 0, Some("aa"));
        check("^[a-z]{2,20}$", 5, Some("aaaaa"));
        check("^[a-z]{2,4}$", 5, None);
        check(r"^[a-z]+-\d{4}-\d{2}$", 0, Some("a-0000-00"));
        check("^(foo|bar)?$", 0, Some(""));
        check("^(foo|bar)?$", 1, Some("foo"));
        check("^#[0-9A-F]{6}$", 0, Some("#AAAAAA"));
        check(".", 0, Some("a"));
        check("é", 0, Some("é"));
        check("(?=a)", 0, None);
        check("(", 0, None);
    }
}
