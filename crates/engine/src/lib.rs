//! The loop between model and tools.
