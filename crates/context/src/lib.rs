//! Journal, instructions and budget give the request to send.
