//! Sessions and their journal.
