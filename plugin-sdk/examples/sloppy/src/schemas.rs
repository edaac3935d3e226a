//! A schema that cannot be enforced. `#[args]` makes none of this kind; it is written by hand.

use std::borrow::Cow;

use foehn_plugin_sdk::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use foehn_plugin_sdk::serde::de::IgnoredAny;
use foehn_plugin_sdk::serde::{Deserialize, Deserializer};

/// Arguments of which a part lies on somebody's server.
pub(crate) struct Remote;

impl JsonSchema for Remote {
    fn schema_name() -> Cow<'static, str> {
        "Remote".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": false,
            "required": ["title"],
            "properties": {"title": {"$ref": "https://example.com/title.json", "description": "As it stands above the note."}},
        })
    }
}

impl<'de> Deserialize<'de> for Remote {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}
