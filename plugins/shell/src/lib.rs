//! Runs shell commands in the workspace.
