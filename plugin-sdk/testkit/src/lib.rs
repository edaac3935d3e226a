//! Run a Foehn tool in a unit test, without a host.
