//! What the definitions of tools cost: they go out with every request, so every character is paid for again and again.

use foehn_protocol::ToolSpec;
use serde::Serialize;
use serde_json::json;

use crate::contract::shown;

/// What the tools of an agent may take unless somebody says otherwise.
pub const DEFAULT_CHARACTERS: usize = 8_000;

/// What one tool costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    pub plugin: String,
    pub tool: String,
    #[serde(flatten)]
    pub size: Size,
}

/// An amount of text. Tokens are those of one vendor's tokenizer; others differ by some percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    pub characters: usize,
    pub tokens: usize,
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |sum, size| Self {
            characters: sum.characters + size.characters,
            tokens: sum.tokens + size.tokens,
        })
    }
}

/// The cost of each tool, in the order given. What vendors wrap around a definition is not counted.
pub fn costs<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>, tokens: impl Fn(&str) -> usize) -> Vec<Cost> {
    let cost = |tool: &ToolSpec| {
        let text = definition_text(tool);
        let size = Size { characters: text.chars().count(), tokens: tokens(&text) };
        Cost { plugin: tool.plugin.clone(), tool: tool.name.clone(), size }
    };
    tools.into_iter().map(cost).collect()
}

/// The characters of all definitions together.
pub fn characters<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>) -> usize {
    tools.into_iter().map(|tool| definition_text(tool).chars().count()).sum()
}

/// A definition as a model's vendor gets it.
fn definition_text(tool: &ToolSpec) -> String {
    json!({"name": tool.name, "description": tool.description, "parameters": shown(&tool.schema)}).to_string()
}
