//! Keywords of our own in schemas: for the host, never shown to a model.

/// Former names of a property that still work: a list of strings.
pub(crate) const ALIASES: &str = "x-foehn-aliases";
