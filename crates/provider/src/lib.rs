//! Model vendors behind one port, and the offline stand-in.
