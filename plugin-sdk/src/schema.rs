//! From an author's type to the JSON Schema that a model reads, and from JSON back to that type with an error that names
//! the place.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of a type: draft 2020-12, flat (models follow references badly), without `$schema`, `title` and other noise.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    // What a tool is for is said in its own description.
    schema.remove("description");
    if schema.get("type").is_none() && only_objects(schema.get("oneOf")) {
        // Models' vendors want to see it at the root, which schemars leaves out for an enum.
        schema.insert("type".to_owned(), "object".into());
    }
    let mut schema = schema.to_value();
    drop_number_formats(&mut schema);
    schema
}

/// `"format": "uint64"` is Rust's own word. What it means stands beside it as bounds, and every definition is paid for with
/// every request.
fn drop_number_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let is_rusts = |format: &str| {
                ["int", "uint", "float", "double"].iter().any(|word| {
                    format
                        .strip_prefix(word)
                        .is_some_and(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))
                })
            };
            if map.get("format").and_then(Value::as_str).is_some_and(is_rusts) {
                map.shift_remove("format");
            }
            map.values_mut().for_each(drop_number_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_number_formats),
        _ => {}
    }
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

fn only_objects(variants: Option<&Value>) -> bool {
    let variants = variants.and_then(Value::as_array);
    variants.is_some_and(|variants| variants.iter().all(|variant| variant["type"] == "object"))
}

fn describe(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let place = error.path().to_string();
    let problem = error.into_inner();
    // A fault of the text, not of a value, has no place but its line and column.
    if place == "." || !problem.is_data() { problem.to_string() } else { format!("`{place}`: {problem}") }
}
