//! What differs between vendors, as data: one row per provider, one set of quirks per row. Code elsewhere reads a field
//! and never asks for a vendor's name.

/// One provider that `Settings::provider` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    pub name: &'static str,
    pub summary: &'static str,
    /// `None`: the user must name a model.
    pub default_model: Option<&'static str>,
    /// Environment variables that usually hold the key, best first.
    pub key_variables: &'static [&'static str],
    pub requires_key: bool,
    /// `None`: the user must give a base URL (or, for the stand-in, there is none).
    pub base_url: Option<&'static str>,
    pub(crate) dialect: Dialect,
    pub(crate) quirks: Quirks,
}

/// Which wire format is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// No wire at all.
    None,
    /// `POST {base}/chat/completions`.
    Chat,
    /// `POST {base}/v1/messages`.
    Anthropic,
    /// `POST {base}/v1beta/models/{model}:streamGenerateContent`.
    Gemini,
}

/// How one vendor departs from the plain form of its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Ask for token counts in a stream (`stream_options`). Mistral answers 422 to it and counts unasked.
    pub(crate) asks_stream_usage: bool,
    /// The name of the output limit in the request.
    pub(crate) output_limit: OutputLimit,
    /// How reasoning of an earlier answer goes back to the model that wrote it.
    pub(crate) reasoning_out: ReasoningOut,
    /// The server refuses a user message right after a tool result: an assistant message goes between.
    pub(crate) assistant_after_results: bool,
    /// Output tokens asked for when nobody set a limit and the vendor insists on one.
    pub(crate) default_max_output: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputLimit {
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningOut {
    Never,
    /// In the field it arrived in (`reasoning_content` unless the server used another).
    Field,
    /// As a `thinking` part in front of the text.
    ThinkingPart,
    /// Verbatim, as the vendor's own items.
    Native,
}

pub(crate) const OFFLINE: &str = "offline";

/// The pause that some servers want between tool results and the next user message, in words a model can read over.
pub(crate) const BRIDGE_TEXT: &str = "(stopped here)";

/// Every provider, the default first.
pub fn providers() -> &'static [ProviderInfo] {
    &TABLE
}

const PLAIN: Quirks = Quirks {
    asks_stream_usage: true,
    output_limit: OutputLimit::MaxTokens,
    reasoning_out: ReasoningOut::Field,
    assistant_after_results: false,
    default_max_output: None,
};

static TABLE: [ProviderInfo; 6] = [
    ProviderInfo {
        name: OFFLINE,
        summary: "a stand-in without network or key: picks tools by their words, or plays a script",
        default_model: Some("stand-in"),
        key_variables: &[],
        requires_key: false,
        base_url: None,
        dialect: Dialect::None,
        quirks: PLAIN,
    },
    ProviderInfo {
        name: "mistral",
        summary: "Mistral AI",
        default_model: Some("devstral-latest"),
        key_variables: &["MISTRAL_API_KEY"],
        requires_key: true,
        base_url: Some("https://api.mistral.ai/v1"),
        dialect: Dialect::Chat,
        quirks: Quirks {
            asks_stream_usage: false,
            reasoning_out: ReasoningOut::ThinkingPart,
            assistant_after_results: true,
            ..PLAIN
        },
    },
    ProviderInfo {
        name: "openai",
        summary: "OpenAI, by its chat completions",
        default_model: Some("gpt-5.2"),
        key_variables: &["OPENAI_API_KEY"],
        requires_key: true,
        base_url: Some("https://api.openai.com/v1"),
        dialect: Dialect::Chat,
        quirks: Quirks {
            output_limit: OutputLimit::MaxCompletionTokens,
            reasoning_out: ReasoningOut::Never,
            ..PLAIN
        },
    },
    ProviderInfo {
        name: "anthropic",
        summary: "Anthropic",
        default_model: Some("claude-sonnet-4-6"),
        key_variables: &["ANTHROPIC_API_KEY"],
        requires_key: true,
        base_url: Some("https://api.anthropic.com"),
        dialect: Dialect::Anthropic,
        quirks: Quirks { reasoning_out: ReasoningOut::Native, default_max_output: Some(8192), ..PLAIN },
    },
    ProviderInfo {
        name: "gemini",
        summary: "Google Gemini",
        default_model: Some("gemini-2.5-flash"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        requires_key: true,
        base_url: Some("https://generativelanguage.googleapis.com"),
        dialect: Dialect::Gemini,
        quirks: Quirks { reasoning_out: ReasoningOut::Native, ..PLAIN },
    },
    ProviderInfo {
        name: "openai-compatible",
        summary: "any server that speaks chat completions (llama.cpp, Ollama, vLLM, gateways)",
        default_model: None,
        key_variables: &["FOEHN_API_KEY"],
        requires_key: false,
        base_url: None,
        dialect: Dialect::Chat,
        quirks: PLAIN,
    },
];
