//! Finds, checks, loads and runs native plugins.
