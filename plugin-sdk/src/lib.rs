//! Write a Foehn tool plugin: the stable ABI, the Tool trait, and a confined workspace.
