//! Drives the built binary with real plugins and scripted models.
