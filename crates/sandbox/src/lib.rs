//! Confines the current process.
