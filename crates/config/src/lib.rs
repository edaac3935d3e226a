//! Layered settings that remember where each value came from.
