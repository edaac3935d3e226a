//! All rules, by what they are about.

mod arguments;
mod bounds;
mod choices;
mod descriptions;
mod exceptions;
mod names;
mod risk;
mod schema;
mod values;

use std::sync::LazyLock;

use super::Rule;

/// Every rule, in the order in which a tool is read.
pub fn rules() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        [
            names::RULES,
            descriptions::RULES,
            risk::RULES,
            arguments::RULES,
            bounds::RULES,
            choices::RULES,
            values::RULES,
            schema::RULES,
            exceptions::RULES,
        ]
        .into_iter()
        .flatten()
        .collect()
    });
    &ALL
}
