//! From an author's type to the JSON Schema that a model reads, and from JSON back to that type with an error that names
//! the place.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of a type: draft 2020-12, flat (models follow references badly), without the noise of `$schema` and `title`.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Reads JSON text; nothing at all counts as an object without keys. The error is `` `PLACE`: WHAT IS WRONG ``.
pub(crate) fn from_text<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let text = if text.trim_ascii().is_empty() { b"{}" } else { text };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(describe)?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Reads a JSON value; errors as in [`from_text`].
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(describe)
}

fn describe(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let place = error.path().to_string();
    let problem = error.into_inner();
    if place == "." { problem.to_string() } else { format!("`{place}`: {problem}") }
}
