//! The sockets of the engine.
