//! What crosses the border between a host and a plugin. FROZEN as ABI 1.
//!
//! Never add, remove or reorder a method or field here: hosts check this layout strictly, in both directions, so that any
//! change is a new SDK major and every plugin has to be rebuilt. What evolves does so inside the JSON bodies
//! ([`crate::wire`]) or as a new op name; whoever does not know an op answers `unsupported`.
//!
//! No Rust trait object, generic or collection of ours crosses: two small vtables and bytes are all there is.
#![allow(unsafe_code, reason = "abi_stable's derives generate the vtables of the frozen ABI")]
#![allow(non_local_definitions, reason = "every #[sabi_trait] expands to such impls")]
#![allow(missing_docs, missing_debug_implementations, reason = "generated items of abi_stable carry none")]
#![allow(unreachable_pub, unused_qualifications, reason = "generated items of abi_stable")]
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use abi_stable::library::RootModule;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RBox, RResult, RSlice, RStr, RString, RVec};
use abi_stable::{StableAbi, package_version_strings, sabi_trait};

pub use abi_stable::sabi_types::RRef;
pub use abi_stable::type_level::downcasting::TD_Opaque;

/// The number of the ABI in this module; a manifest carries it so that it can be shown.
pub const ABI_VERSION: u32 = 1;

/// The symbol every plugin exports: abi_stable's header of the root module.
pub const HEADER_SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";

/// What a host offers to one running call. The host makes one for each call.
#[sabi_trait]
pub trait AbiHost: Send + Sync {
    /// Whether the call has been cancelled. An atomic load: cheap enough for inner loops.
    fn cancelled(&self) -> bool;

    /// Sleeps up to `timeout_ms` milliseconds; `true` as soon as the call is cancelled.
    fn wait_cancelled(&self, timeout_ms: u64) -> bool;

    /// A descriptor that becomes readable once the call is cancelled, open until the call returns; negative when there is
    /// none. The plugin may poll it and must never read or close it.
    fn cancel_fd(&self) -> i32;

    /// Asks the host for a service, see [`crate::wire::upcall`]. An error text that begins with `unsupported` means that
    /// this host does not know the op.
    #[sabi(last_prefix_field)]
    fn upcall(&self, op: RStr<'_>, body: RSlice<'_, u8>) -> RResult<RVec<u8>, RString>;
}

/// A borrowed host, as a call receives it.
pub type HostRef<'a> = AbiHost_TO<'a, RRef<'a, ()>>;

/// Lends a host to a call.
pub fn host_ref<'a, H: AbiHost + 'a>(host: &'a H) -> HostRef<'a> {
    AbiHost_TO::from_ptr(RRef::new(host), TD_Opaque)
}

/// An opened plugin: one configuration of it, serving any number of calls from any thread.
#[sabi_trait]
pub trait AbiPlugin: Send + Sync {
    /// Runs one op ([`crate::wire::op`]). `head` is a [`crate::wire::CallHead`], `body` the arguments, both JSON; the
    /// answer is a [`crate::wire::Reply`] in JSON, whatever happens.
    #[sabi(last_prefix_field)]
    fn call(&self, op: RStr<'_>, head: RSlice<'_, u8>, body: RSlice<'_, u8>, host: HostRef<'_>) -> RVec<u8>;
}

/// An opened plugin that the host owns.
pub type PluginBox = AbiPlugin_TO<'static, RBox<()>>;

/// The root module of a plugin library.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginRootRef, prefix_fields = PluginRootPrefix)))]
#[sabi(missing_field(option))]
pub struct PluginRoot {
    /// The [`crate::wire::Manifest`] in JSON. Pure: it may be called at any time and does nothing else.
    pub manifest: extern "C" fn() -> RVec<u8>,

    /// Opens the plugin with a [`crate::wire::OpenConfig`] in JSON; the error is a text for the operator.
    #[sabi(last_prefix_field)]
    pub open: extern "C" fn(config: RSlice<'_, u8>) -> RResult<PluginBox, RString>,
}

impl RootModule for PluginRootRef {
    abi_stable::declare_root_module_statics! {PluginRootRef}
    const BASE_NAME: &'static str = "foehn_plugin";
    const NAME: &'static str = "foehn_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

#[cfg(test)]
mod tests {
    #[test]
    fn header_symbol_is_the_one_abi_stable_looks_for() {
        assert_eq!(super::HEADER_SYMBOL, abi_stable::library::ROOT_MODULE_LOADER_NAME);
    }
}
