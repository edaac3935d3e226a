//! Plain data of a conversation: operations, events, messages, ids.
