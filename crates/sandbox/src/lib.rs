//! Confines the current process for good: Landlock for files, seccomp for system calls, resource limits, and the short
//! environment that a confined process starts with.
//!
//! A worker calls [`confine`] on its main thread, before any other thread exists and before any foreign code is mapped,
//! so that even the constructors of a library run confined. The crate refuses to guess: what the kernel did not enforce
//! is named in [`Confinement::lacking`], and whether that is good enough is the caller's decision.
//!
//! It knows nothing of plugins, tools or risk. What may be touched is data ([`Profile`]) made elsewhere.
//!
//! Outside Linux nothing is enforced but resource limits, and [`support`] says so.

mod confine;
mod environment;
mod harden;
mod profile;
mod support;

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
mod limits;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod privileges;
mod processes;

pub use confine::{Confinement, Enforcement, NetworkNamespace, SandboxError, confine};
pub use environment::clean_environment;
pub use harden::harden_host;
pub use processes::ProcessBound;
pub use profile::{Limits, Profile};
pub use support::{Support, support};
