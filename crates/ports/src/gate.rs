//! Who may answer an approval, and what was already answered for good.

/// What a standing grant covers: exactly this agent, tool and operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GrantKey {
    pub agent: String,
    pub tool: String,
    pub operation: String,
}

/// The engine asks the gate before it asks a person.
pub trait Gate: Send + Sync {
    /// Whether a person can answer at all. If not, ask means declined at once.
    fn attended(&self) -> bool;

    /// `Some(words)` when the operator has said yes beforehand to everything that would be asked (`--yes`); the words
    /// go to the journal as the one who decided.
    fn approves_everything(&self) -> Option<&str>;

    fn granted(&self, key: &GrantKey) -> bool;

    fn grant(&self, key: GrantKey);
}
