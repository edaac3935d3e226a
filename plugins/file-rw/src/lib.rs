//! Reads, creates, edits and deletes files of the workspace.
