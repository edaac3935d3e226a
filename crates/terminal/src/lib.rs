//! Draws events and sends operations.
