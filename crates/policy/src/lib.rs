//! Rules and the facts of a call give a verdict.
