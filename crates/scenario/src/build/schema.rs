//! The JSON Schema of a scenario file.

use bentpipe_tcp::Catalogue;
use serde_json::Value;

use super::choices;
use crate::keys::{KINDS, Kind, ScenarioFile};

/// The JSON Schema of a scenario file that chooses from `catalogue`, for editors and other languages.
///
/// A file that extends another may leave out what the other says, so no key of a link, a flow or a handover is required.
pub fn schema(catalogue: &Catalogue) -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile).to_value();
    for kind in KINDS {
        add_options(&mut schema["$defs"], kind);
    }
    let direction = schema["$defs"]["DirectionFile"]["properties"].clone();
    if let (Value::Object(direction), Some(link)) =
        (direction, schema["$defs"]["LinkFile"]["properties"].as_object_mut())
    {
        link.extend(direction);
    }
    choices::describe(catalogue, &mut schema["$defs"]);
    drop_null(&mut schema);
    for table in ["LinkFile", "FlowFile", "HandoverFile", "StationFile"] {
        schema["$defs"][table].as_object_mut().and_then(|table| table.remove("required"));
    }
    schema
}

/// Puts the options of the application `kind` beside the keys that every flow has; each says whose it is.
fn add_options(types: &mut Value, kind: &Kind) {
    let mut options = (kind.schema)();
    if let (Some(types), Some(Value::Object(more))) = (types.as_object_mut(), options.get_mut("$defs")) {
        types.append(more);
    }
    let Some(Value::Object(options)) = options.get_mut("properties") else { return };
    for (key, option) in options {
        let property = &mut types["FlowFile"]["properties"][key];
        let others = property["description"].as_str().map(|others| format!("{others} "));
        let described = format!(
            "{}{}: {}",
            others.unwrap_or_default(),
            kind.name,
            option["description"].as_str().unwrap_or_default()
        );
        *property = option.take();
        property["description"] = described.into();
        property.as_object_mut().and_then(|property| property.remove("default"));
    }
}

/// Takes `null` out of a schema: what a Rust `Option` may be, and TOML has no word for.
fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            for key in ["anyOf", "enum", "type"] {
                if let Some(Value::Array(choices)) = object.get_mut(key) {
                    choices
                        .retain(|choice| !choice.is_null() && choice["type"] != "null" && choice != "null");
                }
            }
            if let Some(Value::Array(types)) = object.get_mut("type")
                && types.len() == 1
            {
                let only = types.remove(0);
                object.insert("type".to_owned(), only);
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf")
                && choices.len() == 1
                && let Value::Object(only) = choices.remove(0)
            {
                object.remove("anyOf");
                object.extend(only);
            }
            object.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}
