//! Keeps secrets out of every text that leaves this crate. Servers echo keys in their bodies, so masking happens on the
//! finished text and not at the places that are known to hold one.

use std::fmt;

/// Shorter secrets are not searched for: their letters stand in ordinary words.
const SHORTEST: usize = 4;

#[derive(Clone, Default)]
pub(crate) struct Mask {
    secrets: Vec<String>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mask({} secrets)", self.secrets.len())
    }
}

impl Mask {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).map(str::to_owned).collect();
        // A secret that contains another must go first, or its rest stays readable.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    pub(crate) fn clean(&self, text: &str) -> String {
        let mut cleaned = text.to_owned();
        for secret in &self.secrets {
            if cleaned.contains(secret.as_str()) {
                cleaned = cleaned.replace(secret.as_str(), "***");
            }
        }
        cleaned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_goes_and_the_longer_secret_first() {
        let mask = Mask::new(["sk-test", "sk-test-123", "abc"]);
        let rows = [
            ("key sk-test-123 and sk-test-123", "key *** and ***"),
            ("sk-test", "***"),
            ("abc is too short to be one", "abc is too short to be one"),
            ("nothing", "nothing"),
        ];
        for (text, cleaned) in rows {
            assert_eq!(mask.clean(text), cleaned);
        }
        assert_eq!(format!("{mask:?}"), "Mask(2 secrets)");
    }
}
