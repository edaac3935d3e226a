//! Keeps the results of one turn together within a size: many medium results overflow a model as surely as one large
//! one.
//!
//! The largest results are cut first, down to one common level; small ones stay whole. The level is worked out anew
//! from the full texts whenever a result arrives, so the same journal always gives the same messages. The full texts
//! stay in the journal.

use std::collections::HashMap;

use foehn_protocol::Message;

/// How much of a conversation is sent.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Characters that the results of one turn may have together.
    pub turn_result_characters: usize,
    /// Cuts one result envelope to so many characters and notes it there; what an envelope looks like is not known here.
    pub shorten: fn(envelope: &str, characters: usize) -> String,
}

/// The results of one turn within a list of messages.
#[derive(Debug)]
pub struct TurnBudget {
    limits: Limits,
    /// Index of the first message of the turn.
    first: usize,
    /// Index and size of each result, in full.
    sizes: Vec<(usize, usize)>,
    total: usize,
    /// Full texts of the results that are cut now.
    full: HashMap<usize, String>,
}

impl TurnBudget {
    /// For a turn whose messages begin at index `first`.
    pub fn new(limits: Limits, first: usize) -> Self {
        Self { limits, first, sizes: Vec::new(), total: 0, full: HashMap::new() }
    }

    /// Takes in the results that were added at the end of `messages` since the last time, and cuts what is too much.
    pub fn fit(&mut self, messages: &mut [Message]) {
        let known = self.sizes.last().map_or(self.first, |(index, _)| index + 1);
        for (index, message) in messages.iter().enumerate().skip(known) {
            if let Message::Tool { content, .. } = message {
                let size = content.chars().count();
                self.sizes.push((index, size));
                self.total += size;
            }
        }
        if self.total <= self.limits.turn_result_characters {
            return;
        }
        let level = level(self.sizes.iter().map(|(_, size)| *size), self.limits.turn_result_characters);
        for &(index, _) in self.sizes.iter().filter(|(_, size)| *size > level) {
            let Some(Message::Tool { content, .. }) = messages.get_mut(index) else { continue };
            let full = self.full.entry(index).or_insert_with(|| std::mem::take(content));
            *content = (self.limits.shorten)(full, level);
        }
    }
}

/// The largest size at which everything above it, cut down to it, and everything below fit together.
fn level(sizes: impl Iterator<Item = usize>, total: usize) -> usize {
    let mut ascending: Vec<usize> = sizes.collect();
    ascending.sort_unstable();
    let mut left = total;
    let mut waiting = ascending.len();
    for size in ascending {
        let share = left / waiting;
        if size > share {
            return share;
        }
        left -= size;
        waiting -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_cut_first() {
        let check = |sizes: &[usize], total: usize, expected: usize| {
            assert_eq!(level(sizes.iter().copied(), total), expected, "{sizes:?} in {total}");
        };
        check(&[], 10, usize::MAX);
        check(&[3, 4], 10, usize::MAX);
        check(&[15_000, 15_000, 15_000], 20_000, 6_666);
        check(&[100, 2_000, 30_000], 10_000, 7_900);
        check(&[5, 5, 5], 3, 1);
    }
}
