//! Tells the schema of the names that fields had before. serde keeps an alias to itself, and a host that did not know of it
//! would refuse the old name.
//!
//! Only fields: an alias of an enum's variant is a value, and schemars writes plain variants as one list of values.

use proc_macro::{Delimiter, Group, Literal, TokenStream, TokenTree};

/// The item, with every alias of a field also in the schema of the field.
pub(crate) fn declared(item: TokenStream, is_enum: bool) -> TokenStream {
    each_brace(item, &|body| if is_enum { each_brace(body, &fields) } else { fields(body) })
}

/// The tokens, with what is in braces right here replaced.
fn each_brace(tokens: TokenStream, change: &dyn Fn(TokenStream) -> TokenStream) -> TokenStream {
    let changed = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let mut braces = Group::new(Delimiter::Brace, change(group.stream()));
            braces.set_span(group.span());
            TokenTree::Group(braces)
        }
        other => other,
    });
    changed.collect()
}

/// Fields with their attributes; behind the attributes of each that has aliases comes one more.
fn fields(body: TokenStream) -> TokenStream {
    let mut output = TokenStream::new();
    let mut aliases: Vec<Literal> = Vec::new();
    let mut in_attribute = false;
    for token in body {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => in_attribute = true,
            TokenTree::Group(group) if in_attribute && group.delimiter() == Delimiter::Bracket => {
                in_attribute = false;
                aliases.extend(aliases_in(group.stream()));
            }
            _ if !aliases.is_empty() => output.extend(keyword(&std::mem::take(&mut aliases))),
            _ => {}
        }
        output.extend([token]);
    }
    output
}

/// The aliases of one attribute, when it is serde's.
fn aliases_in(attribute: TokenStream) -> Vec<Literal> {
    let mut tokens = attribute.into_iter();
    let is_serde = matches!(tokens.next(), Some(TokenTree::Ident(ident)) if ident.to_string() == "serde");
    let Some(TokenTree::Group(list)) = tokens.next().filter(|_| is_serde) else { return Vec::new() };
    let list: Vec<TokenTree> = list.stream().into_iter().collect();
    let alias = |three: &[TokenTree]| match three {
        [TokenTree::Ident(name), TokenTree::Punct(equals), TokenTree::Literal(alias)]
            if name.to_string() == "alias" && equals.as_char() == '=' =>
        {
            Some(alias.clone())
        }
        _ => None,
    };
    list.windows(3).filter_map(alias).collect()
}

/// The name of the keyword is a promise between SDK and host: an old host passes over it.
fn keyword(aliases: &[Literal]) -> TokenStream {
    let listed: Vec<String> = aliases.iter().map(Literal::to_string).collect();
    crate::tokens(&format!("#[schemars(extend(\"x-foehn-aliases\" = [{}]))]", listed.join(", ")))
}
