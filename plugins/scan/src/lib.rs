//! Lists files and directories of the workspace.
