//! Attributes of the Foehn plugin SDK.
