//! `#[args]` and `#[config]`, the attributes of the Foehn plugin SDK.
//!
//! Why not plain derives: those of serde and schemars name `::serde` and `::schemars`, which a plugin does not depend on. The
//! attributes here put the derives in front of a type with paths that lead through the SDK. That needs no parser: an item is
//! only looked at to tell a struct from an enum, and its fields for the names they had before, so this crate has no
//! dependencies and builds at once.

mod aliases;

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Makes a struct or enum the arguments of a tool: `Deserialize` + `JsonSchema` + `Debug`, unknown keys refused.
///
/// Doc comments become the descriptions that the model reads. serde's and schemars' own attributes work as ever. A field that
/// was renamed keeps its old name with `#[serde(alias = "old_name")]`: the host gives such an argument its new name before the
/// arguments are checked, and tells the model. Put the attribute in front of other derives. On anything else it is an error:
///
/// ```compile_fail
/// #[foehn_plugin_sdk_macros::args]
/// fn not_a_type() {}
/// ```
#[proc_macro_attribute]
pub fn args(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand("args", attribute, item)
}

/// Makes a struct or enum part of a tool's config section: as [`macro@args`], and the missing keys of a struct come from its
/// `Default`, which is yours to derive or write.
#[proc_macro_attribute]
pub fn config(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand("config", attribute, item)
}

fn expand(name: &str, attribute: TokenStream, item: TokenStream) -> TokenStream {
    let shape = Shape::of(&item);
    let problem = if !attribute.is_empty() {
        Some(format!("`#[{name}]` takes no arguments"))
    } else if shape.keyword.is_none() {
        Some(format!("`#[{name}]` goes on a struct or an enum"))
    } else {
        None
    };
    if let Some(problem) = problem {
        let mut output = tokens(&format!("::core::compile_error!({problem:?});"));
        output.extend(item);
        return output;
    }
    let debug = if shape.derives_debug { "" } else { "Debug, " };
    let default = if name == "config" && shape.keyword == Some(Keyword::Struct) { ", default" } else { "" };
    let mut output = tokens(&format!(
        "#[derive({debug}::foehn_plugin_sdk::__private::serde::Deserialize, \
                  ::foehn_plugin_sdk::__private::schemars::JsonSchema)]
         #[serde(crate = \"::foehn_plugin_sdk::__private::serde\", deny_unknown_fields{default})]
         #[schemars(crate = \"::foehn_plugin_sdk::__private::schemars\")]"
    ));
    output.extend(aliases::declared(item, shape.keyword == Some(Keyword::Enum)));
    output
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Struct,
    Enum,
}

/// What has to be known about an item.
struct Shape {
    keyword: Option<Keyword>,
    derives_debug: bool,
}

impl Shape {
    fn of(item: &TokenStream) -> Self {
        let mut shape = Self { keyword: None, derives_debug: false };
        for token in item.clone() {
            match token {
                // The bracketed part of an attribute.
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    shape.derives_debug |= is_derive_of_debug(group.stream());
                }
                TokenTree::Ident(ident) => {
                    shape.keyword = match ident.to_string().as_str() {
                        "pub" => continue,
                        "struct" => Some(Keyword::Struct),
                        "enum" => Some(Keyword::Enum),
                        _ => None,
                    };
                    break;
                }
                // `#`, and the parenthesis of `pub(crate)`.
                _ => {}
            }
        }
        shape
    }
}

fn is_derive_of_debug(attribute: TokenStream) -> bool {
    let mut tokens = attribute.into_iter();
    let is_derive = matches!(tokens.next(), Some(TokenTree::Ident(ident)) if ident.to_string() == "derive");
    let Some(TokenTree::Group(list)) = tokens.next() else { return false };
    is_derive
        && list
            .stream()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident.to_string() == "Debug"))
}

fn tokens(source: &str) -> TokenStream {
    // Only texts of this file come here, and they are Rust.
    source.parse().unwrap_or_default()
}
