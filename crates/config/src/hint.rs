//! The nearest known word, and serde's messages in our words.

/// What serde calls by the name of a type.
const RUST_TYPES: &[(&str, &str)] = &[
    (" u32", " a whole number"),
    (" u64", " a whole number"),
    (" f64", " a number"),
    (" a map", " a table"),
];

/// The candidate that `word` was probably meant to be.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.75;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// `did you mean ..?`, or all of the few names there are.
pub(crate) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!(
            "known here: {}",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Rewords serde's messages about unknown names, which list every name there is; others stay as they are.
pub(crate) fn reword(message: &str) -> String {
    for (start, what) in [("unknown field `", "unknown key"), ("unknown variant `", "unknown value")] {
        let Some((word, rest)) = message.strip_prefix(start).and_then(|rest| rest.split_once('`')) else {
            continue;
        };
        // Between backticks stands every second piece.
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        return format!("{what} `{word}`; {}", suggestion(word, &known));
    }
    let mut message = message.trim_end().replace('\n', ", ");
    for (rust, words) in RUST_TYPES {
        if let Some(start) = message.strip_suffix(rust) {
            message = format!("{start}{words}");
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_names_give_the_nearest() {
        let rows = [
            (
                "unknown field `modle`, expected one of `provider`, `model`, `log`",
                "unknown key `modle`; did you mean `model`?",
            ),
            (
                "unknown field `zzz`, expected `level` or `file`",
                "unknown key `zzz`; known here: `level`, `file`",
            ),
            (
                "unknown variant `pined`, expected `pinned` or `any`",
                "unknown value `pined`; did you mean `pinned`?",
            ),
            ("unknown field `x`, there are no fields", "unknown key `x`; there is none"),
            (
                "invalid type: string \"x\", expected u64",
                "invalid type: string \"x\", expected a whole number",
            ),
        ];
        for (message, expected) in rows {
            assert_eq!(reword(message), expected);
        }
    }
}
