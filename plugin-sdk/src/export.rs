//! How a plugin library presents itself: the one exported symbol and the root module behind it.
#![allow(unsafe_code, reason = "the header of a root module can only be made by an unsafe constructor")]

use abi_stable::library::{__call_root_module_loader, CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::{RResult, RSlice, RString, RVec};

use crate::abi::{PluginBox, PluginRoot, PluginRootRef};
use crate::panics::{caught, silence};
use crate::plugin::Plugin;
use crate::schema::from_text;
use crate::wire::Manifest;

/// Names what a plugin library contains, once per library.
///
/// ```
/// # #![forbid(unsafe_code)] // What the macro makes must not count as the author's.
/// # use foehn_plugin_sdk::prelude::*;
/// # struct ReadFile;
/// # struct WriteFile { keep: bool }
/// # struct Cleanup;
/// # struct Today;
/// # impl Tool for ReadFile {
/// #     const NAME: &'static str = "read_file";
/// #     const DESCRIPTION: &'static str = "";
/// #     type Args = NoArgs;
/// #     type Out = ();
/// #     type Config = ();
/// #     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<()> { Ok(()) }
/// # }
/// # impl Tool for WriteFile {
/// #     const NAME: &'static str = "write_file";
/// #     const DESCRIPTION: &'static str = "";
/// #     type Args = NoArgs;
/// #     type Out = String;
/// #     type Config = ();
/// #     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<String> { Ok(self.keep.to_string()) }
/// # }
/// # impl Job for Cleanup {
/// #     const NAME: &'static str = "cleanup";
/// #     const DESCRIPTION: &'static str = "";
/// #     type Args = NoArgs;
/// #     type Out = ();
/// #     fn run(&self, _: NoArgs, _: &Cx<'_>) -> Result<()> { Ok(()) }
/// # }
/// # impl Context for Today {
/// #     const NAME: &'static str = "today";
/// #     const KIND: ContextKind = ContextKind::Clock;
/// #     const TEXT: Option<&'static str> = Some("Today is {date}.");
/// # }
/// export_plugin! {
///     tools: [ReadFile, WriteFile { keep: true }],
///     jobs: [Cleanup],
///     contexts: [Today],
///     instructions: "Read a file before you write it.",
///     constraints: ["Never write into the folder `vendor`."],
/// }
/// # fn main() {
/// # let manifest = foehn_plugin().manifest();
/// # assert_eq!(manifest.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read_file", "write_file"]);
/// # assert_eq!((manifest.jobs.len(), manifest.contexts.len(), manifest.constraints.len()), (1, 1, 1));
/// # assert_eq!(manifest.instructions, "Read a file before you write it.");
/// # }
/// ```
///
/// A plugin of tools alone is shorter: `export_plugin!(ReadFile);`. Besides the exported symbol it makes
/// `pub fn foehn_plugin() -> Plugin`, from which tests open the plugin without a host.
#[macro_export]
macro_rules! export_plugin {
    ($key:ident : $($rest:tt)+) => {
        $crate::__export_plugin!($crate::__plugin!(
            $crate::Plugin::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"));
            $key: $($rest)+
        ));
    };
    ($($tool:expr),+ $(,)?) => {
        $crate::export_plugin! { tools: [$($tool),+] }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __plugin {
    ($plugin:expr; tools: [$($tool:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__plugin!($plugin$(.tool($tool))*; $($($rest)*)?)
    };
    ($plugin:expr; jobs: [$($job:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__plugin!($plugin$(.job($job))*; $($($rest)*)?)
    };
    ($plugin:expr; contexts: [$($context:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__plugin!($plugin$(.context($context))*; $($($rest)*)?)
    };
    ($plugin:expr; constraints: [$($text:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__plugin!($plugin$(.constraint($text))*; $($($rest)*)?)
    };
    ($plugin:expr; instructions: $text:expr $(, $($rest:tt)*)?) => {
        $crate::__plugin!($plugin.instructions($text); $($($rest)*)?)
    };
    ($plugin:expr;) => { $plugin };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_plugin {
    ($plugin:expr) => {
        /// The plugin of this crate; a test opens it without a host.
        #[must_use]
        pub fn foehn_plugin() -> $crate::Plugin {
            $plugin
        }

        const _: () = {
            struct Exported;

            impl $crate::__private::Export for Exported {
                fn plugin() -> $crate::Plugin {
                    foehn_plugin()
                }
            }

            // `abi::HEADER_SYMBOL`: an attribute takes a literal only.
            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            static HEADER: $crate::__private::LibHeader = $crate::__private::header::<Exported>();
        };
    };
}

/// What `export_plugin!` implements for the library.
pub trait Export: 'static {
    /// Makes the plugin.
    fn plugin() -> Plugin;
}

/// The header that the exported symbol is.
pub const fn header<E: Export>() -> LibHeader {
    // SAFETY: `constructor` returns what `__call_root_module_loader` makes of a `PluginRootRef`, the very type named here.
    unsafe { LibHeader::from_constructor::<PluginRootRef>(constructor::<E>, CheckTypeLayout::Yes) }
}

extern "C" fn constructor<E: Export>() -> RootModuleResult {
    __call_root_module_loader(root::<E>)
}

fn root<E: Export>() -> PluginRootRef {
    silence();
    PluginRoot { manifest: manifest::<E>, open: open::<E> }.leak_into_prefix()
}

extern "C" fn manifest<E: Export>() -> RVec<u8> {
    let manifest = caught(|| E::plugin().manifest())
        .unwrap_or_else(|panic| Manifest { error: Some(panic.message), ..Manifest::default() });
    serde_json::to_vec(&manifest).unwrap_or_default().into()
}

extern "C" fn open<E: Export>(config: RSlice<'_, u8>) -> RResult<PluginBox, RString> {
    let opened = caught(|| {
        let config =
            from_text(config.as_slice()).map_err(|problem| format!("the configuration: {problem}"))?;
        E::plugin().open(config).map_err(|error| error.message().to_owned())
    });
    opened.unwrap_or_else(|panic| Err(panic.message)).map_err(RString::from).into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exported_literal_is_the_header_symbol() {
        let attribute = format!("export_name = \"{}\"", crate::abi::HEADER_SYMBOL);
        assert_eq!(include_str!("export.rs").matches(&attribute).count(), 1);
    }
}
