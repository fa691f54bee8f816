//! Schemas with descriptions.

use serde_json::json;

/// Returns a schema with a description, followed by the schema's own description.
pub fn described(schema: impl serde::Serialize, about: &str) -> serde_json::Value {
    let mut schema = json!(schema);
    if let Some(own) = schema.get_mut("description") {
        let (about, rest) = (about.trim().trim_end_matches('.'), own.as_str().unwrap_or_default());
        *own = if about.is_empty() { json!(rest) } else { json!(format!("{about}: {rest}")) };
    } else {
        schema["description"] = json!(about);
    }
    schema
}
