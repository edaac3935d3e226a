//! Starting programs.
