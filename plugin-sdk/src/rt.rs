//! Futures.
